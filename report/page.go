package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"image"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// page is a page that is being made, section by section, in the folder of its files.
type page struct {
	folder
	Name, Lead string
	// Note stands before all else, where it is not empty, and About below the lead.
	Note, About string
	// Assignments is a file that is linked behind About, or empty.
	Assignments string
	// Command and Settings say how to repeat what the page shows.
	Command  string
	Settings [][2]string
	Warnings []string
	// Styles are those of the page, and Scripts the files of the folder that it runs.
	Styles, Scripts []string
	// Connects tells that the page talks to its server.
	Connects bool
	// Icon is an address that holds the icon itself, or empty: browsers load an icon from elsewhere
	// when they like, also after the server has ended.
	Icon template.URL

	tables map[string]string // that the page copies, by the paths of their files
	// later draws and writes what sections show, once all of them are made.
	later []func() error
}

// section is a part of a page.
type section struct {
	// id is its anchor, and title its name in the navigation; a section without them
	// is not in it.
	id, title string
	// links are more entries of the navigation, of what make returned; nil for none.
	links func(view any) []link
	// make writes the section's files, or leaves drawing to later, and returns what its
	// template shows; nil leaves the section out.
	make     func() (view any, err error)
	template func() *template.Template
	// folded sections that follow each other are folded away together.
	folded bool
}

// link is an entry of the navigation.
type link struct{ ID, Title string }

// pageCSS says how all pages look.
//
//go:embed page.css
var pageCSS string

// Policy is the content-security policy of the page: nothing is loaded but
// images beside the page, no style counts but the page's own, by their sums, and
// nothing is run but the scripts beside the page, where it has any. It talks to nobody but
// its server, and to that where it Connects.
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

// parse returns the template of a section, which may use those of pictures, figures
// and tables below. It is parsed when the first page needs it.
func parse(name, text string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		t := template.Must(template.New("shared").Parse(sharedTemplates))
		return template.Must(t.New(name).Parse(text))
	})
}

const sharedTemplates = `
{{define "picture"}}<figure class="sheet"><a href="{{.Path}}"><img src="{{.Path}}" width="{{.Width}}" height="{{.Height}}" loading="lazy" alt="{{.Alt}}"></a></figure>{{end}}
{{define "captioned"}}
<figure><figcaption><b>{{.Method}}</b></figcaption>
<a href="{{.Picture.Path}}"><img src="{{.Picture.Path}}" width="{{.Picture.Width}}" height="{{.Picture.Height}}" alt="{{.Picture.Alt}}"></a></figure>
{{- end}}
{{define "curve"}}<figure class="curve"><a href="{{.SVG}}"><img src="{{.PNG}}" width="{{.Width}}" height="{{.Height}}" alt="{{.Alt}}"></a></figure>
<p class="files">Figure: <a href="{{.PNG}}">PNG</a><a href="{{.SVG}}">SVG</a><a href="{{.PDF}}">PDF</a></p>
{{- end}}
{{define "method"}}
<figure class="curve"><figcaption><b>{{.Method}}</b>{{with .Title}}, {{.}}{{end}}</figcaption>
<a href="{{.Figure.SVG}}"><img src="{{.Figure.PNG}}" width="{{.Figure.Width}}" height="{{.Figure.Height}}" alt="{{.Figure.Alt}}"></a>
<p class="files"><a href="{{.Figure.PNG}}">PNG</a><a href="{{.Figure.SVG}}">SVG</a><a href="{{.Figure.PDF}}">PDF</a></p></figure>
{{- end}}
{{define "table"}}{{.HTML}}
<p class="files">Table: {{range .Files}}<a href="{{.Path}}">{{.Label}}</a>{{end}}</p>
{{- end}}
{{define "chosen"}}Of several ranks or settings, each method is shown with the one that is the best by the first score.{{end}}`

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"css": func(style string) template.CSS { return template.CSS(style) },
	}).Parse(pageText))
})

const pageText = `{{define "head"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Name}}</title>
{{- with .Icon}}
<link rel="icon" href="{{.}}">
{{- end}}
{{- range .Styles}}
<style>{{css .}}</style>
{{- end}}
{{- range .Scripts}}
<script src="{{.}}" defer></script>
{{- end}}
</head>{{end}}
{{- template "head" .}}
<body>
<h1>{{.Name}}</h1>
<p class="lead">{{.Lead}}</p>
{{- with .Note}}
<p class="warn">{{.}}</p>
{{- end}}
{{- with .About}}
<p>{{.}}{{with $.Assignments}} The groups as a list are in <a href="{{.}}">{{.}}</a>.{{end}}</p>
{{- end}}
<nav>{{range .Links}}<a href="#{{.ID}}">{{.Title}}</a>{{end}}</nav>
{{- range .Sections}}{{.}}{{end}}
</body>
</html>
`

const (
	foldBegin = `

<details class="technical">
<summary>How the groups were found: the technical parts</summary>`
	foldEnd = `
</details>`
)

// sections are the sections of a list for one page.
func sections[P any](p P, list []func(P) section) []section {
	out := make([]section, len(list))
	for i, of := range list {
		out[i] = of(p)
	}
	return out
}

