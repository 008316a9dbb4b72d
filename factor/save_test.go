package factor

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	other "github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestSaveModels: every kind of model comes back as it was, and represents new
// samples as before.
func TestSaveModels(t *testing.T) {
	p := classProblem(3)
	positive := randomProblem(3, false)
	for name, c := range map[string]struct {
		m Method
		p problem
	}{
		"additive": {CNMFKL{}, positive}, "concept": {CF{}, positive},
		"pca": {PCA{}, p}, "lda": {LDA{}, p}, "sparse": {SparseCoding{Lambda: 0.5}, p},
	} {
		res, err := c.m.Fit(context.Background(), c.p.x, c.p.known, c.p.opt)
		if err != nil {
			t.Fatal(err)
		}
		text := saved(t, res)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(m, res.Model) {
			t.Errorf("%s: another model came back", name)
		}
		want, err := res.Model.Transform(context.Background(), c.p.x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Transform(context.Background(), c.p.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, got, want, 0)
	}
	res, err := SSNMF{}.Fit(context.Background(), positive.x, positive.known, positive.opt)
	if err != nil {
		t.Fatal(err)
	}
	text := saved(t, res)
	if _, err := LoadModel(bytes.NewReader(text), int64(len(text))); !errors.Is(err, ErrNoModel) {
		t.Errorf("a factorisation of similarities: %v", err)
	}
	z, err := other.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var s mat.Dense
	if err := z.Read("association", &s); err != nil {
		t.Fatal(err)
	}
	near(t, "association", &s, res.Association, 0)
}

func saved(t testing.TB, res *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := res.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archive makes a file of arrays with the headers and the values given.
func archive(t testing.TB, arrays map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range arrays {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// array is an array as it stands in a file.
func array(kind, shape, values string) string {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + values
}

// TestLoadBadModels: what is not a model is an error that says why.
func TestLoadBadModels(t *testing.T) {
	const (
		zero, one, two = "\x00\x00\x00\x00\x00\x00\x00\x00", "\x01\x00\x00\x00\x00\x00\x00\x00", "\x02\x00\x00\x00\x00\x00\x00\x00"
		half, nan      = "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf8\x7f"
	)
	basis := array("<f8", "2, 1", half+half)
	good := map[string]string{"kind": array("<i8", "1,", one), "basis": basis, "mean": array("<f8", "2,", half+half)}
	text := archive(t, good)
	if _, err := LoadModel(bytes.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]map[string]string{
		`no array "kind"`:                       {"kind": ""},
		`no array "basis"`:                      {"basis": ""},
		`no array "mean"`:                       {"mean": ""},
		`"kind" holds 9; want 0 to 4`:           {"kind": array("<i8", "1,", "\x09"+zero[1:])},
		`"kind" holds -1`:                       {"kind": array("<i8", "1,", strings.Repeat("\xff", 8))},
		`"kind" has 2 values`:                   {"kind": array("<i8", "2,", one+one)},
		`"kind" is of the type <f8, in`:         {"kind": array("<f8", "1,", one)},
		`"basis" is of shape [2 1] and ends`:    {"basis": array("<f8", "2, 1", half)},
		`[999999999 999999999] has more values`: {"basis": array("<f8", "999999999, 999999999", half)},
		`"basis" is of shape [0 1]`:             {"basis": array("<f8", "0, 1", "")},
		`"basis" is of shape [2]; want 2`:       {"basis": array("<f8", "2,", half+half)},
		`"basis" is of the type <f4, in`:        {"basis": array("<f4", "2, 1", half)},
		`"basis" holds values that are no`:      {"basis": array("<f8", "2, 1", half+nan)},
		`"mean" has 1 values for vectors of 2`:  {"mean": array("<f8", "1,", half)},
		`"mean" is of shape [2 1]; want 1`:      {"mean": basis},
		`no array "lambda"`:                     {"kind": array("<i8", "1,", two)},
		`"lambda" has 2 values`:                 {"kind": array("<i8", "1,", two), "lambda": array("<f8", "2,", half+half)},
		`"cost" holds 2; want 0 to 1`:           {"kind": array("<i8", "1,", zero), "cost": array("<i8", "1,", two)},
		`"mean": a header of 4294967295`:        {"mean": "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr"},
		`"mean": header "\n\n" is not as NumPy`: {"mean": "\x93NUMPY\x01\x00\x02\x00\n\n"},
	} {
		arrays := map[string]string{}
		for _, from := range []map[string]string{good, change} {
			for name, text := range from {
				if arrays[name] = text; text == "" {
					delete(arrays, name)
				}
			}
		}
		text := archive(t, arrays)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err == nil || !strings.Contains(err.Error(), want) || m != nil {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestLoadBounds: an array that says that it has more values than it can have is refused
// before memory is taken, and so is one that unpacks to a thousand times its size; what
// Save writes is read, however well it compresses.
func TestLoadBounds(t *testing.T) {
	kind := array("<i8", "1,", strings.Repeat("\x00", 8))
	for want, basis := range map[string]string{
		"ends after 0 values":            array("<f8", "1000, 1000", ""),
		"too large for the":              array("<f8", "16000, 16000", ""),
		"too large for the \x00":         array("<f8", "3000, 1000", strings.Repeat("\x00", 24_000_000)),
		"more values than the 268435456": array("<f8", "999999999, 999999999", ""),
	} {
		text := archive(t, map[string]string{"kind": kind, "basis": basis})
		var err error
		got := testkit.Allocated(func() { _, err = LoadModel(bytes.NewReader(text), int64(len(text))) })
		if err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, " \x00")) {
			t.Errorf("%v does not say %q", err, want)
		}
		if most := memoryOf(len(text)); got > most {
			t.Errorf("%d bytes of memory for %d, want at most %d: %v", got, len(text), most, err)
		}
	}
	zeros := &Result{Coefficients: mat.NewDense(3000, 1000, nil)}
	text := saved(t, zeros)
	got, err := LoadCoefficients(bytes.NewReader(text), int64(len(text)))
	if err != nil || !mat.Equal(got, zeros.Coefficients) {
		t.Errorf("24 MB of zeros are not read again: %v", err)
	}
}

// memoryOf is the most memory that reading a file takes: its directory and up to five
// arrays.
func memoryOf(size int) uint64 { return 1<<20 + 5*(npz.FreeBytes+npz.PerByte*uint64(size)) }

// FuzzLoadModel: whatever a file holds, a model of numbers comes out that is saved and
// read again, or an error, within the stated memory.
func FuzzLoadModel(f *testing.F) {
	x := mat.NewDense(4, 3, []float64{1, 0, 2, 0, 3, 1, 2, 2, 0, 1, 1, 1})
	known := Known{Labels: []int{0, 0, 1, 1}}
	for _, m := range []Method{NMF{}, CNMFKL{}, PCA{}, SparseCoding{}, CF{}, SSNMF{}} {
		res, err := m.Fit(context.Background(), x, known, Options{Rank: 2, Iterations: 2})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(saved(f, res))
	}
	f.Add(archive(f, map[string]string{"kind": array("<i8", "1,", strings.Repeat("\x00", 8)), "basis": array("<f8", "16000, 16000", "")}))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Model
		var v *mat.Dense
		var errModel, errCoefficients error
		testkit.AllocatesAtMost(t, memoryOf(len(text)), func() {
			m, errModel = LoadModel(bytes.NewReader(text), int64(len(text)))
			v, errCoefficients = LoadCoefficients(bytes.NewReader(text), int64(len(text)))
		})
		if errCoefficients == nil {
			for _, value := range v.RawMatrix().Data {
				if math.IsNaN(value) || math.IsInf(value, 0) {
					t.Fatalf("the coefficients hold %v", value)
				}
			}
		}
		if errModel != nil {
			return
		}
		res := &Result{Model: m}
		switch m := m.(type) {
		case *Additive:
			res.Basis = m.Basis
		case *Linear:
			res.Basis = m.Projection
		case *SparseCode:
			res.Basis = m.Dictionary
		case *KernelModel:
			res.Weights = m.Weights
		}
		again := saved(t, res)
		if _, err := LoadModel(bytes.NewReader(again), int64(len(again))); err != nil {
			t.Fatalf("a model that was read is not read again: %v", err)
		}
	})
}

// TestLoadCoefficients: they are read back as they were, and of a file that holds
// none is an error.
func TestLoadCoefficients(t *testing.T) {
	want := mat.NewDense(3, 2, []float64{1, 0, 0.1, 2, 3, 1e-300})
	var saved bytes.Buffer
	if err := (&Result{Coefficients: want}).Save(&saved); err != nil {
		t.Fatal(err)
	}
	got, err := LoadCoefficients(bytes.NewReader(saved.Bytes()), int64(saved.Len()))
	if err != nil || !mat.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, text := range [][]byte{nil, []byte("PK"), archive(t, map[string]string{"basis": array("<f8", "1, 1", "\x00\x00\x00\x00\x00\x00\xe0\x3f")})} {
		if _, err := LoadCoefficients(bytes.NewReader(text), int64(len(text))); err == nil {
			t.Errorf("coefficients in %d bytes without any", len(text))
		}
	}
}

// TestLoadBadKernelModels: nor is one whose parts do not fit together.
func TestLoadBadKernelModels(t *testing.T) {
	integers := func(x ...byte) string {
		var b strings.Builder
		for _, v := range x {
			b.WriteString(string([]byte{v, 0, 0, 0, 0, 0, 0, 0}))
		}
		return array("<i8", fmt.Sprintf("%d,", len(x)), b.String())
	}
	const half, minus = "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf0\xbf"
	zero := strings.Repeat("\x00", 8)
	dense := map[string]string{
		"kind": integers(4), "kernel": integers(1), "width": array("<f8", "1,", half),
		"weights": array("<f8", "2, 1", half+half), "products": array("<f8", "1, 1", half), "samples": array("<f8", "2, 1", half+half),
	}
	sparse := maps.Clone(dense)
	maps.Copy(sparse, map[string]string{
		"samples": array("<f8", "2,", half+half), "columns": integers(0, 2), "starts": integers(0, 1, 2), "features": integers(3),
	})
	for _, good := range []map[string]string{dense, sparse} {
		text := archive(t, good)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		_, features := m.(*KernelModel).Samples.Dims()
		if _, err := m.Transform(context.Background(), mat.NewDense(1, features, slices.Repeat([]float64{1}, features))); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]struct{ good, change map[string]string }{
		`no array "weights"`:                      {dense, map[string]string{"weights": ""}},
		`no array "products"`:                     {dense, map[string]string{"products": ""}},
		`no array "kernel"`:                       {dense, map[string]string{"kernel": ""}},
		`no array "width"`:                        {dense, map[string]string{"width": ""}},
		`no array "samples"`:                      {dense, map[string]string{"samples": ""}},
		`no array "degree"`:                       {dense, map[string]string{"kernel": integers(2)}},
		`no array "offset"`:                       {dense, map[string]string{"kernel": integers(2), "degree": integers(2)}},
		`"degree" holds 0; want 1 or more`:        {dense, map[string]string{"kernel": integers(2), "degree": integers(0), "offset": array("<f8", "1,", half)}},
		`"offset" holds -1; want 0 or more`:       {dense, map[string]string{"kernel": integers(2), "degree": integers(2), "offset": array("<f8", "1,", minus)}},
		`"kernel" holds 5; want 0 to 4`:           {dense, map[string]string{"kernel": integers(5)}},
		`"width" holds 0; want more than 0`:       {dense, map[string]string{"width": array("<f8", "1,", zero)}},
		`"width" holds -1; want more than 0`:      {dense, map[string]string{"width": array("<f8", "1,", minus)}},
		`"width" has 2 values`:                    {dense, map[string]string{"width": array("<f8", "2,", half+half)}},
		`1×1 inner products of 2 concepts`:        {dense, map[string]string{"weights": array("<f8", "1, 2", half+half)}},
		`weights of 1 training samples, and`:      {dense, map[string]string{"weights": array("<f8", "1, 1", half)}},
		`training sample 2: all 1 values are ze`:  {dense, map[string]string{"samples": array("<f8", "2, 1", half+zero)}},
		`value -1 is negative`:                    {dense, map[string]string{"kernel": integers(3), "samples": array("<f8", "2, 1", half+minus)}},
		`"samples" is of shape [2 1]; want 1`:     {sparse, map[string]string{"samples": array("<f8", "2, 1", half+half)}},
		`no array "columns"`:                      {sparse, map[string]string{"columns": ""}},
		`no array "features"`:                     {sparse, map[string]string{"features": ""}},
		`column index 2 after -1, of 2`:           {sparse, map[string]string{"features": integers(2)}},
		`row starts run from 0 to 1, want 0 to 2`: {sparse, map[string]string{"starts": integers(0, 1, 1)}},
		`with 0 row starts`:                       {sparse, map[string]string{"starts": array("<i8", "0,", "")}},
		`"starts" is of shape [1 1]`:              {sparse, map[string]string{"starts": array("<i8", "1, 1", zero)}},
	} {
		arrays := map[string]string{}
		for _, from := range []map[string]string{c.good, c.change} {
			for name, text := range from {
				if arrays[name] = text; text == "" {
					delete(arrays, name)
				}
			}
		}
		text := archive(t, arrays)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err == nil || !strings.Contains(err.Error(), want) || m != nil {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestLoadDamagedModels: whatever bytes of a file change, the answer is an error
// or a model that is one.
func TestLoadDamagedModels(t *testing.T) {
	p := classProblem(3)
	p.opt.Rank = 2
	src := rand.New(rand.NewPCG(1, 31))
	for _, m := range []Method{PCA{}, SparseCoding{Lambda: 0.5}, CF{Kernel{Function: KernelRBF}}} {
		res, err := ForImages(m, p.image).Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		text := saved(t, res)
		for i := range text {
			damaged := bytes.Clone(text)
			damaged[i] ^= 1 << src.IntN(8)
			model, err := LoadModel(bytes.NewReader(damaged), int64(len(damaged)))
			if err == nil {
				if v := model.Vectors(); v != nil && !finite(v) {
					t.Fatalf("byte %d changed: %v", i, model)
				}
				if i%16 == 0 {
					if v, err := model.Transform(context.Background(), p.x); err == nil && !finite(v) {
						t.Fatalf("byte %d changed: samples are represented by %v", i, v)
					}
				}
			}
			if _, err := LoadModel(bytes.NewReader(text[:i]), int64(i)); err == nil {
				t.Fatalf("a file cut after %d of %d bytes was read", i, len(text))
			}
		}
	}
}
