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

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// Patches shows the parts of a method that learned from histograms of visual words on photos: the patches
// whose words a part holds are marked in its colour, as in figure 5 of Ambai et al. 2011.
type Patches struct {
	Method string
	// Names holds the names of the n photos.
	Names []string
	// Uses is n×k: how much each photo uses each of the k parts, such as the coefficients. Each part is
	// shown on the photos that use it most; values of 0 or less do not count.
	Uses mat.Matrix
	// Load returns photo i and the marks of all parts on it. It is called once for each photo that is
	// drawn, concurrently. If it fails, the frame stays empty, with a warning; a context's error ends
	// the writing.
	Load func(i int) (image.Image, []pipeline.Patch, error)
}

const (
	maxExamples = 12
	// A part is shown on partPhotographs photos in a box of partBox pixels.
	partPhotographs = 5
	partBox         = 184
	// maxPartRows is the largest number of parts that are shown one by one.
	maxPartRows = 100
)

// patchesView is what a page shows of the parts of one method.
type patchesView struct {
	Method   string
	Examples *picture
	Rows     []partView
	// Left says how many parts are not shown one by one; it may be empty.
	Left string
}

type partView struct {
	Title   string
	Picture *picture // nil if no photo uses the part
}

// writePatches writes for each method:
//
//	patches/METHOD/examples.png  photos with the patches of all parts
//	patches/METHOD/1.png         the photos that use part 1 most, and so on
//
// It returns what a page shows of them, and a warning for each photo that could not be read.
func writePatches(to folder, all []Patches) (views []patchesView, warnings []string, err error) {
	for name, p := range withSafeNames(all, func(p Patches) string { return p.Method }) {
		v, failed, err := p.write(to, "patches/"+name+"/")
		if err != nil {
			return nil, nil, fmt.Errorf("patches of %s: %w", p.Method, err)
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

// write writes the pictures of one method into files with this prefix.
func (p Patches) write(to folder, prefix string) (v patchesView, warnings []string, err error) {
	_, k := p.Uses.Dims()
	v.Method = p.Method
	loaded, warnings, err := p.load(to.ctx)
	if err != nil {
		return v, nil, err
	}
	tiles, err := p.tiles(to.ctx, loaded, p.examples(), -1)
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

// users returns the photos that use a part most, the first most.
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

// examples returns the photos that show all parts.
func (p Patches) examples() []int {
	all := make([]int, len(p.Names))
	for i := range all {
		all[i] = i
	}
	return figure.Evenly(all, maxExamples)
}

// inRows returns the photos that single parts are shown on, in ascending order.
func (p Patches) inRows() []int {
	_, k := p.Uses.Dims()
	var users []int
	for part := range min(k, maxPartRows) {
		users = append(users, p.users(part)...)
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// wanted returns all photos that are drawn, the examples first, as the warnings are in this order.
func (p Patches) wanted() []int {
	examples := p.examples()
	rest := slices.DeleteFunc(p.inRows(), func(i int) bool { return slices.Contains(examples, i) })
	return append(slices.Clip(examples), rest...)
}

// photograph is a photo in memory, reduced.
type photograph struct {
	// large is reduced for the examples, and small for the rows of parts; nil if not wanted.
	large, small *image.RGBA
	size         image.Point // of the photo itself
	marks        []pipeline.Patch
}

// load loads the photos that are drawn and returns a warning for each that could not be read.
func (p Patches) load(ctx context.Context) (loaded map[int]photograph, warnings []string, err error) {
	examples, rows, wanted := p.examples(), p.inRows(), p.wanted()
	photographs, failed := make([]photograph, len(wanted)), make([]string, len(wanted))
	err = each(ctx, len(wanted), func(at int) error {
		i, kept := wanted[at], &photographs[at]
		img, marks, err := p.Load(i)
		if err == nil && img == nil {
			err = errors.New("there is no picture")
		}
		if isDone(err) {
			return err
		}
		if err != nil {
			failed[at] = fmt.Sprintf("%s is not shown: %v", p.Names[i], err)
			return nil
		}
		kept.size, kept.marks = img.Bounds().Size(), marks
		if slices.Contains(examples, i) {
			kept.large = figure.Thumbnail(img, figure.MarkBox)
		}
		if slices.Contains(rows, i) {
			kept.small = figure.Thumbnail(img, partBox)
		}
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

// tiles draws photos with the marks of one part, or of all if part is −1.
func (p Patches) tiles(ctx context.Context, loaded map[int]photograph, photographs []int, part int) (tiles []figure.GalleryTile, err error) {
	for _, i := range photographs {
		tile, photo := figure.GalleryTile{Caption: p.Names[i]}, loaded[i]
		from, opt, marks := photo.large, figure.MarkOptions{Numbers: true}, photo.marks
		if part >= 0 {
			from, opt = photo.small, figure.MarkOptions{Fade: true}
			marks = slices.DeleteFunc(slices.Clone(marks), func(m pipeline.Patch) bool { return m.Part != part })
		}
		if from != nil {
			tile.Drawing = &image.RGBA{Pix: slices.Clone(from.Pix), Stride: from.Stride, Rect: from.Rect}
			if err := figure.DrawMarks(ctx, tile.Drawing, photo.size, marks, opt); err != nil {
				return nil, err
			}
		}
		tiles = append(tiles, tile)
	}
	return tiles, nil
}

// isDone reports whether an error is that of a context.
func isDone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
