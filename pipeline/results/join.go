package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Join writes the results of one experiment whose trials are in several folders into the folder dir, as if it had run
// there. All trials must be in one of them. pages are as in Open.
func Join(dir string, from []string, pages ...string) (f *Folder, err error) {
	s, err := ReadSummary(from[0])
	if err != nil {
		return nil, err
	}
	for _, other := range from[1:] {
		o, err := ReadSummary(other)
		if err == nil && !s.SameTrials(o) {
			err = fmt.Errorf("%s and %s have different experiments or settings", from[0], other)
		}
		if err != nil {
			return nil, err
		}
	}
	if there, err := readSummary(dir); err == nil && !there.SameTrials(s) {
		return nil, fmt.Errorf("%s has another experiment than %s", dir, from[0])
	}
	if f, err = open(dir, append(Files(), pages...), pages); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err = errors.Join(writeSummary(f.Folder, s), f.Append(LogFile)); err != nil {
		return nil, err
	}
	l, err := openLog(dir)
	if err != nil {
		return nil, err
	}
	for _, other := range from {
		err = cmp.Or(err, f.take(l, s, other))
	}
	missing := 0
	for _, id := range s.Trials {
		if _, known := l.records[id]; !known {
			missing++
		}
	}
	if err = errors.Join(err, l.close()); err == nil && missing > 0 {
		err = fmt.Errorf("%d of %d trials are in none of the folders: run them, by partwise run with --shard, and join again", missing, len(s.Trials))
	}
	if err == nil {
		err = l.sort(s.Trials)
	}
	return f, err
}

// take adds the trials of an experiment in another folder, and their models.
func (f *Folder) take(l *log, s *pipeline.Summary, from string) error {
	records, err := Records(from, s)
	for _, r := range records {
		if _, known := l.records[r.Trial]; !known && err == nil {
			err = l.append(&r)
		}
	}
	for _, name := range append([]string{WordsFile, ScalesFile}, s.Models...) {
		text, readErr := output.ReadFile(filepath.Join(from, ModelDir, name))
		if readErr == nil && name != "" {
			readErr = f.Write(ModelDir+"/"+name, text)
		}
		if name != "" && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
		}
	}
	return err
}
