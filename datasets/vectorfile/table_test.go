package vectorfile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// TestTables reads files of pyarrow and polars, which make.py in testdata/parquet and testdata/arrow writes.
func TestTables(t *testing.T) {
	want := mat.NewDense(4, 8, []float64{
		1.5, 1, 0, 0.5, 1, 1, 1, 2,
		-2, 2, 1, 1, 2, 0, 3, 4,
		0.25, 3, 1 << 63, 2, -300, 1, 5, 6,
		4, 255, 7, 4, 4, 1, 7, 8,
	})
	files, _ := filepath.Glob("testdata/[ap]*/all-*")
	if len(files) != 9 {
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
	for _, pattern := range []string{"testdata/parquet/%s.parquet", "testdata/arrow/%s.arrows"} {
		c, err := Open(t.Context(), fmt.Sprintf(pattern, "numbers"), Options{})
		if err != nil || !mat.Equal(c.Vectors, mat.NewDense(3, 2, []float64{1, 0.5, 2, 1.5, 3, 2.5})) || cmp.Diff(c.Classes, []string{"1", "3"}) != "" {
			t.Errorf("numbers: %v, %v", c, err)
		}
		if c, err = Open(t.Context(), fmt.Sprintf(pattern, "null"), Options{Missing: true}); err != nil || c.Vectors.At(1, 1) == c.Vectors.At(1, 1) {
			t.Errorf("null: %v, %v", c, err)
		}
	}
	c, err := Open(t.Context(), "testdata/arrow/nulls.arrows", Options{Missing: true})
	if nan := math.NaN(); err != nil || cmp.Diff(c.Vectors.(*mat.Dense).RawMatrix().Data, []float64{1, nan, 1, 2, nan, nan}, cmpopts.EquateNaNs()) != "" {
		t.Errorf("nulls.arrows: %v, %v", c, err)
	}
	if c, err = Open(t.Context(), "testdata/arrow/long.arrows", Options{}); err != nil || c.Names[1] != "a name of more than 12 bytes" {
		t.Errorf("long.arrows: %v, %v", c, err)
	}
}

func TestTableErrors(t *testing.T) {
	for name, want := range map[string]string{
		"parquet/null.parquet": `column "b": row 2: null or NaN is not a finite number; set missing to nan if the value is missing`,
		"parquet/text.parquet": `column "city": values of type STRING; expected numbers`, "parquet/date.parquet": `column "day": values of type DATE; expected numbers`,
		"parquet/ragged.parquet": `column "vector": row 2: a list of another length than 2, as in the first row`,
		"parquet/lz4.parquet":    `column "name": compressed by LZ4; write the file with snappy, zstd or no compression`,
		"parquet/record.parquet": `column "place": a column of records; expected numbers`, "parquet/empty.parquet": "the file has 0 rows",
		"arrow/null.arrows":   `column "b": row 2: null or NaN is not a finite number; set missing to nan if the value is missing`,
		"arrow/text.arrows":   `column "city": values of type utf8; expected numbers`,
		"arrow/date.arrows":   `column "day": values of type date; expected numbers or text`,
		"arrow/ragged.arrows": `column "vector": row 2: a list of another length than 2, as in the first row`,
		"arrow/record.arrows": `column "place": values of type struct; expected numbers or text`, "arrow/empty.arrows": "the file has 0 rows",
	} {
		file := "testdata/" + name
		if _, err := Open(t.Context(), file, Options{}); err == nil || !strings.Contains(err.Error(), file+": "+want) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	// 2⁴⁰ nulls take no place in a file.
	claimed := strings.ReplaceAll(readText(t, "testdata/arrow/rows.arrows"), "\x03\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x01\x00\x00")
	in := memoryInput([]byte(claimed), 1<<30)
	in.opt.Missing = true
	checkMemory(t, 1<<20, func() {
		var tooLarge *limits.LimitError
		if _, err := caught(readArrow, in); !errors.As(err, &tooLarge) || !strings.Contains(err.Error(), "1099511627776 rows") {
			t.Errorf("2⁴⁰ nulls give %v", err)
		}
	})
	if _, err := Open(t.Context(), "testdata/parquet/numbers.parquet", Options{Labels: "kind"}); err == nil || !strings.Contains(err.Error(), `no column is called "kind"; the columns are a, b`) {
		t.Errorf("a missing column of labels gives %v", err)
	}
}

// TestUnread: files of formats without a reader give errors that say how to convert them, and cut files say so.
func TestUnread(t *testing.T) {
	zeros := strings.Repeat("\x00", 200)
	stream, file := readText(t, "testdata/arrow/numbers.arrows"), readText(t, "testdata/arrow/all-none.arrow")
	for text, want := range map[string]string{
		"\x89HDF\r\n\x1a\n" + zeros:                `numpy.savez("x.npz", X=h5py.File("x.h5")["X"])`,
		"PAR1" + zeros:                             "the Parquet file is incomplete",
		"PAR1\xff\xff\xff\x7fPAR1":                 "wrong length of the metadata",
		"FEA1" + zeros:                             "write Feather 2 or Parquet",
		"ARROW1\x00\x00" + zeros:                   "the Arrow file is incomplete",
		"ARROW1\x00\x00\xff\x00\x00\x00ARROW1":     "the Arrow file is damaged",
		file[:len(file)-1]:                         "the Arrow file is incomplete",
		stream[:len(stream)-8]:                     "the program that writes it must close its writer",
		stream[:len(stream)-20]:                    "the Arrow file is incomplete: the header declares",
		"\xff\xff\xff\xff\xff\xff\xff\x7f" + zeros: "the header declares 2147483647 bytes",
	} {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), name, Options{}); err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text[:8], err, want)
		}
	}
}

// TestDamagedArrow: a wrong bit gives an error or other values, and takes no more memory than the limit.
func TestDamagedArrow(t *testing.T) {
	files, _ := filepath.Glob("testdata/arrow/all-*")
	for _, name := range files {
		text := readText(t, name)
		for i := 0; i < 8*len(text); i += 199 {
			damaged := []byte(text)
			damaged[i/8] ^= 1 << (i % 8)
			checkArrow(t, damaged)
		}
	}
}

func checkArrow(t *testing.T, data []byte) {
	checkRoom(t, data, func(in *input) {
		if s, err := caught(undamaged("Arrow", readArrow), in); err == nil {
			checkSet(t, s)
		}
	})
}

func FuzzArrow(f *testing.F) {
	files, _ := filepath.Glob("testdata/arrow/*.arrow*")
	for _, file := range files {
		f.Add([]byte(readText(f, file)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= mostFuzzed {
			checkArrow(t, data)
		}
	})
}

func readText(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
		if s, err := caught(undamaged("Parquet", readParquet), memoryInput(data, fuzzRoom)); err == nil {
			checkSet(t, s)
		}
	})
}
