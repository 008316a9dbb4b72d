// Package report writes pages about results. [WriteExperiment] shows the records of an experiment, and [WriteClusters]
// a grouping of samples. Both write a folder with an index.html that needs neither a network nor scripts. A page is a
// list of sections. Package table makes its tables, and package figure its figures.
//
// Equal input gives equal bytes: nothing depends on the time, the machine or the order of a map. Files are written
// atomically.
package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	_ "embed"
	"encoding/base64"
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
	"sync"

	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// page is a page under construction, in the folder of its files.
type page struct {
	folder
	Name, Lead      string
	Note, About     string // at the top, and below the lead; may be empty
	Assignments     string // a file that is linked after About, or ""
	Command         string // repeats the results, with Settings
	Settings        [][2]string
	Warnings        []string
	Links           []link   // the navigation
	Styles, Scripts []string // the page's styles, and the scripts of the folder that it runs
	Connects        bool     // whether it connects to its server
	// Icon is a data URL with the icon, or "". A linked icon could be loaded after the server has ended.
	Icon template.URL

	tables map[string]string // tables that the page can copy, by the paths of their files
	later  []func()          // draw and write the files of sections, after all sections are made; call guard.Fail
	after  func()            // runs after later; may be nil
}

type section[P any] struct {
	id, title string // the anchor, and the title in the navigation; may be empty
	template  string // the template: the text of a file from readTemplate, or any other
	// make writes the section's files, or adds that to page.later, and returns the data of the template. A nil pointer and
	// an empty list leave the section out. It calls guard.Fail.
	make   func(P) any
	folded bool // consecutive folded sections share one fold
}

type link struct{ ID, Title string }

//go:embed page.css
var pageCSS string

