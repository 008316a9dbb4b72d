package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check is a set of tests whose number the page shows.
type check struct {
	what string
	env  []string
	args []string // of go test
	// needs is a program without which the check is left out, or "".
	needs string
}

// numeric are the packages that compute, as in the Makefile.
var numeric = []string{"./internal/simd", "./internal/blas", "./internal/eigen", "./internal/sparse", "./factor", "./cluster", "./eval", "./vocab", "./features"}

var checks = []check{
	{what: "numbers: hostile problems of every method and clusterer", args: []string{"-run", "Hostile", "-timeout", "60m", "./factor", "./cluster", "-problems", "200"}},
	{what: "numbers: the loops without assembly, as without AVX2", env: []string{"GODEBUG=cpu.avx2=off"}, args: append([]string{"-short", "-timeout", "60m"}, numeric...)},
	{what: "numbers: arm64 by emulation", env: []string{"GOARCH=arm64"}, args: append([]string{"-short", "-timeout", "3h", "-exec", "qemu-aarch64-static"}, numeric...), needs: "qemu-aarch64-static"},
	{what: "race detector over all packages", env: []string{"CGO_ENABLED=1"}, args: []string{"-race", "-short", "-timeout", "60m", "./..."}},
	{what: "all tests of the portable build", args: []string{"./..."}},
}

// runChecks runs the tests whose name the regular expression matches and counts them.
// Each has its row in the part, where that of an earlier run is replaced. After each
// save is called.
func runChecks(ctx context.Context, matching, module string, part *Part, log io.Writer, save func() error) error {
	match, err := regexp.Compile(matching)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if !match.MatchString(c.what) {
			continue
		}
		if c.needs != "" {
			if _, err := exec.LookPath(c.needs); err != nil {
				fmt.Fprintf(log, "%s: left out, there is no %s\n", c.what, c.needs)
				continue
			}
		}
		row := Row{What: c.what}
		begin := time.Now()
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1"}, c.args...)...)
		cmd.Dir = module
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), c.env...)
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := row.count(out); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		if err != nil && row.Failures == 0 {
			row.Failures++
			row.Examples = append(row.Examples, "the tests could not be run: "+err.Error())
		}
		row.Command = strings.Join(append(append(c.env, "go", "test"), c.args...), " ")
		row.Seconds = time.Since(begin).Seconds()
		fmt.Fprintf(log, "%s: %d tests, %d failures, %d skipped\n", c.what, row.Times, row.Failures, row.Skipped)
		if i := slices.IndexFunc(part.Rows, func(r Row) bool { return r.What == row.What }); i >= 0 {
			part.Rows[i] = row
		} else {
			part.Rows = append(part.Rows, row)
		}
		if err := save(); err != nil {
			return err
		}
	}
	return nil
}

// count reads the lines of go test -json.
func (r *Row) count(out []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var event struct{ Action, Package, Test string }
		if err := decoder.Decode(&event); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if event.Test == "" {
			continue
		}
		switch event.Action {
		case "pass":
			r.Times++
		case "skip":
			r.Skipped++
		case "fail":
			r.Times++
			r.Failures++
			r.Examples = append(r.Examples, event.Package+" "+event.Test)
		}
	}
}
