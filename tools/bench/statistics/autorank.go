package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	_ "embed"

	"github.com/seed4492f2cd/partwise/report/table"
)

//go:embed autorank.py
var autorankScript string

// autorank is a Python that judges tables by the procedure of autorank.
type autorank struct {
	version string
	stdin   io.WriteCloser // nil where there is none
	lines   *bufio.Scanner
	cmd     *exec.Cmd
}

// startAutorank starts it; without a Python it judges nothing.
func startAutorank(python string) (*autorank, error) {
	if python == "" {
		return &autorank{}, nil
	}
	a := &autorank{cmd: exec.Command(python, "-c", autorankScript)}
	a.cmd.Stderr = os.Stderr
	var err error
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	a.lines = bufio.NewScanner(out)
	if !a.lines.Scan() {
		return nil, fmt.Errorf("%s has no autorank", python)
	}
	a.version = strings.TrimSpace(a.lines.Text())
	return a, nil
}

// judge has a table judged: for each row the scores of the methods, draw by draw, the averages
// last, or that of the averages alone.
func (a *autorank) judge(e experiment, last bool) (o outcome, err error) {
	rows := [][][]float64{}
	at := map[int]int{}
	for _, r := range table.Finished(e.records, e.methods) {
		row, ok := at[r.Classes]
		if !ok {
			row, at[r.Classes] = len(rows), len(rows)
			rows = append(rows, nil)
		}
		for len(rows[row]) <= r.Repeat {
			rows[row] = append(rows[row], nil)
		}
		rows[row][r.Repeat] = append(rows[row][r.Repeat], r.Scores["AC"])
	}
	if len(rows) > 1 {
		average := make([][]float64, len(rows[0]))
		for repeat := range average {
			average[repeat] = make([]float64, len(e.methods))
			for _, row := range rows {
				for m, v := range row[repeat] {
					average[repeat][m] += v / float64(len(rows))
				}
			}
		}
		rows = append(rows, average)
	}
	if last {
		rows = rows[len(rows)-1:]
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return o, err
	}
	if _, err := a.stdin.Write(append(text, '\n')); err != nil {
		return o, err
	}
	if !a.lines.Scan() {
		return o, fmt.Errorf("autorank ended: %v", a.lines.Err())
	}
	return o, json.Unmarshal(a.lines.Bytes(), &o)
}

func (a *autorank) close() {
	if a.stdin != nil {
		a.stdin.Close()
		a.cmd.Wait()
	}
}
