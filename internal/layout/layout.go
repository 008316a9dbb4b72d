// Package layout places points of many dimensions on a plane, so that neighbours stay neighbours: a graph of
// neighbours is drawn by attraction along its edges and repulsion of all points, as in UMAP (McInnes, Healy and
// Melville 2018, arXiv:1802.03426).
package layout

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
)

const (
	neighboursOf = 15  // each point make the graph
	samples      = 10  // points that repel a point in an epoch, in place of all
	repulsion    = 5   // how strongly they do: UMAP's five samples for each edge
	curve        = 1.6 // a in the similarity 1/(1 + a·d²) of two points at a distance d
	// epochs of few and of many points. The rate falls with the square of the epochs that are left: as many
	// neighbours stay as after 400 and 200 epochs of a rate from 1 that falls evenly.
	mostEpochs, leastEpochs = 280, 140
	manyPoints              = 20000
	firstRate               = 2
	beta1, beta2            = 0.5, 0.9 // the moments of Adam (Kingma and Ba 2015), as in uwot
	spread                  = 10       // half the width of the initial layout

	// mostRepelled is the most by which one point repels another along either axis, and repelledLess the square of
	// a distance from which on it is less.
	mostRepelled = 2
	repelledLess = 0.2

	blockOf = 256 // points of a part of the work
)

// Memory returns how many bytes Points takes for n points beside them, about.
func Memory(n int) int64 { return int64(n) * (2*neighboursOf*(4+4)*3 + 6*8) }

// Points returns n places on a plane, x and y of one after the other. The layout begins with the first two
// coordinates, which should be the principal ones. In an epoch all points move at once, so that the result does
// not depend on the number of cores. It takes O(n log n) time, about: neighbours of many points are looked for
// in cells. The only error is the context's.
func Points(ctx context.Context, p *project.Points) ([]float32, error) {
	n := p.N
	if n < 3 || p.D == 0 {
		return start(p), ctx.Err()
	}
	// In the order of the cells most neighbours lie near each other in memory.
	in, err := cellsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	p = some(p, in.order)
	nearest, err := neighbours(ctx, p, in, min(neighboursOf, n-1))
	if err != nil {
		return nil, err
	}
	at := start(p)
	m := &mover{graph: nearest.graph(), repelled: make([]float32, n), at: make([]place, n), next: make([]place, n), mean: make([]place, n), square: make([]place, n)}
	for i := range n {
		m.at[i] = place{at[2*i], at[2*i+1]}
		total := float32(0)
		for _, e := range m.graph.of(i) {
			total += e.weight
		}
		m.repelled[i] = repulsion * total / samples
	}
	epochs := mostEpochs
	if n > manyPoints {
		epochs = leastEpochs
	}
	for epoch := range epochs {
		left := 1 - float64(epoch)/float64(epochs)
		m.epoch = uint64(epoch)
		m.rate = float32(firstRate * left * left / (1 - elementary.Pow(beta1, float64(epoch+1))))
		m.less = float32(1 / (1 - elementary.Pow(beta2, float64(epoch+1))))
		if err := parallel.Blocks(ctx, 0, n, blockOf, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				m.move(i)
			}
		}); err != nil {
			return nil, err
		}
		m.at, m.next = m.next, m.at
	}
	for place, i := range in.order {
		at[2*i], at[2*i+1] = m.at[place].x, m.at[place].y
	}
	return at, nil
}

// start returns the first two coordinates, to the spread, with noise that parts equal points.
func start(p *project.Points) []float32 {
	at := make([]float32, 2*p.N)
	largest := float32(0)
	for i := range p.N {
		row := p.At(i)
		copy(at[2*i:2*i+2], row[:min(2, len(row))])
		largest = max(largest, abs(at[2*i]), abs(at[2*i+1]))
	}
	scale := float32(0)
	if largest > 0 {
		scale = spread / largest
	}
	for i := range at {
		at[i] = at[i]*scale + 1e-3*(float32(mix(uint64(i), 1<<40)>>40)/(1<<24)-0.5)
	}
	return at
}

func abs(x float32) float32 { return max(x, -x) }

// mix returns 64 bits that look random and depend on both numbers alone (the finaliser of SplitMix64).
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// place is a point of the plane, or a move on it.
type place struct{ x, y float32 }

// mover moves points by Adam along the gradient.
type mover struct {
	graph        *graph
	repelled     []float32 // by how much the points that are drawn repel each point
	at, next     []place
	mean, square []place

	// Of an epoch: its number, by what means are multiplied for a step, and squares for their mean.
	epoch      uint64
	rate, less float32
}

func (m *mover) move(i int) {
	p := m.at[i]
	var g, r place
	for _, e := range m.graph.of(i) {
		q := m.at[e.to]
		dx, dy := q.x-p.x, q.y-p.y
		f := e.weight / (1 + curve*(dx*dx+dy*dy))
		g.x += f * dx
		g.y += f * dy
	}
	n := uint64(len(m.at))
	for s := range uint64(samples / 2) {
		drawn := mix(uint64(i), m.epoch*(samples/2)+s)
		a, b := p.repelled(m.at[drawn>>32*n>>32]), p.repelled(m.at[drawn&math.MaxUint32*n>>32])
		r = place{r.x + a.x + b.x, r.y + a.y + b.y}
	}
	f := m.repelled[i]
	m.next[i] = place{
		p.x + m.step(2*curve*g.x+f*r.x, &m.mean[i].x, &m.square[i].x),
		p.y + m.step(2*curve*g.y+f*r.y, &m.mean[i].y, &m.square[i].y),
	}
}

// repelled returns by how much q repels p: by half of the gradient of the paper.
func (p place) repelled(q place) place {
	dx, dy := p.x-q.x, p.y-q.y
	d := dx*dx + dy*dy
	f := 1 / ((0.001 + d) * (1 + curve*d))
	r := place{f * dx, f * dy}
	if d < repelledLess {
		r.x, r.y = min(mostRepelled, max(-mostRepelled, r.x)), min(mostRepelled, max(-mostRepelled, r.y))
	}
	return r
}

// step returns by how much a coordinate moves uphill the gradient g.
func (m *mover) step(g float32, mean, square *float32) float32 {
	*mean = beta1**mean + (1-beta1)*g
	*square = beta2**square + (1-beta2)*g*g
	return m.rate * *mean / (float32(math.Sqrt(float64(m.less**square))) + 1e-7)
}
