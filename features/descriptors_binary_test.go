package features

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/fuzztest"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func TestDescriptorsBinary(t *testing.T) {
	for _, want := range []*Descriptors{
		{Dim: 128, Width: 3, Height: 3, Vectors: []uint8{}, X: []float32{}, Y: []float32{}, Scale: []float32{}},
		{Dim: 2, Width: 40, Height: 30, Vectors: []uint8{1, 255, 3, 4}, X: []float32{1.5, 7}, Y: []float32{-0.5, 1e9}, Scale: []float32{4, 6}},
		denseSIFT(t, DenseSIFT{}, noise(50, 40, 1)),
	} {
		b, err := want.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		b = b[len("before"):]
		got := &Descriptors{}
		if err := got.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for cut := range len(b) {
			if got.UnmarshalBinary(b[:cut]) == nil {
				t.Fatalf("%d of %d bytes pass for descriptors", cut, len(b))
			}
		}
	}
}

func FuzzDescriptorsBinary(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 9, 0, 0, 0, 9, 0, 0, 0})
	f.Fuzz(fuzztest.Repeat(func(t *testing.T, b []byte) {
		var d Descriptors
		var err error
		testkit.AllocatesAtMost(t, 1<<20+2*uint64(len(b)), func() { err = d.UnmarshalBinary(b) })
		if err != nil {
			return
		}
		if again, err := d.AppendBinary(nil); err == nil && string(again) != string(b) {
			t.Fatal("descriptors read and written are not the same bytes")
		}
	}))
}
