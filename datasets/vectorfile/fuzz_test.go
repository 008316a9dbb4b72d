package vectorfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// mostFuzzed is the longest input of the fuzz targets: longer ones only cost time.
const mostFuzzed = 1 << 16

// checkMemory runs f and fails the test if it allocates more than bound bytes, within the error of measurement.
func checkMemory(t testing.TB, bound int64, f func()) {
	t.Helper()
	const wrongBy = 4 << 20
	if used := int64(testkit.Allocated(f)); used > bound+wrongBy {
		t.Errorf("%d bytes allocated, want at most %d", used, bound)
	}
}

// fuzzRoom is the memory limit of readers in fuzzing.
const fuzzRoom = 1 << 20

// checkRoom runs f, a reader of data with the limit fuzzRoom. Temporary memory counts too: growing lists, buffers,
// unpackers, and some hundred bytes for each part of a file, which has at least eight bytes.
func checkRoom(t testing.TB, data []byte, f func(in *input)) {
	t.Helper()
	checkMemory(t, 8*fuzzRoom+128*int64(len(data)), func() { f(memoryInput(data, fuzzRoom)) })
}

func FuzzIDX(f *testing.F) {
	good := writeIDX(8, []uint32{2, 1, 2}, pixels(0, 4))
	f.Add(good)
	f.Add(gzipped(f, good))
	f.Add(good[:7])
	f.Add(writeIDX(0x0E, []uint32{2}, []float64{1, 2}))
	f.Add(writeIDX(0x0B, []uint32{2, 1, 1}, []int16{1, -2}))
	f.Add(writeIDX(0x0C, []uint32{1, 1 << 31, 1 << 31}, []int32{}))
	f.Add(writeIDX(8, []uint32{0, 1 << 31, 1 << 31, 4}, []uint8{}))
	f.Add(gzipped(f, writeIDX(8, []uint32{1 << 13, 16, 16}, make([]uint8, 1<<21))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkRoom(t, data, func(in *input) {
			if s, err := caught(readIDX, in); err == nil {
				checkSet(t, s)
			}
		})
	})
}

func FuzzMAT(f *testing.F) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(writeMAT(order, false, sampleVars()...))
		f.Add(writeMAT(order, true, sampleVars()[:3]...))
		for _, v := range sampleVars() {
			f.Add(writeMAT(order, false, v))
		}
	}
	f.Add(writeMAT(binary.LittleEndian, true, matVar{"fea", 9, []int32{1 << 10, 1 << 11}, []matData{{2, make([]byte, 1<<21)}}}))
	addWritten(f, ".mat")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkRoom(t, data, func(in *input) {
			vars, err := caught(matVariables, in)
			if err != nil {
				return
			}
			for _, v := range vars {
				if v.Value == nil {
					continue
				}
				if r, c := v.Value.Dims(); r != v.Dims[0] || c != v.Dims[1] {
					t.Errorf("%s is %d×%d", &v, r, c)
				}
				if csr, ok := v.Value.(*sparse.CSR); ok {
					if _, err := sparse.New(v.Dims[0], v.Dims[1], csr.RowStart, csr.Columns, csr.Values); err != nil {
						t.Error(err)
					}
				}
			}
			if s, err := caught(readMAT, memoryInput(data, fuzzRoom)); err == nil {
				checkSet(t, s)
			}
		})
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("1,2.5,-3\n4,5e2,6\n"), "")
	f.Add([]byte("a;b;label\n1;2;x\n3;4;\n"), "")
	f.Add([]byte("kind\ta\nx\t1\n"), "kind")
	f.Add([]byte("name,class,a\nx,,1\ny,b,2\n"), "")
	f.Add([]byte("\ufeff\"a\"\"\",class\r\n0x1p-3,\"\n\"\r\n"), "")
	f.Add([]byte("a,b\n1,2\n3\n"), "-")
	f.Add([]byte("1,2\x00\n"), "")
	f.Add(gzipped(f, []byte("label,x\n\xe9,1\n")), "")
	f.Add(gzipped(f, bytes.Repeat([]byte("1,2,3\n"), 1<<16)), "")
	f.Fuzz(func(t *testing.T, text []byte, labels string) {
		if len(text) > mostFuzzed {
			return
		}
		// A record of the greatest length, once the file is unpacked.
		longest := min(1032*int64(len(text)), mostVectorLine)
		checkMemory(t, 8*fuzzRoom+128*int64(len(text))+64*longest, func() {
			in := memoryInput(text, fuzzRoom)
			in.opt.Labels = labels
			if s, err := caught(readCSV, in); err == nil {
				checkSet(t, s)
			}
		})
	})
}

