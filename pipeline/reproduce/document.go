package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// Document holds the outcomes of several recipes. It is a Markdown file, and beside it a JSON file, which is
// read.
type Document struct {
	Outcomes []*Outcome `json:"outcomes"`

	file string
}

const documentHead = "# The papers, reproduced\n"

// DocumentJSON returns the JSON file of a document.
func DocumentJSON(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".json" }

// OpenDocument reads a document, or starts one.
func OpenDocument(file string) (*Document, error) {
	d := &Document{file: file}
	text, err := os.ReadFile(DocumentJSON(file))
	if errors.Is(err, fs.ErrNotExist) {
		page, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return d, nil
		case bytes.HasPrefix(page, []byte(documentHead)):
			return nil, fmt.Errorf("%s holds outcomes, and %s, from which they are kept, is missing; name another document", file, DocumentJSON(file))
		}
		return d, err
	}
	if err == nil {
		err = json.Unmarshal(text, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds no outcomes: %w", DocumentJSON(file), err)
	}
	return d, nil
}

// Put replaces the outcome of the same recipe, or appends one.
func (d *Document) Put(o *Outcome) {
	if i := d.index(o.Recipe); i >= 0 {
		d.Outcomes[i] = o
		return
	}
	d.Outcomes = append(d.Outcomes, o)
}

func (d *Document) index(recipe string) int {
	return slices.IndexFunc(d.Outcomes, func(o *Outcome) bool { return o.Recipe == recipe })
}

// Write replaces the files. The document lists the recipes of notRun without an outcome.
func (d *Document) Write(notRun []string) error {
	var b bytes.Buffer
	b.WriteString(documentHead + `
Written by ` + "`partwise reproduce`" + `. [reproducing.md](reproducing.md) says what a verdict means and what the
intervals are.

| recipe | draws | |
|---|---|---|
`)
	for _, o := range d.Outcomes {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", marked(o.Recipe), o.Draws, o.count())
	}
	for _, o := range d.Outcomes {
		b.WriteString("\n" + o.Markdown(2))
	}
	missing := slices.DeleteFunc(slices.Clone(notRun), func(name string) bool { return d.index(name) >= 0 })
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\n## Not run\n\nThe data, or the build, that these need were not there: %s.\n", strings.Join(missing, ", "))
	}
	text, err := toJSON(d)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(DocumentJSON(d.file), text); err != nil {
		return err
	}
	return atomicfile.Write(d.file, b.Bytes())
}

func toJSON(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(x)
	return b.Bytes(), err
}
