package figure

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// MarkOptions say how a photograph with marks is drawn.
type MarkOptions struct {
	// Box is what the photograph is made to fit into, in pixels of the
	// drawing; 0 stands for 328. Small photographs are enlarged by whole
	// pixels.
	Box int
	// Fade makes the photograph pale where nothing is marked.
	Fade bool
	// Numbers writes the number of a part, from 1, where it is strongest, as
	// far as there is room.
	Numbers bool
}

const (
	MarkBox = 328
	// faintest and fullest are how much of a marked pixel is the part's
	// colour, at the strengths 0 and 1.
	faintest, fullest = 0.25, 0.65
	// markFade is how far a photograph is faded towards white, which lets dark
	// colours be seen on it, and restFade how far it is where nothing is marked.
	markFade, restFade = 0.15, 0.65
	// minNumbered is the least share of a photograph that a part has where its
	// number stands.
	minNumbered = 0.01
)

// MarkPatches draws a photograph in grey with the patches of parts tinted in
// their part's colour, the fuller the stronger they are. Where patches of
// several parts overlap, a pixel is the part's whose patches cover it most:
// each counts by its strength, and less towards its edge, so that the border
// of two equal patches runs in the middle between them. Of equal parts the
// lower one has the pixel. It is an error if a mark has a value that cannot
// be.
func MarkPatches(ctx context.Context, img image.Image, marks []pipeline.Patch, opt MarkOptions) (*image.RGBA, error) {
	for i, m := range marks {
		if err := CheckPatch(m); err != nil {
			return nil, fmt.Errorf("mark %d: %w", i, err)
		}
	}
	small, err := Thumbnail(ctx, img, cmp.Or(opt.Box, MarkBox))
	if err != nil {
		return nil, err
	}
	return small, DrawMarks(ctx, small, img.Bounds().Size(), marks, opt)
}

// DrawMarks draws marks into a photograph that had the given size before it was
// made to fit its box. The only error is the context's.
func DrawMarks(ctx context.Context, small *image.RGBA, size image.Point, marks []pipeline.Patch, opt MarkOptions) error {
	t, err := divide(ctx, marks, size, small.Rect.Size())
	if err != nil {
		return err
	}
	t.paint(small, opt.Fade)
	if opt.Numbers {
		t.number(small)
	}
	return nil
}

// CheckPatch returns an error where a value cannot be.
func CheckPatch(m pipeline.Patch) error {
	finite := func(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }
	switch {
	case !finite(m.X) || !finite(m.Y):
		return fmt.Errorf("a patch at (%v, %v)", m.X, m.Y)
	case !finite(m.Side) || m.Side <= 0:
		return fmt.Errorf("a patch with a side of %v pixels", m.Side)
	case m.Part < 0:
		return fmt.Errorf("a patch of part %d", m.Part)
	case !(m.Share > 0 && m.Share <= 1):
		return fmt.Errorf("a patch of strength %v, want one above 0 and up to 1", m.Share)
	}
	return nil
}

// territory says which part has each pixel of a drawing.
type territory struct {
	size image.Point
	// owner holds for each pixel, row by row, the part that has it or -1.
	owner []int
	// weight is how much of the pixel the owner has, and strength the mean
	// strength of its patches there, weighted by how much they count.
	weight, strength []float32
}

// divide gives the pixels of a drawing of the given size to the parts, the
// marks being in pixels of the photograph. Its time is a small constant for
// each pixel of each patch and for each pixel of the drawing times parts.
func divide(ctx context.Context, marks []pipeline.Patch, photograph, size image.Point) (*territory, error) {
	n := size.X * size.Y
	t := &territory{size: size, owner: make([]int, n), weight: make([]float32, n), strength: make([]float32, n)}
	for p := range t.owner {
		t.owner[p] = -1
	}
	scaleX, scaleY := float64(size.X)/float64(max(photograph.X, 1)), float64(size.Y)/float64(max(photograph.Y, 1))
	weight, cover := make([]float32, n), make([]float32, n)
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b pipeline.Patch) int { return a.Part - b.Part })
	for i, m := range marks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		across := newStretch(m.X, m.Side, scaleX, size.X)
		down := newStretch(m.Y, m.Side, scaleY, size.Y)
		for y := down.from; y < down.to; y++ {
			for x := across.from; x < across.to; x++ {
				c := across.at(x) * down.at(y)
				cover[y*size.X+x] += float32(c)
				weight[y*size.X+x] += float32(c * m.Share)
			}
		}
		if i+1 < len(marks) && marks[i+1].Part == m.Part {
			continue
		}
		for p, w := range weight {
			if w > t.weight[p] {
				t.owner[p], t.weight[p], t.strength[p] = m.Part, w, w/cover[p]
			}
		}
		clear(weight)
		clear(cover)
	}
	return t, nil
}

