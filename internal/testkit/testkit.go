// Package testkit holds helpers for tests of several packages: folders from environment variables, fixtures with exact
// results, data sets, and memory measurements.
package testkit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// DataFolder is the environment variable with the folder of the real image sets.
const DataFolder = "PARTWISE_DATA"

// NeedFolder returns the folder of an environment variable, and skips the test if it is not set. A relative path is
// relative to the module's root.
func NeedFolder(t testing.TB, variable string) string {
	t.Helper()
	dir, root := os.Getenv(variable), ""
	if dir == "" {
		t.Skipf("%s is not set", variable)
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	for range 10 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	return filepath.Join(root, dir)
}

// Slow skips a single-threaded test that is slow under the race detector, if the detector is on and -short is set.
func Slow(t *testing.T) {
	t.Helper()
	if Race && testing.Short() {
		t.Skip("takes long under the race detector")
	}
}

var methodField = regexp.MustCompile(`"method"\s*:\s*"([^"]+)"`)

// Fixtures runs a subtest for each file of exact results in testdata/fixtures. It selects the checker whose name is the
// longest prefix of the file's method, so that "gnmf" checks "gnmf_heat". Infinities become null in text.
func Fixtures[C any](t *testing.T, checkers map[string]C, check func(t *testing.T, checker C, text []byte)) {
	files, err := filepath.Glob(filepath.Join("testdata", "fixtures", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		method := methodField.FindSubmatch(text)
		if err != nil || method == nil {
			t.Errorf("%s names no method: %v", file, err)
			continue
		}
		best := ""
		for name := range checkers {
			if strings.HasPrefix(string(method[1])+"_", name+"_") && len(name) > len(best) {
				best = name
			}
		}
		if best == "" {
			t.Errorf("%s: nothing checks the method %q", file, method[1])
		} else {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				check(t, checkers[best], bytes.ReplaceAll(text, []byte("Infinity"), []byte("null")))
			})
		}
	}
}

// Rows returns the matrix with the given rows.
func Rows(x [][]float64) *mat.Dense {
	out := mat.NewDense(len(x), len(x[0]), nil)
	for i, row := range x {
		out.SetRow(i, row)
	}
	return out
}

// Near fails the test if got differs from want by more than tolerance·max(1, |want|) in any entry.
func Near(t *testing.T, what string, got, want mat.Matrix, tolerance float64) {
	t.Helper()
	r, c := got.Dims()
	if wr, wc := want.Dims(); r != wr || c != wc {
		t.Fatalf("%s: is %d×%d, want %d×%d", what, r, c, wr, wc)
	}
	for i := range r {
		for j := range c {
			g, w := got.At(i, j), want.At(i, j)
			if !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) {
				t.Fatalf("%s: at %d,%d is %v, want %v", what, i, j, g, w)
			}
		}
	}
}

// Allocated returns the number of heap bytes that are allocated while do runs, including freed ones, so that it is an
// upper bound of the peak. Allocations of other goroutines count too. Small objects are counted in blocks, so the
// error is up to a megabyte.
func Allocated(do func()) uint64 {
	allocated := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := allocated()
	do()
	return allocated() - before
}

// AllocatesAtMost fails the test if do allocates more than most bytes.
func AllocatesAtMost(t *testing.T, most uint64, do func()) {
	t.Helper()
	if got := Allocated(do); got > most {
		t.Fatalf("%d bytes are allocated, at most %d should be", got, most)
	}
}

// CSV writes a CSV data set with well-separated classes of the given sizes in eight features, and returns its path.
func CSV(t testing.TB, sizes ...int) string {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("a,b,c,d,e,f,g,h,class\n")
	for c, size := range sizes {
		for range size {
			for j := range 8 {
				x := 0.3 + src.Float64()
				if j%len(sizes) == c {
					x += 1
				}
				fmt.Fprintf(&text, "%.4f,", x)
			}
			fmt.Fprintf(&text, "class%d\n", c)
		}
	}
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
