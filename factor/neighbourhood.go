package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// Edges says how heavy the edges of a neighbourhood graph are.
type Edges int

const (
	// EdgesBinary gives every edge the weight 1.
	EdgesBinary Edges = iota
	// EdgesHeat gives the edge between samples at the distance d the weight exp(−d²/2t²).
	EdgesHeat
	// EdgesCosine finds neighbours by the cosine of the angle between samples and gives an edge that
	// cosine as its weight.
	EdgesCosine
)

var edgesNames = enum.Of[Edges]("edges", "binary", "heat", "cosine")

func (e Edges) String() string                   { return edgesNames.String(e) }
func (e *Edges) UnmarshalText(name []byte) error { return edgesNames.UnmarshalText(e, name) }
func (e Edges) MarshalText() ([]byte, error)     { return edgesNames.MarshalText(e) }
func (Edges) Values() []string                   { return edgesNames.Values() }

// Neighbourhood is the graph that joins two samples when either is among the other's nearest. There are
// no self-loops, and of equally near samples the one with the lower row comes first.
type Neighbourhood struct {
	// Neighbours is p, how many of a sample's nearest count; 0 means 5.
	Neighbours int `setting:"neighbours" default:"5" help:"nearest samples that each is joined to"`
	// Edges says how heavy the edges are.
	Edges Edges `setting:"edges" help:"weights of the graph's edges"`
	// Width is t of Heat; 0 means the mean of the n² distances.
	Width float64 `setting:"width" default:"mean distance" help:"t of the heat kernel exp(-d²/2t²)"`
}

func (h Neighbourhood) neighbours() int { return cmp.Or(h.Neighbours, 5) }

// Graph returns the symmetric n×n weights S of the neighbourhood of the n×m data.
func (h Neighbourhood) Graph(ctx context.Context, x mat.Matrix) (*CSR, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	return h.graph(ctx, d)
}

func (h Neighbourhood) graph(ctx context.Context, x view.Data) (*CSR, error) {
	n, _ := x.Dims()
	p := h.neighbours()
	if p < 1 {
		return nil, fmt.Errorf("a graph of %d neighbours; it must be 1 or more", p)
	}
	if err := cmp.Or(named(h.Edges), view.CheckWeight("the width of the heat kernel", h.Width)); err != nil {
		return nil, err
	}
	found := neighbours{x: x, n: n, p: min(p, n-1), cosine: h.Edges == EdgesCosine, mean: h.Edges == EdgesHeat && h.Width == 0}
	if err := found.find(ctx); err != nil {
		return nil, err
	}
	t := cmp.Or(h.Width, found.meanDistance)
	var entries []sparse.Entry
	for i, list := range found.nearest {
		for _, q := range list {
			back := func(r neighbour) bool { return r.j == i }
			if q.j < i && slices.ContainsFunc(found.nearest[q.j], back) {
				continue // it is there from that side
			}
			w := 1.0
			if h.Edges == EdgesHeat && t > 0 {
				w = elementary.Exp(-q.d / (2 * t * t))
			} else if h.Edges == EdgesCosine {
				w = max(-q.d, 0)
			}
			entries = append(entries, sparse.Entry{Row: i, Col: q.j, Value: w}, sparse.Entry{Row: q.j, Col: i, Value: w})
		}
	}
	return sparse.FromEntries(n, n, entries), nil
}

// squaredDistance is ‖a − b‖² of ‖a‖², ‖b‖² and aᵀb, 0 where rounding may make it of copies of one sample.
func squaredDistance(a, b, product float64) float64 {
	if d := panel.Squared(a, b, product); d > 1e-13*(a+b) {
		return d
	}
	return 0
}

// labelEdges replaces the edges of s between labelled samples: 1 between samples of one class, none
// between samples of different ones.
func labelEdges(s *CSR, labels []int) *CSR {
	n, _ := s.Dims()
	class := map[int][]int{}
	for i, c := range labels {
		if c >= 0 {
			class[c] = append(class[c], i)
		}
	}
	var entries []sparse.Entry
	for i := range n {
		cols, vals := s.Row(i)
		for p, j := range cols {
			if labels[i] < 0 || labels[j] < 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: vals[p]})
			}
		}
		if labels[i] >= 0 {
			for _, j := range class[labels[i]] {
				if j != i {
					entries = append(entries, sparse.Entry{Row: i, Col: j, Value: 1})
				}
			}
		}
	}
	return sparse.FromEntries(n, n, entries)
}

// neighbours finds the nearest samples of each, with a few blocks of inner products in memory at a time.
type neighbours struct {
	x            view.Data
	n, p         int
	cosine       bool          // compares by cosines, else by distances
	mean         bool          // whether meanDistance, of all n² pairs, is wanted
	square       []float64     // ‖x_i‖²
	nearest      [][]neighbour // p of each sample
	meanDistance float64
}

// neighbour is a row, and the distance squared or minus the cosine.
type neighbour struct {
	j int
	d float64
}

func nearer(a, b neighbour) int { return cmp.Or(cmp.Compare(a.d, b.d), a.j-b.j) }

// find finds the neighbours of each row by its inner products with all.
func (s *neighbours) find(ctx context.Context) error {
	s.square = make([]float64, s.n)
	s.x.Each(func(i, _ int, v float64) { s.square[i] += v * v })
	s.nearest = make([][]neighbour, s.n)
	sums := make([]float64, s.n) // of the distances
	err := view.EachGram(ctx, s.x, func(from int, part *mat.Dense) {
		algebra.EachRow(part, comparedWork, func(a int, products []float64) { sums[from+a] = s.compare(from+a, products) })
	})
	s.meanDistance = elementary.Sum(sums) / float64(s.n) / float64(s.n)
	return err
}

// comparedWork is how many multiplications take as long as to compare a sample with another.
const comparedWork = 64

// compare finds the neighbours of sample i by its inner products, and returns the sum of its distances.
func (s *neighbours) compare(i int, products []float64) (total float64) {
	nearest := make([]neighbour, 0, s.p)
	for j, g := range products {
		if j == i {
			continue
		}
		var d float64
		if s.cosine {
			d = -g / math.Sqrt(s.square[i]*s.square[j])
		} else {
			d = squaredDistance(s.square[i], s.square[j], g)
			if s.mean {
				total += math.Sqrt(d)
			}
		}
		if len(nearest) < s.p || s.p > 0 && !(d >= nearest[s.p-1].d) { // j is larger than theirs
			nearest = topk.Insert(nearest, s.p, neighbour{j, d}, nearer)
		}
	}
	s.nearest[i] = nearest
	return total
}

// Nearest returns for each row of x, n×m, dense or sparse, at most p other rows at the least Euclidean distance,
// the lower row first, and these distances, rising. It takes n²·m multiplications. A row of zeros is an error.
func Nearest(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	if p < 1 {
		return nil, nil, fmt.Errorf("factor: the nearest %d rows; want 1 or more", p)
	}
	d, err := view.New(x)
	if err != nil {
		return nil, nil, err
	}
	n, _ := x.Dims()
	found := neighbours{x: d, n: n, p: min(p, n-1)}
	if err := found.find(ctx); err != nil {
		return nil, nil, err
	}
	rows, distances = make([][]int, n), make([][]float64, n)
	for i, nearest := range found.nearest {
		for _, q := range nearest {
			rows[i], distances[i] = append(rows[i], q.j), append(distances[i], math.Sqrt(max(q.d, 0)))
		}
	}
	return rows, distances, nil
}
