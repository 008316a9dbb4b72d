package vocab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/guard"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// points are the words that descriptors are compared with. A matrix product in single precision gives scores ½‖w‖² − xᵀw,
// which have the order of ‖x − w‖² up to a bounded rounding error. Words within that error are compared again in double
// precision, so results are exact.
type points struct {
	n, dim  int
	values  []float64 // n×dim
	single  []float32 // values in single precision
	halves  []float32 // ½‖w‖²
	longest float64   // the largest ‖w‖
}

func newPoints(n, dim int) *points {
	return &points{n: n, dim: dim, values: make([]float64, n*dim), single: make([]float32, n*dim), halves: make([]float32, n)}
}

func (p *points) word(j int) []float64 { return p.values[j*p.dim : (j+1)*p.dim] }

// prepare updates single, halves and longest after a change of word j.
func (p *points) prepare(j int) {
	word, single := p.word(j), p.single[j*p.dim:(j+1)*p.dim]
	var square float64
	for f, v := range word {
		single[f] = float32(v)
		square += v * v
	}
	p.halves[j] = float32(square / 2)
	p.longest = max(p.longest, math.Sqrt(square))
}

// distance returns ‖x − w‖² for word j.
func (p *points) distance(x []uint8, j int) float64 {
	var sums [4]float64
	for f, w := range p.word(j) {
		d := float64(x[f]) - w
		if f < p.dim&^3 {
			sums[f&3] += d * d
		} else {
			sums[0] += d * d
		}
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

// finder finds the nearest words of descriptors.
type finder struct {
	*points
	rows   int // number of descriptors per panel, so that scores fit into the cache
	panels freelist.List[*panel]
}

// newFinder returns a finder of the words, which must not change.
func newFinder(p *points) *finder {
	f := &finder{points: p, rows: min(max(1<<19/p.n, 16), 256)}
	f.panels.New = func() *panel {
		return &panel{single: make([]float32, f.rows*p.dim), scores: make([]float32, f.rows*p.n)}
	}
	return f
}

// eachNearest calls use with the m nearest words of each of n descriptors, by distance, ties by word. near is valid
// until use returns.
func (f *finder) eachNearest(n int, row func(i int) []uint8, m int, use func(i int, near []neighbour)) {
	l := f.panels.Get()
	defer f.panels.Put(l)
	for lo := 0; lo < n; lo += f.rows {
		rows := min(f.rows, n-lo)
		for i := range rows {
			for a, v := range row(lo + i) {
				l.single[i*f.dim+a] = float32(v)
			}
		}
		panels.Dots(l.scores, matrix(l.single, f.dim), 0, rows, matrix(f.single, f.dim))
		panels.Scores(l.scores[:rows*f.n], f.halves)
		for i := range rows {
			use(lo+i, f.nearest(l, row(lo+i), l.scores[i*f.n:(i+1)*f.n], m))
		}
	}
}

// A panel is a buffer for a few descriptors in single precision and their scores with all words.
type panel struct {
	single, scores []float32
	kth            []float32
	near           []topk.Scored
	found          []neighbour
}

func matrix(data []float32, dim int) blas.Of[float32] {
	return blas.Of[float32]{Rows: len(data) / dim, Cols: dim, Stride: dim, Data: data}
}

// A neighbour is a word with its squared distance.
type neighbour struct {
	word     int32
	distance float64
}

func (a neighbour) compare(b neighbour) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.word, b.word))
}

// nearest returns the m nearest words of x, given its scores. The result is valid until the next call. A sum of dim
// products, in any order, has an error of at most dim times the unit roundoff times the product of the lengths; 8 more
// cover other roundings.
func (p *points) nearest(l *panel, x []uint8, scores []float32, m int) []neighbour {
	const rounding = 0x1p-24
	slack := float64(p.dim+8) * rounding * p.longest * (math.Sqrt(float64(square(x))) + p.longest)
	l.kth, l.near = topk.Within(scores, m, 2*slack, l.kth, l.near)
	l.found = l.found[:0]
	for _, s := range l.near {
		l.found = append(l.found, neighbour{int32(s.Row), p.distance(x, s.Row)})
	}
	slices.SortFunc(l.found, neighbour.compare)
	return l.found[:m]
}

// square returns ‖x‖². It does not overflow for up to mostDim bytes.
func square(x []uint8) (sum int32) {
	for _, v := range x {
		sum += int32(v) * int32(v)
	}
	return sum
}

// Assignment holds the settings for the assignment of descriptors to words. The zero value means hard assignment to the
// nearest word. With Nearest > 1, soft assignment weights word w by exp(−‖x − w‖²/2σ²).
type Assignment struct {
	Nearest int     `setting:"nearest" default:"1" range:"[1,1e6]" help:"soft assignment: number of nearest words per descriptor"`
	Sigma   float64 `setting:"sigma" default:"79.1" range:"(0,]" help:"width of the Gaussian weights of soft assignment"`
}

var defaultSigma = math.Sqrt(6250)

// Assigner assigns descriptors to the words of a vocabulary. It is safe for concurrent use.
type Assigner struct {
	as     Assignment // defaults filled in
	finder *finder
}

// NewAssigner returns an assigner to a copy of the words of v. It is an error if v or the settings are invalid, or if
// as.Nearest exceeds the number of words.
func NewAssigner(v *Vocabulary, as Assignment) (_ *Assigner, err error) {
	defer wrap(&err, "vocabulary")
	defer guard.Catch(&err)
	guard.Check(v.checkWords())
	as.Nearest, as.Sigma = cmp.Or(as.Nearest, 1), cmp.Or(as.Sigma, defaultSigma)
	guard.FailIf(as.Nearest < 1 || as.Nearest > v.Len(), "nearest %d; expected 1 to the number of words, %d", as.Nearest, v.Len())
	guard.FailIf(!(as.Sigma > 0) || math.IsInf(as.Sigma, 0), "sigma %v; expected more than 0", as.Sigma)
	return &Assigner{as, newFinder(v.points())}, nil
}

// Assigned holds the words of the p descriptors of an image. The weights of a descriptor sum to 1.
type Assigned struct {
	Nearest int       // number of words of a descriptor
	Words   []int32   // p×Nearest, the nearest word first
	Weights []float64 // p×Nearest
}

// Assign writes the words of an image's descriptors to dst and reuses its buffers. It is an error if the descriptors do
// not have the dimension of the words.
func (a *Assigner) Assign(dst *Assigned, d *features.Descriptors) error {
	if err := checkDescriptors(d, a.finder.dim); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	*dst = Assigned{a.as.Nearest, dst.Words[:0], dst.Weights[:0]}
	a.finder.eachNearest(d.Len(), d.Vector, a.as.Nearest, func(_ int, near []neighbour) {
		// Relative to the nearest word, so that the weights of far descriptors do not underflow.
		var sum float64
		first := len(dst.Weights)
		for _, w := range near {
			weight := elementary.Exp((near[0].distance - w.distance) / (2 * a.as.Sigma * a.as.Sigma))
			sum += weight
			dst.Words, dst.Weights = append(dst.Words, w.word), append(dst.Weights, weight)
		}
		for i := first; i < len(dst.Weights); i++ {
			dst.Weights[i] /= sum
		}
	})
	return nil
}
