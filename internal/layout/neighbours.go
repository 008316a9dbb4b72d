package layout

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	wholeUpTo  = 4096 // points of which neighbours are looked for among all
	inCell     = 256  // points of a cell, about; more are put into cells by their nearest centres
	probed     = 12   // cells nearest to that of a point, in which its neighbours are looked for
	rounds     = 2    // of moving the centres
	rowsAtOnce = 64
)

// neighbour is one of a point's, and the square of its distance.
type neighbour struct {
	j int32
	d float32
}

func nearer(a, b neighbour) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.j, b.j)) }

// lists holds the nearest points of each, rising.
type lists [][]neighbour

// squares returns the squared lengths of points.
func squares(p *project.Points) []float32 {
	out := make([]float32, p.N)
	for i := range out {
		for _, v := range p.At(i) {
			out[i] += v * v
		}
	}
	return out
}

// some returns a matrix of some points.
func some(p *project.Points, which []int32) *project.Points {
	out := &project.Points{N: len(which), D: p.D, Data: make([]float32, 0, len(which)*p.D)}
	for _, i := range which {
		out.Data = append(out.Data, p.At(int(i))...)
	}
	return out
}

// part returns the points from lo up to hi, which it shares.
func part(p *project.Points, lo, hi int) *project.Points {
	return &project.Points{N: hi - lo, D: p.D, Data: p.Data[lo*p.D : hi*p.D]}
}

// eachDistance calls f with the squared distances of each point of a to all of b, in parts, less the squared length of
// the point of a. square holds those of b. It reuses the buffer room, and returns the one used.
func eachDistance(room []float32, a *project.Points, b []*project.Points, square []float32, f func(i int, d []float32)) []float32 {
	n := len(square)
	room = slices.Grow(room[:0], rowsAtOnce*n)[:rowsAtOnce*n]
	for lo := 0; lo < a.N; lo += rowsAtOnce {
		rows := min(rowsAtOnce, a.N-lo)
		for r := range rows {
			copy(room[r*n:][:n], square)
		}
		at := 0
		for _, some := range b {
			blas.MultiplyAlone(blas.NoTrans, blas.Trans, -2, blas.Of[float32]{Rows: rows, Cols: a.D, Stride: a.D, Data: a.Data[lo*a.D:]},
				blas.Of[float32]{Rows: some.N, Cols: some.D, Stride: some.D, Data: some.Data}, 1, blas.Of[float32]{Rows: rows, Cols: some.N, Stride: n, Data: room[at:]})
			at += some.N
		}
		for r := range rows {
			f(lo+r, room[r*n:][:n])
		}
	}
	return room
}

// cells are points in cells.
type cells struct {
	order []int32   // of the points, those of a cell one after the other, as they come
	start []int     // where the points of each cell begin in the order, and its end
	near  [][]int32 // the cells near each, itself among them
}

// cellsOf puts points into cells.
func cellsOf(ctx context.Context, p *project.Points) (*cells, error) {
	out := &cells{order: make([]int32, p.N)}
	c := 1
	if p.N > wholeUpTo {
		c = p.N / inCell
	}
	which := make([]int32, c)
	for k := range which {
		which[k] = int32(k * p.N / c)
	}
	centres := some(p, which)
	cell := make([]int32, p.N)
	for round := range rounds + 1 {
		lengths := squares(centres)
		if err := parallel.Blocks(ctx, 0, p.N, 1024, func(_, lo, hi int) {
			eachDistance(nil, part(p, lo, hi), []*project.Points{centres}, lengths, func(i int, d []float32) {
				best := 0
				for k, v := range d {
					if v < d[best] {
						best = k
					}
				}
				cell[lo+i] = int32(best)
			})
		}); err != nil {
			return nil, err
		}
		if round == rounds {
			break
		}
		sum, size := make([]float64, c*p.D), make([]float64, c)
		for i, k := range cell {
			size[k]++
			for j, v := range p.At(i) {
				sum[int(k)*p.D+j] += float64(v)
			}
		}
		for k := range c {
			for j := 0; j < p.D && size[k] > 0; j++ {
				centres.Data[k*p.D+j] = float32(sum[k*p.D+j] / size[k])
			}
		}
	}
	out.start = make([]int, c+1)
	for _, k := range cell {
		out.start[k+1]++
	}
	for k := range c {
		out.start[k+1] += out.start[k]
	}
	next := slices.Clone(out.start)
	for i, k := range cell {
		out.order[next[k]] = int32(i)
		next[k]++
	}
	out.near = make([][]int32, c)
	eachDistance(nil, centres, []*project.Points{centres}, squares(centres), func(k int, d []float32) {
		d[k] = float32(math.Inf(-1)) // itself first, whatever rounding says
		var nearest []neighbour
		for j, v := range d {
			nearest = topk.Insert(nearest, probed, neighbour{int32(j), v}, nearer)
		}
		for _, x := range nearest {
			out.near[k] = append(out.near[k], x.j)
		}
	})
	return out, nil
}

