package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// Record is all that was measured, which the page is made from.
type Record struct {
	// Parts are what was measured, by the name of the part.
	Parts map[string]*Part `json:"parts"`
}

// Part is what one part measured when it was last run; the executions of fuzz
// targets add up over several runs.
type Part struct {
	Date     string   `json:"date"`     // of the day on which it ended
	Revision string   `json:"revision"` // of the sources
	Machine  string   `json:"machine"`
	Command  string   `json:"command"` // which does it again
	Seconds  float64  `json:"seconds"`
	Notes    []string `json:"notes,omitempty"`
	Rows     []Row    `json:"rows"`
}

// Row is one thing that was tried.
type Row struct {
	What     string   `json:"what"`
	Wanted   int      `json:"wanted,omitempty"`
	Times    int      `json:"times"`
	Failures int      `json:"failures"`
	Examples []string `json:"examples,omitempty"` // of failures
	// Refused is how often the command ended with an error, as it should.
	Refused int `json:"refused,omitempty"`
	// Seconds and Peak (bytes) are measured for fuzz targets and under a limit of
	// memory, Corpus (inputs) for fuzz targets.
	Seconds float64 `json:"seconds,omitempty"`
	Peak    int64   `json:"peak,omitempty"`
	Corpus  int     `json:"corpus,omitempty"`
	// Guided is how many of the executions of a fuzz target were steered by what
	// the code covers.
	Guided int `json:"guided,omitempty"`
	// Limit is the memory that was allowed, and Outcome what came of it.
	Limit   string `json:"limit,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	// Command runs a set of tests.
	Command string `json:"command,omitempty"`
	// Skipped are tests that could not be run.
	Skipped int `json:"skipped,omitempty"`
}

func readRecord(path string) (*Record, error) {
	r := &Record{Parts: map[string]*Part{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, r)
}

func (r *Record) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// machine says on what it was measured.
func machine() string {
	words := []string{runtime.GOOS + "/" + runtime.GOARCH, plural(runtime.NumCPU(), "processor core"), runtime.Version()}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
				json.Unmarshal([]byte(f[1]), &kib)
			}
		}
		if kib > 0 {
			words = append(words, plural(int((kib+1<<19)>>20), "GiB")+" of memory")
		}
	}
	return strings.ReplaceAll(strings.Join(words, ", "), "GiBs", "GiB")
}

// revision names the sources in the folder dir.
func revision(dir string) string {
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, _ := cmd.Output()
		return strings.TrimSpace(string(out))
	}
	name := git("rev-parse", "--short=10", "HEAD")
	if name != "" && git("status", "--porcelain", "--untracked-files=no", "--", "*.go", "go.mod") != "" {
		name += ", changed"
	}
	return name
}

// ended fills in what a part has beside its rows.
func (p *Part) ended(begin time.Time, moduleDir, command string) {
	p.Date = time.Now().UTC().Format(time.DateOnly)
	p.Revision, p.Machine, p.Command = revision(moduleDir), machine(), command
	p.Seconds += time.Since(begin).Seconds()
}
