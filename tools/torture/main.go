// Torture measures how the program stands kills, full and read-only disks, and
// hostile input, and writes docs/reliability.md from what it measured.
//
//	make torture TORTURE='[flags] [part ...]'
//
// The parts are crash, disk, memory, fuzz and checks; without names all are run. What a
// part measures replaces what the record has of it, but for the executions of fuzz
// targets, which add up until the targets have theirs, and for checks that -check leaves
// out. With the name page nothing is measured, and the page is written again from the
// record.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// settings are how much is to be done.
type settings struct {
	kills      int
	seed       uint64
	workers    int
	step       int
	executions int64
	guided     int64
	slice      int64
	forFuzz    time.Duration
	scratch    string
	check      string
}

var parts = []string{"crash", "disk", "memory", "fuzz", "checks"}

func main() {
	var s settings
	flag.IntVar(&s.kills, "kills", 1000, "how often programs are killed")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the moments")
	flag.IntVar(&s.workers, "workers", 2, "programs at once")
	flag.IntVar(&s.step, "step", 1, "of the sizes at which a disk is full every one that is tried")
	flag.Int64Var(&s.executions, "executions", 10_000_000, "executions of each fuzz target, over all runs")
	flag.Int64Var(&s.guided, "guided", 100_000, "how many of the executions are steered by what they cover of the code")
	flag.Int64Var(&s.slice, "slice", 250_000, "executions of a fuzz target before it is the next one's turn")
	flag.DurationVar(&s.forFuzz, "for", 0, "end fuzzing after this time; what is missing goes on with the next run")
	flag.StringVar(&s.check, "check", "", "regular expression of the checks that are run (default all)")
	flag.StringVar(&s.scratch, "scratch", "", "folder for temporary files (default a new one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := torture(ctx, s, flag.Args(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

func torture(ctx context.Context, s settings, names []string, log io.Writer) (err error) {
	module, err := moduleDir()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = parts
	}
	for _, n := range names {
		if !slices.Contains(parts, n) && !slices.Equal(names, []string{"page"}) {
			return fmt.Errorf("there is no part %q; there are %s", n, strings.Join(parts, ", "))
		}
	}
	if s.scratch == "" {
		if s.scratch, err = os.MkdirTemp("", "torture"); err != nil {
			return err
		}
		defer os.RemoveAll(s.scratch)
	}
	path := filepath.Join(module, "docs", "reliability.json")
	record, err := readRecord(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	write := func() error {
		if err := record.write(path); err != nil {
			return err
		}
		return atomicfile.Write(filepath.Join(module, "docs", "reliability.md"), []byte(record.page()))
	}
	save := func(name string, part *Part) error {
		record.Parts[name] = part
		return write()
	}
	if slices.Equal(names, []string{"page"}) {
		return write()
	}
	failures := 0
	for _, name := range names {
		begin := time.Now()
		part := &Part{}
		if old := record.Parts[name]; old != nil && (name == "fuzz" || name == "checks" && s.check != "") {
			part = old
		}
		begun := part.Seconds
		saveSome := func() error {
			part.Seconds = begun
			part.ended(begin, module, s.commandLine(name))
			return save(name, part)
		}
		switch name {
		case "crash", "disk":
			part, err = s.interrupted(ctx, name, module, log)
		case "memory":
			part.Rows, err = memory(ctx, module, log)
		case "fuzz":
			err = fuzz(ctx, s, module, part, log, saveSome)
		case "checks":
			err = runChecks(ctx, s.check, module, part, log, saveSome)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := saveSome(); err != nil {
			return err
		}
		for _, row := range part.Rows {
			failures += row.Failures
		}
	}
	if failures > 0 {
		return fmt.Errorf("%s; they are in %s", plural(failures, "failure"), path)
	}
	return nil
}

// interrupted runs the parts in which the program is interrupted.
func (s settings) interrupted(ctx context.Context, name, module string, log io.Writer) (*Part, error) {
	dir, err := os.MkdirTemp(s.scratch, name)
	if err != nil {
		return nil, err
	}
	scene, err := newScene(dir, module, "torture")
	if err != nil {
		return nil, err
	}
	defer scene.close()
	part := &Part{}
	if name == "crash" {
		var list []*job
		list, part.Notes = jobsHere(dir)
		part.Rows, err = crash(ctx, scene, list, s.kills, s.workers, s.seed, log)
	} else {
		list := slices.DeleteFunc(jobs(), func(j *job) bool { return j.disks })
		part.Rows, part.Notes, err = disk(ctx, scene, list, s.step, s.workers, log)
	}
	return part, err
}

// commandLine returns the command that measures a part again.
func (s settings) commandLine(part string) string {
	flags := ""
	switch part {
	case "crash":
		flags = fmt.Sprintf("-kills %d -seed %d ", s.kills, s.seed)
	case "disk":
		flags = fmt.Sprintf("-step %d ", s.step)
	case "fuzz":
		flags = fmt.Sprintf("-executions %d -guided %d ", s.executions, s.guided)
	}
	return fmt.Sprintf("make torture TORTURE='%s%s'", flags, part)
}

// moduleDir returns the folder of the program's go.mod, above that of the tools.
func moduleDir() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	tools := filepath.Dir(strings.TrimSpace(string(out)))
	if filepath.Base(tools) != "tools" {
		return "", fmt.Errorf("torture runs in the folder tools of the sources, as by make torture")
	}
	return filepath.Dir(tools), nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
