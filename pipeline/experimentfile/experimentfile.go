// Package experimentfile reads experiment files, whose form is in docs/experiments.md.
package experimentfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Load reads an experiment file. Unknown keys and values that cannot be are an
// error with line and column.
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

// Parse reads the text of an experiment file. It returns an error for every text
// that is none: one of more than 256 KiB, one that nests lists and mappings more
// than 32 deep, and one with tags, anchors, aliases or control characters too.
func Parse(text []byte) (*pipeline.Experiment, error) {
	e := &pipeline.Experiment{}
	if err := decode(text, e); err != nil {
		return nil, document.Excerpt(text, err)
	}
	return e, nil
}

// Set sets one key of an experiment, "classes" for example, to a value as a file would
// hold it.
func Set(e *pipeline.Experiment, key, value string) error {
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("an experiment file has no key %q", key)
	}
	if strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("%s %q: want one line", key, value)
	}
	err := decode([]byte(key+": "+value), e)
	var placed *settings.Error
	if errors.As(err, &placed) {
		err = errors.New(placed.Message) // there is no file to have a place in
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", key, value, err)
	}
	return nil
}

func decode(text []byte, e *pipeline.Experiment) error {
	v, err := document.Parse(text)
	if err != nil {
		return err
	}
	return settings.Decode(v, e)
}
