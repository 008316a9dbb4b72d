package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/report/figure"
)

const (
	maxExamples     = 12
	partPhotographs = 5   // the photos that show a part
	partBox         = 184 // their largest side in pixels
	maxPartRows     = 100 // the most parts with rows of their own
)

type photographsView struct {
	Patches []patchesView
	Words   *wordsView
}

type patchesView struct {
	Method   string
	Examples *picture
	Legend   []partView // the numbers of all parts
	Rows     []partView
	Left     string // the number of parts without a row, or ""
}

type partView struct {
	Title, Colour string
	Picture       *picture // in Rows; nil if no photo uses the part
}

type wordsView struct {
	Lead   string
	Sheets []*picture
}

func clustersPhotographs(w *clustersPage) any {
	if w.clusters.Shown == nil {
		return nil
	}
	return w.linked(w.photographs(w.clusters.Shown, w.clusters.Shown.Parts, w.clusters.count))
}

// experimentPhotographs shows the parts and visual words of an experiment, or the published ones.
func experimentPhotographs(w *experimentPage) any {
	shown := w.experiment.Shown
	if shown == nil || len(shown.Parts) == 0 && shown.TotalWords == 0 {
		return w.linked(readPhotographs(filepath.Join(w.dir, photographsFile)))
	}
	parts := slices.DeleteFunc(slices.Clone(shown.Parts), func(p models.PartsShown) bool { return !slices.Contains(w.shownMethods, p.Method) })
	view := w.photographs(shown, parts, w.experiment.count)
	w.after = func() {
		w.write(photographsFile, func(to io.Writer) error { return json.NewEncoder(to).Encode(view) })
	}
	return w.linked(view)
}

func (p *page) linked(v photographsView) any {
	if v.Patches != nil {
		p.Links = append(p.Links, link{"patches", "Parts on images"})
	}
	if v.Words != nil {
		p.Links = append(p.Links, link{"words", "Visual words"})
	}
	return v
}

// photographs shows parts and visual words on photos: patches/METHOD/examples.png with all parts, patches/METHOD/1.png,
// … with one part, and words/1.png, …. It warns about unreadable photos.
func (p *page) photographs(shown *models.Illustrations, parts []models.PartsShown, count func(done, total int)) (v photographsView) {
	if count == nil {
		count = counting(nil)
	}
	photos, failed := loadPhotographs(p.ctx, shown, parts, count)
	p.Warnings = append(p.Warnings, failed...)
	for name, of := range withSafeNames(parts, func(of models.PartsShown) string { return of.Method }) {
		v.Patches = append(v.Patches, p.patches("patches/"+name+"/", of, photos))
	}
	if shown.TotalWords > 0 {
		v.Words = p.words(shown, photos)
	}
	return v
}

type photograph struct {
	name         string
	large, small *image.RGBA            // for the examples and for the rows of parts; nil if unused
	size         image.Point            // of the original photo
	words        map[[2]int]image.Image // its patches, by the index of a word and of its example
}

// loadPhotographs loads each photo that is drawn once, and returns warnings about unreadable ones.
func loadPhotographs(ctx context.Context, shown *models.Illustrations, parts []models.PartsShown, count func(done, total int)) (photos []photograph, failed []string) {
	n := len(shown.Photographs)
	large, small, cuts := make([]bool, n), make([]bool, n), make([][][2]int, n)
	for _, of := range parts {
		for _, i := range examplePhotographs(of) {
			large[i] = true
		}
		_, k := of.Coefficients.Dims()
		for part := range min(k, maxPartRows) {
			for _, i := range topPhotographs(of.Coefficients, part) {
				small[i] = true
			}
		}
	}
	for w, word := range shown.Words {
		for e, example := range word.Examples {
			cuts[example.Photograph] = append(cuts[example.Photograph], [2]int{w, e})
		}
	}
	photos = lists.Map(shown.Photographs, func(p models.Photograph) photograph { return photograph{name: p.Name} })
	wanted := slices.DeleteFunc(matrix.Range(n), func(i int) bool { return !large[i] && !small[i] && cuts[i] == nil })
	count(0, len(wanted))
	failures := make([]error, n)
	guard.Check(parallel.Each(ctx, 0, len(wanted), nil, func(at int) error {
		defer count(1, 0)
		i := wanted[at]
		failures[i] = guard.Call(func() error {
			return shown.Photographs[i].With(func(img image.Image) error {
				photo := &photos[i]
				photo.size, photo.words = img.Bounds().Size(), map[[2]int]image.Image{}
				if large[i] {
					photo.large = figure.Thumbnail(img, figure.MarkBox)
				}
				if small[i] {
					photo.small = figure.Thumbnail(img, partBox)
				}
				for _, cut := range cuts[i] {
					e := shown.Words[cut[0]].Examples[cut[1]]
					photo.words[cut] = figure.CutPatch(img, e.X, e.Y, e.Side)
				}
				return nil
			})
		})
		checkDone(failures[i])
		return nil
	}))
	for i, err := range failures {
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s is not shown: %v", photos[i].name, err))
		}
	}
	return photos, failed
}

func examplePhotographs(of models.PartsShown) []int {
	return figure.Evenly(matrix.Range(len(of.Patches)), maxExamples)
}

func topPhotographs(uses mat.Matrix, part int) []int {
	n, _ := uses.Dims()
	users := slices.DeleteFunc(matrix.Range(n), func(i int) bool { return !(uses.At(i, part) > 0) || math.IsInf(uses.At(i, part), 0) })
	slices.SortStableFunc(users, func(a, b int) int { return cmp.Compare(uses.At(b, part), uses.At(a, part)) })
	return users[:min(len(users), partPhotographs)]
}

