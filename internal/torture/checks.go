package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// check is a set of tests whose number the page shows.
type check struct {
	what string
	env  []string
	args []string // of go test
}

var checks = []check{
	{what: "numbers: hostile problems of every method and clusterer", args: []string{"-run", "Hostile", "./factor", "./cluster", "./eval"}},
}

// runChecks runs the tests and counts them.
func runChecks(ctx context.Context, module string, log io.Writer) ([]Row, error) {
	var rows []Row
	for _, c := range checks {
		row := Row{What: c.what}
		begin := time.Now()
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1"}, c.args...)...)
		cmd.Dir = module
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), c.env...)
		out, err := cmd.Output()
		if err := row.count(out); err != nil {
			return nil, fmt.Errorf("%s: %w", c.what, err)
		}
		if err != nil && row.Failures == 0 {
			row.Failures++
			row.Examples = append(row.Examples, "the tests could not be run: "+err.Error())
		}
		row.Command = strings.Join(append(append(c.env, "go", "test"), c.args...), " ")
		row.Seconds = time.Since(begin).Seconds()
		fmt.Fprintf(log, "%s: %d tests, %d failures, %d skipped\n", c.what, row.Times, row.Failures, row.Skipped)
		rows = append(rows, row)
	}
	return rows, nil
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
