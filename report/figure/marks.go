package figure

import (
	"cmp"
	"context"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline/models"
)

// MarkOptions are the options of DrawMarks. Fade makes the photo pale outside of marks. Numbers writes the number of
// each part, from 1, where it is strongest, if there is space.
type MarkOptions struct{ Fade, Numbers bool }

const (
	MarkBox = 328 // the largest side in pixels of photos with marks

	faintest, fullest  = 0.25, 0.65 // the weight of the part's colour in a marked pixel, at strengths 0 and 1
	markFade, restFade = 0.15, 0.65 // how far a photo is faded towards white, in and outside of marks
	minNumbered        = 0.01       // the smallest share of a photo that gets a number
)

// DrawMarks makes a photo grey and tints the patches of each part with its colour, more strongly for larger strengths.
// marks are in pixels of a photo of the given size, before it was scaled to small. A pixel belongs to the part whose
// patches cover it most, each weighted by its strength and less towards its edge; ties go to the lower part. The only
// error is the context's.
func DrawMarks(ctx context.Context, small *image.RGBA, size image.Point, marks []models.Patch, opt MarkOptions) error {
	t, err := assignPixels(ctx, marks, size, small.Rect.Size())
	if err != nil {
		return err
	}
	t.paint(small, opt.Fade)
	if opt.Numbers {
		t.writeNumbers(small)
	}
	return nil
}

// territory holds the part of each pixel of a drawing.
type territory struct {
	size  image.Point
	owner []int // the part of each pixel, row by row, or −1
	// weight is the owner's coverage of the pixel, and strength the mean strength of its patches there, weighted by
	// coverage.
	weight, strength []float32
}

// assignPixels assigns the pixels of a drawing of the given size to parts.
func assignPixels(ctx context.Context, marks []models.Patch, photo, size image.Point) (*territory, error) {
	n := size.X * size.Y
	t := &territory{size: size, owner: slices.Repeat([]int{-1}, n), weight: make([]float32, n), strength: make([]float32, n)}
	scaleX, scaleY := float64(size.X)/float64(max(photo.X, 1)), float64(size.Y)/float64(max(photo.Y, 1))
	weight, cover := make([]float32, n), make([]float32, n)
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b models.Patch) int { return a.Part - b.Part })
	for i, m := range marks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, across := coveredPixels(m.X, m.Side, scaleX, size.X)
		top, down := coveredPixels(m.Y, m.Side, scaleY, size.Y)
		for y, v := range down {
			for x, u := range across {
				at := (top+y)*size.X + left + x
				cover[at] += float32(u * v)
				weight[at] += float32(u * v * m.Share)
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

// coveredPixels returns the first of n pixels along an axis whose centre is in a patch, and the weights of all covered
// pixels: 1 at the centre, nearly 0 at the edge. A patch is at least one pixel wide.
func coveredPixels(centre, side float32, scale float64, n int) (first int, weights []float64) {
	middle, half := scale*(float64(centre)+0.5), max(scale*float64(side)/2, 0.5)
	after := func(x float64) int { return int(math.Ceil(max(0, min(x-0.5, float64(n))))) }
	first = after(middle - half)
	for x := first; x < after(middle+half); x++ {
		weights = append(weights, max(1-math.Abs(float64(x)+0.5-middle)/half, 0.01))
	}
	return first, weights
}

// partAt returns the part of a pixel, or −1, also outside of the drawing.
func (t *territory) partAt(x, y int) int {
	if x < 0 || y < 0 || x >= t.size.X || y >= t.size.Y {
		return -1
	}
	return t.owner[y*t.size.X+x]
}

// paint makes the drawing grey and tints it with the parts' colours, each with a thin border.
func (t *territory) paint(img *image.RGBA, fade bool) {
	for y := range t.size.Y {
		for x := range t.size.X {
			v := color.GrayModel.Convert(img.RGBAAt(x, y)).(color.Gray).Y
			c := color.RGBA{v, v, v, 0xff}
			part := t.partAt(x, y)
			switch {
			case part >= 0:
				strength := float64(t.strength[y*t.size.X+x])
				share := faintest + (fullest-faintest)*strength
				if t.partAt(x-1, y) < 0 || t.partAt(x, y-1) < 0 || t.partAt(x+1, y) != part || t.partAt(x, y+1) != part {
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

// writeNumbers writes the numbers of the parts, the largest parts first.
func (t *territory) writeNumbers(img *image.RGBA) {
	type place struct {
		chip      chip
		pixels    int
		inside    bool // the number fits inside the part
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
		size := at.chip.rect.Size()
		rect := image.Rectangle{Max: size}.Add(image.Pt(p%t.size.X, p/t.size.X).Sub(size.Div(2)))
		inside := t.partAt(rect.Min.X, rect.Min.Y) == part && t.partAt(rect.Max.X-1, rect.Min.Y) == part &&
			t.partAt(rect.Min.X, rect.Max.Y-1) == part && t.partAt(rect.Max.X-1, rect.Max.Y-1) == part
		if inside && !at.inside || inside == at.inside && t.weight[p] > at.strongest {
			at.inside, at.strongest, at.chip.rect = inside, t.weight[p], rect
		}
	}
	var order []*place
	for _, at := range places {
		if float64(at.pixels) >= minNumbered*float64(len(t.owner)) {
			order = append(order, at)
		}
	}
	slices.SortFunc(order, func(a, b *place) int { return cmp.Or(b.pixels-a.pixels, a.chip.part-b.chip.part) })
	var used []image.Rectangle
	for _, at := range order {
		if at.chip.rect.In(img.Rect) && !slices.ContainsFunc(used, at.chip.rect.Overlaps) {
			used = append(used, at.chip.rect)
			at.chip.draw(img)
		}
	}
}