// patches draws the parts of one method into files with this prefix, as in figure 5 of Ambai et al. 2011.
func (p *page) patches(prefix string, of models.PartsShown, photos []photograph) (v patchesView) {
	_, k := of.Coefficients.Dims()
	v.Method = of.Method
	if all := examplePhotographs(of); len(all) > 0 {
		alt := fmt.Sprintf("%s with the patches of %s learned by %s, each part in its own colour.",
			phrase.Count(len(all), "image", "images"), phrase.Count(k, "part", "parts"), of.Method)
		v.Examples = p.marked(prefix+"examples.png", alt, of, photos, all, -1)
	}
	for part := range k {
		v.Legend = append(v.Legend, partView{Title: strconv.Itoa(part + 1), Colour: figure.PartColour(part)})
	}
	for part := range min(k, maxPartRows) {
		row := partView{Title: fmt.Sprintf("Part %d", part+1), Colour: figure.PartColour(part)}
		if users := topPhotographs(of.Coefficients, part); len(users) > 0 {
			alt := fmt.Sprintf("The images with the largest coefficients of part %d of %s, with its patches in colour.", part+1, of.Method)
			row.Picture = p.marked(fmt.Sprintf("%s%d.png", prefix, part+1), alt, of, photos, users, part)
		}
		v.Rows = append(v.Rows, row)
	}
	if k > maxPartRows {
		v.Left = fmt.Sprintf("The first %d of %d parts are shown.", maxPartRows, k)
	}
	return v
}

// marked draws photos with the marks of a part, or of all parts if part is −1, and lists their names.
func (p *page) marked(path, alt string, of models.PartsShown, photos []photograph, shown []int, part int) *picture {
	v := p.picture(path, alt, func() (image.Image, error) { return drawMarked(p.ctx, of, photos, shown, part) })
	v.Caption = phrase.List(lists.Map(shown, func(i int) string { return photos[i].name }))
	return v
}

func drawMarked(ctx context.Context, of models.PartsShown, photos []photograph, shown []int, part int) (image.Image, error) {
	drawn, side := make([]*image.RGBA, len(shown)), partBox // unreadable photos are nil
	for at, i := range shown {
		from, marks := photos[i].small, of.Patches[i]
		if part < 0 {
			from, side = photos[i].large, figure.MarkBox
		} else {
			marks = slices.DeleteFunc(slices.Clone(marks), func(m models.Patch) bool { return m.Part != part })
		}
		if from != nil {
			drawn[at] = &image.RGBA{Pix: slices.Clone(from.Pix), Stride: from.Stride, Rect: from.Rect}
			if err := figure.DrawMarks(ctx, drawn[at], photos[i].size, marks, part >= 0); err != nil {
				return nil, err
			}
		}
	}
	return figure.PhotoSheet(drawn, side), nil
}

// checkDone calls guard.Fail with the error of a context.
func checkDone(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		guard.Check(err)
	}
}

func (p *page) words(shown *models.Illustrations, photos []photograph) *wordsView {
	v := &wordsView{Lead: fmt.Sprintf("The vocabulary has %s.", phrase.Count(shown.TotalWords, "word", "words"))}
	if shown.Counted > 0 {
		v.Lead += fmt.Sprintf(" They occur in %s.", phrase.Count(shown.Counted, "patch", "patches"))
	}
	if len(shown.Words) < shown.TotalWords {
		v.Lead += fmt.Sprintf(" %d words are shown.", len(shown.Words))
	}
	var words []figure.Word
	for w, word := range shown.Words {
		drawn := figure.Word{Index: word.Word, Count: word.Count}
		for e, example := range word.Examples {
			drawn.Patches = append(drawn.Patches, photos[example.Photograph].words[[2]int{w, e}])
		}
		words = append(words, drawn)
	}
	for words := range slices.Chunk(words, figure.MaxSheetWords) {
		alt := fmt.Sprintf("Patches of %s, each below its number and its count of patches.", phrase.Count(len(words), "visual word", "visual words"))
		v.Sheets = append(v.Sheets, p.picture(fmt.Sprintf("words/%d.png", len(v.Sheets)+1), alt, func() (image.Image, error) {
			return figure.WordSheet(p.ctx, words)
		}))
	}
	return v
}

// photographsFile stores what a page shows about photos, for later pages without photos.
const photographsFile = "photographs.json"

// copyPhotographs copies photographsFile to the folder of a new page without photos, and returns the folders of its
// pictures, which stay in place; nil if the page in from has none. It calls guard.Fail.
func copyPhotographs(to, from string) (pictures []string) {
	text, err := output.ReadFile(filepath.Join(from, photographsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	guard.Check(err)
	guard.Check(atomicfile.Write(filepath.Join(to, photographsFile), text))
	return []string{"patches/", "words/"}
}

// writtenPictures matches the names of pictures that page.photographs writes.
var writtenPictures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(patches/[\pL\pN-]+|words)/(examples|[0-9]+)\.png$`)
})

// readPhotographs reads a photographsFile, if it exists. It calls guard.Fail, also for pictures with other names.
func readPhotographs(path string) (view photographsView) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return view
	}
	guard.Check(err)
	guard.Check(guard.Wrap(json.Unmarshal(text, &view), "%s", path))
	var pictures []*picture
	for _, p := range view.Patches {
		pictures = append(pictures, p.Examples)
		pictures = append(pictures, lists.Map(p.Rows, func(row partView) *picture { return row.Picture })...)
	}
	if view.Words != nil {
		pictures = append(pictures, view.Words.Sheets...)
	}
	for _, p := range pictures {
		if p != nil && !writtenPictures().MatchString(p.Path) {
			guard.Fail("%s: %q is not a picture of a report", path, p.Path)
		}
	}
	return view
}
