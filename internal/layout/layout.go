// Package layout embeds high-dimensional points in the plane so that neighbours stay neighbours, with the forces of UMAP:
// attraction along the edges of a neighbour graph and repulsion between all points (McInnes, Healy and Melville 2018,
// arXiv:1802.03426).
package layout

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/neighbours"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
)

const (
	neighboursOf = 15  // number of neighbours of each point in the graph
	samples      = 10  // number of negative samples per point and epoch
	repulsion    = 5   // strength of the repulsion: UMAP's five negative samples per edge
	curve        = 1.6 // a in the similarity 1/(1 + a·d²) of two points at distance d
	// Numbers of epochs for few and for many points. The rate decreases with the square of the remaining epochs, which
	// preserves as many neighbours as 400 and 200 epochs with a linear decrease from 1.
	mostEpochs, leastEpochs = 280, 140
	manyPoints              = 20000
	firstRate               = 2
	beta1, beta2            = 0.5, 0.9 // decay rates of Adam (Kingma and Ba 2015), as in uwot
	spread                  = 10       // half the width of the initial layout

	// mostRepelled bounds the repulsion between two points along each axis. It is reached only for squared distances
	// below repelledLess.
	mostRepelled = 2
	repelledLess = 0.2

	probed  = 12  // number of cells to search for neighbours of a point
	blockOf = 256 // points per work item
)

// Memory returns an estimate of the bytes that Points allocates for n points.
func Memory(n int) int64 { return int64(n) * (2*neighboursOf*(4+4)*3 + 6*8) }

// Points returns the positions of n points in the plane as x, y pairs. The initial positions are the first two
// coordinates, which should be the principal components. All points move at the same time in an epoch, so the result
// does not depend on the number of cores. It takes about O(n log n) time. The only error is the error of ctx.
func Points(ctx context.Context, p *project.Points) ([]float32, error) {
	n := p.N
	if n < 3 || p.D == 0 {
		return start(p), ctx.Err()
	}
	points := neighbours.Points{N: n, D: p.D, Copy: func(dst []float32, i int) { copy(dst, p.At(i)) }}
	order, near, err := neighbours.Find(ctx, points, min(neighboursOf, n-1), probed)
	if err != nil {
		return nil, err
	}
	at := start(p)
	m := &mover{edges: graph(near), repelled: make([]float32, n)}
	m.at, m.next, m.mean, m.square = make([]vector, n), make([]vector, n), make([]vector, n), make([]vector, n)
	for i, point := range order {
		m.at[i] = vector{at[2*point], at[2*point+1]}
		total := float32(0)
		for _, e := range m.edges[i] {
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
	for place, i := range order {
		at[2*i], at[2*i+1] = m.at[place].x, m.at[place].y
	}
	return at, nil
}

// start returns the first two coordinates scaled to spread, with noise that separates equal points.
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
		at[i] = at[i]*scale + 1e-3*(float32(hash(uint64(i), 1<<40)>>40)/(1<<24)-0.5)
	}
	return at
}

func abs(x float32) float32 { return max(x, -x) }

