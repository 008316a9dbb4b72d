package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// memory runs large problems under limits of memory and returns a row for each. They
// are run by a program of their own: the peak of a process is at least that of the one
// that started it.
func memory(ctx context.Context, module string, log io.Writer) ([]Row, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./torture/memory", "-json")
	cmd.Dir = filepath.Join(module, "tools")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = log
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var rows []Row
	failures := 0
	for lines := json.NewDecoder(pipe); ; {
		var row Row
		if err = lines.Decode(&row); err != nil {
			break
		}
		fmt.Fprintf(log, "%s, %s: %s, peak %d MiB\n", row.What, row.Limit, row.Outcome, row.Peak>>20)
		rows = append(rows, row)
		failures += row.Failures
	}
	if ended := cmd.Wait(); !errors.Is(err, io.EOF) || ended != nil && failures == 0 {
		return nil, errors.Join(err, ended)
	}
	return rows, nil
}
