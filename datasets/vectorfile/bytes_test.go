package vectorfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

func TestBytes(t *testing.T) {
	b := NewBytes(2, 3, []uint8{1, 2, 3, 4, 5, 255})
	if !mat.Equal(b, mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 255})) {
		t.Errorf("got %v", mat.Formatted(b))
	}
	if !mat.Equal(b.T(), mat.NewDense(3, 2, []float64{1, 4, 2, 5, 3, 255})) {
		t.Errorf("transpose: got %v", mat.Formatted(b.T()))
	}
	if got := b.Row(1); !cmp.Equal(got, []uint8{4, 5, 255}) {
		t.Errorf("row 1: got %v", got)
	}
	picked := b.SelectRows([]int{1, 0, 1}).(*Bytes)
	if !mat.Equal(picked, mat.NewDense(3, 3, []float64{4, 5, 255, 1, 2, 3, 4, 5, 255})) {
		t.Errorf("rows 1, 0, 1: got %v", mat.Formatted(picked))
	}
	picked.Row(0)[0] = 99
	if b.At(1, 0) != 4 {
		t.Error("the selected rows share memory with the matrix")
	}
}

func TestBytesPanics(t *testing.T) {
	b := NewBytes(2, 3, make([]uint8, 6))
	for name, f := range map[string]func(){
		"row -1":   func() { b.At(-1, 0) },
		"row 2":    func() { b.At(2, 0) },
		"column 3": func() { b.At(0, 3) },
		"size":     func() { NewBytes(2, 3, make([]uint8, 5)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
