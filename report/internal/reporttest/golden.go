package reporttest

import (
	"encoding/csv"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is the flag that rewrites the files kept.
var Update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares with a file in testdata, or rewrites it.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if sameTable(name, string(want), got) {
		return
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// sameTable tells whether two CSV tables differ in nothing but the last digits of their
// numbers: means are added up in another order on processors without AVX2.
func sameTable(name, want, got string) bool {
	if filepath.Ext(name) != ".csv" {
		return false
	}
	w, err1 := csv.NewReader(strings.NewReader(want)).ReadAll()
	g, err2 := csv.NewReader(strings.NewReader(got)).ReadAll()
	return err1 == nil && err2 == nil && slices.EqualFunc(w, g, func(w, g []string) bool {
		return slices.EqualFunc(w, g, func(w, g string) bool {
			x, err1 := strconv.ParseFloat(w, 64)
			y, err2 := strconv.ParseFloat(g, 64)
			return w == g || err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-12*math.Abs(x)
		})
	})
}

// ErrFailing is what a Failing writer returns.
var ErrFailing = errors.New("disk full")

// Failing is a writer on a full disk.
type Failing struct{}

func (Failing) Write([]byte) (int, error) { return 0, ErrFailing }
