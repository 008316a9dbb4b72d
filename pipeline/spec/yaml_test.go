package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestParseRefusesYAML: YAML features that experiment files do not allow.
func TestParseRefusesYAML(t *testing.T) {
	for text, want := range map[string]string{
		"methods: !!str nmf":                   "1:10: experiment files do not support tags (!)",
		"methods: [!a nmf]":                    "1:11: experiment files do not support tags (!)",
		"name: &a x":                           "1:7: experiment files do not support anchors (&)",
		"name: *a":                             "unknown anchor 'a' referenced",
		"data: {set: x, pattern: *.jpg}":       "did not find expected alphabetic or numeric character",
		"<<: {name: x}":                        "1:1: experiment files do not support merge keys (<<)",
		"name: x\x00\nseed: 3":                 "1:8: the control character U+0000",
		"name: x\nseed: 3\x1b[31m":             "2:8: the control character U+001B",
		"name: \xff":                           "1:7: the byte 0xff is not UTF-8",
		"name: caf\u00e9\nlabels: \xe9":        "2:9: the byte 0xe9 is not UTF-8",
		"---\n---\nname: x":                    "the file is empty",
		"---\nname: x\n---\n---\n---\nname: y": "3:1: second YAML document; an experiment file has one",
		"a: " + strings.Repeat("[", 100_000):   "exceeded max depth",
		"a: " + strings.Repeat("{a: ", 60_000): "exceeded max depth",
		strings.Repeat("- ", 100_000) + "a":    "exceeded max depth",
		strings.Repeat("? ", 100_000) + "a":    "exceeded max depth",
		strings.Repeat("a: ", 80_000):          "mapping values are not allowed",
		"[" + strings.Repeat("? ", 100_000):    "did not find expected node content",
		deepBlock(100):                         "33:33: more than 32 nested lists and mappings",
		"methods: [{name: nmf, as: " + strings.Repeat("é", 101) + "}]": "1:27: the name is longer than 200 bytes",
		"name: x\n" + strings.Repeat("# \n", 90000):                    "the limit of 262144 bytes",
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gives\n%.300v\nwant %q", text, err, want)
			continue
		}
		if len(err.Error()) > 2000 {
			t.Errorf("%.60q gives an error of %d bytes", text, len(err.Error()))
		}
	}
}

// deepBlock nests mappings by indentation.
func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestParseInQuotes: refused characters are allowed in quotes, and lookalikes are not refused.
func TestParseInQuotes(t *testing.T) {
	e, err := Parse([]byte("\ufeffname: 'a & b'\r\ndata: {set: x!y, pattern: '*{class}.jpg'}\r\nmethods:\r\n  - {name: nmf, as: \"!\"} # & * !\r\nclasses: 2..3\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != "a & b" || e.Data.Set != "x!y" || e.Data.Pattern != "*{class}.jpg" || e.Methods[0].As != "!" || len(e.Classes) != 2 {
		t.Errorf("got %+v", e)
	}
}

// TestLoadBounds: at most the limit is read of a file that is too long.
func TestLoadBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	if _, err = Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": the file is larger than the limit of 262144 bytes") {
		t.Error(err)
	}
}

// TestParseMemory: the memory limit of a document holds for texts of many small parts.
func TestParseMemory(t *testing.T) {
	for _, text := range []string{
		"name: [" + strings.Repeat("a,", 130_000) + "]",
		"name: {" + strings.Repeat("a: b,", 50_000) + "}",
		"methods: [{name: nmf, rank: [" + strings.Repeat("1,", 130_000) + "]}]",
		"methods:\n" + strings.Repeat("- nmf\n", 43_000),
		"methods:\n" + strings.Repeat("- {name: gnmf, lambda: [1,2,3,4,5,6,7,8,9]}\n", 5_500),
		"name: |\n" + strings.Repeat("  a\n", 65_000),
		strings.Repeat("# a\n", 65_000) + "name: x\nname: y",
		"classes: 2..100000\nrank: [" + strings.Repeat("1..100000,", 20_000) + "]",
		strings.Repeat("!a ", 87_000),
		"data: x\nname: x\nmethods: [{name: gnmf, lambda: [" + rising(100) + "], neighbours: [" + rising(100) + "]}]",
		"data: x\nname: x\nmethods: [{name: gnmf, as: " + strings.Repeat("a", 200_000) + ", lambda: [" + rising(100) + "], neighbours: [" + rising(100) + "]}]",
	} {
		got, most := testkit.Allocated(func() {
			if e, err := Parse([]byte(text)); err == nil {
				e.Check()
			}
		}), memoryOf(len(text))
		if got > most {
			t.Errorf("%.40q…: %d bytes of memory for %d, want at most %d", text, got, len(text), most)
		}
	}
}

// rising lists the numbers from 1 to n.
func rising(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(out, ", ")
}

// memoryOf is the memory limit for reading a text.
func memoryOf(size int) uint64 { return 128<<20 + 2000*uint64(size) }

func FuzzParse(f *testing.F) {
	examples, err := filepath.Glob("../../docs/experiments/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples", err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"methods: [{name: gnmf, lambda: [1, 10]}]", "data: {set: a, shape: 3x4}", "features: {sift: {at: dense, bins: [2, 4]}, words: {count: 5}, grid: 1x1+2x2}",
		"links: {file: a.csv}", "neighbours: {k: 3}", "labels: {share: 3%, min: 2}", "rank: 2..5",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e *Experiment
		var err error
		if got, most := testkit.Allocated(func() { e, err = Parse(text) }), memoryOf(len(text)); got > most {
			t.Fatalf("%d bytes of memory for %d, want at most %d", got, len(text), most)
		}
		if err != nil {
			checkMessage(t, err)
			return
		}
		if bytes.IndexByte(text, 0) >= 0 {
			t.Fatal("a NUL is read over")
		}
		checkExperiment(t, e)
	})
}

// checkMessage: an error has a text without control characters.
func checkMessage(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\x00\x07\x1b\x7f\u009b") {
		t.Fatalf("the error is %q", text)
	}
	if strings.Contains(text, "the YAML cannot be read") {
		t.Fatal(err)
	}
}

// checkExperiment: a parsed experiment can be used.
func checkExperiment(t *testing.T, e *Experiment) {
	t.Helper()
	if err := e.Check(); err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Fatal("an empty error")
	}
	for _, m := range e.Methods {
		_, _ = m.String(), m.Label()
	}
	_, _, _, _ = e.Features.String(), e.Cluster.String(), e.Labels.String(), e.Neighbours.String()
}
