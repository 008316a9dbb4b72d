package results

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Join writes the results of one experiment whose trials are in several folders into the folder dir, as if it had run
// there. All trials must be in one of them. pages are as in Open.
func Join(dir string, from []string, pages ...string) (f *Folder, err error) {
	defer func() {
		if err != nil && f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	defer guard.Catch(&err)
	s := guard.Must(ReadSummary(from[0]))
	for _, other := range from[1:] {
		o := guard.Must(ReadSummary(other))
		guard.FailIf(!s.SameTrials(o), "%s and %s have different experiments or settings", from[0], other)
	}
	if there, err := readSummary(dir); err == nil {
		guard.FailIf(!there.SameTrials(s), "%s has another experiment than %s", dir, from[0])
	}
	f = guard.Must(open(dir, append(Files(), pages...), pages))
	guard.Check(errors.Join(writeSummary(f.Folder, s), f.Append(LogFile)))
	l := guard.Must(openLog(dir))
	for _, other := range from {
		err = cmp.Or(err, f.take(l, s, other))
	}
	missing := 0
	for _, id := range s.Trials {
		if _, known := l.records[id]; !known {
			missing++
		}
	}
	guard.Check(errors.Join(err, l.close()))
	guard.FailIf(missing > 0,
		"%d of %d trials are in none of the folders: run them, by partwise run with --shard, and join again", missing, len(s.Trials))
	return f, l.sort(s.Trials)
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
