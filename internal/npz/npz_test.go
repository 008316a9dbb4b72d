package npz_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	other "github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/npz"
)

// TestOtherWriter checks that compressed archives equal the archives of the npyio package byte for byte, because older
// models were saved with it.
func TestOtherWriter(t *testing.T) {
	for _, n := range []int{1, 2, 7, 300} {
		x := mat.NewDense(n, 9, nil)
		for i := range n {
			for j := range 9 {
				x.Set(i, j, float64((i*j)%5)/3)
			}
		}
		list, integers := x.RawRowView(n-1), []int64{3, -1, 1 << 40}
		var want, got bytes.Buffer
		w := other.NewWriter(&want)
		if w.Write("x", x) != nil || w.Write("list", list) != nil || w.Write("integers", integers) != nil || w.Close() != nil {
			t.Fatal("the other writer fails")
		}
		z := npz.NewWriter(&got)
		z.Compress = true
		z.Floats("x", []int{n, 9}, x.RawRowView)
		z.List("list", list)
		z.Integers("integers", 3, -1, 1<<40)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d rows: %d bytes that differ from the other writer's %d", n, got.Len(), want.Len())
		}
	}
}

// TestArchive: written arrays of any type and shape are read back; damaged ones are errors.
func TestArchive(t *testing.T) {
	for _, compress := range []bool{true, false} {
		var file bytes.Buffer
		w := npz.NewWriter(&file)
		w.Compress = compress
		w.Floats("x", []int{2, 3}, func(i int) []float64 { return []float64{float64(i), 2, 3} })
		w.Integers("n", 5, 6)
		w.Text("text", []byte("plain \x00 bytes"))
		w.Words("words", []string{"ä", "", "bcd"})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := npz.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		x, shape, err := z.Floats("x", 2, nil)
		if err != nil || !slices.Equal(x, []float64{0, 2, 3, 1, 2, 3}) || !slices.Equal(shape, []int{2, 3}) {
			t.Errorf("read %v of shape %v, %v", x, shape, err)
		}
		n, err := z.Integers("n", 6)
		if err != nil || !slices.Equal(n, []int{5, 6}) || !z.Has("n") || z.Has("m") {
			t.Errorf("read %v, %v", n, err)
		}
		text, err := z.Text("text")
		if err != nil || string(text) != "plain \x00 bytes" {
			t.Errorf("read %q, %v", text, err)
		}
		if _, err := z.Text("words"); err == nil || !strings.Contains(err.Error(), "type <U3, Fortran order false; expected type |u1 in C order") {
			t.Errorf("error %v", err)
		}
		for want, read := range map[string]func() error{
			`the array "n" has value 6; expected 0 to 5`: func() error { _, err := z.Integers("n", 5); return err },
			"expected type <f8 in C order":               func() error { _, _, err := z.Floats("n", 1, nil); return err },
			"expected 1 dimensions":                      func() error { _, _, err := z.Floats("x", 1, nil); return err },
			`the file has no array "m"`:                  func() error { _, err := z.Integers("m", 5); return err },
		} {
			if err := read(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
		}
		damaged := file.Bytes()
		damaged[200] ^= 0x10 // within the first array
		if z, err = npz.Open(bytes.NewReader(damaged), int64(len(damaged))); err != nil {
			t.Fatal(err)
		}
		if _, _, err := z.Floats("x", 2, nil); err == nil && !compress {
			t.Error("a damaged array is read")
		}
	}
}
