package figure

import (
	"context"
	"image"
	"image/color"
	"math"
	"strconv"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"

	"golang.org/x/image/draw"
)

// Word is a visual word and some of its patches.
type Word struct {
	// Index is the word's place in its vocabulary, from 0; readers see it counted from 1.
	Index int
	// Count is the number of patches with the word.
	Count int
	// Patches are of any size, as by CutPatch. The first MaxWordPatches are drawn; nil leaves a gap.
	Patches []image.Image
}

const (
	// MaxWordPatches is the largest number of patches drawn for a word.
	MaxWordPatches = 20
	// MaxSheetWords is the largest number of words on a sheet.
	MaxSheetWords = 42

	wordColumns  = 7 // words side by side
	patchColumns = 4 // patches of a word side by side
	patchBox     = 32
	patchGap     = 2
	wordGap      = 10
	wordHeading  = 18
	wordWidth    = patchColumns*(patchBox+patchGap) - patchGap
)

// WordSheet draws the first MaxSheetWords words on white, seven side by side: the word's number, its
// count, and patches in lines of four. The only error is the context's.
func WordSheet(ctx context.Context, words []Word) (*image.RGBA, error) {
	words = words[:min(len(words), MaxSheetWords)]
	columns := max(1, min(len(words), wordColumns))
	lines := 1
	for _, w := range words {
		lines = max(lines, (min(len(w.Patches), MaxWordPatches)+patchColumns-1)/patchColumns)
	}
	stepX, stepY := wordWidth+wordGap, wordHeading+lines*(patchBox+patchGap)+wordGap
	rows := (len(words) + columns - 1) / columns
	sheet := image.NewRGBA(image.Rect(0, 0, columns*stepX+wordGap, rows*stepY+wordGap))
	fill(sheet, sheet.Rect, color.White)

	titleFace, noteFace := sheetFace(12), sheetFace(10)
	for i, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, top := wordGap+i%columns*stepX, wordGap+i/columns*stepY
		title, note := strconv.Itoa(w.Index+1), phrase.Count(w.Count, "patch", "patches")
		write(sheet, titleFace, color.Black, title, left, top+wordHeading-6)
		write(sheet, noteFace, noteGrey, note, left+wordWidth-textWidth(noteFace, note), top+wordHeading-6)
		fill(sheet, image.Rect(left, top+wordHeading-3, left+wordWidth, top+wordHeading-2), frameGrey)
		for j, patch := range w.Patches[:min(len(w.Patches), MaxWordPatches)] {
			if patch == nil {
				continue
			}
			small := Thumbnail(patch, patchBox)
			at := image.Pt(left+j%patchColumns*(patchBox+patchGap), top+wordHeading+j/patchColumns*(patchBox+patchGap))
			at = at.Add(image.Pt(patchBox, patchBox).Sub(small.Rect.Size()).Div(2))
			fill(sheet, small.Rect.Add(at).Inset(-1), frameGrey)
			draw.Draw(sheet, small.Rect.Add(at), small, image.Point{}, draw.Src)
		}
	}
	return sheet, nil
}

// CutPatch copies a patch out of an image: x and y are its centre, as in pipeline.Patch. The patch is
// at least one pixel wide, at most as wide as the image's longer side, and white outside the image.
func CutPatch(img image.Image, x, y, side float32) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy(), 1)
	n := 1
	if side > 1 {
		n = int(min(math.Round(float64(side)), float64(longer)))
	}
	// first is the first pixel whose middle is in the patch, or one just outside the image.
	first := func(centre float32) int {
		v := math.Ceil(float64(centre) - float64(n)/2)
		if !(v > float64(-n) && v < float64(longer)) {
			return longer
		}
		return int(v)
	}
	patch := image.NewRGBA(image.Rect(0, 0, n, n))
	fill(patch, patch.Rect, color.White)
	draw.Draw(patch, patch.Rect, img, b.Min.Add(image.Pt(first(x), first(y))), draw.Over)
	return patch
}
