package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// Patches shows the parts of a method that learned from histograms of visual
// words on the photographs: the patches whose words a part holds are marked in
// its colour, as in figure 5 of Ambai et al. 2011.
type Patches struct {
	Method string
	// Names holds the names of the n photographs.
	Names []string
	// Uses is n×k: how much each photograph uses each of the k parts, such as
	// the coefficients. Each part is shown on the photographs that use it most;
	// what is not above 0 is no use.
	Uses mat.Matrix
	// Load returns photograph i and the marks on it, which are those of all
	// parts. It is called once for each photograph that is drawn, for several at
	// once; what is kept of a photograph is what it is reduced to. One that it
	// cannot return is drawn as an empty frame and named in a warning, but for a
	// context's error, which ends the writing.
	Load func(i int) (image.Image, []pipeline.Patch, error)
}

const (
	maxExamples = 12
	// A part is shown on partPhotographs photographs in a box of partBox
	// pixels.
	partPhotographs = 5
	partBox         = 184
	// maxPartRows is how many parts are shown by themselves.
	maxPartRows = 100
)

// patchesView is what a page shows of the parts of one method.
type patchesView struct {
	Method   string
	Examples *picture
	Rows     []partView
	// Left says how many parts are not shown by themselves; it may be empty.
	Left string
}

type partView struct {
	Title   string
	Picture *picture // nil where no photograph uses the part
}

// writePatches writes for each method:
//
//	patches/METHOD/examples.png  photographs with the patches of all parts
//	patches/METHOD/1.png         a row for each part, numbered from 1: the
//	                             photographs that use it most
//
// It returns what a page shows of them, and a warning for each photograph that
// could not be had. It is an error if the sizes do not fit each other or a mark
// has a value that cannot be.
func writePatches(to folder, all []Patches) (views []patchesView, warnings []string, err error) {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Method
	}
	for i, name := range safeNames(names) {
		v, failed, err := all[i].write(to, "patches/"+name+"/")
		if err != nil {
			return nil, nil, fmt.Errorf("patches of %s: %w", all[i].Method, err)
		}
		views = append(views, v)
		for _, warning := range failed {
			if !slices.Contains(warnings, warning) {
				warnings = append(warnings, warning)
			}
		}
	}
	return views, warnings, nil
}

// write writes the pictures of one method; the files' names begin with the
// given prefix.
func (p Patches) write(to folder, prefix string) (v patchesView, warnings []string, err error) {
	if err := p.check(); err != nil {
		return v, nil, err
	}
	v.Method = p.Method
	_, k := p.Uses.Dims()

	examples, _ := p.wanted()
	loaded, warnings, err := p.load(to.ctx)
	if err != nil {
		return v, nil, err
	}
	tiles, err := p.tiles(to.ctx, loaded, examples, -1)
	if err != nil {
		return v, nil, err
	}
	if len(tiles) > 0 {
		alt := fmt.Sprintf("%s on which the patches of %s learned by %s are marked, each part in its own colour.",
			phrase.Count(len(tiles), "photograph", "photographs"), phrase.Count(k, "part", "parts"), p.Method)
		if v.Examples, err = to.picture(prefix+"examples.png", alt, figure.Examples(tiles, k)); err != nil {
			return v, nil, err
		}
	}
	v.Rows = make([]partView, min(k, maxPartRows))
	if err := each(to.ctx, len(v.Rows), func(part int) (err error) {
		v.Rows[part], err = p.writePart(to, loaded, prefix, part)
		return err
	}); err != nil {
		return v, nil, err
	}
	if k > maxPartRows {
		v.Left = fmt.Sprintf("The first %d of %d parts are shown.", maxPartRows, k)
	}
	return v, warnings, nil
}

// writePart writes the row of a part.
func (p Patches) writePart(to folder, loaded map[int]photograph, prefix string, part int) (v partView, err error) {
	v.Title = fmt.Sprintf("Part %d", part+1)
	users := p.users(part)
	tiles, err := p.tiles(to.ctx, loaded, users, part)
	if err != nil || len(tiles) == 0 {
		return v, err
	}
	names := make([]string, len(users))
	for i, user := range users {
		names[i] = p.Names[user]
	}
	alt := fmt.Sprintf("The photographs that use part %d of %s most, its patches in its colour and the rest pale: %s.", part+1, p.Method, phrase.List(names))
	v.Picture, err = to.picture(fmt.Sprintf("%s%d.png", prefix, part+1), alt, figure.PartRow(tiles, part))
	return v, err
}

