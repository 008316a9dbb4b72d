package vectorfile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// memoryInput returns a file in memory with a limit for reading; 0 means the free budget.
func memoryInput(data []byte, limit int64) *input {
	opt := Options{Limit: limit}
	return &input{bytes.NewReader(data), "fuzz", int64(len(data)), opt, newBudget(context.Background(), opt), nil}
}

// caught returns the result of read, or the error with which it fails.
func caught[T any](read func(in *input) T, in *input) (out T, err error) {
	err = guard.Try(func() { out = read(in) })
	return out, err
}

// The readers by path, for any content.
func IDX(path string, opt Options) (*Content, error)     { return readNow(readIDX, path, opt) }
func NPY(path string, opt Options) (*Content, error)     { return readNow(readNPY, path, opt) }
func NPZ(path string, opt Options) (*Content, error)     { return readNow(readNPZ, path, opt) }
func MAT(path string, opt Options) (*Content, error)     { return readNow(readMAT, path, opt) }
func CSV(path string, opt Options) (*Content, error)     { return readNow(readCSV, path, opt) }
func Indexed(path string, opt Options) (*Content, error) { return readNow(readIndexed, path, opt) }

func readNow(read func(in *input) *Content, path string, opt Options) (*Content, error) {
	return pathReader(read)(context.Background(), path, opt)
}

// bomb returns a DEFLATE stream of head and n times text, without compressing each copy, and without an end.
func bomb(t testing.TB, head, text []byte, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) []byte {
		z.Write(data)
		z.Flush()
		packed := bytes.Clone(out.Bytes())
		out.Reset()
		return packed
	}
	stream := append(put(head), put(text)...)
	return append(stream, bytes.Repeat(put(text), n-1)...)
}

// bombs returns files of a few MB of each packed format that unpack to 8 GB.
func bombs(t testing.TB) map[string][]byte {
	const size, each = 1 << 33, 1 << 22
	zeros := make([]byte, each)
	gzip := func(head, text []byte) []byte {
		return append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), bomb(t, head, text, size/len(text))...)
	}
	// A variable of a MATLAB file has at most 4 GB: three of them.
	var mat []byte
	for range 3 {
		const most = 1<<32 - 1<<16
		order := binary.LittleEndian
		var head bytes.Buffer
		binary.Write(&head, order, []uint32{14, most + 56, 6, 8, 9, 0, 5, 8, 1 << 16, most >> 16, 3<<16 | 1, 0x616566, 2, most})
		packed := append([]byte("\x78\x9c"), bomb(t, head.Bytes(), zeros, most/each+1)...)
		if mat == nil {
			mat = writeMAT(order, false)
		}
		mat = order.AppendUint32(order.AppendUint32(mat, 15), uint32(len(packed)))
		mat = append(mat, packed...)
	}
	var npz bytes.Buffer
	z := zip.NewWriter(&npz)
	packed := bomb(t, writeNPY("|u1", false, fmt.Sprintf("(%d, %d)", size/784, 784), []uint8{}), zeros, size/each)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "X.npy", Method: zip.Deflate, CompressedSize64: uint64(len(packed)), UncompressedSize64: size})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(packed)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	rows := []byte(strings.Repeat("1,2,3,4,5,6,7,8\n", each/16))
	return map[string][]byte{
		"x.mat":         mat,
		"x.npz":         npz.Bytes(),
		"x-idx3.gz":     gzip(writeIDX(8, []uint32{size / 1024, 32, 32}, []uint8{}), zeros),
		"x.csv.gz":      gzip(nil, rows),
		"line.csv.gz":   gzip([]byte("1,"), bytes.Repeat([]byte("0"), each)),
		"fields.csv.gz": gzip([]byte("1"), bytes.Repeat([]byte(","), each)),
		"quoted.csv.gz": gzip([]byte("name,x\n\""), bytes.Repeat([]byte("\n"), each)),
		"label.csv.gz":  gzip([]byte("label,x\n"), bytes.Repeat([]byte("a,1\n"), each/4)),
	}
}

// Files that unpack to more than the memory are refused before allocation.
func TestBombs(t *testing.T) {
	const limit = 32 << 20
	for name, data := range bombs(t) {
		if len(data) > 20<<20 {
			t.Errorf("%s: %d bytes: no bomb", name, len(data))
		}
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		var err error
		// The longest line of a CSV file takes a multiple of its length.
		used := memory(func() { _, err = openFile(path, Options{Limit: limit}) })
		if used > 10*limit {
			t.Errorf("%s: %d bytes of memory", name, used)
		}
		var tooLarge *limits.LimitError
		switch {
		case err == nil || !strings.Contains(err.Error(), path):
			t.Errorf("%s: got error %v, want one with the file", name, err)
		case name == "line.csv.gz" || name == "fields.csv.gz" || name == "quoted.csv.gz":
			if !strings.Contains(err.Error(), "a record of more than") {
				t.Errorf("%s: error %v", name, err)
			}
		case !errors.As(err, &tooLarge) || tooLarge.Limit != limit:
			t.Errorf("%s: error %v", name, err)
		case !strings.HasPrefix(filepath.Ext(strings.TrimSuffix(name, ".gz")), ".csv") && used > 2<<20:
			t.Errorf("%s: %d bytes of memory, where the header tells", name, used)
		}
	}
}

