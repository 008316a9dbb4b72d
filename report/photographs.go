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

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// photographsView is what a page shows of photos.
type photographsView struct {
	Patches []patchesView
	Words   *wordsView
}

// photographsSection shows parts and visual words on photos.
func photographsSection(make func() (photographsView, error)) section {
	return section{
		template: stored("photographs"),
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

// clustersPhotographs shows the parts and the visual words of a grouping.
func clustersPhotographs(w *clustersPage) section {
	return photographsSection(func() (photographsView, error) {
		view, failed, err := writePhotographs(w.folder, w.clusters.Patches, w.clusters.Words)
		w.Warnings = append(w.Warnings, failed...)
		return view, err
	})
}

// experimentPhotographs shows those of an experiment, or those that were written before.
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

// writePhotographs writes parts and visual words on photos, and returns what a page shows of them and a
// warning for each photo that could not be read.
func writePhotographs(to folder, patches []Patches, words *Words) (v photographsView, warnings []string, err error) {
	if v.Patches, warnings, err = writePatches(to, patches); err == nil && words != nil {
		v.Words, err = writeWords(to, *words)
	}
	return v, warnings, err
}

// photographsFile keeps what a page shows of photos, for pages that are made without them.
const photographsFile = "photographs.json"

// copyPhotographs copies photographsFile into the folder of a new page without photos. It returns the
// folders of the pictures, which stay in place, or nil if the page in from has none.
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

// readPhotographs reads what was written before; nothing if there is no such file.
func readPhotographs(path string) (view photographsView, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return view, nil
	}
	if err != nil {
		return view, err
	}
	if err = json.Unmarshal(text, &view); err == nil {
		err = view.validate()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return view, err
}

// writtenPictures are the names of the pictures that writePhotographs writes.
var writtenPictures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(patches/[\pL\pN-]+|words)/(examples|[0-9]+)\.png$`)
})

// validate returns an error if a view from a file shows other pictures than writePhotographs writes.
func (v *photographsView) validate() error {
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

// Words shows words of a vocabulary.
type Words struct {
	// Total is the size of the vocabulary, and Patches the number of patches counted, of all words.
	Total, Patches int
	// Words are drawn in this order.
	Words []figure.Word
}

// wordsView is what a page shows of a vocabulary.
type wordsView struct {
	Lead   string
	Sheets []*picture
}

// writeWords writes words/1.png and so on, contact sheets of figure.MaxSheetWords words each.
func writeWords(to folder, w Words) (*wordsView, error) {
	v := &wordsView{Lead: fmt.Sprintf("The vocabulary has %s.", phrase.Count(max(w.Total, len(w.Words)), "word", "words"))}
	if w.Patches > 0 {
		v.Lead += fmt.Sprintf(" Together they stand for %s.", phrase.Count(w.Patches, "patch", "patches"))
	}
	if len(w.Words) < w.Total {
		v.Lead += fmt.Sprintf(" %d are shown.", len(w.Words))
	}
	for words := range slices.Chunk(w.Words, figure.MaxSheetWords) {
		alt := fmt.Sprintf("Patches of %s, each word below its number and how many patches have it.", phrase.Count(len(words), "visual word", "visual words"))
		drawn, err := figure.WordSheet(to.ctx, words)
		if err != nil {
			return nil, err
		}
		sheet, err := to.picture(fmt.Sprintf("words/%d.png", len(v.Sheets)+1), alt, drawn)
		if err != nil {
			return nil, err
		}
		v.Sheets = append(v.Sheets, sheet)
	}
	return v, nil
}
