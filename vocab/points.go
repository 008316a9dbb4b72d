package vocab

import (
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// points are the words that descriptors are compared with.
//
// A product in single precision scores all words at once: ½‖w‖² − xᵀw orders
// words as ‖x − w‖² does, up to a rounding that is bounded. What the scores
// cannot tell apart is compared again in double precision. So answers are
// exact and do not depend on the library that does the product.
type points struct {
	n, dim int
	values []float64 // n×dim
	single []float32 // the same, rounded
	halves []float32 // ½‖w‖²
	// group is how many words, one after the other, share a least score in a
	// panel and a bound in a training.
	group   int
	longest float64 // the largest ‖w‖
}

// newPoints returns n words of dim zeros.
func newPoints(n, dim int) *points {
	const (
		leastGroup = 8
		mostGroups = 32
	)
	return &points{
		n: n, dim: dim,
		values: make([]float64, n*dim),
		single: make([]float32, n*dim),
		halves: make([]float32, n),
		group:  max(leastGroup, (n+mostGroups-1)/mostGroups),
	}
}

// groups returns how many groups of words there are.
func (p *points) groups() int { return (p.n + p.group - 1) / p.group }

// span returns the first word of a group and that after its last.
func (p *points) span(g int) (lo, hi int) {
	return g * p.group, min((g+1)*p.group, p.n)
}

// at returns word j.
func (p *points) at(j int) []float64 { return p.values[j*p.dim : (j+1)*p.dim] }

// ready is called when word j has changed.
func (p *points) ready(j int) {
	word, single := p.at(j), p.single[j*p.dim:(j+1)*p.dim]
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
	word := p.at(j)
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
	least   []float32 // the least score in each group, len(rows)×groups
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
		least:   make([]float32, rows*p.groups()),
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
	least := l.least[:0]
	for i := range rows {
		for group := range slices.Chunk(scores[i*p.n:(i+1)*p.n], p.group) {
			least = append(least, leastOf(group))
		}
	}
}

// matrix returns the matrix whose rows of dim numbers data holds.
func matrix(data []float32, dim int) blas.Of[float32] {
	return blas.Of[float32]{Rows: len(data) / dim, Cols: dim, Stride: dim, Data: data}
}

// leastOf returns the least value, in two chains for speed.
func leastOf(v []float32) float32 {
	a, b := v[0], v[0]
	for ; len(v) >= 2; v = v[2:] {
		a, b = min(a, v[0]), min(b, v[1])
	}
	if len(v) == 1 {
		a = min(a, v[0])
	}
	return min(a, b)
}

// A neighbour is a word with the square of its distance.
type neighbour struct {
	word     int32
	distance float64
}

// reach returns a distance that the word is no farther than.
func (a neighbour) reach() float32 { return float32(math.Sqrt(a.distance) * (1 + 0x1p-22)) }

func (a neighbour) compare(b neighbour) int {
	switch {
	case a.distance != b.distance:
		if a.distance < b.distance {
			return -1
		}
		return 1
	default:
		return int(a.word) - int(b.word)
	}
}

// nearest returns the m nearest words of row i of a panel that was scored, the
// nearest first and ties to the lower word. The answer is overwritten by the
// next one.
func (p *points) nearest(l *panel, i, m int) []neighbour {
	var (
		x      = l.rows[i]
		scores = l.scores[i*p.n : (i+1)*p.n]
		groups = p.groups()
		least  = l.least[i*groups : (i+1)*groups]
		kth    = leastOf(least)
	)
	if m > 1 {
		l.kth = topk.Least(scores, m, l.kth)
		kth = l.kth[m-1]
	}
	limit := float32(float64(kth) + 2*p.slack(l.squares[i]))
	l.found = l.found[:0]
	for g, s := range least {
		if s > limit {
			continue
		}
		for j, hi := p.span(g); j < hi; j++ {
			if scores[j] <= limit {
				l.found = append(l.found, neighbour{int32(j), p.distance(x, j)})
			}
		}
	}
	return nearestOf(l.found, m)
}

// bound writes for each group of words a distance that no word of the group is
// nearer than to row i of a panel that was scored, the row's own word left out.
func (p *points) bound(bounds []float32, l *panel, i, own int) {
	var (
		square = l.squares[i]
		slack  = p.slack(square)
		least  = l.least[i*len(bounds):]
	)
	for g := range bounds {
		score := least[g]
		if g == own/p.group {
			score = float32(math.Inf(1))
			for j, hi := p.span(g); j < hi; j++ {
				if j != own {
					score = min(score, l.scores[i*p.n+j])
				}
			}
		}
		bounds[g] = below(square, score, slack)
	}
}

// below returns a distance that a word of at least the given score is no
// nearer than.
func below(square float64, score float32, slack float64) float32 {
	return float32(math.Sqrt(max(square+2*(float64(score)-slack), 0)) * (1 - 0x1p-22))
}

// nearestOf returns the m nearest of those that were found, in order.
func nearestOf(found []neighbour, m int) []neighbour {
	if m == 1 {
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