func FuzzIndexed(f *testing.F) {
	f.Add([]byte("+1 1:0.5 17:2 # a comment\n-1 qid:3 2:1e-3\n"), []byte(""))
	f.Add([]byte("1,5 0:1\n 3:4\n"), []byte(""))
	f.Add([]byte("2286  864:0.0497 1523:0.0447\r\n2287 1:1\r\n"), []byte("C15 2286 1\nCCAT 2286 1\nE12 2287 1\nGCAT 2287 0\n"))
	f.Add([]byte("a 3:1 2:1\n"), []byte("a b c\n"))
	f.Add([]byte("a 1:nan\nb 99999999999:1\n\xff\x00 1:1\n"), []byte("\x00 a 1\n"))
	f.Add(gzipped(f, bytes.Repeat([]byte("1 2:3\n"), 1<<16)), gzipped(f, bytes.Repeat([]byte("a 1 1\n"), 1<<16)))
	f.Fuzz(func(t *testing.T, text, topics []byte) {
		if len(text)+len(topics) > mostFuzzed {
			return
		}
		longest := min(1032*int64(len(text)+len(topics)), mostVectorLine)
		checkMemory(t, 8*fuzzRoom+128*int64(len(text)+len(topics))+64*longest, func() {
			in := memoryInput(text, fuzzRoom)
			s, err := caught(func(in *input) *Content {
				x, labels := indexedRows(in)
				words, names := classesOrNames(labels)
				if names != nil {
					words = readTopics(memoryInput(topics, fuzzRoom), names)
				}
				s := in.content(x, words)
				s.nameSamples(names)
				return s
			}, in)
			if err == nil {
				checkSet(t, s)
			}
		})
	})
}

func FuzzNPY(f *testing.F) {
	f.Add(writeNPY("<f8", false, "(2, 2)", []float64{1, 2, 3, 4}))
	f.Add(writeNPY(">i2", true, "(2, 1, 2)", []int16{1, 2, 3, 4}))
	f.Add(writeNPY("<f2", false, "(2, 2)", []uint16{0x3c00, 0x4000, 1, 0x7bff}))
	f.Add(writeNPY("|b1", false, "(3,)", []bool{true, false, true}))
	f.Add(writeNPY("<U2", false, "(2,)", []uint32{'a', 'b', 'c', 0}))
	f.Add(writeNPY("|S2", false, "(2,)", []byte("abcd")))
	f.Add(writeNPY("|O", false, "(1,)", []byte("\x80\x03.")))
	f.Add(writeNPY("<f8", true, "(99999, 99999)", []float64{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkRoom(t, data, func(in *input) {
			if s, err := caught(readNPY, in); err == nil {
				checkSet(t, s)
			}
		})
	})
}

// FuzzStored reads a NumPy or IDX file in memory and on disk: both give equal sets, or both an error.
func FuzzStored(f *testing.F) {
	f.Add(writeNPY("<f8", false, "(2, 2)", []float64{1, 2, 3, 4}))
	f.Add(writeNPY(">i2", false, "(2, 1, 2)", []int16{1, 2, 3, 4}))
	f.Add(writeNPY("<f2", false, "(2, 2)", []uint16{0x3c00, 0x4000, 1, 0x7bff}))
	f.Add(writeNPY("|u1", false, "(0, 99999999)", []uint8{}))
	f.Add(writeNPY("|u1", false, "(3, 0)", []uint8{}))
	f.Add(writeIDX(8, []uint32{2, 1, 2}, pixels(0, 4)))
	f.Add(gzipped(f, writeIDX(0x0B, []uint32{2, 1, 1}, []int16{1, -2})))
	f.Add(writeIDX(8, []uint32{0, 1 << 31, 1 << 31, 4}, []uint8{}))
	path := filepath.Join(f.TempDir(), "values")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		read := IDX
		if isNPY(data) {
			read = NPY
		}
		var stored *Content
		var err error
		checkMemory(t, 16<<20+128*int64(len(data)), func() { stored, err = read(path, Options{OnDisk: true}) })
		whole, wholeErr := read(path, Options{Limit: fuzzRoom})
		if err != nil {
			return // column-major arrays and texts must be read into memory
		}
		defer stored.Close()
		checkSet(t, stored)
		if wholeErr != nil {
			t.Fatalf("on disk it can be read, and in memory: %v", wholeErr)
		}
		if !mat.Equal(stored.Vectors, whole.Vectors) || stored.Height != whole.Height || stored.Width != whole.Width || !slices.Equal(stored.Names, whole.Names) {
			t.Error("on disk it is another set than in memory")
		}
	})
}

