package eigen

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// digests are of the values and vectors that TestSameBytes finds.
var digests = map[string]string{
	"largest 7":       "3b539489",
	"orthonormal 7":   "f9e7c46e",
	"singular 7":      "a083954e",
	"smallest 7":      "af5db560",
	"symmetric 7":     "b9172707",
	"largest 30":      "e4cacc88",
	"orthonormal 30":  "fd276cad",
	"singular 30":     "9c6fa1e4",
	"smallest 30":     "79f10005",
	"symmetric 30":    "c2a849bc",
	"largest 150":     "6a1bc180",
	"orthonormal 150": "91c56474",
	"singular 150":    "5e06c3e8",
	"smallest 150":    "dcd6dcc0",
	"symmetric 150":   "b7a5a71c",
}

// TestSameBytes: every processor finds the same bytes.
func TestSameBytes(t *testing.T) {
	ctx := context.Background()
	src := rand.New(rand.NewPCG(1, 20))
	got := map[string]string{}
	add := func(name string, err error, values ...[]float64) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h := sha256.New()
		for _, v := range values {
			if err := binary.Write(h, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		got[name] = fmt.Sprintf("%.4x", h.Sum(nil))
	}
	for _, n := range []int{7, 30, 150} {
		a := symmetric(n, func(_, _ int) float64 { return src.Float64() - 0.5 })
		values, v, err := Symmetric(ctx, a, true)
		add(fmt.Sprintf("symmetric %d", n), err, values, v.RawMatrix().Data)
		values, v, err = Smallest(ctx, a, n/5)
		add(fmt.Sprintf("smallest %d", n), err, values, v.RawMatrix().Data)
		values, v, err = Largest(ctx, a, n/5)
		add(fmt.Sprintf("largest %d", n), err, values, v.RawMatrix().Data)
		x := mat.NewDense(n/2, n, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return src.Float64() - 0.5 }, x)
		sigma, u, v, err := Singular(ctx, x)
		add(fmt.Sprintf("singular %d", n), err, sigma, u.RawMatrix().Data, v.RawMatrix().Data)
		Orthonormalise(x)
		add(fmt.Sprintf("orthonormal %d", n), nil, x.RawMatrix().Data)
	}
	if !maps.Equal(got, digests) {
		t.Errorf("the digests are %#v, want %#v", got, digests)
	}
}
