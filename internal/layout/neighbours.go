package layout

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	// wholeUpTo is up to how many points neighbours are looked for among all. More are put
	// into cells of about inCell points by their nearest centres, and neighbours of a point
	// are looked for in the cells whose centres are the nearest ones to that of its own.
	wholeUpTo = 4096
	inCell    = 256
	probed    = 12
	rounds    = 2 // of moving the centres

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

// eachDistance calls f with the squared distances of each point of a to all of b.
func eachDistance(a, b *project.Points, sa, sb []float32, f func(i int, d []float32)) {
	room := make([]float32, rowsAtOnce*b.N)
	for lo := 0; lo < a.N; lo += rowsAtOnce {
		rows := min(rowsAtOnce, a.N-lo)
		blas.MultiplyAlone(blas.NoTrans, blas.Trans, -2, blas.Of[float32]{Rows: rows, Cols: a.D, Stride: a.D, Data: a.Data[lo*a.D:]},
			blas.Of[float32]{Rows: b.N, Cols: b.D, Stride: b.D, Data: b.Data}, 0, blas.Of[float32]{Rows: rows, Cols: b.N, Stride: b.N, Data: room})
		for r := range rows {
			d := room[r*b.N:][:b.N]
			for j := range d {
				d[j] = max(0, d[j]+sa[lo+r]+sb[j])
			}
			f(lo+r, d)
		}
	}
}

// cells puts points into cells, and returns the points of each and the cells near it, itself
// among them.
func cells(ctx context.Context, p *project.Points, square []float32) (members, near [][]int32, err error) {
	all := make([]int32, p.N)
	for i := range all {
		all[i] = int32(i)
	}
	if p.N <= wholeUpTo {
		return [][]int32{all}, [][]int32{{0}}, nil
	}
	c := p.N / inCell
	which := make([]int32, c)
	for k := range which {
		which[k] = int32(k * p.N / c)
	}
	centres := some(p, which)
	cell := make([]int32, p.N)
	for round := range rounds + 1 {
		lengths := squares(centres)
		if err := parallel.Blocks(ctx, 0, p.N, 1024, func(_, lo, hi int) {
			part := &project.Points{N: hi - lo, D: p.D, Data: p.Data[lo*p.D : hi*p.D]}
			eachDistance(part, centres, square[lo:hi], lengths, func(i int, d []float32) {
				best := 0
				for k, v := range d {
					if v < d[best] {
						best = k
					}
				}
				cell[lo+i] = int32(best)
			})
		}); err != nil {
			return nil, nil, err
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
	members = make([][]int32, c)
	for i, k := range cell {
		members[k] = append(members[k], int32(i))
	}
	near = make([][]int32, c)
	lengths := squares(centres)
	eachDistance(centres, centres, lengths, lengths, func(k int, d []float32) {
		d[k] = -1 // itself first, whatever rounding says
		var nearest []neighbour
		for j, v := range d {
			nearest = topk.Insert(nearest, probed, neighbour{int32(j), v}, nearer)
		}
		for _, x := range nearest {
			near[k] = append(near[k], x.j)
		}
	})
	return members, near, nil
}

// neighbours finds k neighbours of each point: the nearest ones, of many points nearly so. Points
// that have fewer in the cells near theirs get fewer.
func neighbours(ctx context.Context, p *project.Points, k int) (lists, error) {
	square := squares(p)
	members, near, err := cells(ctx, p, square)
	if err != nil {
		return nil, err
	}
	out := make(lists, p.N)
	// A part of the work is a block of points of one cell.
	type part struct {
		cell   int
		lo, hi int
	}
	var parts []part
	for c, of := range members {
		for lo := 0; lo < len(of); lo += rowsAtOnce * 4 {
			parts = append(parts, part{c, lo, min(lo+rowsAtOnce*4, len(of))})
		}
	}
	err = parallel.Blocks(ctx, 0, len(parts), 1, func(_, at, _ int) {
		q := parts[at]
		rows := members[q.cell][q.lo:q.hi]
		var others []int32
		for _, c := range near[q.cell] {
			others = append(others, members[c]...)
		}
		pick := func(which []int32) []float32 {
			s := make([]float32, len(which))
			for a, i := range which {
				s[a] = square[i]
			}
			return s
		}
		b := p
		if len(others) < p.N {
			b = some(p, others)
		}
		eachDistance(some(p, rows), b, pick(rows), pick(others), func(a int, d []float32) {
			i := rows[a]
			nearest := make([]neighbour, 0, k)
			limit := float32(math.Inf(1))
			for at, v := range d {
				if v > limit || others[at] == i {
					continue
				}
				nearest = topk.Insert(nearest, k, neighbour{others[at], v}, nearer)
				if len(nearest) == k {
					limit = nearest[k-1].d
				}
			}
			out[i] = nearest
		})
	})
	return out, err
}

// graph has the edges of each point, both ways.
type graph struct {
	start  []int
	to     []int32
	weight []float32
}

// graph weighs each point's neighbours, so that the weights add up to log2 of their number and the nearest
// has 1, and joins both ways of an edge as a + b − ab (section 3.1 of the paper).
func (l lists) graph() *graph {
	type edge struct {
		to     int32
		weight float32
	}
	edges := make([][]edge, len(l))
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
		for _, e := range of {
			g.to, g.weight = append(g.to, e.to), append(g.weight, e.weight)
		}
		g.start[i+1] = len(g.to)
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
	want := math.Log2(float64(len(of)) + 1)
	low, high, sigma := 0.0, math.Inf(1), 1.0
	farthest := math.Sqrt(float64(of[len(of)-1].d)) - nearest
	if farthest > 0 {
		sigma = farthest
	}
	for range 50 {
		sum := 0.0
		for _, x := range of {
			sum += math.Exp(-(math.Sqrt(float64(x.d)) - nearest) / sigma)
		}
		if math.Abs(sum-want) < 1e-4 {
			break
		}
		if sum > want {
			high = sigma
			sigma = (low + high) / 2
		} else if low = sigma; math.IsInf(high, 1) {
			sigma *= 2
		} else {
			sigma = (low + high) / 2
		}
	}
	sigma = max(sigma, 1e-3*farthest)
	for at, x := range of {
		w[at] = 1
		if farthest > 0 {
			w[at] = float32(max(math.Exp(-(math.Sqrt(float64(x.d))-nearest)/sigma), 1e-4))
		}
	}
	return w
}