func FuzzNPZ(f *testing.F) {
	x := writeNPY("|u1", false, "(3, 2)", []uint8{1, 2, 3, 4, 5, 6})
	y := writeNPY("<i8", false, "(3,)", []int64{10, 2, 10})
	f.Add(writeNPZ(f, npzArray{"X.npy", x}, npzArray{"y.npy", y}))
	f.Add(writeNPZ(f, npzArray{"arr_0.npy", x}, npzArray{"notes.txt", []byte("hi")}))
	f.Add(writeNPZ(f, npzArray{"X.npy", writeNPY("|u1", false, "(2048, 1024)", make([]uint8, 1<<21))}))
	addWritten(f, ".npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkRoom(t, data, func(in *input) {
			if s, err := caught(readNPZ, in); err == nil {
				checkSet(t, s)
			}
		})
	})
}

// Sets are equal after writing and reading, in each format.
func FuzzWrite(f *testing.F) {
	f.Add(uint8(0), uint8(2), uint8(3), "a\nb", "x\ny", []byte("\x01\x00\x00\x00\x00\x00\xf0\x3f12345678"))
	f.Add(uint8(1), uint8(4), uint8(4), "", "", []byte("0123456789abcdef"))
	f.Add(uint8(2), uint8(3), uint8(5), "né\n🐈\n\"q\",", "c", []byte{0, 0, 1, 0, 2, 0, 0, 3})
	f.Fuzz(func(t *testing.T, kind, rows, columns uint8, names, classes string, data []byte) {
		n, m := int(rows%5)+1, int(columns%6)+1
		value := func(i int) float64 {
			if len(data) < 8 {
				return float64(i)
			}
			v := math.Float64frombits(binary.LittleEndian.Uint64(data[8*i%(len(data)-7):]))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0
			}
			return v
		}
		s := &Content{Name: "fuzz", Labels: make([]int, n)}
		switch kind % 3 {
		case 0:
			x := mat.NewDense(n, m, nil)
			for i := range n * m {
				x.Set(i/m, i%m, value(i))
			}
			s.Vectors = x
			if kind >= 128 {
				s.Height, s.Width = 1, m
			}
		case 1:
			x := make([]uint8, n*m)
			copy(x, data)
			s.Vectors = NewBytes(n, m, x)
		default:
			var entries []sparse.Entry
			for i := range n * m {
				if v := value(i); i%3 == 0 && v != 0 {
					entries = append(entries, sparse.Entry{Row: i / m, Col: i % m, Value: v})
				}
			}
			s.Vectors = sparse.FromEntries(n, m, entries)
		}
		for i, name := range strings.SplitN(names, "\n", n) {
			s.Names = append(s.Names, name+strconv.Itoa(i))
		}
		for len(s.Names) < n {
			s.Names = append(s.Names, strconv.Itoa(len(s.Names)))
		}
		s.Classes, s.Labels = Classes(append(strings.SplitN(classes, "\n", n), make([]string, n)...)[:n])
		if s.checkVectors() != nil {
			return
		}
		for ending, write := range writers {
			var out bytes.Buffer
			w := bufio.NewWriter(&out)
			err := guard.Try(func() { write(w, s) })
			if err == nil {
				err = w.Flush()
			}
			if err != nil {
				continue // the format cannot hold the name
			}
			got, err := readWritten(ending, out.Bytes())
			if err != nil {
				t.Fatalf("%s: %v", ending, err)
			}
			checkSet(t, got)
			if !mat.Equal(got.Vectors, s.Vectors) {
				t.Errorf("%s: other vectors:\n%v\nwant\n%v", ending, mat.Formatted(got.Vectors), mat.Formatted(s.Vectors))
			}
			if !slices.Equal(got.Names, s.Names) || !slices.Equal(got.Labels, s.Labels) || !slices.Equal(got.Classes, s.Classes) {
				t.Errorf("%s: names %q, classes %q, labels %v, want %q, %q, %v", ending, got.Names, got.Classes, got.Labels, s.Names, s.Classes, s.Labels)
			}
		}
	})
}

// readWritten reads a file that Write made, by its extension, from memory.
func readWritten(ending string, data []byte) (*Content, error) {
	in := memoryInput(data, 1<<24)
	switch ending {
	case ".mat":
		return caught(readMAT, in)
	case ".npz":
		return caught(readNPZ, in)
	}
	return caught(readCSV, in)
}
