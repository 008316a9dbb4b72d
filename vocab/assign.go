package vocab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Assignment says which words stand for a descriptor. The zero value is the
// nearest word.
type Assignment struct {
	// Nearest is how many words a descriptor is shared among. With 0 or 1 it
	// goes to the nearest word, ties to the lower one; with more, to each of
	// the nearest in proportion to exp(−d²/2σ²), the shares adding up to 1
	// (Philbin et al., "Lost in Quantization", 2008).
	Nearest int `setting:"nearest" default:"1" range:"[1,1e6]" help:"among how many words a descriptor is shared"`
	// Sigma is σ, in the units of descriptors; 0 means √6250, the choice of
	// that paper for SIFT in bytes.
	Sigma float64 `setting:"sigma" default:"79.1" range:"(0,]" help:"spread of the shares, in units of descriptors"`
	// Checks is how many words a descriptor is compared with: with 0, all of a
	// vocabulary of up to 8,192 words and 512 of a larger one. Where there are
	// more words than checks, the nearest are found with randomised kd-trees,
	// and mostly rather than always. A number from that of words on makes the
	// assignment exact.
	Checks int `setting:"checks" range:"[1,1e6]" help:"with how many words a descriptor is compared; all of up to 8192"`
}

const (
	exactWords    = 8192
	defaultChecks = 512
)

var defaultSigma = math.Sqrt(6250)

// checksOf returns how many of n words are compared, n for all.
func checksOf(checks, n int) int {
	if checks == 0 {
		checks = exactWords
		if n > exactWords {
			checks = defaultChecks
		}
	}
	return min(checks, n)
}

// Assigner assigns descriptors to the words of a vocabulary. Several
// goroutines may use one.
type Assigner struct {
	as     Assignment // with what 0 stands for
	points *points
	forest *forest // nil where the assignment is exact
	rooms  sync.Pool
}

// NewAssigner makes an assigner of v, whose words it copies. It is an error if
// the vocabulary or the settings are not valid, or if there are fewer words
// than a descriptor is shared among.
func NewAssigner(ctx context.Context, v *Vocabulary, as Assignment) (*Assigner, error) {
	err := v.checkWords()
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	as.Nearest = cmp.Or(as.Nearest, 1)
	as.Sigma = cmp.Or(as.Sigma, defaultSigma)
	switch {
	case as.Nearest < 1 || as.Nearest > v.Len():
		return nil, fmt.Errorf("vocabulary: a descriptor is shared among %d words of %d", as.Nearest, v.Len())
	case !(as.Sigma > 0) || math.IsInf(as.Sigma, 0):
		return nil, fmt.Errorf("vocabulary: sigma is %v", as.Sigma)
	case as.Checks < 0:
		return nil, fmt.Errorf("vocabulary: %d checks", as.Checks)
	}
	as.Checks = checksOf(as.Checks, v.Len())
	a := &Assigner{as: as, points: v.points()}
	if as.Checks < v.Len() {
		if a.forest, err = newForest(ctx, a.points); err != nil {
			return nil, err
		}
		a.rooms.New = func() any { return a.points.newWalk() }
	} else {
		a.rooms.New = func() any { return a.points.newPanel() }
	}
	return a, nil
}

// Assigned are the words of the p descriptors of an image.
type Assigned struct {
	// Nearest is how many words each descriptor has.
	Nearest int
	// Words is p×Nearest, the nearest first.
	Words []int32
	// Weights is p×Nearest: what each word gets. A descriptor's add up to 1.
	Weights []float64
}

// Assign writes the words of an image's descriptors to dst, whose room it uses
// again. It is an error if the descriptors are not as long as the words.
func (a *Assigner) Assign(dst *Assigned, d *features.Descriptors) error {
	if err := checkDescriptors(d, a.points.dim); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	dst.Nearest = a.as.Nearest
	dst.Words, dst.Weights = dst.Words[:0], dst.Weights[:0]
	dst.Words = slices.Grow(dst.Words, d.Len()*a.as.Nearest)
	dst.Weights = slices.Grow(dst.Weights, d.Len()*a.as.Nearest)
	room := a.rooms.Get()
	defer a.rooms.Put(room)
	switch room := room.(type) {
	case *walk:
		for x := range slices.Chunk(d.Vectors, d.Dim) {
			dst.add(a.forest.nearest(room, x, a.as.Nearest, a.as.Checks), a.as.Sigma)
		}
	case *panel:
		for rows := range slices.Chunk(d.Vectors, d.Dim*cap(room.rows)) {
			room.rows = room.rows[:0]
			for x := range slices.Chunk(rows, d.Dim) {
				room.add(x, square(x))
			}
			a.points.score(room)
			for i := range room.rows {
				dst.add(a.points.nearest(room, i, a.as.Nearest), a.as.Sigma)
			}
		}
		clear(room.rows[:cap(room.rows)]) // the pool must not keep the image's descriptors
	}
	return nil
}

// add appends a descriptor's words.
func (as *Assigned) add(found []neighbour, sigma float64) {
	var sum float64
	first := len(as.Weights)
	for _, a := range found {
		// The nearest has a weight of 1 before they are divided by their sum,
		// so that far descriptors do not get weights of 0.
		weight := elementary.Exp((found[0].distance - a.distance) / (2 * sigma * sigma))
		sum += weight
		as.Words = append(as.Words, a.word)
		as.Weights = append(as.Weights, weight)
	}
	for i := first; i < len(as.Weights); i++ {
		as.Weights[i] /= sum
	}
}