// Large valid files are read with a limited multiple of the memory that their content takes.
func TestLargeVectors(t *testing.T) {
	const n, m = 12000, 784
	values := make([]uint8, n*m)
	for i := range values {
		values[i] = uint8(i >> 9)
	}
	shape := fmt.Sprintf("(%d, %d)", n, m)
	for name, data := range map[string][]byte{
		"x-idx3.gz": gzipped(t, writeIDX(8, []uint32{n, 28, 28}, values)),
		"x.npz":     writeNPZ(t, npzArray{"X.npy", writeNPY("|u1", false, shape, values)}),
		"x.npy":     writeNPY("|u1", true, shape, values),
		"x.mat":     writeMAT(binary.LittleEndian, true, matVar{"fea", 9, []int32{n, m}, []matData{{2, values}}}),
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		used := memory(func() {
			s, err := openFile(path, Options{Limit: 4 * n * m})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if s.Len() != n {
				t.Errorf("%s: %d samples", name, s.Len())
			}
		})
		if used > 5*n*m {
			t.Errorf("%s: %d bytes of memory for %d", name, used, n*m)
		}
		if _, err := openFile(path, Options{Limit: n * m}); err == nil || !strings.Contains(err.Error(), "of memory") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s with less memory than it takes: %v", name, err)
		}
	}
}

// Arrays that fit one by one, but not together, are refused.
func TestRoomIsShared(t *testing.T) {
	x := writeNPY("<f8", false, "(1000, 10)", make([]float64, 10000))
	var arrays []npzArray
	for i := range 20 {
		arrays = append(arrays, npzArray{fmt.Sprintf("a%d.npy", i), x})
	}
	path := writeFile(t, filepath.Join(t.TempDir(), "x.npz"), writeNPZ(t, append(arrays, npzArray{"X.npy", x})...))
	if _, err := NPZ(path, Options{Limit: 4 << 20}); err != nil {
		t.Error(err)
	}
	_, err := NPZ(path, Options{Limit: 1 << 20})
	var tooLarge *limits.LimitError
	if !errors.As(err, &tooLarge) {
		t.Errorf("error %v", err)
	}
}

// Reading ends when the context ends.
func TestReadingIsStopped(t *testing.T) {
	stop := errors.New("stopped here")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stop)
	for name, data := range map[string][]byte{
		"x-idx3.gz": gzipped(t, writeIDX(8, []uint32{100, 28, 28}, make([]uint8, 78400))),
		"x.npz":     writeNPZ(t, npzArray{"X.npy", writeNPY("|u1", false, "(100, 100)", make([]uint8, 10000))}),
		"x.npy":     writeNPY("<f8", true, "(100, 100)", make([]float64, 10000)),
		"x.mat":     writeMAT(binary.LittleEndian, true, sampleVars()...),
		"x.csv":     []byte("1,2\n3,4\n"),
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		if _, err := Open(ctx, path, Options{}); !errors.Is(err, stop) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := openFile(path, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTransposed(t *testing.T) {
	read := func(dims ...int) []float64 {
		n := 1
		for _, d := range dims {
			n *= d
		}
		file := make([]byte, 2*n)
		for i := range n {
			binary.BigEndian.PutUint16(file[2*i:], uint16(i))
		}
		a := array{number.Uint16, binary.BigEndian, dims, true}
		return a.matrix(bytes.NewReader(file), int64(len(file)), memoryInput(nil, 0), false).(*mat.Dense).RawMatrix().Data
	}
	// 2×2×3 numbers in Fortran order.
	if got, want := read(2, 2, 3), []float64{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}; !slices.Equal(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	for _, size := range [][2]int{{1, 1}, {3, 200}, {200, 3}, {130, 129}, {64, 64}, {4000, 20}} {
		r, c := size[0], size[1]
		got := read(r, c)
		for i := range r {
			for j := range c {
				if got[i*c+j] != float64((j*r+i)%(1<<16)) {
					t.Fatalf("%d×%d: (%d, %d) is value %v", r, c, i, j, got[i*c+j])
				}
			}
		}
	}
}
