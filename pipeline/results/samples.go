package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// SamplesFile is the name of the file in an experiment's folder that lists the
// samples that the saved models are of: a name and a class for each row of their
// coefficients. All models are of one draw.
const SamplesFile = "samples.csv"

// writeSamples writes the list into a folder, or removes it where there are none.
func writeSamples(to *output.Folder, samples []pipeline.Sample, classes []string) error {
	if len(samples) == 0 {
		return to.Remove(SamplesFile)
	}
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	out.Write([]string{"sample", "class"})
	for _, s := range samples {
		out.Write([]string{spreadsheet.Cell(inUTF8(s.Name)), spreadsheet.Cell(inUTF8(classes[s.Class]))})
	}
	out.Flush() // into memory
	return to.Write(SamplesFile, text.Bytes())
}

// readSamples reads the list in dir, of samples of these classes; nil where
// there is none.
func readSamples(dir string, classes []string) ([]pipeline.Sample, error) {
	path := filepath.Join(dir, SamplesFile)
	text, err := output.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = 2
	lines, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []pipeline.Sample
	for i, line := range lines {
		if i == 0 {
			continue // what the columns are
		}
		class := slices.Index(classes, inUTF8(spreadsheet.Text(line[1])))
		if class < 0 {
			return nil, fmt.Errorf("%s: line %d: there is no class %q", path, i+1, line[1])
		}
		out = append(out, pipeline.Sample{Name: inUTF8(spreadsheet.Text(line[0])), Class: class})
	}
	return out, nil
}

// inUTF8 returns a name with U+FFFD in place of each byte that is not UTF-8, as it
// stands in the summary.
func inUTF8(name string) string { return string([]rune(name)) }
