// Package neighbours finds the nearest neighbours of points: exactly for few points, else approximately, in the nearest
// cells of k-means. The time for n points is about linear in n, and each core copies at most a few thousand points.
package neighbours

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	exhaustive  = 4096 // largest number of points that form one cell
	inCell      = 256  // mean number of points in a cell
	mostInCell  = 2048 // largest number; larger cells are divided
	rounds      = 2    // number of k-means iterations for the cells
	passes      = 2    // number of searches among the neighbours of neighbours
	rowsInBlock = 256  // points per work item
)

// Points are N points of D coordinates. Copy writes point i to dst; it is called concurrently.
type Points struct {
	N, D int
	Copy func(dst []float32, i int)
}

// Neighbour is the place of a point in an order and its squared distance.
type Neighbour struct {
	Place  int32
	Square float32
}

func nearer(a, b Neighbour) int {
	return cmp.Or(cmp.Compare(a.Square, b.Square), cmp.Compare(a.Place, b.Place))
}

// Find returns an order of the points in which most neighbours are close, and for each place in it the up to k nearest
// neighbours, the nearest first. It searches the probed cells nearest to the point's cell, then the neighbours of the
// neighbours of the points beside it. The only error is the error of ctx.
func Find(ctx context.Context, p Points, k, probed int) (order []int32, near [][]Neighbour, err error) {
	c, err := newCells(ctx, p, probed)
	if err != nil {
		return nil, nil, err
	}
	near, err = c.search(ctx, p, k, nil, func(cell, _, _ int) (places []int32) {
		for _, other := range c.near[cell] {
			for place := c.start[other]; place < c.start[other+1]; place++ {
				places = append(places, int32(place))
			}
		}
		return places
	})
	for range passes {
		if p.N <= exhaustive || err != nil {
			break
		}
		before := near
		near, err = c.search(ctx, p, k, before, func(_, lo, hi int) (places []int32) {
			seen := make([]uint64, p.N/64+1) // a bit for each place
			for _, list := range before[lo:hi] {
				for _, x := range list {
					seen[x.Place/64] |= 1 << (x.Place % 64)
					for _, y := range before[x.Place] {
						seen[y.Place/64] |= 1 << (y.Place % 64)
					}
				}
			}
			for word, set := range seen {
				for ; set != 0; set &= set - 1 {
					places = append(places, int32(64*word+bits.TrailingZeros64(set)))
				}
			}
			return places
		})
	}
	return c.order, near, err
}

// search returns the k nearest neighbours of each place among the candidates of its block, places lo to hi−1 of a cell. The
// candidates include the neighbours in before, if any.
func (c *cells) search(ctx context.Context, p Points, k int, before [][]Neighbour, candidates func(cell, lo, hi int) []int32) ([][]Neighbour, error) {
	type task struct{ cell, lo, hi int }
	var tasks []task
	for cell, end := range c.start[1:] {
		for lo := c.start[cell]; lo < end; lo += rowsInBlock {
			tasks = append(tasks, task{cell, lo, min(lo+rowsInBlock, end)})
		}
	}
	near := make([][]Neighbour, p.N)
	return near, parallel.Blocks(ctx, 0, len(tasks), 1, func(_, at, _ int) {
		t := tasks[at]
		places := candidates(t.cell, t.lo, t.hi)
		points := lists.Map(places, func(place int32) int32 { return c.order[place] })
		own := newSet(p, c.order[t.lo:t.hi], c.squares)
		own.eachDistance(newSet(p, points, c.squares), func(a int, d []float32) {
			place, square, nearest, most := int32(t.lo+a), own.squares[a], make([]Neighbour, 0, k), float32(math.Inf(1))
			if before != nil && len(before[place]) == k {
				most = before[place][k-1].Square*(1+1e-5) - square + 1e-5*square
			}
			for at, v := range d {
				if !(v > most) && places[at] != place {
					if nearest = topk.Insert(nearest, k, Neighbour{places[at], v}, nearer); len(nearest) == k {
						most = min(most, nearest[k-1].Square)
					}
				}
			}
			for at := range nearest {
				nearest[at].Square = max(0, nearest[at].Square+square)
			}
			near[place] = nearest
		})
	})
}

// cells divide points.
type cells struct {
	order []int32   // points sorted by cell
	start []int     // offset in order of each cell, and the end
	near  [][]int32 // the nearest cells of each cell, itself first

	squares []float32 // squared length of each point
}

