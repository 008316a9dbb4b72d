package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// LogFile is the name of the result log in the folder of an experiment: a
// record a line, as JSON.
const LogFile = "results.jsonl"

// ReadLog reads the result log in dir, in the order of its lines and a trial
// once. A last line that was cut off, by a run that was killed, is left out.
// Where there is no log there are no records. Lines that are no records, from
// 1, are returned as damaged.
func ReadLog(dir string) (records []Record, damaged []int, err error) {
	records, damaged, _, err = readLog(filepath.Join(dir, LogFile))
	return records, damaged, err
}

// readLog also returns how many bytes the whole lines take.
func readLog(path string) (records []Record, damaged []int, whole int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	seen := map[string]bool{}
	r := bufio.NewReader(f)
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return records, damaged, whole, nil // what is left is half a line, or nothing
		}
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		whole += int64(len(text))
		rec, ok := parseRecord(text)
		switch {
		case !ok:
			damaged = append(damaged, line)
		case !seen[rec.Trial]:
			seen[rec.Trial] = true
			records = append(records, rec)
		}
	}
}

// parseRecord reads a line of the log and tells whether it is a record.
func parseRecord(text []byte) (rec Record, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(&rec) != nil || rec.Trial == "" || rec.Method == "" || len(rec.Scores) == 0 {
		return rec, false
	}
	for _, x := range rec.Scores {
		if !(x >= -1 && x <= 1) {
			return rec, false
		}
	}
	return rec, true
}

// log appends records to the result log.
type log struct {
	path   string
	file   *os.File
	done   map[string]Record
	unlock func()
}

// openLog reads the log in dir, cuts off what is no whole line, and opens it
// for appending. It keeps other runs out until it is closed.
func openLog(dir string) (*log, error) {
	l := &log{path: filepath.Join(dir, LogFile), done: map[string]Record{}}
	var err error
	if l.unlock, err = lock(filepath.Join(dir, ".lock")); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err := l.open(); err != nil {
		l.unlock()
		return nil, err
	}
	return l, nil
}

func (l *log) open() error {
	records, _, whole, err := readLog(l.path)
	if err != nil {
		return err
	}
	for _, r := range records {
		l.done[r.Trial] = r
	}
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return err
	}
	if err := l.file.Truncate(whole); err != nil {
		return err
	}
	_, err = l.file.Seek(whole, io.SeekStart)
	return err
}

// errLocked says that another run has the log.
var errLocked = errors.New("another run is using this folder")

func (l *log) append(r *Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	l.done[r.Trial] = *r
	return nil
}

// settle rewrites the log with the records in the order of the trials, then
// those of other settings in the order they had.
func (l *log) settle(order []string) error {
	records, _, _, err := readLog(l.path)
	if err != nil {
		return err
	}
	rank := map[string]int{}
	for i, id := range order {
		rank[id] = i + 1
	}
	planned := make([]*Record, len(order))
	var others []*Record
	for i := range records {
		if at := rank[records[i].Trial]; at > 0 {
			planned[at-1] = &records[i]
		} else {
			others = append(others, &records[i])
		}
	}
	var text bytes.Buffer
	for _, r := range append(planned, others...) {
		if r == nil {
			continue
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return writeFile(l.path, text.Bytes())
}

// writeFile replaces a file at once, so that it is never half there.
func writeFile(path string, text []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, text, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
