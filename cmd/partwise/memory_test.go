package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What needs more than --memory says is refused with the numbers, and nothing is
// left behind.
func TestMemoryFlag(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "out")
	if err := os.WriteFile(data, []byte("x,y,class\n"+strings.Repeat("1,2,a\n2,1,b\n", 2500)), 0o666); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (code int, stderr string) {
		var stdoutText, stderrText bytes.Buffer
		code = run(args, &stdoutText, &stderrText)
		return code, stderrText.String()
	}
	code, stderr := call("run", "--set", data, "--name", "x", "--method", "ncut", "--classes", "2", "--repeats", "1", "--out", out, "--memory", "256MB")
	if code != exitFailed || !strings.Contains(stderr, "ncut") || !strings.Contains(stderr, "256 MB") || !strings.Contains(stderr, "--memory") {
		t.Errorf("exit code %d and %q, want a refusal", code, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused run left a folder")
	}
	code, stderr = call("cluster", data, "-k", "2", "--method", "ncut", "--out", out, "--memory", "256MB")
	if code != exitFailed || !strings.Contains(stderr, "256 MB") {
		t.Errorf("exit code %d and %q, want a refusal", code, stderr)
	}
	for _, size := range []string{"much", "4", "1MB", "200%", "-4GB"} {
		code, stderr = call("features", data, "--out", out+".npz", "--memory", size)
		if code != exitUsage || !strings.HasPrefix(stderr, "partwise: --memory: ") {
			t.Errorf("--memory %s: exit code %d and %q", size, code, stderr)
		}
	}
}

// TestCollectEarlier: beside large features there is less garbage, unless the user says how much.
func TestCollectEarlier(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	large, small := mat.NewDense(largeFeatures/8/1024, 1024, nil), mat.NewDense(largeFeatures/8/1024-1, 1024, nil)
	for _, c := range []struct {
		x    mat.Matrix
		gogc string
		want int
	}{{small, "", 100}, {large, "100", 100}, {large.T(), "", 100}, {large, "", garbagePercent}} {
		t.Setenv("GOGC", c.gogc)
		collectEarlier(c.x)
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("%T with GOGC=%q: garbage of %d %%, want %d", c.x, c.gogc, got, c.want)
		}
	}
}