func newCells(ctx context.Context, p Points, probed int) (*cells, error) {
	count := 1
	if p.N > exhaustive {
		count = p.N / inCell
	}
	all, first := make([]int32, p.N), make([]int32, count)
	for i := range all {
		all[i] = int32(i)
	}
	for k := range first {
		first[k] = int32(k * p.N / count)
	}
	c := &cells{start: []int{0}, squares: make([]float32, p.N)}
	parallel.Do(parallel.Count(p.N, rowsInBlock), func(at int) {
		lo, hi := at*rowsInBlock, min((at+1)*rowsInBlock, p.N)
		newSet(p, all[lo:hi], nil).measure(c.squares[lo:hi])
	})
	centres, cellOf := newSet(p, first, c.squares), make([]int32, p.N)
	for round := range rounds + 1 {
		if round > 0 {
			centres.moveToMeans(p, cellOf)
		}
		if err := parallel.Blocks(ctx, 0, p.N, 4*rowsInBlock, func(_, lo, hi int) {
			newSet(p, all[lo:hi], c.squares).eachDistance(centres, func(i int, d []float32) {
				best := 0
				for k, v := range d {
					if v < d[best] {
						best = k
					}
				}
				cellOf[lo+i] = int32(best)
			})
		}); err != nil {
			return nil, err
		}
	}
	members := make([][]int32, count)
	for i, k := range cellOf {
		members[k] = append(members[k], int32(i))
	}
	var centreOf []int32 // several cells share the centre of too many points
	for k, points := range members {
		for part := range slices.Chunk(points, mostInCell) {
			c.order = append(c.order, part...)
			c.start, centreOf = append(c.start, len(c.order)), append(centreOf, int32(k))
		}
	}
	centres = newSet(Points{count, p.D, func(dst []float32, k int) { copy(dst, centres.row(k)) }}, centreOf, centres.squares)
	c.near = make([][]int32, len(centreOf))
	centres.eachDistance(centres, func(k int, d []float32) {
		d[k] = float32(math.Inf(-1)) // itself first, despite rounding
		var nearest []Neighbour
		for j, v := range d {
			nearest = topk.Insert(nearest, probed, Neighbour{int32(j), v}, nearer)
		}
		c.near[k] = lists.Map(nearest, func(x Neighbour) int32 { return x.Place })
	})
	return c, nil
}

// set holds copies of points.
type set struct {
	blas.Of[float32]
	squares []float32 // squared lengths
}

// newSet copies some points. squares holds the squared lengths of all points, or is nil.
func newSet(p Points, which []int32, squares []float32) *set {
	s := &set{blas.Of[float32]{Rows: len(which), Cols: p.D, Stride: p.D, Data: make([]float32, len(which)*p.D)}, make([]float32, len(which))}
	for at, i := range which {
		p.Copy(s.row(at), int(i))
		if squares != nil {
			s.squares[at] = squares[i]
		}
	}
	return s
}

func (s *set) row(i int) []float32 { return s.Data[i*s.Stride:][:s.Cols] }

// measure writes the squared lengths.
func (s *set) measure(squares []float32) {
	for i := range squares {
		sum := float32(0)
		for _, v := range s.row(i) {
			sum += v * v
		}
		squares[i] = sum
	}
}

// moveToMeans moves each of the centres s to the mean of its points.
func (s *set) moveToMeans(p Points, cellOf []int32) {
	sums, sizes, row := make([]float64, len(s.Data)), make([]float64, s.Rows), make([]float32, p.D)
	for i, k := range cellOf {
		sizes[k]++
		p.Copy(row, i)
		for j, v := range row {
			sums[int(k)*p.D+j] += float64(v)
		}
	}
	for at, sum := range sums {
		if size := sizes[at/p.D]; size > 0 {
			s.Data[at] = float32(sum / size)
		}
	}
	s.measure(s.squares)
}

// eachDistance calls f with the squared distances of each point of s from the points of other, minus its squared length.
func (s *set) eachDistance(other *set, f func(i int, d []float32)) {
	buffer := make([]float32, min(rowsInBlock, s.Rows)*other.Rows)
	for lo := 0; lo < s.Rows; lo += rowsInBlock {
		rows := min(rowsInBlock, s.Rows-lo)
		for r := range rows {
			copy(buffer[r*other.Rows:], other.squares)
		}
		some := blas.Of[float32]{Rows: rows, Cols: s.Cols, Stride: s.Stride, Data: s.Data[lo*s.Stride:]}
		blas.MultiplyAlone(blas.NoTrans, blas.Trans, -2, some, other.Of, 1, blas.Of[float32]{Rows: rows, Cols: other.Rows, Stride: other.Rows, Data: buffer})
		for r := range rows {
			f(lo+r, buffer[r*other.Rows:][:other.Rows])
		}
	}
}
