package sparse

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestFromEntries checks that values of equal position are added, in any order, and that the transpose has the same
// values.
func TestFromEntries(t *testing.T) {
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 1))
		r, c := 1+src.IntN(8), 1+src.IntN(8)
		want := mat.NewDense(r, c, nil)
		var entries []Entry
		for range src.IntN(40) {
			e := Entry{src.IntN(r), src.IntN(c), float64(src.IntN(7) - 3)}
			entries = append(entries, e)
			want.Set(e.Row, e.Col, want.At(e.Row, e.Col)+e.Value)
		}
		m := FromEntries(r, c, entries)
		for name, m := range map[string]*CSR{"matrix": m, "transposed twice": m.Transpose().Transpose()} {
			if !mat.Equal(m, want) {
				t.Fatalf("seed %d: the %s is %v, want %v", seed, name, mat.Formatted(m), mat.Formatted(want))
			}
			if _, err := New(r, c, m.RowStart, m.Columns, m.Values); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
		}
		if !mat.Equal(m.Transpose(), want.T()) {
			t.Fatalf("seed %d: wrong transpose", seed)
		}
		for _, v := range m.Values {
			if v == 0 {
				t.Fatalf("seed %d: a zero is stored", seed)
			}
		}
	}
}
