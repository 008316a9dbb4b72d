package vocab

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// defaultTotal is how many descriptors a Sampler keeps.
const defaultTotal = 100_000

// Sampler keeps a random subset of the descriptors of images that stream by.
// Its memory is bounded by Total and does not grow with the number of images.
//
// Every descriptor draws a number from a stream of its image's own, and those
// with the least numbers stay. So the subset depends on the seed, on the names
// of the images and on their descriptors, and not on the order in which the
// images come. Only training images should be added: words that are learned
// from test images know them.
//
// A Sampler may be used by several goroutines at once.
type Sampler struct {
	// Total is the most descriptors that are kept; 0 means 100,000.
	Total int
	// PerImage is the most descriptors that one image gives, so that large
	// images do not outweigh small ones; 0 sets no bound.
	PerImage int
	// Seed makes the subset repeatable.
	Seed uint64

	mu    sync.Mutex
	dim   int
	arena []uint8 // the kept descriptors, a slot of dim bytes each
	drawn []draw  // a heap, the first to go on top
}

// A draw is a kept descriptor's number, with its slot in the arena.
type draw struct {
	number uint64
	slot   int
}

// Add offers the descriptors of the image called name, which are copied where
// they are kept. Images must have names of their own. An image without
// descriptors gives none. It is an error if the descriptors are not as long as
// those of the images before.
func (s *Sampler) Add(name string, d *features.Descriptors) error {
	if s.Total < 0 || s.PerImage < 0 {
		return fmt.Errorf("vocabulary: a sample of %d descriptors, %d from an image", s.Total, s.PerImage)
	}
	if err := check(d, 0); err != nil {
		return fmt.Errorf("vocabulary: image %q: %w", name, err)
	}
	if d.Len() == 0 {
		return nil
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
	if s.dim == 0 {
		s.dim = d.Dim
	}
	if err := check(d, s.dim); err != nil {
		return fmt.Errorf("vocabulary: image %q: %w", name, err)
	}
	for _, o := range offers {
		s.take(o)
	}
	return nil
}

// take keeps a descriptor if there is room, or if another one has to go for it.
func (s *Sampler) take(o offer) {
	if len(s.drawn) < orDefault(s.Total, defaultTotal) {
		slot := len(s.drawn)
		s.arena = append(s.arena, o.vector...)
		heap.Push((*byNumber)(s), draw{o.number, slot})
		return
	}
	if top := s.drawn[0]; o.compare(s.at(top)) < 0 {
		copy(s.at(top).vector, o.vector)
		s.drawn[0].number = o.number
		heap.Fix((*byNumber)(s), 0)
	}
}

// at returns what was offered for a draw.
func (s *Sampler) at(d draw) offer {
	return offer{d.number, s.arena[d.slot*s.dim : (d.slot+1)*s.dim]}
}

// Sample returns the descriptors that are kept so far, n×dim, in random order,
// as a copy. Both are empty, and dim is 0, before any was added.
func (s *Sampler) Sample() (vectors []uint8, dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := slices.Clone(s.drawn)
	slices.SortFunc(order, func(a, b draw) int { return s.at(a).compare(s.at(b)) })
	vectors = make([]uint8, 0, len(s.arena))
	for _, d := range order {
		vectors = append(vectors, s.at(d).vector...)
	}
	return vectors, s.dim
}

// An offer is a descriptor with the number that it drew.
type offer struct {
	number uint64
	vector []uint8
}

// compare orders offers by their numbers. Where two are the same, the vectors
// decide, so that the order in which images come does not.
func (o offer) compare(other offer) int {
	if o.number != other.number {
		return cmp.Compare(o.number, other.number)
	}
	return bytes.Compare(o.vector, other.vector)
}

// byNumber is the heap of a Sampler.
type byNumber Sampler

func (s *byNumber) Len() int { return len(s.drawn) }

func (s *byNumber) Less(i, j int) bool {
	of := (*Sampler)(s)
	return of.at(s.drawn[i]).compare(of.at(s.drawn[j])) > 0
}

func (s *byNumber) Swap(i, j int) { s.drawn[i], s.drawn[j] = s.drawn[j], s.drawn[i] }

func (s *byNumber) Push(d any) { s.drawn = append(s.drawn, d.(draw)) }

func (s *byNumber) Pop() any {
	last := s.drawn[len(s.drawn)-1]
	s.drawn = s.drawn[:len(s.drawn)-1]
	return last
}
