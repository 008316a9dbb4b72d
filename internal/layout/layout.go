// Package layout places points of many dimensions on a plane, so that neighbours stay
// neighbours: a graph of neighbours is drawn by attraction along its edges and repulsion of
// all points, as in UMAP (McInnes, Healy and Melville 2018, arXiv:1802.03426).
package layout

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
)

const (
	// neighboursOf each point make the graph.
	neighboursOf = 15
	// samples is how many points repel a point in an epoch, in place of all, and repulsion how
	// strongly they do, beside the edges of the point: UMAP's five samples for each edge.
	samples   = 10
	repulsion = 5
	// curve is a in the similarity 1/(1 + a·d²) of two points at a distance d.
	curve = 1.6
	// epochs of few and of many points.
	mostEpochs, leastEpochs = 400, 200
	manyPoints              = 20000
	// The moments of Adam (Kingma and Ba 2015), with the constants of the batches of uwot.
	beta1, beta2 = 0.5, 0.9
	// spread is half the width of the initial layout.
	spread = 10

	blockOf = 256 // points of a part of the work
)

// Memory returns how many bytes Points takes for n points beside them, about.
func Memory(n int) int64 { return int64(n) * (2*neighboursOf*(4+4)*3 + 6*8) }

// Points returns n places on a plane, x and y of one after the other. The layout begins with the
// first two coordinates, which should be the principal ones. In an epoch all points move at once, so that the result does not
// depend on the number of cores; points that are drawn depend on the epoch and the point. Equal
// points come to lie close to each other. The time is of n·log n, about: from a few
// thousand points on neighbours are looked for in cells (see neighbours), and few of them are
// missed. The only error is the context's.
func Points(ctx context.Context, p *project.Points) ([]float32, error) {
	n := p.N
	at := start(p)
	if n < 3 || p.D == 0 {
		return at, ctx.Err()
	}
	nearest, err := neighbours(ctx, p, min(neighboursOf, n-1))
	if err != nil {
		return nil, err
	}
	g := nearest.graph()
	m := &mover{at: at, next: make([]float32, 2*n), mean: make([]float32, 2*n), square: make([]float32, 2*n), graph: g}
	epochs := mostEpochs
	if n > manyPoints {
		epochs = leastEpochs
	}
	for epoch := range epochs {
		rate := float32(1 - float64(epoch)/float64(epochs))
		one, two := float32(1-math.Pow(beta1, float64(epoch+1))), float32(1-math.Pow(beta2, float64(epoch+1)))
		if err := parallel.Blocks(ctx, 0, n, blockOf, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				m.move(i, epoch, rate, one, two)
			}
		}); err != nil {
			return nil, err
		}
		m.at, m.next = m.next, m.at
	}
	return m.at, nil
}

// start returns the first two coordinates, to the spread, with a little noise, which parts
// points that are equal.
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
		noise := float32(mix(uint64(i), 1<<40)>>40)/(1<<24) - 0.5
		at[i] = at[i]*scale + 1e-3*noise
	}
	return at
}

func abs(x float32) float32 { return max(x, -x) }

// mix returns 64 bits that look random and depend on both numbers alone (the finaliser of
// SplitMix64).
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mover moves points by Adam along the gradient.
type mover struct {
	at, next     []float32
	mean, square []float32
	graph        *graph
}

func (m *mover) move(i, epoch int, rate, one, two float32) {
	x, y := m.at[2*i], m.at[2*i+1]
	var gx, gy, total float32
	g := m.graph
	for e := g.start[i]; e < g.start[i+1]; e++ {
		j, w := g.to[e], g.weight[e]
		dx, dy := m.at[2*j]-x, m.at[2*j+1]-y
		f := w * 2 * curve / (1 + curve*(dx*dx+dy*dy))
		gx += f * dx
		gy += f * dy
		total += w
	}
	n := uint64(len(m.at) / 2)
	var rx, ry float32
	for s := range samples {
		j := (mix(uint64(i), uint64(epoch*samples+s)) >> 32) * n >> 32
		dx, dy := x-m.at[2*j], y-m.at[2*j+1]
		d := dx*dx + dy*dy
		f := 2 / ((0.001 + d) * (1 + curve*d))
		rx += min(4, max(-4, f*dx))
		ry += min(4, max(-4, f*dy))
	}
	f := repulsion * total / (2 * samples)
	m.next[2*i] = x + m.step(2*i, gx+f*rx, rate, one, two)
	m.next[2*i+1] = y + m.step(2*i+1, gy+f*ry, rate, one, two)
}

// step returns by how much a coordinate moves uphill the gradient g.
func (m *mover) step(c int, g, rate, one, two float32) float32 {
	m.mean[c] = beta1*m.mean[c] + (1-beta1)*g
	m.square[c] = beta2*m.square[c] + (1-beta2)*g*g
	return rate * (m.mean[c] / one) / (float32(math.Sqrt(float64(m.square[c]/two))) + 1e-7)
}