// neighbours finds k neighbours of each point, of many points nearly the nearest, or fewer if those cells have fewer.
func neighbours(ctx context.Context, p *project.Points, in *cells, k int) (lists, error) {
	square := squares(p)
	out := make(lists, p.N)
	// A task is a block of points of one cell.
	type task struct{ cell, lo, hi int }
	var tasks []task
	for c, end := range in.start[1:] {
		for lo := in.start[c]; lo < end; lo += rowsAtOnce * 4 {
			tasks = append(tasks, task{c, lo, min(lo+rowsAtOnce*4, end)})
		}
	}
	rooms := make([][]float32, parallel.Cores())
	err := parallel.Blocks(ctx, len(rooms), len(tasks), 1, func(worker, at, _ int) {
		q := tasks[at]
		var others []*project.Points
		var lengths []float32
		var number []int32
		for _, c := range in.near[q.cell] {
			lo, hi := in.start[c], in.start[c+1]
			others, lengths = append(others, part(p, lo, hi)), append(lengths, square[lo:hi]...)
			for j := lo; j < hi; j++ {
				number = append(number, int32(j))
			}
		}
		rooms[worker] = eachDistance(rooms[worker], part(p, q.lo, q.hi), others, lengths, func(a int, d []float32) {
			i := q.lo + a
			nearest := make([]neighbour, 0, k)
			limit := float32(math.Inf(1))
			for at, v := range d {
				if v > limit || number[at] == int32(i) {
					continue
				}
				nearest = topk.Insert(nearest, k, neighbour{number[at], v}, nearer)
				if len(nearest) == k {
					limit = nearest[k-1].d
				}
			}
			for at := range nearest {
				nearest[at].d = max(0, nearest[at].d+square[i])
			}
			out[i] = nearest
		})
	})
	return out, err
}

// edge leads from a point to another one.
type edge struct {
	to     int32
	weight float32
}

// graph has the edges of each point, both ways, one point's after the other's.
type graph struct {
	start []int
	edges []edge
}

// of returns the edges of point i.
func (g *graph) of(i int) []edge { return g.edges[g.start[i]:g.start[i+1]] }

// graph weighs each point's neighbours, so that the weights add up to log2 of their number and the nearest has
// 1, and joins both ways of an edge as a + b − ab (section 3.1 of the paper).
func (l lists) graph() *graph {
	weights := make([][]float32, len(l))
	parallel.Do(len(l), func(i int) { weights[i] = weigh(l[i]) })
	weightOf := func(i, j int32) float32 {
		for at, x := range l[i] {
			if x.j == j {
				return weights[i][at]
			}
		}
		return 0
	}
	edges := make([][]edge, len(l))
	for i, of := range l {
		for at, x := range of {
			a, b := weights[i][at], weightOf(x.j, int32(i))
			w := a + b - a*b
			edges[i] = append(edges[i], edge{x.j, w})
			if b == 0 {
				edges[x.j] = append(edges[x.j], edge{int32(i), w})
			}
		}
	}
	g := &graph{start: make([]int, len(l)+1)}
	for i, of := range edges {
		slices.SortFunc(of, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
		g.edges = append(g.edges, of...)
		g.start[i+1] = len(g.edges)
	}
	return g
}

// weigh returns the weights of neighbours, all above 0.
func weigh(of []neighbour) []float32 {
	w := make([]float32, len(of))
	if len(of) == 0 {
		return w
	}
	nearest := math.Sqrt(float64(of[0].d))
	want := elementary.Log2(float64(len(of)) + 1)
	low, high, sigma := 0.0, math.Inf(1), 1.0
	farthest := math.Sqrt(float64(of[len(of)-1].d)) - nearest
	sigma = cmp.Or(farthest, sigma)
	for range 50 {
		sum := 0.0
		for _, x := range of {
			sum += elementary.Exp(-(math.Sqrt(float64(x.d)) - nearest) / sigma)
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
			w[at] = float32(max(elementary.Exp(-(math.Sqrt(float64(x.d))-nearest)/sigma), 1e-4))
		}
	}
	return w
}
