package factor

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// fixedMemory is what the matrix products and decompositions take for themselves
// whatever the size.
const fixedMemory = 8 << 20

// All that a method allocates in one iteration is no more than Memory says, for
// every method of the registry. What it allocates in more iterations can be
// collected.
func TestMemory(t *testing.T) {
	for _, shape := range []struct{ n, m, k int }{{400, 60, 6}, {60, 900, 6}, {120, 120, 60}} {
		src := rng.New(1)
		dense := mat.NewDense(shape.n, shape.m, nil)
		var entries []sparse.Entry
		for i := range shape.n {
			for j := range shape.m {
				v := 0.1 + src.Float64()
				dense.Set(i, j, v)
				if j == i%shape.m || src.IntN(10) == 0 {
					entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
				}
			}
		}
		known := Known{Labels: make([]int, shape.n), MustLink: [][2]int{{1, 6}}, CannotLink: [][2]int{{2, 3}}}
		size := Size{Samples: shape.n, Features: shape.m, Rank: shape.k, Links: 2}
		for i := range known.Labels {
			if known.Labels[i] = -1; i%5 == 0 {
				known.Labels[i] = i / 5 % 3
				size.Labelled++
			}
		}
		rows := sparse.FromEntries(shape.n, shape.m, entries)
		for _, info := range Methods() {
			for _, x := range []mat.Matrix{dense, rows} {
				size.Stored = 0
				if x == rows {
					size.Stored = rows.NNZ()
				}
				method, err := info.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				opt := Options{Rank: shape.k, Iterations: 1}
				if info.Name == "ntf" {
					method = NTF{Image{Height: 1, Width: shape.m}}
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err = method.Fit(t.Context(), x, known, opt); err != nil {
					t.Errorf("%s, %v: %v", info.Name, shape, err)
					continue
				}
				runtime.ReadMemStats(&after)
				took, said := int64(after.TotalAlloc-before.TotalAlloc), Memory(method, size)
				if info.Name == "cf-ogl" {
					took /= 2 // its first eigenvectors can be collected when it finds others
				}
				if took > said+fixedMemory {
					t.Errorf("%s, %v, %T: %d bytes, and Memory says %d", info.Name, shape, x, took, said)
				}
				if said > 20*took+fixedMemory {
					t.Errorf("%s, %v, %T: %d bytes, and Memory says as much as %d", info.Name, shape, x, took, said)
				}
			}
		}
	}
}

// What grows with n² is known: sizes that no machine has are not taken for small.
func TestMemoryOfLargeProblems(t *testing.T) {
	n := 200_000
	for _, info := range Methods() {
		method, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := Size{Samples: n, Features: 1000, Rank: 20, Labelled: n}
		least := int64(8 * n * s.Rank)
		switch info.Name {
		case "cf-ogl", "ss-nmf":
			least = 8 * int64(n) * int64(n)
		}
		if got := Memory(method, s); got < least || got > math.MaxInt64/4 {
			t.Errorf("%s: %d bytes, want %d or more", info.Name, got, least)
		}
		s.Samples, s.Features, s.Rank = math.MaxInt32, math.MaxInt32, math.MaxInt32
		if got := Memory(method, s); got < math.MaxInt32 {
			t.Errorf("%s: %d bytes of a problem beyond all", info.Name, got)
		}
	}
}
