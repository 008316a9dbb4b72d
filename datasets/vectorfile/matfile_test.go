package vectorfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// matVar is a variable for the small MATLAB writer of these tests.
type matVar struct {
	name  string
	class uint32 // with its flags
	dims  []int32
	parts []matData
}

type matData struct {
	typ  uint32
	data any // a slice for binary.Write
}

const (
	flagComplex = 0x800
	flagLogical = 0x200
)

// writeMAT returns a MATLAB file of the variables, in the given byte order.
func writeMAT(order binary.ByteOrder, compress bool, vars ...matVar) []byte {
	var out bytes.Buffer
	out.WriteString("MATLAB 5.0 MAT-file" + strings.Repeat(" ", 105))
	binary.Write(&out, order, []uint16{0x0100, 'M'<<8 | 'I'})
	for _, v := range vars {
		var body bytes.Buffer
		part := func(typ uint32, data any) {
			var raw bytes.Buffer
			binary.Write(&raw, order, data)
			n := raw.Len()
			if n <= 4 { // packed with its tag
				binary.Write(&body, order, uint32(n)<<16|typ)
				body.Write(append(raw.Bytes(), make([]byte, 4-n)...))
				return
			}
			binary.Write(&body, order, []uint32{typ, uint32(n)})
			body.Write(append(raw.Bytes(), make([]byte, -n&7)...))
		}
		part(6, []uint32{v.class, 0})
		part(5, v.dims)
		part(1, []byte(v.name))
		for _, p := range v.parts {
			part(p.typ, p.data)
		}
		var element bytes.Buffer
		binary.Write(&element, order, []uint32{14, uint32(body.Len())})
		element.Write(body.Bytes())
		if !compress {
			out.Write(element.Bytes())
			continue
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		z.Write(element.Bytes())
		z.Close()
		binary.Write(&out, order, []uint32{15, uint32(packed.Len())})
		out.Write(packed.Bytes())
	}
	return out.Bytes()
}

// sampleVars holds one variable of each kind.
func sampleVars() []matVar {
	return []matVar{
		{"fea", 9, []int32{2, 3}, []matData{{2, []uint8{1, 4, 2, 5, 3, 6}}}},
		{"gnd", 6, []int32{2, 1}, []matData{{2, []uint8{2, 1}}}},
		{"d", 6, []int32{2, 2}, []matData{{9, []float64{1.5, -2, math.Pi, 1e300}}}},
		{"s", 7, []int32{1, 2}, []matData{{7, []float32{0.5, -8}}}},
		{"i8", 8, []int32{1, 2}, []matData{{1, []int8{-128, 127}}}},
		{"i16", 10, []int32{1, 2}, []matData{{3, []int16{-300, 300}}}},
		{"u16", 11, []int32{1, 1}, []matData{{4, []uint16{65535}}}},
		{"i32", 12, []int32{1, 3}, []matData{{5, []int32{-70000, 0, 70000}}}},
		{"u32", 13, []int32{1, 2}, []matData{{6, []uint32{0, 1 << 31}}}},
		{"i64", 14, []int32{1, 2}, []matData{{12, []int64{-1 << 40, 1 << 40}}}},
		{"u64", 15, []int32{1, 1}, []matData{{13, []uint64{1 << 50}}}},
		{"yes", 9 | flagLogical, []int32{1, 2}, []matData{{2, []uint8{0, 1}}}},
		// [5 0 0; 0 0 7; 6 0 8]
		{"sp", 5, []int32{3, 3}, []matData{{5, []int32{0, 2, 1, 2}}, {5, []int32{0, 2, 2, 4}}, {9, []float64{5, 6, 7, 8}}}},
		{"text", 4, []int32{1, 2}, []matData{{16, []byte("hi")}}},
		{"z", 6 | flagComplex, []int32{1, 1}, []matData{{9, []float64{1}}, {9, []float64{2}}}},
		{"cube", 6, []int32{2, 2, 2}, []matData{{9, make([]float64, 8)}}},
		{"none", 6, []int32{0, 4}, []matData{{9, []float64{}}}},
		{"cell", 1, []int32{1, 0}, nil},
	}
}

func TestReadMAT(t *testing.T) {
	want := map[string]mat.Matrix{
		"fea":  NewBytes(2, 3, []uint8{1, 2, 3, 4, 5, 6}),
		"gnd":  mat.NewDense(2, 1, []float64{2, 1}),
		"d":    mat.NewDense(2, 2, []float64{1.5, math.Pi, -2, 1e300}),
		"s":    mat.NewDense(1, 2, []float64{0.5, -8}),
		"i8":   mat.NewDense(1, 2, []float64{-128, 127}),
		"i16":  mat.NewDense(1, 2, []float64{-300, 300}),
		"u16":  mat.NewDense(1, 1, []float64{65535}),
		"i32":  mat.NewDense(1, 3, []float64{-70000, 0, 70000}),
		"u32":  mat.NewDense(1, 2, []float64{0, 1 << 31}),
		"i64":  mat.NewDense(1, 2, []float64{-1 << 40, 1 << 40}),
		"u64":  mat.NewDense(1, 1, []float64{1 << 50}),
		"yes":  NewBytes(1, 2, []uint8{0, 1}),
		"sp":   sparse.FromEntries(3, 3, []sparse.Entry{{Row: 0, Col: 0, Value: 5}, {Row: 1, Col: 2, Value: 7}, {Row: 2, Col: 0, Value: 6}, {Row: 2, Col: 2, Value: 8}}),
		"text": nil, "z": nil, "cube": nil, "none": nil, "cell": nil,
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, compress := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "all.mat")
			writeFile(t, path, writeMAT(order, compress, sampleVars()...))
			vars, err := readFile(path, Options{}, newBudget(t.Context(), Options{}), matVariables)
			if err != nil {
				t.Fatalf("%v, compressed %v: %v", order, compress, err)
			}
			if len(vars) != len(want) {
				t.Errorf("%v, compressed %v: %d variables, want %d", order, compress, len(vars), len(want))
			}
			for _, v := range vars {
				w := want[v.Name]
				if (w == nil) != (v.Value == nil) || w != nil && !mat.Equal(v.Value, w) {
					t.Errorf("%v, compressed %v: %s is %v, want %v", order, compress, &v, v.Value, w)
				}
				switch v.Value.(type) {
				case *Bytes:
					if v.Name != "fea" && v.Name != "yes" {
						t.Errorf("%s is a *Bytes", v.Name)
					}
				case *sparse.CSR:
					if v.Name != "sp" {
						t.Errorf("%s is sparse", v.Name)
					}
				}
			}
		}
	}
}

