package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/output"
)

// photographsSection shows what was learned on photographs, of which make returns what
// there is.
func photographsSection(make func() (photographsView, error)) section {
	return section{
		template: photographsTemplate,
		make: func() (any, error) {
			v, err := make()
			return v, err
		},
		links: func(view any) (links []link) {
			v := view.(photographsView)
			if v.Patches != nil {
				links = append(links, link{"patches", "Parts on photographs"})
			}
			if v.Words != nil {
				links = append(links, link{"words", "Visual words"})
			}
			return links
		},
	}
}

var photographsTemplate = parse("photographs", `{{with .Patches}}

<h2 id="patches">Parts on photographs</h2>
{{- if $.Words}}
<p>A part is made of visual words: kinds of small patches, each in some place of the photograph. The photographs below are made grey, and the patches whose words a part holds are marked in the part's colour, the fuller the stronger. Where patches of several parts overlap, the part that has most is seen. The numbers are the parts' own.</p>
{{- else}}
<p>A part is made of what a network tells of the places of a photograph. The photographs below are made grey, and the places of which a part accounts for most are marked in the part's colour, the fuller the stronger. The numbers are the parts' own.</p>
{{- end}}
{{- range .}}

<h3>{{.Method}}</h3>
{{- with .Examples}}
{{template "picture" .}}
{{- end}}
{{- if .Rows}}
<details>
<summary>Each part by itself</summary>
<p>The photographs that use a part most, with its patches only.{{with .Left}} {{.}}{{end}}</p>
{{- range .Rows}}
<p>{{.Title}}{{if not .Picture}} <span class="note">No photograph uses it.</span>{{end}}</p>
{{- with .Picture}}
{{template "picture" .}}
{{- end}}
{{- end}}
</details>
{{- end}}
{{- end}}{{end}}{{with .Words}}

<h2 id="words">Visual words</h2>
<p>A visual word stands for patches that look alike to the computer: the edges in them run the same way in the same places, while how bright they are does not count. Each block below is one word: its number, how many patches have it, and some of those patches. {{.Lead}}</p>
{{- range .Sheets}}
{{template "picture" .}}
{{- end}}{{end}}`)

// photographsView is what a page shows of photographs.
type photographsView struct {
	Patches []patchesView
	Words   *wordsView
}

// writtenPictures are the names of the pictures that writePhotographs writes.
var writtenPictures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(patches/[\pL\pN-]+|words)/(examples|[0-9]+)\.png$`)
})

// check returns an error where a view that was read shows other pictures than
// those that are written.
func (v *photographsView) check() error {
	var pictures []*picture
	for _, p := range v.Patches {
		pictures = append(pictures, p.Examples)
		for _, row := range p.Rows {
			pictures = append(pictures, row.Picture)
		}
	}
	if v.Words != nil {
		pictures = append(pictures, v.Words.Sheets...)
	}
	for _, p := range pictures {
		if p != nil && !writtenPictures().MatchString(p.Path) {
			return fmt.Errorf("%q is no picture of a report", p.Path)
		}
	}
	return nil
}

// writePhotographs writes parts and visual words, where there are, on photographs,
// and returns what a page shows of them, and a warning for each photograph that
// could not be had.
func writePhotographs(to folder, patches []Patches, words *Words) (v photographsView, warnings []string, err error) {
	if v.Patches, warnings, err = writePatches(to, patches); err == nil && words != nil {
		v.Words, err = writeWords(to, *words)
	}
	return v, warnings, err
}

// photographsFile keeps what a page shows of photographs, for pages that are
// made without them.
const photographsFile = "photographs.json"

// copyPhotographs copies into a folder, to which an experiment is then written
// without photographs, what the page in from says of them. It returns the folders
// of the pictures, which are not copied, or nil where that page has none.
func copyPhotographs(to, from string) (pictures []string, err error) {
	text, err := output.ReadFile(filepath.Join(from, photographsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{"patches/", "words/"}, atomicfile.Write(filepath.Join(to, photographsFile), text)
}

// experimentPhotographs shows the parts and the visual words of an experiment on
// photographs, or those that were written before.
func experimentPhotographs(w *experimentPage) section {
	return photographsSection(func() (photographsView, error) {
		if w.experiment.Patches == nil && w.experiment.Words == nil {
			return readPhotographs(filepath.Join(w.dir, photographsFile))
		}
		patches := slices.DeleteFunc(slices.Clone(w.experiment.Patches), func(p Patches) bool { return !slices.Contains(w.shown, p.Method) })
		view, failed, err := writePhotographs(w.folder, patches, w.experiment.Words)
		if err != nil {
			return view, err
		}
		w.Warnings = append(w.Warnings, failed...)
		return view, w.write(photographsFile, func(to io.Writer) error { return json.NewEncoder(to).Encode(view) })
	})
}

// readPhotographs reads what was written before; nothing where there is no such file.
func readPhotographs(path string) (view photographsView, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return view, nil
	}
	if err != nil {
		return view, err
	}
	if err = json.Unmarshal(text, &view); err == nil {
		err = view.check()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return view, err
}
