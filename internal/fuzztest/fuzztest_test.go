package fuzztest

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzMutate: mutations are no longer than is said. It fails on purpose where
// TestFailingMutation asks for it.
func FuzzMutate(f *testing.F) {
	f.Add([]byte("seed"), 3)
	f.Fuzz(Repeat(func(t *testing.T, b []byte, i int) {
		if os.Getenv(failing) != "" && len(b) > 4 {
			t.Fatalf("%q is longer than the seed", b)
		}
		input := []reflect.Value{reflect.ValueOf(b), reflect.ValueOf(i)}
		if got := len(mutate(seeded(input), input)[0].Bytes()); got > len(b)+4*longestInsertion {
			t.Errorf("%d bytes of %d", got, len(b))
		}
	}))
}

// failing names the variable that lets FuzzMutate fail at a mutation.
const failing = "FUZZTEST_FAILING"

// TestFailingMutation: an input that fails is kept, and fails without mutations too.
func TestFailingMutation(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(mutations string) (string, error) {
		cmd := exec.Command(self, "-test.run", "^FuzzMutate$", "-test.v")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), failing+"=yes", Variable+"="+mutations)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("0"); err != nil {
		t.Fatalf("without mutations: %v\n%s", err, out)
	}
	out, err := run("1000")
	if err == nil {
		t.Fatalf("no mutation failed:\n%s", out)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "testdata", "fuzz", "FuzzMutate", "*"))
	if err != nil || len(kept) != 1 || !strings.Contains(out, filepath.Base(kept[0])) {
		t.Fatalf("kept: %v, error %v\n%s", kept, err, out)
	}
	if out, err := run("0"); err == nil || !strings.Contains(out, filepath.Base(kept[0])) {
		t.Errorf("the input that was kept does not fail: %v\n%s", err, out)
	}
}

func TestMutate(t *testing.T) {
	input := []reflect.Value{
		reflect.ValueOf([]byte("some bytes")), reflect.ValueOf("text"), reflect.ValueOf(true),
		reflect.ValueOf(1.5), reflect.ValueOf(7), reflect.ValueOf(uint8(200)), reflect.ValueOf(uint64(math.MaxUint64)),
	}
	interfaces := func(vs []reflect.Value) []any {
		var out []any
		for _, v := range vs {
			out = append(out, v.Interface())
		}
		return out
	}
	want := interfaces(input)
	want[0] = bytes.Clone(want[0].([]byte))
	changed := make([]int, len(input))
	first, second := seeded(input), seeded(input)
	for range 2000 {
		a, b := interfaces(mutate(first, input)), interfaces(mutate(second, input))
		if diff := cmp.Diff(a, b, cmp.Comparer(func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })); diff != "" {
			t.Fatalf("two mutations of one input differ:\n%s", diff)
		}
		for i := range a {
			if reflect.TypeOf(a[i]) != reflect.TypeOf(want[i]) {
				t.Fatalf("a %T for a %T", a[i], want[i])
			}
			if !reflect.DeepEqual(a[i], want[i]) {
				changed[i]++
			}
		}
	}
	if diff := cmp.Diff(want, interfaces(input)); diff != "" {
		t.Errorf("the input itself is changed:\n%s", diff)
	}
	for i, times := range changed {
		if times < 2000/len(input)/2 {
			t.Errorf("a %T is changed %d times of 2000", want[i], times)
		}
	}
}
