package scratch

import (
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestMatrix(t *testing.T) {
	dir := t.TempDir()
	m, err := Create(dir, 7, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(7, 3, nil)
	for _, from := range []int{4, 0, 2} {
		part := want.Slice(from, from+3, 0, 3).(*mat.Dense)
		part.Apply(func(i, j int, _ float64) float64 { return float64(from+i) + float64(j)/4 }, part)
		if err := m.Write(from, part); err != nil {
			t.Fatal(err)
		}
	}
	got := mat.NewDense(7, 3, nil)
	if err := m.Read(t.Context(), 0, got); err != nil || !mat.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	if n, k := m.Dims(); n != 7 || k != 3 {
		t.Errorf("%d×%d", n, k)
	}
	if err := m.Read(t.Context(), 6, got); err == nil {
		t.Error("rows after the last were read")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := Create(dir+"/none", 1, 1); err == nil {
		t.Error("created in a folder that does not exist")
	}
}
