package datasets

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// writeIDX returns an IDX file of the given type, dimensions and numbers.
func writeIDX(kind byte, dims []uint32, data any) []byte {
	var out bytes.Buffer
	out.Write([]byte{0, 0, kind, byte(len(dims))})
	binary.Write(&out, binary.BigEndian, dims)
	binary.Write(&out, binary.BigEndian, data)
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pixels returns the numbers from first on.
func pixels(first, n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(first + i)
	}
	return out
}

// idxSet writes the four files of a small set like MNIST and returns its folder.
func idxSet(t testing.TB) string {
	dir := t.TempDir()
	for file, data := range map[string][]byte{
		"train-images-idx3-ubyte":    writeIDX(8, []uint32{3, 2, 2}, pixels(0, 12)),
		"train-labels-idx1-ubyte":    writeIDX(8, []uint32{3}, []uint8{1, 0, 1}),
		"t10k-images-idx3-ubyte.gz":  gzipped(t, writeIDX(8, []uint32{2, 2, 2}, pixels(100, 8))),
		"t10k-labels-idx1-ubyte.gz":  gzipped(t, writeIDX(8, []uint32{2}, []uint8{2, 1})),
		"train-images-idx3-ubyte.gz": []byte("not read, as it is there unpacked"),
	} {
		writeFile(t, filepath.Join(dir, file), data)
	}
	return dir
}

func TestIDXFolder(t *testing.T) {
	dir := idxSet(t)
	for _, test := range []struct {
		part   string
		first  float64
		labels []int
	}{
		{"", 0, []int{1, 0, 1, 2, 1}},
		{"train", 0, []int{1, 0, 1}},
		{"test", 100, []int{1, 0}},
	} {
		s, err := idxFolder(t.Context(), dir, test.part, vectorfile.Options{})
		if err != nil {
			t.Errorf("part %q: %v", test.part, err)
			continue
		}
		checkSet(t, s)
		if s.Len() != len(test.labels) || s.Vectors.At(0, 0) != test.first || !cmp.Equal(s.Labels, test.labels) {
			t.Errorf("part %q: %d samples that begin with %v, labels %v, want %v", test.part, s.Len(), s.Vectors.At(0, 0), s.Labels, test.labels)
		}
	}
	whole, err := idxFolder(t.Context(), dir, "", vectorfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(whole.Test, []bool{false, false, false, true, true}) || !cmp.Equal(whole.Subset([]int{3, 0}).Test, []bool{true, false}) {
		t.Errorf("test part %v", whole.Test)
	}
	if whole.Names[3] != "t10k-images-idx3-ubyte.gz row 1" || whole.Vectors.At(3, 0) != 100 {
		t.Errorf("the test part does not follow: %s begins with %v", whole.Names[3], whole.Vectors.At(3, 0))
	}

	if err := os.MkdirAll(filepath.Join(dir, "images-idx3"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"idx.jpg", "notes.txt", ".hidden"} {
		writeFile(t, filepath.Join(dir, name), nil)
	}
	want := []LeftOut{{Hidden, 1, []string{".hidden"}}, {NotIDX, 3, []string{"idx.jpg", "images-idx3", "notes.txt"}}}
	for _, part := range []string{"", "train"} {
		if s, err := idxFolder(t.Context(), dir, part, vectorfile.Options{}); err != nil || !cmp.Equal(want, s.LeftOut) {
			t.Errorf("part %q: %+v are left out, error %v", part, s.LeftOut, err)
		}
	}

	writeFile(t, filepath.Join(dir, "t10k-images-idx3-ubyte.gz"), gzipped(t, writeIDX(8, []uint32{2, 1, 3}, pixels(0, 6))))
	if _, err := idxFolder(t.Context(), dir, "", vectorfile.Options{}); err == nil || !strings.Contains(err.Error(), "1×3 images cannot be combined with 2×2 images") {
		t.Errorf("images of two sizes: got error %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "t10k-images-idx3-ubyte.gz")); err != nil {
		t.Fatal(err)
	}
	if _, err := idxFolder(t.Context(), dir, "test", vectorfile.Options{}); err == nil || !strings.Contains(err.Error(), "no IDX files of test images") {
		t.Errorf("no test part: got error %v", err)
	}
}

// The files of a folder, and their union, share one limit.
func TestRoomOfAFolder(t *testing.T) {
	dir := t.TempDir()
	const n, size = 1000, 1000 * 784
	for _, part := range []string{"train", "t10k"} {
		writeFile(t, filepath.Join(dir, part+"-images-idx3-ubyte"), writeIDX(8, []uint32{n, 28, 28}, make([]uint8, size)))
		writeFile(t, filepath.Join(dir, part+"-labels-idx1-ubyte"), writeIDX(8, []uint32{n}, make([]uint8, n)))
	}
	const names = 2 * 256 * n // the memory of the samples' names
	if s, err := Open(t.Context(), dir, OpenOptions{Limit: 4*size + names + 300_000}); err != nil || s.Len() != 2*n {
		t.Errorf("with room for all: %v", err)
	}
	for _, limit := range []int64{2 * size, 3*size + names} {
		var tooLarge *limits.LimitError
		if _, err := Open(t.Context(), dir, OpenOptions{Limit: limit}); !errors.As(err, &tooLarge) || !strings.Contains(err.Error(), dir) {
			t.Errorf("with %d bytes: %v", limit, err)
		}
	}
}

func checkSet(t testing.TB, s *Set) {
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
}

// TestStoredSet: a set on disk has the range and the images of one in memory.
func TestStoredSet(t *testing.T) {
	dir := idxSet(t)
	want, err := Open(t.Context(), dir, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(t.Context(), dir, OpenOptions{OnDisk: true})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	gotBlack, gotWhite := got.ValueRange()
	wantBlack, wantWhite := want.ValueRange()
	a, err := got.Image(4)
	b, _ := want.Image(4)
	if gotBlack != wantBlack || gotWhite != wantWhite || err != nil || a.At(1, 1) != b.At(1, 1) || !cmp.Equal(got.Labels, want.Labels) {
		t.Errorf("range %v to %v, labels %v, %v", gotBlack, gotWhite, got.Labels, err)
	}
	if _, err := Open(t.Context(), "generated", OpenOptions{OnDisk: true}); err == nil {
		t.Error("the generated set stays on disk")
	}
}
