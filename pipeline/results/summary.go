package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// SummaryFile is the name of the file in an experiment's folder that says what
// its log is of.
const SummaryFile = "experiment.json"

func writeSummary(to *output.Folder, s *pipeline.Summary) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSamples(to, s.Samples, s.Classes); err != nil {
		return err
	}
	return to.Write(SummaryFile, append(text, '\n'))
}

// ReadSummary reads the summary of the experiment whose results are in dir. It takes at
// most 2 MiB of memory and 200 bytes for each of the file's.
func ReadSummary(dir string) (*pipeline.Summary, error) {
	s, err := readSummary(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if of, _ := ReadSets(dir); of != nil {
			return nil, fmt.Errorf("%s holds the results of several sets: name the folder of one, such as %s", dir, filepath.Join(dir, of.Sets[0]))
		}
		return nil, fmt.Errorf("%s holds no results of an experiment: there is no %s in it", dir, SummaryFile)
	}
	if err != nil {
		return nil, err
	}
	s.Samples, err = readSamples(dir, s.Classes)
	return s, err
}

// readSummary reads the summary in dir without the samples.
func readSummary(dir string) (*pipeline.Summary, error) {
	path := filepath.Join(dir, SummaryFile)
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &pipeline.Summary{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(s); err == nil {
		err = s.Check()
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		line := 1 + bytes.Count(text[:min(int(kind.Offset), len(text))], []byte("\n"))
		err = fmt.Errorf("line %d: %s: the kind of value is wrong (%s)", line, cmp.Or(kind.Field, "the file"), kind.Value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Records returns those records of the log in dir that are of the experiment of a
// summary, in its order. Some may be missing.
func Records(dir string, s *pipeline.Summary) ([]pipeline.Record, error) {
	records, _, err := ReadLog(dir)
	if err != nil {
		return nil, err
	}
	by := map[string]pipeline.Record{}
	for _, r := range records {
		by[r.Trial] = r
	}
	var out []pipeline.Record
	for _, id := range s.Trials {
		if r, ok := by[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}
