package factor

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"
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
	z, err := npz.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var s mat.Dense
	if err := z.Read("association", &s); err != nil {
		t.Fatal(err)
	}
	near(t, "association", &s, res.Association, 0)
}

func saved(t *testing.T, res *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := res.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archive makes a file of arrays with the headers and the values given.
func archive(t *testing.T, arrays map[string]string) []byte {
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
		`"kind" holds 9; want 0 to 3`:           {"kind": array("<i8", "1,", "\x09"+zero[1:])},
		`"kind" holds -1`:                       {"kind": array("<i8", "1,", strings.Repeat("\xff", 8))},
		`"kind" is of shape [2]`:                {"kind": array("<i8", "2,", one+one)},
		`"kind" is not of the type <i8`:         {"kind": array("<f8", "1,", one)},
		`"basis" is of shape [2 1] and has 8`:   {"basis": array("<f8", "2, 1", half)},
		`"basis" is of shape [999999999 9`:      {"basis": array("<f8", "999999999, 999999999", half)},
		`"basis" is of shape [0 1]`:             {"basis": array("<f8", "0, 1", "")},
		`"basis" is of shape [2]; want 2`:       {"basis": array("<f8", "2,", half+half)},
		`"basis" is not of the type <f8`:        {"basis": array("<f4", "2, 1", half)},
		`"basis" holds values that are no`:      {"basis": array("<f8", "2, 1", half+nan)},
		`"mean" has 1 values for vectors of 2`:  {"mean": array("<f8", "1,", half)},
		`"mean" is of shape [2 1]; want 1`:      {"mean": basis},
		`no array "lambda"`:                     {"kind": array("<i8", "1,", two)},
		`"lambda" has 2 values`:                 {"kind": array("<i8", "1,", two), "lambda": array("<f8", "2,", half+half)},
		`"cost" holds 2; want 0 to 1`:           {"kind": array("<i8", "1,", zero), "cost": array("<i8", "1,", two)},
		`"mean" is not of the type`:             {"mean": "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr"},
		`"mean" is not of the type <f8 and one`: {"mean": "\x93NUMPY\x01\x00\x02\x00\n\n"},
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

// TestLoadDamagedModels: whatever bytes of a file change, the answer is an error
// or a model that is one.
func TestLoadDamagedModels(t *testing.T) {
	p := classProblem(3)
	p.opt.Rank = 2
	src := rand.New(rand.NewPCG(1, 31))
	for _, m := range []Method{PCA{}, SparseCoding{Lambda: 0.5}} {
		res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		text := saved(t, res)
		for i := range text {
			damaged := bytes.Clone(text)
			damaged[i] ^= 1 << src.IntN(8)
			model, err := LoadModel(bytes.NewReader(damaged), int64(len(damaged)))
			if err == nil && (model == nil || !finite(model.Vectors())) {
				t.Fatalf("byte %d changed: %v", i, model)
			}
			if _, err := LoadModel(bytes.NewReader(text[:i]), int64(i)); err == nil {
				t.Fatalf("a file cut after %d of %d bytes was read", i, len(text))
			}
		}
	}
}
