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
// Where there is no log there are no records.
func ReadLog(dir string) ([]Record, error) {
	records, _, err := readLog(filepath.Join(dir, LogFile))
	return records, err
}

// readLog also returns how many bytes the whole lines take.
func readLog(path string) (records []Record, whole int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	seen := map[string]bool{}
	r := bufio.NewReader(f)
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return records, whole, nil // what is left is half a line, or nothing
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		whole += int64(len(text))
		var rec Record
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&rec); err != nil {
			return nil, 0, fmt.Errorf("%s line %d: not a record of a trial: %w", path, line, err)
		}
		if !seen[rec.Trial] {
			seen[rec.Trial] = true
			records = append(records, rec)
		}
	}
}

// log appends records to the result log.
type log struct {
	path string
	file *os.File
	done map[string]Record
}

// openLog reads the log in dir, cuts off what is no whole line, and opens it
// for appending.
func openLog(dir string) (*log, error) {
	l := &log{path: filepath.Join(dir, LogFile), done: map[string]Record{}}
	records, whole, err := readLog(l.path)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		l.done[r.Trial] = r
	}
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	if err := l.file.Truncate(whole); err != nil {
		return nil, err
	}
	if _, err := l.file.Seek(whole, io.SeekStart); err != nil {
		return nil, err
	}
	return l, nil
}

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
	records, _, err := readLog(l.path)
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
