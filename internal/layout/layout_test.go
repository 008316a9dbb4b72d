package layout

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/neighbours"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/project"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// inCells is more than the number of points whose neighbours are found exhaustively.
const inCells = 4200

// rings returns points on noisy rings, each in its own plane in d dimensions.
func rings(n, count, d int) *project.Points {
	random := rng.New(1, "rings")
	centres := make([]float64, count*d)
	planes := make([]float64, 2*count*d)
	for i := range centres {
		centres[i] = 2 * random.NormFloat64()
	}
	for i := range planes {
		planes[i] = random.NormFloat64() / 2
	}
	p := &project.Points{N: n, D: d}
	for i := range n {
		ring, angle := i%count, 2*math.Pi*random.Float64()
		for j := range d {
			v := centres[ring*d+j] + math.Cos(angle)*planes[2*ring*d+j] + math.Sin(angle)*planes[(2*ring+1)*d+j] + 0.02*random.NormFloat64()
			p.Data = append(p.Data, float32(v))
		}
	}
	return p
}

// agreement returns the share of the 10 nearest neighbours of each point that are among its 10 nearest on the plane.
func agreement(t *testing.T, p *project.Points, at []float32) float64 {
	t.Helper()
	for _, v := range at {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Fatalf("a coordinate %v", v)
		}
	}
	nearest := func(p *project.Points) [][]neighbours.Neighbour {
		points := neighbours.Points{N: p.N, D: p.D, Copy: func(dst []float32, i int) { copy(dst, p.At(i)) }}
		_, near, err := neighbours.Find(t.Context(), points, 10, 1)
		if err != nil {
			t.Fatal(err)
		}
		return near
	}
	true, found := nearest(p), nearest(&project.Points{N: p.N, D: 2, Data: at})
	same := 0
	for i := range true {
		for _, a := range true[i] {
			if slices.ContainsFunc(found[i], func(b neighbours.Neighbour) bool { return a.Place == b.Place }) {
				same++
			}
		}
	}
	return float64(same) / float64(10*p.N)
}

func layout(t *testing.T, p *project.Points) []float32 {
	t.Helper()
	at, err := Points(t.Context(), p)
	if err != nil || len(at) != 2*p.N {
		t.Fatalf("%d numbers for %d points: %v", len(at), p.N, err)
	}
	return at
}

// TestNeighboursStay checks that far more neighbours are preserved than by the first two coordinates, for any order of
// the points.
func TestNeighboursStay(t *testing.T) {
	p := rings(800, 50, 12)
	first := make([]float32, 0, 2*p.N)
	for i := range p.N {
		first = append(first, p.At(i)[:2]...)
	}
	plain := agreement(t, p, first)
	if got := agreement(t, p, layout(t, p)); got < 0.7 || got < plain+0.3 {
		t.Errorf("%.2f of the neighbours stay, and %.2f along the first two coordinates", got, plain)
	}
	order := rng.New(2, "order").Perm(p.N)
	other := &project.Points{N: p.N, D: p.D}
	for _, i := range order {
		other.Data = append(other.Data, p.At(i)...)
	}
	if got := agreement(t, other, layout(t, other)); got < 0.7 {
		t.Errorf("in another order %.2f of the neighbours stay", got)
	}
}

// TestSameLayout: the bytes do not depend on the number of cores.
func TestSameLayout(t *testing.T) {
	p := rings(inCells, 7, 5)
	want := layout(t, p)
	defer parallel.SetCores(1)()
	if !slices.Equal(layout(t, p), want) {
		t.Error("on one core the layout differs")
	}
}

// TestOddPoints checks that the layout of no, few or equal points is finite.
func TestOddPoints(t *testing.T) {
	for name, p := range map[string]*project.Points{
		"none": {}, "one": {N: 1, D: 2, Data: []float32{3, 4}}, "two": {N: 2, D: 1, Data: []float32{1, 2}},
		"three": {N: 3, D: 3, Data: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}}, "no coordinates": {N: 4},
		"equal": {N: 100, D: 2, Data: slices.Repeat([]float32{1, 1}, 100)}, "zeros": {N: 50, D: 3, Data: make([]float32, 150)},
		"two places":   {N: 80, D: 2, Data: slices.Repeat([]float32{1, 1, -1, -1}, 40)},
		"far":          {N: 20, D: 1, Data: append(make([]float32, 19), 1e15)},
		"equal, cells": {N: inCells, D: 1, Data: make([]float32, inCells)},
	} {
		for i, v := range layout(t, p) {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				t.Errorf("%s: number %d is %v", name, i, v)
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Points(ctx, rings(50, 2, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
}