// writeSections makes the sections of a page, and those with which all pages end, and
// writes the page. Characters that do something other than to be seen, which may be in
// names, are shown as plaintext.Line shows them.
func (p *page) writeSections(sections []section) error {
	view := struct {
		*page
		Links    []link
		Sections []template.HTML
	}{page: p}
	folded := false
	fold := func(want bool) {
		if want != folded {
			view.Sections = append(view.Sections, map[bool]template.HTML{true: foldBegin, false: foldEnd}[want])
		}
		folded = want
	}
	sections = append(slices.Clip(sections), warningsSection(p), repeatSection(p))
	views := make([]any, len(sections))
	for i, s := range sections {
		var err error
		if views[i], err = s.make(); err != nil {
			return err
		}
	}
	// Drawings, of which a page mostly consists, do not wait for each other, nor for the disk.
	if err := eachOf(p.ctx, 2*runtime.GOMAXPROCS(0), len(p.later), func(i int) error { return p.later[i]() }); err != nil {
		return err
	}
	for i, s := range sections {
		shown := views[i]
		if shown == nil {
			continue
		}
		var text strings.Builder
		if err := s.template().Execute(&text, shown); err != nil {
			return err
		}
		if s.title != "" {
			view.Links = append(view.Links, link{s.id, s.title})
		}
		if s.links != nil {
			view.Links = append(view.Links, s.links(shown)...)
		}
		fold(s.folded)
		view.Sections = append(view.Sections, template.HTML(text.String()))
	}
	fold(false)
	if err := p.writeTables(); err != nil {
		return err
	}
	return p.write("index.html", func(w io.Writer) error {
		var text strings.Builder
		if err := pageTemplate().Execute(&text, view); err != nil {
			return err
		}
		for line := range strings.Lines(text.String()) {
			end := strings.TrimRight(line, "\n")
			if _, err := io.WriteString(w, plaintext.Line(end)+line[len(end):]); err != nil {
				return err
			}
		}
		return nil
	})
}

// warningsSection lists what went wrong, where anything did.
func warningsSection(p *page) section {
	return section{
		id: "warnings", title: "Warnings", template: warningsTemplate,
		make: func() (any, error) {
			if len(p.Warnings) == 0 {
				return nil, nil
			}
			return p.Warnings, nil
		},
	}
}

var warningsTemplate = parse("warnings", `

<h2 id="warnings">Warnings</h2>
<ul>
{{- range .}}
<li>{{.}}</li>
{{- end}}
</ul>`)

// repeatSection says how to repeat what the page shows.
func repeatSection(p *page) section {
	return section{
		id: "repeat", title: "How to repeat it", template: repeatTemplate,
		make: func() (any, error) { return p, nil },
	}
}

// programSetting tells the version of the program.
func programSetting(version string) [2]string { return [2]string{"program", "partwise " + version} }

var repeatTemplate = parse("repeat", `


<h2 id="repeat">How to repeat it</h2>
{{- with .Command}}
<p>Run this command. With the same data it gives the same numbers.</p>
<pre><code>{{.}}</code></pre>
{{- end}}
{{- if .Settings}}
<table class="settings">
{{- range .Settings}}
<tr><th scope="row">{{index . 0}}</th><td>{{index . 1}}</td></tr>
{{- end}}
</table>
{{- end}}`)

// The types below are what the templates see of files.

// picture is a picture beside a page.
type picture struct {
	Path, Alt     string
	Width, Height int
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

// tableView is a table in a page and the files that hold it.
type tableView struct {
	HTML  template.HTML
	Files []fileView
}

type fileView struct{ Label, Path string }

// figure writes a figure in three formats, later. It takes the error of making it too, and
// returns nil where there is nothing to draw.
func (p *page) figure(path, alt string, f *figure.Figure, err error) (*figureView, error) {
	if errors.Is(err, figure.ErrNoData) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	width, height := f.Size()
	v := &figureView{
		PNG: path + ".png", SVG: path + ".svg", PDF: path + ".pdf", Alt: alt,
		Width: int(96 * width / vg.Inch), Height: int(96 * height / vg.Inch),
	}
	p.later = append(p.later, func() error {
		for _, file := range []struct {
			path string
			of   func(context.Context, io.Writer) error
		}{{v.PNG, f.PNG}, {v.SVG, f.SVG}, {v.PDF, f.PDF}} {
			if err := p.write(file.path, func(w io.Writer) error { return file.of(p.ctx, w) }); err != nil {
				return err
			}
		}
		return nil
	})
	return v, nil
}

// pictureOf writes the picture that draw returns, later: until then what it returns has no size.
func (p *page) pictureOf(path, alt string, draw func() (image.Image, error)) *picture {
	shown := &picture{Path: path, Alt: alt}
	p.later = append(p.later, func() error {
		img, err := draw()
		if err != nil {
			return err
		}
		written, err := p.picture(path, alt, img)
		*shown = *written
		return err
	})
	return shown
}

// table writes a table into a file of each format, later, and returns it for the page.
func (p *page) table(name string, d *table.Document) (v tableView, err error) {
	for _, format := range table.Formats {
		if format.Extension == "" {
			continue
		}
		path := "tables/" + name + "." + format.Extension
		var text bytes.Buffer
		if err := format.Write(&text, d, table.Options{}); err != nil {
			return v, err
		}
		p.keepTable(path, format, text.Bytes())
		p.later = append(p.later, func() error {
			return p.write(path, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
		})
		v.Files = append(v.Files, fileView{format.Name, path})
	}
	var text strings.Builder
	err = table.HTML(&text, d, table.Options{})
	v.HTML = template.HTML(text.String())
	return v, err
}
