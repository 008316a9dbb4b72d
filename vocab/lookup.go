package vocab

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// product is always gonum's: a call to another library takes longer than the
// product of two descriptors.
var product gonum.Implementation

// A lookup is the room for comparing a descriptor with a few groups of words.
type lookup struct {
	groups []int
	single []float32 // the descriptor
	scores []float32 // of the groups' words
}

func (p *points) newLookup() *lookup {
	return &lookup{single: make([]float32, p.dim)}
}

// open sets and returns the groups that, for all that their bounds say, may
// hold a word as near as the square root of distance.
func (l *lookup) open(bounds []float32, distance float64) []int {
	l.groups = l.groups[:0]
	distance = math.Sqrt(distance)
	for g, bound := range bounds {
		if float64(bound) <= distance {
			l.groups = append(l.groups, g)
		}
	}
	return l.groups
}

// nearer returns the nearest to x, of the given ‖x‖², of its own word and the
// words of the groups in l, ties to the lower word. It renews the bounds: no
// word of a group, the answer left out, is nearer.
func (p *points) nearer(l *lookup, x []uint8, square int32, own neighbour, bounds []float32) neighbour {
	for f, v := range x {
		l.single[f] = float32(v)
	}
	norm := float64(square)
	slack := p.slack(norm)
	limit := (own.distance - norm) / 2 // the score of own
	l.scores = l.scores[:0]
	for _, g := range l.groups {
		for j, hi := p.span(g); j < hi; j++ {
			score := p.halves[j] - product.Sdot(p.dim, l.single, 1, p.single[j*p.dim:], 1)
			l.scores = append(l.scores, score)
			if most := float64(score) + slack; most < limit {
				limit = most
			}
		}
	}
	limit += slack
	near := own
	scores := l.scores
	for _, g := range l.groups {
		for j, hi := p.span(g); j < hi; j++ {
			if float64(scores[0]) <= limit && j != int(own.word) {
				if a := (neighbour{int32(j), p.distance(x, j)}); a.compare(near) < 0 {
					near = a
				}
			}
			scores = scores[1:]
		}
	}
	if near.word != own.word {
		bound := &bounds[int(own.word)/p.group]
		*bound = min(*bound, float32(math.Sqrt(own.distance)*(1-0x1p-22)))
	}
	scores = l.scores
	for _, g := range l.groups {
		least := float32(math.Inf(1))
		for j, hi := p.span(g); j < hi; j++ {
			if j != int(near.word) {
				least = min(least, scores[0])
			}
			scores = scores[1:]
		}
		bounds[g] = below(norm, least, slack)
	}
	return near
}
