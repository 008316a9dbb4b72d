// Package experimentfile reads experiment files, whose form is in docs/experiments.md.
package experimentfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Load reads an experiment file. Unknown keys and invalid values are errors with line and column.
func Load(path string) (*pipeline.Experiment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
	if err != nil {
		return nil, err // which names the file
	}
	e, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return e, nil
}

// Parse reads the text of an experiment file. It also rejects a text of more than 256 KiB, with lists and
// mappings nested more than 32 deep, or with tags, anchors, aliases or control characters.
func Parse(text []byte) (*pipeline.Experiment, error) {
	e := &pipeline.Experiment{}
	v, err := document.Parse(text)
	if err == nil {
		err = settings.Decode(v, e)
	}
	if err != nil {
		return nil, document.Excerpt(text, err)
	}
	return e, nil
}
