package vocab

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

const defaultTotal = 100_000

// Sampler draws a random sample of the descriptors of a stream of images, in memory for 2·Total descriptors. Every
// descriptor gets a number from its image's random stream, and the descriptors with the smallest numbers are kept. The
// sample does not depend on the order of images. A Sampler is safe for concurrent use.
type Sampler struct {
	Total    int    // largest size of the sample; 0 means 100,000
	PerImage int    // largest number from one image, so that large images do not dominate; 0 means no limit
	Seed     uint64 // seed of the random numbers

	mu   sync.Mutex
	dim  int
	kept []offer // at most 2·Total
}

// An offer is a descriptor with its random number.
type offer struct {
	number uint64
	vector []uint8
}

// compare orders offers by number, then by vector, so that the result does not depend on the order of images.
func (o offer) compare(other offer) int {
	return cmp.Or(cmp.Compare(o.number, other.number), bytes.Compare(o.vector, other.vector))
}

// Add adds the descriptors of an image to the stream. name must be unique.
func (s *Sampler) Add(name string, d *features.Descriptors) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(s.Total < 0 || s.PerImage < 0, "vocabulary: %d descriptors, %d per image; expected 0 or more of both", s.Total, s.PerImage)
	guard.Check(guard.Wrap(checkDescriptors(d, 0), "vocabulary: image %q", name))
	random := rng.New(s.Seed, "vocabulary sample", name)
	offers := make([]offer, d.Len())
	for i := range offers {
		offers[i] = offer{random.Uint64(), d.Vector(i)}
	}
	if s.PerImage > 0 && s.PerImage < len(offers) {
		slices.SortFunc(offers, offer.compare)
		offers = offers[:s.PerImage]
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dim == 0 && len(offers) > 0 {
		s.dim = d.Dim
	}
	guard.Check(guard.Wrap(checkDescriptors(d, s.dim), "vocabulary: image %q", name))
	total := cmp.Or(s.Total, defaultTotal)
	for _, o := range offers {
		s.kept = append(s.kept, offer{o.number, slices.Clone(o.vector)})
		if len(s.kept) >= 2*total {
			s.keepSmallest(total)
		}
	}
	return nil
}

// keepSmallest sorts the offers and keeps the first total.
func (s *Sampler) keepSmallest(total int) {
	slices.SortFunc(s.kept, offer.compare)
	s.kept = slices.Delete(s.kept, min(total, len(s.kept)), len(s.kept))
}

// Sample returns a copy of the current sample, n×dim, in random order. dim is 0 if there are no descriptors.
func (s *Sampler) Sample() (vectors []uint8, dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepSmallest(cmp.Or(s.Total, defaultTotal))
	for _, o := range s.kept {
		vectors = append(vectors, o.vector...)
	}
	return vectors, s.dim
}
