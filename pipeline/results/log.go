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

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// LogFile is the name of the result log in the folder of an experiment: a
// record a line, as JSON.
const LogFile = "results.jsonl"

// ReadLog reads the result log in dir, in the order of its lines and a trial
// once. A last line that was cut off, by a run that was killed, is left out.
// Where there is no log there are no records. The numbers, from 1, of lines that
// cannot be read are returned as unread: they are damaged, or another version
// wrote them. It takes at most 2 MiB of memory and 200 bytes for each of the log's.
func ReadLog(dir string) (records []pipeline.Record, unread []int, err error) {
	lines, _, err := readLog(filepath.Join(dir, LogFile))
	seen := map[string]bool{}
	for i, l := range lines {
		switch {
		case l.record == nil:
			unread = append(unread, i+1)
		case !seen[l.record.Trial]:
			seen[l.record.Trial] = true
			records = append(records, *l.record)
		}
	}
	return records, unread, err
}

// logLine is a line of the log: its text, with the line feed, and the record that
// it is, or nil.
type logLine struct {
	text   []byte
	record *pipeline.Record
}

// readLog returns the whole lines of the log, and what follows the last of them.
func readLog(path string) (lines []logLine, rest []byte, err error) {
	text, err := output.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			return lines, line, nil
		}
		lines = append(lines, logLine{line, parseRecord(line)})
	}
	return lines, nil, nil
}

// shortestRecord has every field that a record needs.
const shortestRecord = `{"trial":"a","method":"b","scores":{"":0}}`

// parseRecord reads a line of the log; nil where it is no record.
func parseRecord(text []byte) *pipeline.Record {
	if len(text) < len(shortestRecord) {
		return nil // at no cost, since a damaged log may be nothing but short lines
	}
	rec := &pipeline.Record{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(rec) != nil || rec.Trial == "" || rec.Method == "" || len(rec.Scores) == 0 {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil // more than one value
	}
	for name, v := range rec.Scores {
		if s, _ := eval.FindScore(name); !s.Holds(v) {
			return nil
		}
	}
	if !countsPossible(rec) || rec.Choice != nil && rec.Choice.Check() != nil || rec.Count != nil && rec.Count.Check() != nil {
		return nil
	}
	return rec
}

// mostCounted is the largest number that a record counts to. Sums of so large ones
// do not overflow.
const mostCounted = 1 << 40

// countsPossible tells whether all that the record counts lies from 0 to mostCounted.
func countsPossible(r *pipeline.Record) bool {
	for _, counts := range append(r.Confusion, r.Drawn, []int{r.Row, r.Classes, r.Rank, r.Repeat, r.Samples, r.Labelled, r.Tested, r.Iterations, r.Groups}) {
		for _, n := range counts {
			if n < 0 || n > mostCounted {
				return false
			}
		}
	}
	return true
}

// recordStart is what the text of each record begins with.
const recordStart = `{"trial":"`

// isBegun tells whether the text is the beginning of a record, whose end a killed
// run did not write any more.
func isBegun(text []byte) bool {
	n := min(len(text), len(recordStart))
	return string(text[:n]) == recordStart[:n]
}

// log appends records to the result log. Each is in the file when append returns,
// so that it outlives the process, and on the disk soon after.
type log struct {
	path  string
	file  *os.File
	size  int64 // of the whole lines
	done  map[string]pipeline.Record
	dirty chan struct{} // has something while there is something to bring to the disk
	sync  chan error    // gets the first error of doing so, at the end
}

// openLog reads the log in dir and opens it for appending. The beginning of a
// record at its end, which a killed run left, is cut off; other text there
// becomes a line.
func openLog(dir string) (*log, error) {
	l := &log{path: filepath.Join(dir, LogFile), done: map[string]pipeline.Record{}, dirty: make(chan struct{}, 1), sync: make(chan error, 1)}
	lines, rest, err := readLog(l.path)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		l.size += int64(len(line.text))
		if r := line.record; r != nil {
			if _, twice := l.done[r.Trial]; !twice {
				l.done[r.Trial] = *r
			}
		}
	}
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	if err := l.mend(rest); err != nil {
		l.file.Close()
		return nil, err
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

// mend makes the log end with a whole line.
func (l *log) mend(rest []byte) error {
	if len(rest) == 0 {
		_, err := l.file.Seek(l.size, io.SeekStart)
		return err
	}
	r := parseRecord(rest)
	if r == nil && isBegun(rest) {
		return l.cut()
	}
	if _, err := l.file.Seek(l.size+int64(len(rest)), io.SeekStart); err != nil {
		return err
	}
	if _, err := l.file.Write([]byte("\n")); err != nil {
		return err
	}
	l.size += int64(len(rest)) + 1
	if r != nil {
		if _, twice := l.done[r.Trial]; !twice {
			l.done[r.Trial] = *r
		}
	}
	return nil
}

// cut removes what follows the last whole line.
func (l *log) cut() error {
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	_, err := l.file.Seek(l.size, io.SeekStart)
	return err
}

// inPlace returns an error if another file or none is at the path of the log: then
// what was appended is lost.
func (l *log) inPlace() error {
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	if current, err := os.Lstat(l.path); err != nil || !os.SameFile(mine, current) {
		return fmt.Errorf("%s was moved, removed or replaced while trials were added to it", l.path)
	}
	return nil
}

// append adds a record. Where that fails, on a full disk for example, the log is
// as it was.
func (l *log) append(r *pipeline.Record) error {
	if err := l.inPlace(); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		l.cut() // what cannot be cut off now is when the log is opened again
		return err
	}
	l.size += int64(len(text)) + 1
	l.done[r.Trial] = *r
	select {
	case l.dirty <- struct{}{}:
	default:
	}
	return nil
}

// close has the disk hold all of the log and closes it.
func (l *log) close() error {
	close(l.dirty)
	err := <-l.sync
	if syncing := l.file.Sync(); err == nil {
		err = syncing
	}
	if closing := l.file.Close(); err == nil {
		err = closing
	}
	return err
}

// settle puts the lines of the log in the order of the trials, then records of
// other settings in the order they had, then lines that cannot be read. Of a
// trial that is there twice the first record is kept.
func (l *log) settle(order []string) error {
	lines, rest, err := readLog(l.path)
	if err != nil {
		return err
	}
	rank := map[string]int{}
	for i, id := range order {
		rank[id] = i
	}
	planned := make([][]byte, len(order))
	var others, unread [][]byte
	seen := map[string]bool{}
	for _, line := range lines {
		if line.record == nil {
			unread = append(unread, line.text)
			continue
		}
		id := line.record.Trial
		if seen[id] {
			continue
		}
		seen[id] = true
		if at, ok := rank[id]; ok {
			planned[at] = line.text
		} else {
			others = append(others, line.text)
		}
	}
	old := bytes.Join(texts(lines), nil)
	text := bytes.Join(append(append(append(planned, others...), unread...), rest), nil)
	if bytes.Equal(text, old) {
		return nil
	}
	return atomicfile.Write(l.path, text)
}

func texts(lines []logLine) [][]byte {
	all := make([][]byte, len(lines))
	for i, line := range lines {
		all[i] = line.text
	}
	return all
}