func TestVariableString(t *testing.T) {
	vars, err := parseMAT(writeMAT(binary.LittleEndian, true, sampleVars()...))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range []int{0, 1, 11, 12, 14, 15} {
		got = append(got, vars[i].String())
	}
	want := []string{"fea (2×3 uint8)", "gnd (2×1 double)", "yes (1×2 logical uint8)", "sp (3×3 sparse)", "z (1×1 complex double)", "cube (2×2×2 double)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadMATRefuses(t *testing.T) {
	order := binary.LittleEndian
	one := func(v matVar) []byte { return writeMAT(order, false, v) }
	good := one(sampleVars()[2])
	hdf5 := bytes.Join([][]byte{[]byte("MATLAB 7.3 MAT-file"), bytes.Repeat([]byte(" "), 105), []byte{0, 2, 'I', 'M'}, make([]byte, 384), []byte("\x89HDF\r\n\x1a\n")}, nil)
	v4 := make([]byte, 64)
	order.PutUint32(v4[4:], 3) // rows
	order.PutUint32(v4[8:], 1) // columns
	order.PutUint32(v4[16:], 4)
	copy(v4[20:], "fea\x00")
	packed := writeMAT(order, true, sampleVars()[2])
	broken := bytes.Clone(packed)
	broken[len(broken)-1] ^= 1 // the sum at the end of the zlib data

	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not a MATLAB file"},
		{"text", bytes.Repeat([]byte("no MATLAB file. "), 20), "not a MATLAB file"},
		{"7.3", hdf5, "-v7"},
		{"7.3 without text", []byte("\x89HDF\r\n\x1a\n........"), "-v7"},
		{"version 4", v4, "of version 5 to 7"},
		{"cut in a tag", good[:132], "byte 128: the file ends within an element's tag"},
		{"cut in a value", good[:len(good)-8], "byte 128: the file ends within an element"},
		{"cut when packed", packed[:len(packed)-8], "byte 128: the file ends within an element"},
		{"broken sum", broken, "zlib: invalid checksum"},
		{"huge matrix", one(matVar{"x", 6, []int32{1 << 30, 1 << 30}, []matData{{9, []float64{1}}}}), `variable "x": 1073741824×1073741824 matrix with 1 values`},
		{"negative size", one(matVar{"x", 6, []int32{-1, 2}, []matData{{9, []float64{1}}}}), "dimension 1 is -1"},
		{"too few values", one(matVar{"x", 6, []int32{2, 2}, []matData{{9, []float64{1, 2, 3}}}}), "2×2 matrix with 3 values"},
		{"no values", one(matVar{"x", 6, []int32{2, 2}, nil}), "ends within a part's tag"},
		{"uint8 stored otherwise", one(matVar{"x", 9, []int32{1, 1}, []matData{{9, []float64{300}}}}), "uint8 matrix whose values take 8 bytes"},
		{"unknown class", one(matVar{"x", 77, []int32{1, 1}, nil}), "class 77"},
		{"sparse row", one(matVar{"x", 5, []int32{2, 1}, []matData{{5, []int32{2}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "column index 2 after -1, of 2"},
		{"sparse starts", one(matVar{"x", 5, []int32{2, 2}, []matData{{5, []int32{0, 1}}, {5, []int32{0, 3, 2}}, {9, []float64{1, 1}}}}), "runs from 0 to 3"},
		{"sparse too few starts", one(matVar{"x", 5, []int32{2, 2}, []matData{{5, []int32{0}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "2 column starts"},
		{"sparse count", one(matVar{"x", 5, []int32{2, 1}, []matData{{5, []int32{0}}, {5, []int32{0, 2}}, {9, []float64{1}}}}), "of 2 values with 1 row indices"},
		{"sparse twice", one(matVar{"x", 5, []int32{2, 1}, []matData{{5, []int32{0, 0}}, {5, []int32{0, 2}}, {9, []float64{1, 1}}}}), "column index 0 after 0"},
		{"sparse row of doubles", one(matVar{"x", 5, []int32{2, 1}, []matData{{9, []float64{math.NaN()}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "rows or column starts that are not whole numbers"},
		{"sparse starts of doubles", one(matVar{"x", 5, []int32{2, 1}, []matData{{5, []int32{0}}, {9, []float64{0, math.Inf(1)}}, {9, []float64{1}}}}), "rows or column starts that are not whole numbers"},
		{"sparse negative row", one(matVar{"x", 5, []int32{2, 1}, []matData{{5, []int32{-1}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "column index -1"},
		{"sparse negative start", one(matVar{"x", 5, []int32{2, 2}, []matData{{5, []int32{0}}, {5, []int32{0, -1, 1}}, {9, []float64{1}}}}), "runs from 0 to -1"},
		{"sparse many rows and starts", one(matVar{"x", 5, []int32{1, 1<<31 - 1}, []matData{{5, []int32{0}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "2 column starts"},
		{"cells that are not there", one(matVar{"x", 1, []int32{1<<31 - 1, 1}, nil}), "ends within a part's tag"},
		{"one name twice", writeMAT(order, false, sampleVars()[2], sampleVars()[2]), `the file has "d" twice`},
		{"sparse huge", one(matVar{"x", 5, []int32{1 << 30, 1}, []matData{{5, []int32{0}}, {5, []int32{0, 1}}, {9, []float64{1}}}}), "with only 1 values"},
	} {
		path := filepath.Join(t.TempDir(), "bad.mat")
		writeFile(t, path, test.data)
		_, err := readFile(path, Options{}, newBudget(t.Context(), Options{}), matVariables)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one of %s with %q", test.name, err, path, test.want)
		}
	}
}

// A doubly packed element holds no variable, and the next is read.
func TestReadMATPackedTwice(t *testing.T) {
	once := writeMAT(binary.LittleEndian, true, sampleVars()[0])[matHeader:]
	twice := writeMAT(binary.LittleEndian, false)
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	z.Write(once)
	z.Close()
	packed := deflated.Bytes()
	twice = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(twice, 15), uint32(len(packed)))
	twice = append(append(twice, packed...), once...)
	vars, err := parseMAT(twice)
	if err != nil || len(vars) != 1 || vars[0].Name != "fea" {
		t.Errorf("%v, %v", vars, err)
	}
}

// A false size of an element must not cost memory.
func TestReadMATClaims(t *testing.T) {
	var body bytes.Buffer
	order := binary.LittleEndian
	binary.Write(&body, order, []uint32{14, 1<<32 - 8, 6, 8, 6, 0, 5, 8, 1 << 14, 1 << 15, 1<<16 | 1, 'x', 9, 1<<32 - 64})
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(body.Bytes())
	z.Close()
	data := writeMAT(order, false)
	data = order.AppendUint32(data, 15)
	data = order.AppendUint32(data, uint32(packed.Len()))
	data = append(data, packed.Bytes()...)
	used := memory(func() {
		if _, err := caught(matVariables, memoryInput(data, 0)); err == nil || !strings.Contains(err.Error(), "but the file has") {
			t.Errorf("got error %v, want one that names the size of the file", err)
		}
	})
	if used > 4<<20 {
		t.Errorf("%d bytes of memory for a file of %d", used, len(data))
	}
}

// memory returns the number of bytes that f allocates.
func memory(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// parseMAT reads the variables of a file in memory.
func parseMAT(data []byte) ([]Variable, error) {
	return caught(matVariables, memoryInput(data, 0))
}

// checkSet checks the invariants of every set of vectors.
func checkSet(t testing.TB, s *Content) {
	t.Helper()
	n, m := s.Vectors.Dims()
	if n == 0 || m == 0 || len(s.Names) != n || len(s.Labels) != n {
		t.Errorf("%d×%d vectors, %d names and %d labels", n, m, len(s.Names), len(s.Labels))
	}
	if s.Height*s.Width != 0 && s.Height*s.Width != m {
		t.Errorf("images of %d×%d in vectors of %d", s.Height, s.Width, m)
	}
	for i, l := range s.Labels {
		if l < -1 || l >= len(s.Classes) {
			t.Errorf("label %d of sample %d with %d classes", l, i, len(s.Classes))
		}
	}
	if err := checkFinite(s.Vectors, false); err != nil {
		t.Error(err)
	}
}

// Cells with a line of text each are words, in any encoding.
func TestReadMATWords(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		cell := func(class uint32, rows, cols int32, typ uint32, data any) matData {
			// A cell is a variable without a name.
			return matData{14, writeMAT(order, false, matVar{"", class, []int32{rows, cols}, []matData{{typ, data}}})[136:]}
		}
		ascii := cell(4, 1, 5, 16, []byte("hello"))
		for _, test := range []struct {
			name       string
			rows, cols int32
			cells      []matData
			want       []string
		}{
			{"column", 2, 1, []matData{ascii, cell(4, 1, 2, 16, []byte("né"))}, []string{"hello", "né"}},
			{"row", 1, 3, []matData{ascii, ascii, ascii}, []string{"hello", "hello", "hello"}},
			{"16 bits", 2, 1, []matData{cell(4, 1, 2, 17, []uint16{'n', 'é'}), cell(4, 1, 3, 4, []uint16{'a', 0xd83d, 0xdc08})}, []string{"né", "a🐈"}},
			{"8 bits", 2, 1, []matData{cell(4, 1, 2, 1, []byte("ab")), cell(4, 1, 1, 2, []byte{0xe9})}, []string{"ab", "é"}},
			{"empty", 1, 2, []matData{cell(4, 0, 0, 16, []byte{}), ascii}, []string{"", "hello"}},
			{"a number", 2, 1, []matData{ascii, cell(6, 1, 1, 9, []float64{1})}, nil},
			{"lines", 2, 1, []matData{cell(4, 2, 1, 16, []byte("ab")), ascii}, nil},
			{"no text", 1, 2, []matData{cell(4, 1, 1, 16, []byte{0xff}), ascii}, nil},
			{"unknown type", 1, 2, []matData{cell(4, 1, 1, 18, []uint32{'a'}), ascii}, nil},
			{"nothing", 1, 2, []matData{{14, []byte{}}, ascii}, nil},
			{"table", 2, 2, []matData{ascii, ascii, ascii, ascii}, nil},
		} {
			vars := []matVar{{"words", 1, []int32{test.rows, test.cols}, test.cells}, doubles("after", 1, 1, 7)}
			for _, compress := range []bool{false, true} {
				got, err := parseMAT(writeMAT(order, compress, vars...))
				if err != nil || len(got) != 2 {
					t.Errorf("%v, %s: %v, %v", order, test.name, got, err)
					continue
				}
				if !cmp.Equal(got[0].Text, test.want) || got[0].Value != nil || got[1].Value.At(0, 0) != 7 {
					t.Errorf("%v, %s: got %q, want %q", order, test.name, got[0].Text, test.want)
				}
			}
		}
		for name, test := range map[string]struct {
			cells []matData
			want  string
		}{
			"a cell too few": {[]matData{ascii}, "ends within a part's tag"},
			"cut":            {[]matData{ascii, {14, make([]byte, 5)}}, "ends within a part's tag"},
			"unknown class":  {[]matData{ascii, cell(99, 1, 1, 9, []float64{1})}, "class 99"},
		} {
			_, err := parseMAT(writeMAT(order, false, matVar{"words", 1, []int32{2, 1}, test.cells}))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"words"`) {
				t.Errorf("%v, %s: got error %v, want one with %q", order, name, err, test.want)
			}
		}
	}
}