// check returns an error where the sizes do not fit each other.
func (p Patches) check() error {
	if p.Uses == nil || p.Load == nil {
		return figure.ErrNoData
	}
	if n, _ := p.Uses.Dims(); len(p.Names) != n {
		return fmt.Errorf("%d names, but uses of %d photographs", len(p.Names), n)
	}
	return nil
}

// users returns the photographs that use a part most, the first most.
func (p Patches) users(part int) []int {
	n, _ := p.Uses.Dims()
	var users []int
	for i := range n {
		if u := p.Uses.At(i, part); u > 0 && !math.IsInf(u, 0) {
			users = append(users, i)
		}
	}
	slices.SortStableFunc(users, func(a, b int) int { return cmp.Compare(p.Uses.At(b, part), p.Uses.At(a, part)) })
	return users[:min(len(users), partPhotographs)]
}

// photograph is what is kept of one.
type photograph struct {
	// large and small are what it is reduced to for the examples and for the rows
	// of parts; nil where it is not among those, or could not be had.
	large, small *image.RGBA
	// size is its own.
	size  image.Point
	marks []pipeline.Patch
}

// wanted returns the examples, and all photographs that are drawn: the examples first,
// as the warnings are in this order, and then those on which parts are shown.
func (p Patches) wanted() (examples, all []int) {
	n, k := p.Uses.Dims()
	for i := range n {
		examples = append(examples, i)
	}
	examples = figure.Evenly(examples, maxExamples)
	all = slices.Clone(examples)
	var users []int
	for part := range min(k, maxPartRows) {
		users = append(users, p.users(part)...)
	}
	slices.Sort(users)
	for _, i := range slices.Compact(users) {
		if !slices.Contains(examples, i) {
			all = append(all, i)
		}
	}
	return examples, all
}

// load loads the photographs that are drawn and returns a warning for each that could
// not be had.
func (p Patches) load(ctx context.Context) (loaded map[int]photograph, warnings []string, err error) {
	_, k := p.Uses.Dims()
	examples, wanted := p.wanted()
	inRows := map[int]bool{}
	for part := range min(k, maxPartRows) {
		for _, i := range p.users(part) {
			inRows[i] = true
		}
	}
	photographs, failed := make([]photograph, len(wanted)), make([]string, len(wanted))
	err = each(ctx, len(wanted), func(at int) error {
		i := wanted[at]
		img, marks, err := p.Load(i)
		if err == nil && img == nil {
			err = errors.New("there is no picture")
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err != nil {
			failed[at] = fmt.Sprintf("%s is not shown: %v", p.Names[i], err)
			return nil
		}
		for j, m := range marks {
			err := figure.ValidatePatch(m)
			if err == nil && m.Part >= k {
				err = fmt.Errorf("a patch of part %d of %d", m.Part, k)
			}
			if err != nil {
				return fmt.Errorf("%s: mark %d: %w", p.Names[i], j, err)
			}
		}
		kept := photograph{size: img.Bounds().Size(), marks: marks}
		if slices.Contains(examples, i) {
			if kept.large, err = figure.Thumbnail(ctx, img, figure.MarkBox); err != nil {
				return err
			}
		}
		if inRows[i] {
			if kept.small, err = figure.Thumbnail(ctx, img, partBox); err != nil {
				return err
			}
		}
		photographs[at] = kept
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	loaded = make(map[int]photograph, len(wanted))
	for at, i := range wanted {
		loaded[i] = photographs[at]
		if failed[at] != "" && !slices.Contains(warnings, failed[at]) {
			warnings = append(warnings, failed[at])
		}
	}
	return loaded, warnings, nil
}

// tiles draws photographs with the marks of one part, or of all where part is
// -1.
func (p Patches) tiles(ctx context.Context, loaded map[int]photograph, photographs []int, part int) (tiles []figure.GalleryTile, err error) {
	for _, i := range photographs {
		tile := figure.GalleryTile{Caption: p.Names[i]}
		of := loaded[i]
		from, opt, marks := of.large, figure.MarkOptions{Numbers: true}, of.marks
		if part >= 0 {
			from, opt = of.small, figure.MarkOptions{Fade: true}
			marks = slices.DeleteFunc(slices.Clone(marks), func(m pipeline.Patch) bool { return m.Part != part })
		}
		if from != nil {
			tile.Drawing = &image.RGBA{Pix: slices.Clone(from.Pix), Stride: from.Stride, Rect: from.Rect}
			if err := figure.DrawMarks(ctx, tile.Drawing, of.size, marks, opt); err != nil {
				return nil, err
			}
		}
		tiles = append(tiles, tile)
	}
	return tiles, nil
}
