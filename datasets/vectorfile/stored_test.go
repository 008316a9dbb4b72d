package vectorfile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// place writes files to a folder and returns it.
func place(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStored: values on disk equal values in memory, with equal names, labels, images and range, in any steps.
func TestStored(t *testing.T) {
	floats := make([]float32, 7*6)
	for i := range floats {
		floats[i] = float32(i) / 4
	}
	dir := place(t, map[string][]byte{
		"x.npy": writeNPY("<f4", false, "(7, 6)", floats), "cube.npy": writeNPY("|u1", false, "(7, 2, 3)", pixels(3, 42)),
		"big.npy": writeNPY(">i2", false, "(3, 2)", []int16{1, 2, 300, 4, 5, 6}), "ones.npy": writeNPY("|u1", false, "(2, 2)", []uint8{0, 1, 1, 0}),
		"images-idx3": writeIDX(8, []uint32{7, 2, 3}, pixels(9, 42)), "packed.gz": gzipped(t, writeIDX(8, []uint32{7, 2, 3}, pixels(9, 42))),
		"train-images-idx3-ubyte": writeIDX(8, []uint32{5, 2, 3}, pixels(0, 30)), "train-labels-idx1-ubyte": writeIDX(8, []uint32{5}, pixels(3, 5)),
		"t10k-images-idx3-ubyte.gz": gzipped(t, writeIDX(8, []uint32{4, 2, 3}, pixels(40, 24))), "t10k-labels-idx1-ubyte": writeIDX(8, []uint32{4}, pixels(4, 4)),
	})
	for _, name := range []string{"x.npy", "cube.npy", "big.npy", "ones.npy", "images-idx3", "packed.gz"} {
		path := filepath.Join(dir, name)
		want, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open(t.Context(), path, Options{OnDisk: true})
		if err != nil {
			t.Fatal(err)
		}
		x := got.Vectors.(*Stored)
		n, m := x.Dims()
		if !mat.Equal(x, want.Vectors) {
			t.Errorf("%s: other values than those read at once", name)
		}
		for step := 1; step <= n; step++ {
			all := mat.NewDense(n, m, nil)
			for from := 0; from < n; from += step {
				if err := x.Read(t.Context(), from, all.Slice(from, min(from+step, n), 0, m).(*mat.Dense)); err != nil {
					t.Fatal(err)
				}
			}
			if !mat.Equal(all, want.Vectors) {
				t.Errorf("%s: other values in steps of %d", name, step)
			}
		}
		if got.Height != want.Height || got.Width != want.Width {
			t.Errorf("%s: images of %d×%d, want %d×%d", name, got.Height, got.Width, want.Height, want.Width)
		}
		if strings.Join(got.Names, ",") != strings.Join(want.Names, ",") || strings.Join(got.Classes, ",") != strings.Join(want.Classes, ",") {
			t.Errorf("%s: samples %v of classes %v", name, got.Names, got.Classes)
		}
		var temporary []string
		for _, p := range x.parts {
			if p.temporary {
				temporary = append(temporary, p.file.Name())
			}
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
		for _, file := range temporary {
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the temporary file is left: %v", name, err)
			}
		}
	}
}

// TestStoredRefuses: files that cannot be read by rows, files with a wrong content, and a file that shrinks while it is
// read.
func TestStoredRefuses(t *testing.T) {
	whole := writeNPY("<f8", false, "(4, 2)", []float64{1, 2, 3, 4, 5, math.NaN(), 7, 8})
	fine := writeNPY("<f8", false, "(4, 2)", []float64{1, 2, 3, 4, 5, 6, 7, 8})
	idx := writeIDX(8, []uint32{3, 2, 2}, pixels(0, 12))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nan.npy":       {whole, "nan.npy: row 3, column 2: NaN"},
		"short.npy":     {fine[:len(fine)-3], "short.npy: the header declares 64 bytes, but the file has 61:"},
		"long.npy":      {append(bytes.Clone(fine), 0), "extra bytes after the"},
		"fortran.npy":   {writeNPY("<f8", true, "(4, 2)", []float64{1, 2, 3, 4, 5, 6, 7, 8}), "C order"},
		"words.npy":     {writeNPY("<U1", false, "(2,)", []uint32{65, 66}), "is not a numeric array in C order, which reading in batches needs (use numpy.ascontiguousarray)"},
		"short-idx":     {idx[:len(idx)-1], "the header declares 12 bytes, but the file has 11:"},
		"short-idx.gz":  {gzipped(t, idx[:len(idx)-1]), "the header declares 12 bytes, but the file has 11:"},
		"long-idx.gz":   {gzipped(t, append(bytes.Clone(idx), 0)), "extra bytes after the"},
		"broken-idx.gz": {gzipped(t, idx)[:30], "broken-idx.gz: "},
		"x.csv":         {[]byte("1,2\n3,4\n"), "x.csv: only folders of images, IDX files, .npy files and uncompressed .npz files can be read in batches"},
	} {
		path := filepath.Join(place(t, map[string][]byte{name: c.data}), name)
		if _, err := Open(t.Context(), path, Options{OnDisk: true}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}

	path := filepath.Join(place(t, map[string][]byte{"x.npy": fine}), "x.npy")
	set, err := NPY(path, Options{OnDisk: true})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if err := os.Truncate(path, int64(len(fine)-16)); err != nil {
		t.Fatal(err)
	}
	x, rows := set.Vectors.(*Stored), mat.NewDense(2, 2, nil)
	if err := x.Read(t.Context(), 1, rows); err != nil {
		t.Errorf("rows that are there: %v", err)
	}
	if err := x.Read(t.Context(), 2, rows); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "x.npy: rows 3 to 4") {
		t.Errorf("rows that are gone: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := x.Read(ctx, 0, rows); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}
