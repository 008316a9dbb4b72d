package vocab

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// points are the words that descriptors are compared with.
//
// A product in single precision scores all words at once: ½‖w‖² − xᵀw orders words as ‖x − w‖²
// does, up to a rounding that is bounded. Words whose scores are within that bound are compared again
// in double precision, so answers are exact.
type points struct {
	n, dim  int
	values  []float64 // n×dim
	single  []float32 // the same, rounded
	halves  []float32 // ½‖w‖²
	longest float64   // the largest ‖w‖
}

// newPoints returns n words of dim zeros.
func newPoints(n, dim int) *points {
	return &points{n: n, dim: dim, values: make([]float64, n*dim), single: make([]float32, n*dim), halves: make([]float32, n)}
}

// word returns word j.
func (p *points) word(j int) []float64 { return p.values[j*p.dim : (j+1)*p.dim] }

// ready is called when word j has changed.
func (p *points) ready(j int) {
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
	word := p.word(j)
	x = x[:len(word)]
	for ; len(x) >= 4 && len(word) >= 4; x, word = x[4:], word[4:] {
		a, b, c, d := float64(x[0])-word[0], float64(x[1])-word[1], float64(x[2])-word[2], float64(x[3])-word[3]
		sums[0] += a * a
		sums[1] += b * b
		sums[2] += c * c
		sums[3] += d * d
	}
	for f, v := range x {
		d := float64(v) - word[f]
		sums[0] += d * d
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

// slack bounds how far the score of a row of the given ‖x‖² can be from
// what it would be without rounding. A sum of dim products, in whatever order,
// is off by at most dim times the rounding of the lengths'
// product; eight more are for what else is rounded.
func (p *points) slack(square float64) float64 {
	const rounding = 0x1p-24
	return float64(p.dim+8) * rounding * p.longest * (math.Sqrt(square) + p.longest)
}

// A panel is a few descriptors that are compared with all words in one
// product.
type panel struct {
	rows    [][]uint8
	squares []float64 // ‖x‖², len(rows)
	single  []float32 // the rows, len(rows)×dim
	scores  []float32 // len(rows)×words
	found   []neighbour
	kth     []float32
}

// newPanel makes room for a panel whose scores stay in the processor's cache.
func (p *points) newPanel() *panel {
	const (
		mostRows   = 256
		leastRows  = 16
		mostScores = 1 << 19
	)
	rows := min(max(mostScores/p.n, leastRows), mostRows)
	return &panel{
		rows:    make([][]uint8, 0, rows),
		squares: make([]float64, rows),
		single:  make([]float32, rows*p.dim),
		scores:  make([]float32, rows*p.n),
	}
}

func (l *panel) full() bool { return len(l.rows) == cap(l.rows) }

// add adds a descriptor of the given ‖x‖² to a panel that is not full.
func (l *panel) add(x []uint8, square int32) {
	single := l.single[len(l.rows)*len(x):][:len(x)]
	for f, v := range x {
		single[f] = float32(v)
	}
	l.squares[len(l.rows)] = float64(square)
	l.rows = append(l.rows, x)
}

// score scores the rows of the panel.
func (p *points) score(l *panel) {
	rows := len(l.rows)
	scores := l.scores[:rows*p.n]
	panels.Dots(scores, matrix(l.single, p.dim), 0, rows, matrix(p.single, p.dim))
	panels.Scores(scores, p.halves)
}

// matrix returns the matrix whose rows of dim numbers data holds.
func matrix(data []float32, dim int) blas.Of[float32] {
	return blas.Of[float32]{Rows: len(data) / dim, Cols: dim, Stride: dim, Data: data}
}

// A neighbour is a word with the square of its distance.
type neighbour struct {
	word     int32
	distance float64
}

func (a neighbour) compare(b neighbour) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.word, b.word))
}

// nearest returns the m nearest words of row i of a panel that was scored, the
// nearest first and ties to the lower word. The answer is overwritten by the
// next one.
func (p *points) nearest(l *panel, i, m int) []neighbour {
	scores := l.scores[i*p.n : (i+1)*p.n]
	var kth float32
	if m == 1 {
		kth = least(scores)
	} else {
		l.kth = topk.Least(scores, m, l.kth)
		kth = l.kth[m-1]
	}
	limit := float32(float64(kth) + 2*p.slack(l.squares[i]))
	l.found = l.found[:0]
	for j, s := range scores {
		if s <= limit {
			l.found = append(l.found, neighbour{int32(j), p.distance(l.rows[i], j)})
		}
	}
	return nearestOf(l.found, m)
}

// beyond returns a distance that no word but own is nearer than to row i of a panel that was scored.
func (p *points) beyond(l *panel, i, own int) float64 {
	scores := l.scores[i*p.n : (i+1)*p.n]
	score := float64(min(least(scores[:own]), least(scores[own+1:])))
	return math.Sqrt(max(l.squares[i]+2*(score-p.slack(l.squares[i])), 0))
}

// least returns the least value, infinite of none.
func least(values []float32) float32 {
	out := float32(math.Inf(1))
	for _, v := range values {
		if v < out {
			out = v
		}
	}
	return out
}

// nearestOf returns the m nearest of those that were found, in order.
func nearestOf(found []neighbour, m int) []neighbour {
	if m == 1 && len(found) > 1 {
		found[0] = slices.MinFunc(found, neighbour.compare)
	} else {
		slices.SortFunc(found, neighbour.compare)
	}
	return found[:m]
}

// square returns ‖x‖², which 32 bits hold for rows of up to mostDim bytes.
func square(x []uint8) (sum int32) {
	for _, v := range x {
		sum += int32(v) * int32(v)
	}
	return sum
}
