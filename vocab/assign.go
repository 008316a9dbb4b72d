package vocab

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Assignment says which words stand for a descriptor. The zero value is the nearest word.
type Assignment struct {
	Nearest int     `setting:"nearest" default:"1" range:"[1,1e6]" help:"among how many words a descriptor is shared"`
	Sigma   float64 `setting:"sigma" default:"79.1" range:"(0,]" help:"spread of the shares, in units of descriptors"`
	Checks  int     `setting:"checks" range:"[1,1e6]" help:"with how many words a descriptor is compared; all of up to 8192"`
}

var defaultSigma = math.Sqrt(6250)

// checksOf returns how many of n words are compared, n for all.
func checksOf(checks, n int) int {
	const exactWords, defaultChecks = 8192, 512
	if checks == 0 && n > exactWords {
		checks = defaultChecks
	}
	return min(cmp.Or(checks, n), n)
}

// Assigner assigns descriptors to the words of a vocabulary. Several goroutines may use one.
type Assigner struct {
	as     Assignment // with its defaults
	finder *finder
}

// NewAssigner makes an assigner of v, whose words it copies. It is an error if the vocabulary or the settings
// are not valid, or if there are fewer words than a descriptor is shared among.
func NewAssigner(ctx context.Context, v *Vocabulary, as Assignment) (_ *Assigner, err error) {
	defer wrap(&err, "vocabulary")
	if err := v.checkWords(); err != nil {
		return nil, err
	}
	as.Nearest, as.Sigma = cmp.Or(as.Nearest, 1), cmp.Or(as.Sigma, defaultSigma)
	switch {
	case as.Nearest < 1 || as.Nearest > v.Len():
		return nil, fmt.Errorf("a descriptor is shared among %d words of %d", as.Nearest, v.Len())
	case !(as.Sigma > 0) || math.IsInf(as.Sigma, 0):
		return nil, fmt.Errorf("sigma is %v", as.Sigma)
	case as.Checks < 0:
		return nil, fmt.Errorf("%d checks", as.Checks)
	}
	f, err := newFinder(ctx, v.points(), checksOf(as.Checks, v.Len()))
	return &Assigner{as, f}, err
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

// Assign writes the words of an image's descriptors to dst, whose buffers it reuses. It is an error if the
// descriptors are not as long as the words.
func (a *Assigner) Assign(dst *Assigned, d *features.Descriptors) error {
	if err := checkDescriptors(d, a.finder.dim); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	*dst = Assigned{a.as.Nearest, dst.Words[:0], dst.Weights[:0]}
	a.finder.each(d.Len(), d.Vector, a.as.Nearest, func(_ int, near []neighbour) { dst.add(near, a.as.Sigma) })
	return nil
}

// add appends a descriptor's words.
func (as *Assigned) add(found []neighbour, sigma float64) {
	var sum float64
	first := len(as.Weights)
	for _, a := range found {
		// The nearest has a weight of 1 before they are divided by their sum, so that far descriptors do not
		// get weights of 0.
		weight := elementary.Exp((found[0].distance - a.distance) / (2 * sigma * sigma))
		sum += weight
		as.Words = append(as.Words, a.word)
		as.Weights = append(as.Weights, weight)
	}
	for i := first; i < len(as.Weights); i++ {
		as.Weights[i] /= sum
	}
}
