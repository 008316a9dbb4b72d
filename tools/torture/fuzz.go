package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a fuzz target of the sources.
type target struct{ pkg, name string }

func (t target) String() string { return t.pkg + " " + t.name }

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// targets returns the fuzz targets of the module, in the order of their packages.
func targets(module string) ([]target, error) {
	var out []target
	err := filepath.WalkDir(module, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && file != module {
			return cmpSkip(err, filepath.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(module, filepath.Dir(file))
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			out = append(out, target{filepath.ToSlash(pkg), string(m[1])})
		}
		return err
	})
	slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return out, err
}

func cmpSkip(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// fuzz gives each fuzz target a slice of executions in turn until each has all of its
// own, the context ends or the time is over. The first of them are guided by coverage.
// Executions of earlier runs, which are in the rows, count. After each slice save is
// called.
func fuzz(ctx context.Context, s settings, module string, part *Part, log io.Writer, save func() error) error {
	all, err := targets(module)
	if err != nil {
		return err
	}
	var rows []Row
	for _, t := range all {
		row := Row{What: t.String()}
		if i := slices.IndexFunc(part.Rows, func(r Row) bool { return r.What == row.What }); i >= 0 {
			row = part.Rows[i]
		}
		row.Wanted = int(s.executions)
		rows = append(rows, row)
	}
	part.Rows = rows
	if s.forFuzz > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.forFuzz)
		defer cancel()
	}
	binaries := map[built]string{}
	for again := true; again; {
		again = false
		for i, t := range all {
			row := &part.Rows[i]
			left := s.executions - int64(row.Times)
			if left <= 0 || ctx.Err() != nil {
				continue
			}
			guided := int64(row.Guided) < s.guided
			if guided {
				left = min(left, s.guided-int64(row.Guided))
			}
			key := built{t.pkg, guided}
			if binaries[key] == "" {
				if binaries[key], err = buildTests(ctx, s, module, key); err != nil {
					if ctx.Err() != nil {
						return nil
					}
					return err
				}
			}
			before := row.Times
			if err := fuzzSlice(ctx, s, module, binaries[key], t, min(left, s.slice), guided, row); err != nil {
				return err
			}
			if guided {
				row.Guided += row.Times - before
			}
			fmt.Fprintf(log, "%s: %d executions, %d failures\n", t, row.Times, row.Failures)
			again = again || row.Times > before && int64(row.Times) < s.executions
			if err := save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// built is a package whose tests are compiled, with the counters that guide fuzzing or
// without them.
type built struct {
	pkg    string
	guided bool
}

// buildTests compiles the tests of a package for fuzzing.
func buildTests(ctx context.Context, s settings, module string, b built) (string, error) {
	binary := filepath.Join(s.scratch, fmt.Sprintf("%s-%v.test", strings.ReplaceAll(b.pkg, "/", "-"), b.guided))
	args := []string{"test", "-c", "-o", binary}
	if b.guided {
		args = append(args, "-fuzz", ".")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+b.pkg)...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w\n%s", b.pkg, err, out)
	}
	return binary, nil
}

var (
	fuzzLine  = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) \(\d+/sec\)(?:, new interesting: \d+ \(total: (\d+)\))?`)
	fuzzFound = regexp.MustCompile(`Failing input written to (\S+)`)
)

// maxSilence is how long a target may go without an execution before it is said to
// hang.
const maxSilence = 3 * time.Minute

// fuzzSlice runs a fuzz target for a number of executions and adds what came of it to
// the row.
func fuzzSlice(ctx context.Context, s settings, module, binary string, t target, executions int64, guided bool, row *Row) error {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", fmt.Sprintf("-test.fuzztime=%dx", executions),
		"-test.fuzzminimizetime=10x", "-test.parallel="+strconv.Itoa(min(s.workers, runtime.NumCPU())),
		"-test.fuzzcachedir="+filepath.Join(strings.TrimSpace(string(cache)), "fuzz", path.Join("github.com/seed4492f2cd/partwise", t.pkg)))
	cmd.Dir = filepath.Join(module, filepath.FromSlash(t.pkg))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // which the workers follow
	cmd.WaitDelay = 10 * time.Second
	// Each worker is a process of its own, whose heap stays small: a collector that
	// waits longer on one processor saves a quarter of the time.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=800")
	if memory, err := os.MkdirTemp("/dev/shm", "torture"); err == nil { // where files cost least
		cmd.Env = append(cmd.Env, "TMPDIR="+memory)
		defer os.RemoveAll(memory)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var printed []string
	done, found, hung := 0, "", false
	silence := time.AfterFunc(maxSilence, func() { hung = true; cancel() })
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		line := lines.Text()
		if m := fuzzLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			if n > done {
				silence.Reset(maxSilence)
			}
			done = max(done, n)
			if m[2] != "" {
				row.Corpus, _ = strconv.Atoi(m[2])
			}
			continue
		}
		if m := fuzzFound.FindStringSubmatch(line); m != nil {
			found = path.Join(t.pkg, m[1])
		}
		if printed = append(printed, line); len(printed) > 200 {
			printed = printed[1:]
		}
	}
	silence.Stop()
	err = cmd.Wait()
	row.Times += done
	row.Seconds += time.Since(begin).Seconds()
	row.Peak = max(row.Peak, peak(cmd.ProcessState))
	switch {
	case found != "":
		row.Failures++
		row.Examples = append(row.Examples, found)
	case hung:
		row.Failures++
		row.Examples = append(row.Examples, fmt.Sprintf("no execution in %v", maxSilence))
	case err != nil && ctx.Err() == nil:
		row.Failures++
		row.Examples = append(row.Examples, lastLines(strings.Join(printed, "\n")))
	}
	return nil
}
