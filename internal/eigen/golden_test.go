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
	"largest 7":       "d5c59118",
	"orthonormal 7":   "ad7d5c41",
	"singular 7":      "a83305b3",
	"smallest 7":      "9f29ec17",
	"symmetric 7":     "f9b8e940",
	"largest 30":      "937c7d74",
	"orthonormal 30":  "29111fe1",
	"singular 30":     "4df1cebb",
	"smallest 30":     "b99277f6",
	"symmetric 30":    "37737ea8",
	"largest 150":     "2f83772a",
	"orthonormal 150": "a7ddb528",
	"singular 150":    "ce4420b8",
	"smallest 150":    "260011ab",
	"symmetric 150":   "058b9e41",
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
		sigma, u, v, err := Singular(ctx, x)
		add(fmt.Sprintf("singular %d", n), err, sigma, u.RawMatrix().Data, v.RawMatrix().Data)
		Orthonormalise(x)
		add(fmt.Sprintf("orthonormal %d", n), nil, x.RawMatrix().Data)
	}
	if !maps.Equal(got, digests) {
		t.Errorf("the digests are %#v, want %#v", got, digests)
	}
}
