package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

const (
	// SummaryFile is the name of the file in an experiment's folder that describes the experiment.
	SummaryFile = "experiment.json"
	// SamplesFile is the name of the file that lists the samples of the saved models, all of one draw: a name and a
	// class for each row of their coefficients.
	SamplesFile = "samples.csv"
)

func writeSummary(to *output.Folder, s *pipeline.Summary) error {
	return errors.Join(writeSamples(to, s.Samples, s.Classes), writeJSON(to, SummaryFile, s))
}

func writeJSON(to *output.Folder, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return to.Write(name, append(text, '\n'))
}

// readJSON reads a JSON file with known keys, and checks its content.
func readJSON[T any, P interface {
	*T
	Check() error
}](path string) (_ P, err error) {
	defer guard.Catch(&err)
	text := guard.Must(output.ReadFile(path))
	to := P(new(T))
	if err = output.Unmarshal(text, to); err == nil {
		err = to.Check()
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		line := 1 + bytes.Count(text[:min(int(kind.Offset), len(text))], []byte("\n"))
		err = fmt.Errorf("line %d: %s: wrong type of value (%s)", line, cmp.Or(kind.Field, "the file"), kind.Value)
	}
	guard.Check(guard.Wrap(err, "%s", path))
	return to, nil
}

// ReadSummary reads the summary of the experiment in dir. It needs at most 2 MiB of memory plus 200 bytes for each byte
// of the file.
func ReadSummary(dir string) (*pipeline.Summary, error) {
	s, err := readSummary(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if of, _ := ReadSets(dir); of != nil {
			return nil, fmt.Errorf("%s has results of several sets; use the folder of one, such as %s", dir, filepath.Join(dir, of.Sets[0]))
		}
		return nil, fmt.Errorf("%s has no results of an experiment: %s is missing", dir, SummaryFile)
	}
	if err != nil {
		return nil, err
	}
	s.Samples, err = readSamples(dir, s.Classes)
	return s, err
}

// readSummary reads the summary in dir without the samples.
func readSummary(dir string) (*pipeline.Summary, error) {
	return readJSON[pipeline.Summary](filepath.Join(dir, SummaryFile))
}

// Records returns the records in dir that belong to the experiment of a summary, in its order. Some may be missing.
func Records(dir string, s *pipeline.Summary) (out []record.Record, err error) {
	records, _, err := ReadLog(dir)
	if err != nil {
		return nil, err
	}
	by := map[string]record.Record{}
	for _, r := range records {
		by[r.Trial] = r
	}
	for _, id := range s.Trials {
		if r, ok := by[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// writeSamples writes the list of samples, or removes it if it is empty.
func writeSamples(to *output.Folder, samples []pipeline.Sample, classes []string) error {
	if len(samples) == 0 {
		return to.Clear(SamplesFile)
	}
	var text bytes.Buffer
	rows := [][]string{{"sample", "class"}}
	for _, s := range samples {
		rows = append(rows, []string{spreadsheet.Cell(inUTF8(s.Name)), spreadsheet.Cell(inUTF8(classes[s.Class]))})
	}
	return errors.Join(csv.NewWriter(&text).WriteAll(rows), to.Write(SamplesFile, text.Bytes()))
}

// readSamples reads the list of samples of these classes in dir; nil without a list.
func readSamples(dir string, classes []string) (out []pipeline.Sample, err error) {
	defer guard.Catch(&err)
	path := filepath.Join(dir, SamplesFile)
	text, err := output.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	guard.Check(err)
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = 2
	lines, err := in.ReadAll()
	guard.Check(guard.Wrap(err, "%s", path))
	for i, line := range lines[min(1, len(lines)):] {
		class := slices.Index(classes, inUTF8(spreadsheet.Text(line[1])))
		if class < 0 {
			return nil, fmt.Errorf("%s: line %d: unknown class %q", path, i+2, line[1])
		}
		out = append(out, pipeline.Sample{Name: inUTF8(spreadsheet.Text(line[0])), Class: class})
	}
	return out, nil
}

// inUTF8 returns name with U+FFFD for each byte that is not UTF-8, as in the summary.
func inUTF8(name string) string { return string([]rune(name)) }

// SetsFile is the name of the file that lists the sets of an experiment on several sets. Each set has a folder of
// results beside it.
const SetsFile = "sets.json"

// Sets is the content of a SetsFile: an experiment on several sets.
type Sets struct {
	Name    string `json:"name"`
	Command string `json:"command"` // runs the experiment again
	// Sets are the names of the sets and of their folders.
	Sets         []string          `json:"sets"`
	Significance significance.Rule `json:"significance,omitzero"`
}

// Check returns an error for missing or invalid parts.
func (s *Sets) Check() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(s.Name == "" || len(s.Sets) < 2, "not a list of the sets of an experiment")
	seen := map[string]bool{}
	for _, name := range s.Sets {
		guard.FailIf(filename.Safe(name) != name || seen[name], "%q is not a folder of a set", name)
		seen[name] = true
	}
	return nil
}

// OpenSets opens the folder dir for an experiment on several sets, as Open does for one set. Open opens the folder of
// each set.
func OpenSets(dir string, pages ...string) (*Folder, error) {
	if _, err := os.Lstat(filepath.Join(dir, SummaryFile)); err == nil {
		return nil, fmt.Errorf("%s has results of an experiment on one set; choose another name or folder", dir)
	}
	return open(dir, append([]string{SetsFile}, pages...), pages)
}

// WriteSets writes the SetsFile.
func (f *Folder) WriteSets(s *Sets) error { return writeJSON(f.Folder, SetsFile, s) }

// ReadSets reads the SetsFile in dir; nil if there is none.
func ReadSets(dir string) (*Sets, error) {
	s, err := readJSON[Sets](filepath.Join(dir, SetsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}
