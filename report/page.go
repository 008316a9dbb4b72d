// Package report turns finished trials into what people read.
//
// The entry points are [WriteExperiment], for an experiment's records, and [WriteClusters], for one grouping of
// somebody's own pictures. Both write a folder with an index.html in it that needs no network and no scripts. A
// page is a list of sections: adding one takes a file and a line of the list. Its tables are made by
// report/table and its pictures by report/figure, which can be used alone.
//
// The same input gives the same bytes: nothing depends on the time, the machine or the order of a map. Files
// are written beside their place and renamed, so a reader never sees half of one.
package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// page is a page under construction, in the folder of its files.
type page struct {
	folder
	Name, Lead string
	// Note stands before all else, if it is not empty, and About below the lead.
	Note, About string
	Assignments string // a file that is linked after About, or empty
	// Command and Settings say how to repeat the results.
	Command  string
	Settings [][2]string
	Warnings []string
	// Styles are those of the page, and Scripts the files of the folder that it runs.
	Styles, Scripts []string
	// Connects says that the page talks to its server.
	Connects bool
	// Icon is an address that holds the icon itself, or empty: browsers load other icons whenever they
	// like, even after the server has ended.
	Icon template.URL

	tables map[string]string // that the page copies, by the paths of their files
	err    error             // the first of making sections
	// later draws and writes the files of sections, once all sections are made; after runs then.
	later []func() error
	after func() error
}

// section is a part of the pages of a kind.
type section[P any] struct {
	// id is its anchor, and title its name in the navigation; both may be empty.
	id, title string
	template  string // its text: that of a file by stored, or any other
	// make writes the section's files, or leaves that to page.later, and returns what its template
	// shows; nil leaves the section out. What it returns may be linked. Errors go to page.fail.
	make func(P) any
	// folded sections that follow each other are folded away together.
	folded bool
}

// linked is a view with entries of its own in the navigation.
type linked interface{ links() []link }

// link is an entry of the navigation.
type link struct{ ID, Title string }

//go:embed page.css
var pageCSS string

// Policy is the content-security policy of the page: it loads images and scripts beside the page alone,
// uses its own styles alone, by their hashes, and talks to nobody but its server, if it Connects.
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

// templates are those of the page and its sections.
//
//go:embed sections
var templates embed.FS

// stored returns the template sections/NAME.html.
func stored(name string) string {
	text, err := templates.ReadFile("sections/" + name + ".html")
	if err != nil {
		panic(err) // it is part of the program
	}
	return strings.TrimSuffix(string(text), "\n")
}

// fill fills in the template of a section, which may use those of sections/shared.html.
func fill(text string, view any) (template.HTML, error) {
	t := template.Must(template.New("shared").Parse(stored("shared")))
	var out strings.Builder
	err := template.Must(t.New("section").Parse(text)).Execute(&out, view)
	return template.HTML(out.String()), err
}

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"css": func(style string) template.CSS { return template.CSS(style) },
	}).Parse(stored("page") + "\n"))
})

// shown is a section for the template of the page.
type shown struct {
	HTML template.HTML
	// Fold and Unfold begin and end the part that is folded away, before the section.
	Fold, Unfold bool
}

// write makes the sections of a page, draws what they left for later, and writes the page. Control
// characters, which names may hold, are shown as plaintext.Line shows them.
func write[P any](p *page, of P, sections []section[P]) error {
	views := make([]any, len(sections))
	for i, s := range sections {
		if views[i] = s.make(of); p.err != nil {
			return p.err
		}
	}
	if err := each(p.ctx, 0, len(p.later), func(i int) error { return p.later[i]() }); err != nil {
		return err
	}
	if p.after != nil {
		if err := p.after(); err != nil {
			return err
		}
	}
	view := struct {
		*page
		Links    []link
		Sections []shown
		Unfold   bool
	}{page: p}
	for i, s := range sections {
		if views[i] == nil {
			continue
		}
		text, err := fill(s.template, views[i])
		if err != nil {
			return err
		}
		if s.title != "" {
			view.Links = append(view.Links, link{s.id, s.title})
		}
		if v, ok := views[i].(linked); ok {
			view.Links = append(view.Links, v.links()...)
		}
		view.Sections = append(view.Sections, shown{text, s.folded && !view.Unfold, view.Unfold && !s.folded})
		view.Unfold = s.folded
	}
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

// programSetting is the version of the program.
func programSetting(version string) [2]string { return [2]string{"program", "partwise " + version} }

// unlessEmpty returns a list for a template, or nil to leave its section out.
func unlessEmpty[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// fail ends the page with an error, unless that is nil or an earlier one does.
func (p *page) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// byProminence holds views of scores: those shown first, and the others.
type byProminence[T any] struct{ Scores, More []T }

func (l *byProminence[T]) add(s eval.Score, view T) {
	if s.Prominence == eval.Minor {
		l.More = append(l.More, view)
	} else {
		l.Scores = append(l.Scores, view)
	}
}
