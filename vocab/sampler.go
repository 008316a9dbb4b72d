package vocab

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

const defaultTotal = 100_000

// Sampler keeps a random subset of the descriptors of images that stream by, in twice the memory of Total.
// Every descriptor draws a number from its image's random stream, and the least numbers stay: the order of the
// images does not count. Several goroutines may use a Sampler at once.
type Sampler struct {
	Total    int    // the most descriptors that are kept; 0 means 100,000
	PerImage int    // the most that one image gives, so that large ones do not outweigh small ones; 0 for all
	Seed     uint64 // makes the subset repeatable

	mu   sync.Mutex
	dim  int
	kept []offer // twice Total at most
}

// An offer is a descriptor with the number that it drew.
type offer struct {
	number uint64
	vector []uint8
}

// compare orders offers by their numbers, then by their vectors, so that the order of the images does not
// count.
func (o offer) compare(other offer) int {
	return cmp.Or(cmp.Compare(o.number, other.number), bytes.Compare(o.vector, other.vector))
}

// Add offers the descriptors of the image called name, which must be unique.
func (s *Sampler) Add(name string, d *features.Descriptors) error {
	if s.Total < 0 || s.PerImage < 0 {
		return fmt.Errorf("vocabulary: a sample of %d descriptors, %d from an image", s.Total, s.PerImage)
	}
	if err := checkDescriptors(d, 0); err != nil {
		return fmt.Errorf("vocabulary: image %q: %w", name, err)
	}
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
	if err := checkDescriptors(d, s.dim); err != nil {
		return fmt.Errorf("vocabulary: image %q: %w", name, err)
	}
	total := cmp.Or(s.Total, defaultTotal)
	for _, o := range offers {
		s.kept = append(s.kept, offer{o.number, slices.Clone(o.vector)})
		if len(s.kept) >= 2*total {
			s.cut(total)
		}
	}
	return nil
}

// cut keeps the least offers, in their order.
func (s *Sampler) cut(total int) {
	slices.SortFunc(s.kept, offer.compare)
	s.kept = slices.Delete(s.kept, min(total, len(s.kept)), len(s.kept))
}

// Sample returns a copy of the descriptors that are kept so far, n×dim, in random order; dim is 0 before any.
func (s *Sampler) Sample() (vectors []uint8, dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut(cmp.Or(s.Total, defaultTotal))
	for _, o := range s.kept {
		vectors = append(vectors, o.vector...)
	}
	return vectors, s.dim
}
