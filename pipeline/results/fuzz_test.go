package results

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// readingMemory is the memory limit for reading a log or a summary of size bytes.
func readingMemory(size int) uint64 { return 2<<20 + 200*uint64(size) }

// FuzzLog: any log can be read, opened, repaired and sorted. No complete line is lost, and no impossible number is
// returned.
func FuzzLog(f *testing.F) {
	line := `{"trial":"a","classes":2,"rank":2,"repeat":0,"method":"nmf","samples":9,"labelled":0,"scores":{"AC":0.5},"confusion":[[1,2],[3,4]],"curve":[{"i":0,"o":1e3}]}`
	other := strings.Replace(line, `"a"`, `"b"`, 1)
	for _, text := range []string{
		line + "\n" + other + "\n", other + "\n" + line + "\n" + line + "\n", line + "\n" + other[:40], line, "\n\n", "{}\n", "not a record\n" + line + "\n",
		strings.Replace(line, "0.5", "1e400", 1) + "\n", strings.Replace(line, "0.5", "2", 1) + "\n", strings.Replace(line, "[1,2]", "[5,-5]", 1) + "\n",
		strings.Replace(line, `"repeat"`, `"later"`, 1) + "\n" + line + "\n", strings.Repeat("[", 200), "\x00\xff\n",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, LogFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		var records []record.Record
		var unread []int
		var err error
		testkit.AllocatesAtMost(t, readingMemory(len(text)), func() { records, unread, err = ReadLog(dir) })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			checkRecord(t, r)
		}
		l, err := openLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.records) < len(records) || len(l.records) > len(records)+1 {
			t.Fatalf("%d records are read and %d found done", len(records), len(l.records))
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		if err := l.sort([]string{"b", "a"}); err != nil {
			t.Fatal(err)
		}
		again, unreadAgain, err := ReadLog(dir)
		if err != nil || len(again) != len(l.records) || len(unreadAgain) < len(unread) {
			t.Fatalf("settled, %d records and %d lines that cannot be read are %d and %d: %v", len(l.records), len(unread), len(again), len(unreadAgain), err)
		}
		settled, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Collect(bytes.Lines(settled))
		for line := range bytes.Lines(text) {
			if bytes.HasSuffix(line, []byte("\n")) && parseRecord(line) == nil && !slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Equal(k, line) }) {
				t.Fatalf("the line %q is lost", line)
			}
		}
	})
}

// checkRecord: the numbers of a record can be drawn.
func checkRecord(t *testing.T, r record.Record) {
	t.Helper()
	for name, x := range r.Scores {
		if s, _ := eval.FindScore(name); math.IsNaN(x) || math.IsInf(x, 0) || x < s.Min || x > s.Max {
			t.Fatalf("%s is %v", name, x)
		}
	}
	for _, p := range r.Curve {
		if math.IsNaN(p.Objective) || math.IsInf(p.Objective, 0) || math.IsNaN(p.Penalty) || math.IsInf(p.Penalty, 0) {
			t.Fatalf("the curve has %v", p)
		}
	}
	for _, row := range r.Confusion {
		for _, n := range row {
			if n < 0 {
				t.Fatalf("one class is predicted as another %d times", n)
			}
		}
	}
}

// TestShortestRecord: it is valid, and invalid without any of its fields.
func TestShortestRecord(t *testing.T) {
	if parseRecord([]byte(shortestRecord)) == nil {
		t.Errorf("%s is not read", shortestRecord)
	}
	for _, without := range []string{`"trial":"a",`, `"method":"b",`, `"":0`} {
		if text := strings.Replace(shortestRecord, without, "", 1) + strings.Repeat(" ", 50); parseRecord([]byte(text)) != nil {
			t.Errorf("%s is read", text)
		}
	}
}

// FuzzSummary: any bytes give a consistent summary or an error that names the file.
func FuzzSummary(f *testing.F) {
	good := `{"name":"x","command":"","settings":[["data","x"]],"methods":["nmf"],"classes":["a","b"],"trials":["a"],"height":0,"width":0,"models":["nmf.npz"]}`
	for _, text := range []string{
		good, "{}", "", "null", "[]", good + good, strings.Replace(good, `"height":0`, `"height":-3`, 1), strings.Replace(good, `"width":0`, `"width":1e18`, 1),
		strings.Replace(good, `"nmf.npz"`, `"../../nmf.npz"`, 1), strings.Replace(good, `"models":["nmf.npz"]`, `"models":[]`, 1),
		strings.Replace(good, `"height"`, `"sweeps":[{"name":"nmf","settings":["l"],"methods":["nmf"],"values":[["1"]]}],"height"`, 1),
		`{"settings":` + strings.Repeat("[", 5000),
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, SummaryFile), text, 0o666); err != nil {
			t.Fatal(err)
		}
		var s *pipeline.Summary
		var err error
		testkit.AllocatesAtMost(t, readingMemory(len(text)), func() { s, err = ReadSummary(dir) })
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Fatalf("%v does not name the file", err)
			}
			return
		}
		if len(s.Models) != len(s.Methods) || s.Height < 0 || s.Width < 0 || s.Height*s.Width < 0 {
			t.Fatalf("got %+v", s)
		}
		for _, sweep := range s.Sweeps {
			_ = sweep.String()
		}
		Models(dir, s)
		Coefficients(dir, s)
		if _, err := Records(dir, s); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzSamples: any bytes give samples of the classes or an error that names the file.
func FuzzSamples(f *testing.F) {
	for _, text := range []string{"sample,class\na,x\nb,y\n", "sample,class\n\"a\nb\",x\n", "a,b,c\n", "\"", "sample,class\na,z\n", "\xff,\x00\n\xff,x\n"} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	classes := []string{"x", "y", "'=1"}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, SamplesFile), text, 0o666); err != nil {
			t.Fatal(err)
		}
		var samples []pipeline.Sample
		var err error
		testkit.AllocatesAtMost(t, readingMemory(len(text)), func() { samples, err = readSamples(dir, classes) })
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Fatalf("%v does not name the file", err)
		}
		for _, s := range samples {
			if s.Class < 0 || s.Class >= len(classes) {
				t.Fatalf("%+v is of no class", s)
			}
		}
	})
}

// TestScoresOfLog: logged scores are in the range of their kind.
func TestScoresOfLog(t *testing.T) {
	for line, want := range map[string]bool{
		`{"trial":"a","method":"b","scores":{"VI":3.5}}`:   true,
		`{"trial":"a","method":"b","scores":{"VI":-1}}`:    false,
		`{"trial":"a","method":"b","scores":{"AC":1.5}}`:   false,
		`{"trial":"a","method":"b","scores":{"AC":-0.5}}`:  false,
		`{"trial":"a","method":"b","scores":{"zeal":-40}}`: true,
	} {
		if got := parseRecord([]byte(line)) != nil; got != want {
			t.Errorf("%s is a record: %v", line, got)
		}
	}
}
