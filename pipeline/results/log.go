package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filelock"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// LogFile is the name of the result log in the folder of an experiment: one record a line, as JSON.
const LogFile = "results.jsonl"

// ReadLog reads the first record of each trial from the result log in dir, in the order of the lines. A missing log has
// no records. unread are the numbers, from 1, of lines that are damaged or of another version, except a last line that
// a killed run cut off. It needs at most 2 MiB of memory plus 200 bytes for each byte of the log.
func ReadLog(dir string) (records []record.Record, unread []int, err error) {
	lines, err := readLog(filepath.Join(dir, LogFile))
	for i, l := range lines {
		switch {
		case l.unterminated || l.duplicate:
		case l.record == nil:
			unread = append(unread, i+1)
		default:
			records = append(records, *l.record)
		}
	}
	return records, unread, err
}

type logLine struct {
	text         []byte         // with the newline
	unterminated bool           // the last line has no newline
	record       *record.Record // nil for a line without a record
	duplicate    bool           // an earlier line has a record of the trial
}

func readLog(path string) (lines []logLine, err error) {
	text, err := output.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		l := logLine{text: line, unterminated: !bytes.HasSuffix(line, []byte("\n")), record: parseRecord(line)}
		if l.record != nil {
			l.duplicate = seen[l.record.Trial]
			seen[l.record.Trial] = true
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// shortestRecord has every required field of a record.
const shortestRecord = `{"trial":"a","method":"b","scores":{"":0}}`

// parseRecord reads a line of the log. It returns nil if the line is not a record.
func parseRecord(text []byte) *record.Record {
	if len(text) < len(shortestRecord) {
		return nil // a damaged log may have many short lines
	}
	rec := &record.Record{}
	if output.Unmarshal(text, rec) != nil || rec.Trial == "" || rec.Method == "" || len(rec.Scores) == 0 {
		return nil
	}
	for name, v := range rec.Scores {
		if s, _ := eval.FindScore(name); !s.Holds(v) {
			return nil
		}
	}
	for _, counts := range append(rec.Confusion, rec.Drawn, []int{rec.Row, rec.Classes, rec.Rank, rec.Repeat, rec.Samples, rec.Labelled, rec.Tested, rec.Iterations, rec.Groups}) {
		if slices.ContainsFunc(counts, func(n int) bool { return n < 0 || n > mostCounted }) {
			return nil
		}
	}
	if slices.ContainsFunc(rec.Consensus, func(v float64) bool { return !(v >= 0 && v <= 1) }) {
		return nil
	}
	if rec.Choice != nil && rec.Choice.Check() != nil || rec.Count != nil && rec.Count.Check() != nil {
		return nil
	}
	return rec
}

// mostCounted is the largest count in a record, so that sums do not overflow.
const mostCounted = 1 << 40

// recordStart is the beginning of the text of each record.
const recordStart = `{"trial":"`

// log appends records to the result log. An appended record survives a crash of the process at once, and a power
// failure soon after.
type log struct {
	path    string
	file    *os.File
	size    int64 // of the complete lines
	records map[string]record.Record
	dirty   chan struct{} // has a value if there is something to sync
	sync    chan error    // receives the first error of syncing at the end
}

// openLog reads the log in dir and opens it for appending. It cuts off the beginning of a record at the end, which a
// killed run left, and completes other text there to a line.
func openLog(dir string) (_ *log, err error) {
	defer guard.Catch(&err)
	l := &log{path: filepath.Join(dir, LogFile), records: map[string]record.Record{}, dirty: make(chan struct{}, 1), sync: make(chan error, 1)}
	lines := guard.Must(readLog(l.path))
	l.file = guard.Must(os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY, 0o666))
	for _, line := range lines {
		if line.unterminated && line.record == nil && (bytes.HasPrefix(line.text, []byte(recordStart)) || strings.HasPrefix(recordStart, string(line.text))) {
			break
		}
		l.size += int64(len(line.text))
		if line.record != nil && !line.duplicate {
			l.records[line.record.Trial] = *line.record
		}
		if line.unterminated {
			_, err = l.file.WriteAt([]byte("\n"), l.size)
			l.size++
		}
	}
	if err = errors.Join(err, l.truncate()); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	go func() {
		var first error
		for range l.dirty {
			if err := l.file.Sync(); first == nil {
				first = err
			}
		}
		l.sync <- first
	}()
	return l, nil
}

// truncate removes everything after the last complete line.
func (l *log) truncate() error {
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	_, err := l.file.Seek(l.size, io.SeekStart)
	return err
}

// checkPlace returns an error if the file at the log's path is not the open one, because appended records would be lost.
func (l *log) checkPlace() error {
	if !filelock.InPlace(l.file) {
		return fmt.Errorf("%s was moved, removed or replaced while trials were written to it", l.path)
	}
	return nil
}

// append adds a record. An error, such as a full disk, leaves the log unchanged.
func (l *log) append(r *record.Record) (err error) {
	defer guard.Catch(&err)
	guard.Check(l.checkPlace())
	text := guard.Must(json.Marshal(r))
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		l.truncate() // if this fails, openLog cuts the line
		return err
	}
	l.size += int64(len(text)) + 1
	l.records[r.Trial] = *r
	select {
	case l.dirty <- struct{}{}:
	default:
	}
	return nil
}

func (l *log) close() error {
	close(l.dirty)
	return errors.Join(<-l.sync, l.file.Sync(), l.file.Close())
}

// sort sorts the lines of the log in the order of the trials, then records of other trials, then unreadable lines. It
// keeps the first record of each trial.
func (l *log) sort(order []string) error {
	lines, err := readLog(l.path)
	if err != nil {
		return err
	}
	place := map[string]int{}
	for i, id := range order {
		place[id] = i
	}
	at := func(l logLine) int {
		if l.record == nil || l.unterminated {
			return len(order) + 1
		}
		if at, ok := place[l.record.Trial]; ok {
			return at
		}
		return len(order)
	}
	join := func() (text []byte) {
		for _, l := range lines {
			text = append(text, l.text...)
		}
		return text
	}
	old := join()
	lines = slices.DeleteFunc(lines, func(l logLine) bool { return l.duplicate })
	slices.SortStableFunc(lines, func(a, b logLine) int { return at(a) - at(b) })
	if text := join(); !bytes.Equal(text, old) {
		return atomicfile.Write(l.path, text)
	}
	return nil
}
