package report

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// folder is a folder that a report is written to, until its context is done.
type folder struct {
	dir string
	ctx context.Context
}

// write writes a file atomically; its name has forward slashes. Once the context is done it returns its
// error, before or in the middle of the file.
func (to folder) write(name string, write func(io.Writer) error) error {
	if err := to.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(to.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := atomicfile.WriteFunc(path, func(w io.Writer) error { return write(atomicfile.UntilDone(to.ctx, w)) })
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// writeBytes writes a file atomically.
func (to folder) writeBytes(name string, content []byte) error {
	return to.write(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// picture is a picture beside a page.
type picture struct {
	Path, Alt     string
	Width, Height int
}

// picture writes the picture that draw returns, later: until then the result has no size.
func (p *page) picture(path, alt string, draw func() (image.Image, error)) *picture {
	shown := &picture{Path: path, Alt: alt}
	p.later = append(p.later, func() error {
		img, err := draw()
		if err != nil {
			return err
		}
		size := img.Bounds().Size()
		shown.Width, shown.Height = size.X, size.Y
		return p.write(path, func(w io.Writer) error {
			return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
		})
	})
	return shown
}

// captioned is a picture of a method.
type captioned struct {
	Method  string
	Picture *picture
}

// figureView is a figure beside a page, in three formats.
type figureView struct {
	PNG, SVG, PDF, Alt string
	Width, Height      int // pixels of a page, 96 to the inch
}

// methodView is a figure of one method.
type methodView struct {
	Method, Title string
	Figure        *figureView
}

// figure writes a figure in three formats, later. It takes the error of making the figure too, and
// returns nil if there is nothing to draw.
func (p *page) figure(path, alt string, f *figure.Figure, err error) *figureView {
	if err != nil {
		if !errors.Is(err, figure.ErrNoData) {
			p.fail(err)
		}
		return nil
	}
	width, height := f.Size()
	v := &figureView{
		PNG: path + ".png", SVG: path + ".svg", PDF: path + ".pdf", Alt: alt,
		Width: int(96 * width / vg.Inch), Height: int(96 * height / vg.Inch),
	}
	p.later = append(p.later, func() error {
		for i, write := range []func(context.Context, io.Writer) error{f.PNG, f.SVG, f.PDF} {
			if err := p.write([]string{v.PNG, v.SVG, v.PDF}[i], func(w io.Writer) error { return write(p.ctx, w) }); err != nil {
				return err
			}
		}
		return nil
	})
	return v
}

// tableView is a table in a page and the files that hold it.
type tableView struct {
	HTML  template.HTML
	Files []fileView
}

type fileView struct{ Label, Path string }

// The script of pages with tables, which sorts and copies them, and the script with the copied text.
const (
	tablesScript = "tables/page.js"
	tablesData   = "tables/data.js"
)

var (
	//go:embed tables.js
	tablesJS []byte
	//go:embed tables.css
	tablesCSS string
)

// table writes a table into a file of each format, later, and returns it for the page, which copies it
// as CSV and as LaTeX.
func (p *page) table(name string, d *table.Document) *tableView {
	if p.tables == nil {
		p.tables = map[string]string{}
	}
	v := &tableView{HTML: p.inHTML(d)}
	for _, format := range table.Formats {
		if format.Extension == "" {
			continue
		}
		path := "tables/" + name + "." + format.Extension
		var text bytes.Buffer
		p.fail(format.Write(&text, d, table.Options{}))
		if format.Name == "CSV" || format.Name == "LaTeX" {
			p.tables[path] = text.String()
		}
		p.later = append(p.later, func() error { return p.writeBytes(path, text.Bytes()) })
		v.Files = append(v.Files, fileView{format.Name, path})
	}
	return v
}

func (p *page) inHTML(d *table.Document) template.HTML {
	var text strings.Builder
	p.fail(table.HTML(&text, d, table.Options{}))
	return template.HTML(text.String())
}

// writeTables writes the scripts of a page with tables.
func (p *page) writeTables() error {
	if p.tables == nil {
		return nil
	}
	text, err := json.Marshal(p.tables)
	if err != nil {
		return err
	}
	p.Styles, p.Scripts = append(p.Styles, tablesCSS), append(p.Scripts, tablesData, tablesScript)
	if err := p.writeBytes(tablesData, fmt.Appendf(nil, "globalThis.tableFiles = %s;\n", text)); err != nil {
		return err
	}
	return p.writeBytes(tablesScript, tablesJS)
}

// each calls f for 0 … n−1, at most this many at a time, or with 0 one on each core. It returns the first
// error in their order, or that of the context. A panic of f is an error.
func each(ctx context.Context, workers, n int, f func(i int) error) error {
	errs := make([]error, n)
	working, stop := context.WithCancel(ctx)
	defer stop()
	err := parallel.Blocks(working, workers, n, 1, func(_, i, _ int) {
		if errs[i] = guard.Call(func() error { return f(i) }); errs[i] != nil {
			stop()
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return err
}

// together calls functions side by side, as each does.
func together(ctx context.Context, functions ...func() error) error {
	return each(ctx, 0, len(functions), func(i int) error { return functions[i]() })
}

// safeNames turns names into different safe ones.
func safeNames(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		base := filename.Safe(name)
		safe[i] = base
		for n := 2; slices.Contains(safe[:i], safe[i]); n++ {
			safe[i] = fmt.Sprintf("%s-%d", base, n)
		}
	}
	return safe
}

// withSafeNames returns the elements of a list with different safe names.
func withSafeNames[T any](list []T, name func(T) string) iter.Seq2[string, T] {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = name(v)
	}
	return func(yield func(string, T) bool) {
		for i, safe := range safeNames(names) {
			if !yield(safe, list[i]) {
				return
			}
		}
	}
}
