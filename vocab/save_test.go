package vocab

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func saved(t testing.TB, v *Vocabulary) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := v.Save(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func loadBytes(file []byte) (*Vocabulary, error) {
	return Load(context.Background(), bytes.NewReader(file), int64(len(file)))
}

func TestSave(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 5}, {200, 128}, {12345, 2}} {
		random := rng.New(1, "save", size)
		want := wordsOf(randomRows(random, size[0], size[1], 4), size[1])
		want.Words.Apply(func(_, _ int, v float64) float64 { return min(v+random.Float64(), 255) }, want.Words)
		got, err := loadBytes(saved(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(got.Words, want.Words) {
			t.Errorf("%v: the words that were loaded differ", size)
		}
	}
	for _, v := range []*Vocabulary{{}, {mat.NewDense(1, 1, []float64{math.NaN()})}} {
		if err := v.Save(new(bytes.Buffer)); err == nil {
			t.Errorf("the words %v were saved", v.Words)
		}
	}
}

// Any damaged byte is an error or has no effect: checksums do not cover dates.
func TestLoadDamaged(t *testing.T) {
	want := wordsOf(randomRows(rng.New(1, "damaged"), 5, 3, 2), 3)
	file := saved(t, want)
	for i := range file {
		for _, bits := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(file)
			damaged[i] ^= bits
			if got, err := loadBytes(damaged); err == nil && !mat.Equal(got.Words, want.Words) {
				t.Errorf("byte %d of %d changed by %#x: other words", i, len(file), bits)
			}
		}
		if _, err := loadBytes(file[:i]); err == nil {
			t.Errorf("the first %d of %d bytes were loaded", i, len(file))
		}
	}
}

// zipped returns an archive of one array.
func zipped(t testing.TB, name, header string, values ...byte) []byte {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s\n", byte((len(header)+1)%256), byte((len(header)+1)/256), header)
	w.Write(values)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestLoadErrors(t *testing.T) {
	array := func(write func(z *npz.Writer)) []byte {
		var file bytes.Buffer
		z := npz.NewWriter(&file)
		write(z)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	row := func(values ...float64) []byte {
		return array(func(z *npz.Writer) { z.Floats("words", []int{1, len(values)}, func(int) []float64 { return values }) })
	}
	header := func(shape string) string {
		return fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape)
	}
	for want, file := range map[string][]byte{
		"not a valid zip file":               []byte("words"),
		`the file has no array "words"`:      zipped(t, "basis", header("1, 1")),
		": shape [3]; expected 2 dimensions": array(func(z *npz.Writer) { z.List("words", []float64{1, 2, 3}) }),
		": type <i8, Fortran order":          array(func(z *npz.Writer) { z.Integers("words", 1, 2, 3) }),
		"number 1 is NaN":                    row(1, math.NaN()),
		"number 0 is -1":                     row(-1, 2),
		"0 words of 1":                       zipped(t, "words", header("0, 1")),
		"999999999 words of 999999999":       zipped(t, "words", header("999999999, 999999999")),
		"expected 1 to":                      zipped(t, "words", header("1000000, 4096")),
		"but the file has 12: unexpected":    zipped(t, "words", header("1000000, 1"), make([]byte, 12)...),
		"but the file has 0: unexpected":     zipped(t, "words", header("1, 1")),
		"is too large for":                   zipped(t, "words", header("100000, 1000")),
		"extra bytes after the values":       zipped(t, "words", header("1, 1"), make([]byte, 9)...),
		"Fortran order true":                 zipped(t, "words", "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }", make([]byte, 8)...),
		`array "words": header "no'shape`:    zipped(t, "words.npy", "no'shape"),
	} {
		if _, err := loadBytes(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	lying := zipped(t, "words", header("100000, 1000"))
	directory := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[directory+20:], 1<<28)
	testkit.AllocatesAtMost(t, 1<<20+npz.FreeBytes, func() {
		if _, err := loadBytes(lying); err == nil || !strings.Contains(err.Error(), "declares 268435456 bytes, but the file has") {
			t.Errorf("an array of more bytes than the file: %v", err)
		}
	})
	large := zipped(t, "words", header("10000, 128"), make([]byte, 8*10000*128)...)
	budget := memory.New(memory.Least)
	if _, err := budget.Keep(budget.Free()-1<<20, "all but 1 MiB"); err != nil {
		t.Fatal(err)
	}
	tight := memory.NewContext(t.Context(), budget)
	testkit.AllocatesAtMost(t, 1<<20, func() {
		var tooLarge *memory.LimitError
		if _, err := Load(tight, bytes.NewReader(large), int64(len(large))); !errors.As(err, &tooLarge) {
			t.Errorf("words beyond the limit of memory: %v", err)
		}
	})
	v, err := loadBytes(zipped(t, "words.npy", header("1, 2"), make([]byte, 16)...))
	if err != nil || v.Len() != 1 || v.Dim() != 2 {
		t.Errorf("an array as NumPy names it: %v, %v", v, err)
	}
}

func FuzzLoad(f *testing.F) {
	file := saved(f, wordsOf(randomRows(rng.New(1, "fuzz"), 4, 3, 2), 3))
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add(zipped(f, "words", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", make([]byte, 8)...))
	f.Add(zipped(f, "words.npy", "{}"))
	f.Add(zipped(f, "words", "{'descr': '<f8', 'fortran_order': False, 'shape': (16000, 131), }"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var v *Vocabulary
		var err error
		testkit.AllocatesAtMost(t, 1<<20+npz.FreeBytes+npz.PerByte*uint64(len(file)), func() { v, err = loadBytes(file) })
		if err != nil {
			return
		}
		again, err := loadBytes(saved(t, v))
		if err != nil || !mat.Equal(again.Words, v.Words) {
			t.Errorf("a vocabulary that was loaded is not loaded again: %v", err)
		}
	})
}