// Policy returns the content-security policy of the page. It allows images and scripts from the page's folder, the
// page's own styles by their hashes, and connections to its server if it Connects.
func (p *page) Policy() string {
	policy := "default-src 'none'; img-src 'self'"
	if p.Icon != "" {
		policy += " data:"
	}
	policy += "; style-src"
	for _, style := range p.Styles {
		sum := sha256.Sum256([]byte(style))
		policy += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if p.Scripts != nil {
		policy += "; script-src 'self'"
	}
	if p.Connects {
		policy += "; connect-src 'self'"
	}
	return policy + "; base-uri 'none'; form-action 'none'"
}

//go:embed sections
var templates embed.FS

func readTemplate(name string) string {
	text, err := templates.ReadFile("sections/" + name + ".html")
	if err != nil {
		panic(err) // cannot fail: it is embedded
	}
	return strings.TrimSuffix(string(text), "\n")
}

func fillTemplate(text string, view any) template.HTML {
	t := template.Must(template.New("shared").Funcs(template.FuncMap{"count": phrase.Count}).Parse(readTemplate("shared")))
	var out strings.Builder
	guard.Check(template.Must(t.New("section").Parse(text)).Execute(&out, view))
	return template.HTML(out.String())
}

var pageTemplate = sync.OnceValue(func() *template.Template {
	css := func(style string) template.CSS { return template.CSS(style) }
	return template.Must(template.New("page").Funcs(template.FuncMap{"css": css}).Parse(readTemplate("page") + "\n"))
})

type shownSection struct {
	HTML   template.HTML
	Folded bool
}

// writePage makes the sections of a page and the page. Control characters of names are escaped as by plaintext.Line.
func writePage[P any](p *page, of P, sections []section[P]) (err error) {
	defer guard.Catch(&err)
	views, shown := make([]any, len(sections)), make([]bool, len(sections))
	for i, s := range sections {
		views[i] = s.make(of)
		if shown[i], _ = template.IsTrue(views[i]); shown[i] && s.title != "" {
			p.Links = append(p.Links, link{s.id, s.title})
		}
	}
	concurrently(p.ctx, p.later...)
	if p.after != nil {
		p.after()
	}
	view := struct {
		*page
		Sections []shownSection
	}{page: p}
	for i, s := range sections {
		if shown[i] {
			view.Sections = append(view.Sections, shownSection{fillTemplate(s.template, views[i]), s.folded})
		}
	}
	p.writeTables()
	var text strings.Builder
	guard.Check(pageTemplate().Execute(&text, view))
	lines := lists.Map(strings.Split(text.String(), "\n"), plaintext.Line)
	p.writeBytes("index.html", []byte(strings.Join(lines, "\n")))
	return nil
}

func programSetting(version string) [2]string { return [2]string{"program", "partwise " + version} }

// folder is a folder that a report is written to, until its context ends.
type folder struct {
	dir string
	ctx context.Context
}

// write writes a file with a slash-separated name atomically. It calls guard.Fail, also if the context has ended.
func (to folder) write(name string, write func(io.Writer) error) {
	guard.Check(to.ctx.Err())
	path := filepath.Join(to.dir, filepath.FromSlash(name))
	guard.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	err := atomicfile.WriteFunc(path, func(w io.Writer) error { return write(atomicfile.UntilDone(to.ctx, w)) })
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	guard.Check(err)
}

func (to folder) writeBytes(name string, content []byte) {
	to.write(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

type picture struct {
	Path, Alt     string
	Width, Height int
	Caption       string // may be empty
}

// picture writes the image that draw returns later; until then the result has no size.
func (p *page) picture(path, alt string, draw func() (image.Image, error)) *picture {
	shown := &picture{Path: path, Alt: alt}
	p.later = append(p.later, func() {
		img := guard.Must(draw())
		size := img.Bounds().Size()
		shown.Width, shown.Height = size.X, size.Y
		p.write(path, func(w io.Writer) error {
			return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
		})
	})
	return shown
}

type captioned struct {
	Method  string
	Picture *picture
}

type figureView struct {
	Path, Alt     string // the path lacks the extension
	Width, Height int    // in CSS pixels, 96 to the inch
}

type methodView struct {
	Method, Title string
	Figure        *figureView
}

// figure writes a figure in three formats, later. err is the error of making it; for ErrNoData it returns nil.
func (p *page) figure(path, alt string, f *figure.Figure, err error) *figureView {
	if errors.Is(err, figure.ErrNoData) {
		return nil
	}
	guard.Check(err)
	width, height := f.Size()
	p.later = append(p.later, func() {
		for _, format := range figure.Formats {
			p.write(path+"."+format, func(w io.Writer) error { return f.Write(p.ctx, w, format) })
		}
	})
	return &figureView{path, alt, int(96 * width / vg.Inch), int(96 * height / vg.Inch)}
}

type tableView struct {
	HTML  template.HTML
	Files []struct{ Label, Path string }
}

var (
	//go:embed tables.js
	tablesJS []byte
	//go:embed tables.css
	tablesCSS string
)

// table writes a table into a file of each format, later. The page can copy it as CSV and as LaTeX.
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
		guard.Check(format.Write(&text, d, table.Options{}))
		if format.Name == "CSV" || format.Name == "LaTeX" {
			p.tables[path] = text.String()
		}
		p.later = append(p.later, func() { p.writeBytes(path, text.Bytes()) })
		v.Files = append(v.Files, struct{ Label, Path string }{format.Name, path})
	}
	return v
}

func (p *page) inHTML(d *table.Document) template.HTML {
	var text strings.Builder
	guard.Check(table.HTML(&text, d, table.Options{}))
	return template.HTML(text.String())
}

// writeTables writes the scripts of a page with tables: one sorts and copies them, the other holds the text to copy.
func (p *page) writeTables() {
	if p.tables == nil {
		return
	}
	const script, data = "tables/page.js", "tables/data.js"
	text := guard.Must(json.Marshal(p.tables))
	p.Styles, p.Scripts = append(p.Styles, tablesCSS), append(p.Scripts, data, script)
	p.writeBytes(data, fmt.Appendf(nil, "globalThis.tableFiles = %s;\n", text))
	p.writeBytes(script, tablesJS)
}

// concurrently runs functions that may call guard.Fail, and calls it itself.
func concurrently(ctx context.Context, functions ...func()) {
	guard.Check(parallel.Each(ctx, 0, len(functions), nil, func(i int) error { return guard.Try(functions[i]) }))
}

// withSafeNames returns the elements of a list with distinct names for files.
func withSafeNames[T any](list []T, name func(T) string) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		var used []string
		for _, v := range list {
			base := filename.Safe(name(v))
			safe := base
			for n := 2; slices.Contains(used, safe); n++ {
				safe = fmt.Sprintf("%s-%d", base, n)
			}
			if used = append(used, safe); !yield(safe, v) {
				return
			}
		}
	}
}
