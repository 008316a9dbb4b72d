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

// digests are of the eigenvalues and eigenvectors in TestSameBytes.
var digests = map[string]string{
	"largest 7":       "fbcb2fb7",
	"orthonormal 7":   "ad7d5c41",
	"smallest 7":      "852e2c29",
	"symmetric 7":     "aa652ccb",
	"largest 30":      "420da336",
	"orthonormal 30":  "29111fe1",
	"smallest 30":     "d75bbfe8",
	"symmetric 30":    "d091028f",
	"largest 150":     "70dca825",
	"orthonormal 150": "a7ddb528",
	"smallest 150":    "1cc52160",
	"symmetric 150":   "468d2b19",
}

// TestSameBytes checks that every processor computes the same bytes.
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
		values, v, err := eigenSymmetric(ctx, a, true)
		add(fmt.Sprintf("symmetric %d", n), err, values, v.RawMatrix().Data)
		values, v, err = Smallest(ctx, a, n/5)
		add(fmt.Sprintf("smallest %d", n), err, values, v.RawMatrix().Data)
		values, v, err = Largest(ctx, a, n/5)
		add(fmt.Sprintf("largest %d", n), err, values, v.RawMatrix().Data)
		x := mat.NewDense(n/2, n, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return src.Float64() - 0.5 }, x)
		Orthonormalise(x)
		add(fmt.Sprintf("orthonormal %d", n), nil, x.RawMatrix().Data)
	}
	if !maps.Equal(got, digests) {
		t.Errorf("the digests are %#v, want %#v", got, digests)
	}
}
