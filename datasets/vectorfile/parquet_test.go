package vectorfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// TestParquet reads files of pyarrow, which testdata/parquet/make.py writes.
func TestParquet(t *testing.T) {
	want := mat.NewDense(4, 8, []float64{
		1.5, 1, 0, 0.5, 1, 1, 1, 2,
		-2, 2, 1, 1, 2, 0, 3, 4,
		0.25, 3, 1 << 63, 2, -300, 1, 5, 6,
		4, 255, 7, 4, 4, 1, 7, 8,
	})
	files, _ := filepath.Glob("testdata/parquet/all-*.parquet")
	if len(files) != 5 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		c, err := Open(t.Context(), file, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if !mat.Equal(c.Vectors, want) {
			t.Errorf("%s has %v", file, mat.Formatted(c.Vectors))
		}
		got := []any{c.Names, c.Classes, c.Labels}
		if diff := cmp.Diff([]any{[]string{"a", "b", "c", "d"}, []string{"x", "y"}, []int{0, 1, -1, 0}}, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	c, err := Open(t.Context(), "testdata/parquet/numbers.parquet", Options{})
	if err != nil || !mat.Equal(c.Vectors, mat.NewDense(3, 2, []float64{1, 0.5, 2, 1.5, 3, 2.5})) || cmp.Diff(c.Classes, []string{"1", "3"}) != "" {
		t.Errorf("numbers.parquet: %v, %v", c, err)
	}
	if c, err = Open(t.Context(), "testdata/parquet/null.parquet", Options{Missing: true}); err != nil || c.Vectors.At(1, 1) == c.Vectors.At(1, 1) {
		t.Errorf("null.parquet: %v, %v", c, err)
	}
}

func TestParquetErrors(t *testing.T) {
	for name, want := range map[string]string{
		"null": `column "b": row 2: <null> is not a finite number; set missing to nan if the value is missing`,
		"text": `column "city": values of type STRING; expected numbers`, "date": `column "day": values of type DATE; expected numbers`,
		"ragged": `column "vector": row 2: a list of another length than 2, as in the first row`,
		"lz4":    `column "name": compressed by LZ4; write the file with snappy, zstd or no compression`,
		"record": `column "place": a column of records; expected numbers`, "empty": "the file has 0 rows",
	} {
		file := "testdata/parquet/" + name + ".parquet"
		if _, err := Open(t.Context(), file, Options{}); err == nil || !strings.Contains(err.Error(), file+": "+want) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := Open(t.Context(), "testdata/parquet/numbers.parquet", Options{Labels: "kind"}); err == nil || !strings.Contains(err.Error(), `no column is called "kind"; the columns are a, b`) {
		t.Errorf("a missing column of labels gives %v", err)
	}
}

// TestUnread: files of formats without a reader give errors that say how to convert them.
func TestUnread(t *testing.T) {
	for text, want := range map[string]string{
		"ARROW1\x00\x00" + strings.Repeat("\x00", 200):    "write Parquet",
		"\x89HDF\r\n\x1a\n" + strings.Repeat("\x00", 200): `numpy.savez("x.npz", X=h5py.File("x.h5")["X"])`,
		"PAR1" + strings.Repeat("\x00", 200):              "the Parquet file is incomplete",
		"PAR1\xff\xff\xff\x7fPAR1":                        "wrong length of the metadata",
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), file, Options{}); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text[:8], err, want)
		}
	}
}

// FuzzParquet: damaged files give errors. The library allocates what a page's header says, at most 2 GiB.
func FuzzParquet(f *testing.F) {
	files, _ := filepath.Glob("testdata/parquet/*.parquet")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		if s, err := caught(readParquet, memoryInput(data, fuzzRoom)); err == nil {
			checkSet(t, s)
		}
	})
}