// hash returns a 64-bit hash of two numbers (the finaliser of SplitMix64).
func hash(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// vector is a point or a vector in the plane.
type vector struct{ x, y float32 }

// mover moves points along the gradient with Adam.
type mover struct {
	edges        [][]edge  // edges of each point, in both directions
	repelled     []float32 // weight of the repulsion of each point
	at, next     []vector
	mean, square []vector

	// The epoch, its step size with bias correction, and the bias correction of the squares.
	epoch      uint64
	rate, less float32
}

func (m *mover) move(i int) {
	p := m.at[i]
	var g, r vector
	for _, e := range m.edges[i] {
		q := m.at[e.to]
		dx, dy := q.x-p.x, q.y-p.y
		f := e.weight / (1 + curve*(dx*dx+dy*dy))
		g.x += f * dx
		g.y += f * dy
	}
	n := uint64(len(m.at))
	for s := range uint64(samples / 2) {
		drawn := hash(uint64(i), m.epoch*(samples/2)+s)
		a, b := p.repulsion(m.at[drawn>>32*n>>32]), p.repulsion(m.at[drawn&math.MaxUint32*n>>32])
		r = vector{r.x + a.x + b.x, r.y + a.y + b.y}
	}
	f := m.repelled[i]
	m.next[i] = vector{
		p.x + m.step(2*curve*g.x+f*r.x, &m.mean[i].x, &m.square[i].x),
		p.y + m.step(2*curve*g.y+f*r.y, &m.mean[i].y, &m.square[i].y),
	}
}

// repulsion returns the repulsion of p by q: half of the paper's gradient.
func (p vector) repulsion(q vector) vector {
	dx, dy := p.x-q.x, p.y-q.y
	d := dx*dx + dy*dy
	f := 1 / ((0.001 + d) * (1 + curve*d))
	r := vector{f * dx, f * dy}
	if d < repelledLess {
		r.x, r.y = min(mostRepelled, max(-mostRepelled, r.x)), min(mostRepelled, max(-mostRepelled, r.y))
	}
	return r
}

// step returns the step of a coordinate for the gradient g and updates the moments.
func (m *mover) step(g float32, mean, square *float32) float32 {
	*mean = beta1**mean + (1-beta1)*g
	*square = beta2**square + (1-beta2)*g*g
	return m.rate * *mean / (float32(math.Sqrt(float64(m.less**square))) + 1e-7)
}

type edge struct {
	to     int32
	weight float32
}

// graph returns UMAP's fuzzy neighbour graph. The weights of a point's neighbours sum to log2 of their number, with 1 for
// the nearest. The two directions of an edge are combined as a + b − ab (section 3.1 of the paper).
func graph(near [][]neighbours.Neighbour) [][]edge {
	weights := make([][]float32, len(near))
	parallel.Do(len(near), func(i int) { weights[i] = edgeWeights(near[i]) })
	edges := make([][]edge, len(near))
	for i, of := range near {
		for at, x := range of {
			a, b := weights[i][at], float32(0)
			if back := slices.IndexFunc(near[x.Place], func(y neighbours.Neighbour) bool { return y.Place == int32(i) }); back >= 0 {
				b = weights[x.Place][back]
			}
			w := a + b - a*b
			edges[i] = append(edges[i], edge{x.Place, w})
			if b == 0 {
				edges[x.Place] = append(edges[x.Place], edge{int32(i), w})
			}
		}
	}
	for _, of := range edges {
		slices.SortFunc(of, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
	}
	return edges
}

// edgeWeights returns the weights of a point's neighbours, all > 0.
func edgeWeights(of []neighbours.Neighbour) []float32 {
	w := make([]float32, len(of))
	if len(of) == 0 {
		return w
	}
	nearest := math.Sqrt(float64(of[0].Square))
	want := elementary.Log2(float64(len(of)) + 1)
	low, high, sigma := 0.0, math.Inf(1), 1.0
	farthest := math.Sqrt(float64(of[len(of)-1].Square)) - nearest
	sigma = cmp.Or(farthest, sigma)
	for range 50 {
		sum := 0.0
		for _, x := range of {
			sum += elementary.Exp(-(math.Sqrt(float64(x.Square)) - nearest) / sigma)
		}
		if math.Abs(sum-want) < 1e-4 {
			break
		}
		if sum > want {
			high = sigma
		} else {
			low = sigma
		}
		if sigma = (low + high) / 2; math.IsInf(high, 1) {
			sigma = 2 * low
		}
	}
	sigma = max(sigma, 1e-3*farthest)
	for at, x := range of {
		w[at] = 1
		if farthest > 0 {
			w[at] = float32(max(elementary.Exp(-(math.Sqrt(float64(x.Square))-nearest)/sigma), 1e-4))
		}
	}
	return w
}