// stretch is what a patch covers of the drawing in x or in y.
type stretch struct {
	middle, half float64
	from, to     int // the pixels from (inclusive) to (exclusive)
}

// newStretch returns the pixels whose middles are in a patch, of n; a patch
// that is too small to hold one is made as large as a pixel.
func newStretch(centre, side float32, scale float64, n int) stretch {
	s := stretch{middle: scale * (float64(centre) + 0.5), half: max(scale*float64(side)/2, 0.5)}
	after := func(x float64) int { return int(math.Ceil(max(0, min(x-0.5, float64(n))))) }
	s.from, s.to = after(s.middle-s.half), after(s.middle+s.half)
	return s
}

// at is how much a pixel counts: 1 in the middle and hardly anything, but
// something, at the edge.
func (s stretch) at(x int) float64 {
	return max(1-math.Abs(float64(x)+0.5-s.middle)/s.half, 0.01)
}

// of returns the part that has a pixel, or -1, as everywhere outside.
func (t *territory) of(x, y int) int {
	if x < 0 || y < 0 || x >= t.size.X || y >= t.size.Y {
		return -1
	}
	return t.owner[y*t.size.X+x]
}

// paint makes the drawing grey and lays the parts' colours over it, each with
// a thin border.
func (t *territory) paint(img *image.RGBA, fade bool) {
	white := color.RGBA{0xff, 0xff, 0xff, 0xff}
	for y := range t.size.Y {
		for x := range t.size.X {
			v := color.GrayModel.Convert(img.RGBAAt(x, y)).(color.Gray).Y
			c := color.RGBA{v, v, v, 0xff}
			part := t.of(x, y)
			switch {
			case part >= 0:
				strength := float64(t.strength[y*t.size.X+x])
				share := faintest + (fullest-faintest)*strength
				if t.of(x-1, y) < 0 || t.of(x, y-1) < 0 || t.of(x+1, y) != part || t.of(x, y+1) != part {
					share = (1 + strength) / 2
				}
				c = mix(mix(c, white, markFade), partColour(part), share)
			case fade:
				c = mix(c, white, restFade)
			default:
				c = mix(c, white, markFade)
			}
			img.SetRGBA(x, y, c)
		}
	}
}

// number writes the numbers of the parts, those that have most first.
func (t *territory) number(img *image.RGBA) {
	type place struct {
		chip      chip
		pixels    int
		room      bool
		strongest float32
	}
	places := map[int]*place{}
	for p, part := range t.owner {
		if part < 0 {
			continue
		}
		at := places[part]
		if at == nil {
			at = &place{chip: newChip(part, image.Point{})}
			places[part] = at
		}
		at.pixels++
		// A place that the part has as far as its number reaches goes before
		// all others.
		size := at.chip.rect.Size()
		rect := image.Rectangle{Max: size}.Add(image.Pt(p%t.size.X, p/t.size.X).Sub(size.Div(2)))
		room := t.of(rect.Min.X, rect.Min.Y) == part && t.of(rect.Max.X-1, rect.Min.Y) == part &&
			t.of(rect.Min.X, rect.Max.Y-1) == part && t.of(rect.Max.X-1, rect.Max.Y-1) == part
		if room && !at.room || room == at.room && t.weight[p] > at.strongest {
			at.room, at.strongest, at.chip.rect = room, t.weight[p], rect
		}
	}
	var order []*place
	for _, at := range places {
		if float64(at.pixels) >= minNumbered*float64(len(t.owner)) {
			order = append(order, at)
		}
	}
	slices.SortFunc(order, func(a, b *place) int { return cmp.Or(b.pixels-a.pixels, a.chip.part-b.chip.part) })
	var taken []image.Rectangle
	for _, at := range order {
		if at.chip.rect.In(img.Rect) && !slices.ContainsFunc(taken, at.chip.rect.Overlaps) {
			taken = append(taken, at.chip.rect)
			at.chip.draw(img)
		}
	}
}

// mix returns the opaque colour between two others, the second at share 1.
func mix(a, b color.RGBA, share float64) color.RGBA {
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}
