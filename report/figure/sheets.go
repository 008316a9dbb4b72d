package figure

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"math"
	"slices"
	"strconv"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/gonum/mat"
	plotfont "gonum.org/v1/plot/font"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/models"
)

const (
	tileSide   = 96 // the approximate longer side of a tile in pixels
	montageGap = 3

	sheetWidth = 1024 // the pixels that a page shows without scaling
	sheetGap   = 10

	chipHeight  = 15
	chipPadding = 3
	chipFont    = 11

	MaxWordPatches = 20 // the most patches of a word
	MaxSheetWords  = 42 // the most words on a sheet
	wordColumns    = 7  // words side by side
	patchColumns   = 4  // patches of a word side by side
	patchBox       = 32
	patchGap       = 2
	wordGap        = 10
	wordHeading    = 18
	wordWidth      = patchColumns*(patchBox+patchGap) - patchGap
)

// newSheet returns a white sheet with n cells, row by row, and the upper left corner of each.
func newSheet(n, columns int, cell image.Point, gap int) (sheet *image.RGBA, corner func(i int) image.Point) {
	columns = max(1, min(n, columns))
	stepX, stepY := cell.X+gap, cell.Y+gap
	sheet = image.NewRGBA(image.Rect(0, 0, columns*stepX+gap, (n+columns-1)/columns*stepY+gap))
	fillRect(sheet, sheet.Rect, color.White)
	return sheet, func(i int) image.Point { return image.Pt(gap+i%columns*stepX, gap+i/columns*stepY) }
}

// oneChannel returns a picture with a single channel if all its pixels are grey.
func oneChannel(img *image.RGBA) image.Image {
	grey := image.NewGray(img.Rect)
	for p := range grey.Pix {
		if rgb := img.Pix[4*p:]; rgb[0] != rgb[1] || rgb[0] != rgb[2] {
			return img
		}
		grey.Pix[p] = img.Pix[4*p]
	}
	return grey
}

// Montage draws a basis (m×k, one basis vector a column) as k tiles in an approximately square rectangle. Each column
// is an image, row by row, for each channel (1: grey; 3: red, green, blue), so m = channels·height·width. Each tile is
// scaled from black at its minimum to white at its maximum. Constant tiles are mid grey; values that are not finite
// count as the minimum.
func Montage(ctx context.Context, basis mat.Matrix, height, width, channels int) (image.Image, error) {
	m, k := basis.Dims()
	area := height * width
	if height <= 0 || width <= 0 || channels != 1 && channels != 3 || m != channels*area {
		return nil, fmt.Errorf("montage: basis vectors of %d values cannot be images of %d×%d pixels in %s (1 or 3)",
			m, width, height, phrase.Count(channels, "channel", "channels"))
	}
	if k == 0 {
		return nil, fmt.Errorf("montage: %w", ErrNoData)
	}
	scale := max(1, int(math.Round(tileSide/float64(max(height, width)))))
	columns := int(math.Ceil(math.Sqrt(float64(k) * float64(height) / float64(width))))
	img, corner := newSheet(k, columns, image.Pt(width*scale, height*scale), montageGap)
	for j := range k {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lo, hi := columnRange(basis, j)
		for i := range area {
			at := func(channel int) uint8 { return shade(basis.At(min(channel, channels-1)*area+i, j), lo, hi) }
			pixel := image.Rect(0, 0, scale, scale).Add(corner(j)).Add(image.Pt(i%width, i/width).Mul(scale))
			fillRect(img, pixel, color.RGBA{at(0), at(1), at(2), 0xff})
		}
	}
	return oneChannel(img), nil
}

func columnRange(x mat.Matrix, j int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	m, _ := x.Dims()
	for i := range m {
		if v := x.At(i, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

func shade(v, lo, hi float64) uint8 {
	if lo >= hi {
		return 0x80
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	// Halves, because the range of very large numbers overflows.
	return uint8(math.Round(255 * ((v/2 - lo/2) / (hi/2 - lo/2))))
}

// PhotoSheet draws photos of at most side×side pixels in lines. A nil photo is an empty frame.
func PhotoSheet(photos []*image.RGBA, side int) *image.RGBA {
	cell := image.Pt(side/2, side/3)
	for _, photo := range photos {
		if photo != nil {
			cell = image.Pt(max(cell.X, photo.Rect.Dx()), max(cell.Y, photo.Rect.Dy()))
		}
	}
	img, corner := newSheet(len(photos), sheetWidth/(cell.X+sheetGap), cell, sheetGap)
	for i, photo := range photos {
		frame := image.Rectangle{Max: cell}.Add(corner(i))
		if photo != nil {
			draw.Draw(img, frame, photo, photo.Rect.Min, draw.Over)
		} else {
			fillRect(img, frame, frameGrey)
			fillRect(img, frame.Inset(1), white)
		}
	}
	return img
}

// chipSize is the size of the number of a part on its colour.
func chipSize(part int) image.Point {
	return image.Pt(max(textWidth(sheetFace(chipFont), strconv.Itoa(part+1))+2*chipPadding, chipHeight), chipHeight)
}

func drawChip(img draw.Image, part int, r image.Rectangle) {
	colour, face, word := partColour(part), sheetFace(chipFont), strconv.Itoa(part+1)
	var ink color.Color = color.White
	if color.GrayModel.Convert(colour).(color.Gray).Y > 128 {
		ink = color.Black
	}
	fillRect(img, r, colour)
	drawText(img, face, ink, word, r.Min.X+(r.Dx()-textWidth(face, word))/2, r.Max.Y-chipPadding-1)
}

// Word is a visual word with some of its patches.
type Word struct {
	Index   int           // the index in the vocabulary, from 0; the sheet shows it from 1
	Count   int           // the number of patches with the word
	Patches []image.Image // of any size, as from CutPatch, MaxWordPatches at most; nil leaves a gap
}

// WordSheet draws the first MaxSheetWords words on white, seven side by side: the word's number, its count, and patches
// in lines of four. The only error is the context's.
func WordSheet(ctx context.Context, words []Word) (*image.RGBA, error) {
	words = words[:min(len(words), MaxSheetWords)]
	lines := 1
	for _, w := range words {
		lines = max(lines, (min(len(w.Patches), MaxWordPatches)+patchColumns-1)/patchColumns)
	}
	sheet, corner := newSheet(len(words), wordColumns, image.Pt(wordWidth, wordHeading+lines*(patchBox+patchGap)), wordGap)
	titleFace, noteFace := sheetFace(12), sheetFace(10)
	for i, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, top := corner(i).X, corner(i).Y
		title, note := strconv.Itoa(w.Index+1), phrase.Count(w.Count, "patch", "patches")
		drawText(sheet, titleFace, color.Black, title, left, top+wordHeading-6)
		drawText(sheet, noteFace, noteGrey, note, left+wordWidth-textWidth(noteFace, note), top+wordHeading-6)
		fillRect(sheet, image.Rect(left, top+wordHeading-3, left+wordWidth, top+wordHeading-2), frameGrey)
		for j, patch := range w.Patches[:min(len(w.Patches), MaxWordPatches)] {
			if patch == nil {
				continue
			}
			small := Thumbnail(patch, patchBox)
			at := image.Pt(left+j%patchColumns*(patchBox+patchGap), top+wordHeading+j/patchColumns*(patchBox+patchGap))
			at = at.Add(image.Pt(patchBox, patchBox).Sub(small.Rect.Size()).Div(2))
			fillRect(sheet, small.Rect.Add(at).Inset(-1), frameGrey)
			draw.Draw(sheet, small.Rect.Add(at), small, image.Point{}, draw.Src)
		}
	}
	return sheet, nil
}

// CutPatch copies a patch of an image with the centre x, y, as in models.Patch. The patch is at least one pixel and at
// most the image's longer side wide, and white outside of the image.
func CutPatch(img image.Image, x, y, side float32) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy(), 1)
	n := 1
	if side > 1 {
		n = int(min(math.Round(float64(side)), float64(longer)))
	}
	// first returns the first pixel whose centre is in the patch, or one just outside of the image.
	first := func(centre float32) int {
		v := math.Ceil(float64(centre) - float64(n)/2)
		if !(v > float64(-n) && v < float64(longer)) {
			return longer
		}
		return int(v)
	}
	patch := image.NewRGBA(image.Rect(0, 0, n, n))
	fillRect(patch, patch.Rect, color.White)
	draw.Draw(patch, patch.Rect, img, b.Min.Add(image.Pt(first(x), first(y))), draw.Over)
	return patch
}

// Grid is the layout of contact sheets: square cells, row by row, each with a thumbnail in its upper left corner.
type Grid struct {
	Cell          int // the side of a cell in pixels
	Columns, Rows int
	Lossless      bool // PNG files rather than JPEG files
}

const (
	// PhotographCell is a multiple of 16, the side of JPEG blocks, so that thumbnails do not affect their neighbours.
	PhotographCell  = 128
	largestLossless = 64 // the largest cell of lossless sheets

	contactWidth, contactHeight = 2048, 1024 // the largest size in pixels
	mostCells                   = 32         // the most cells in a row or column
)

// NewGrid returns a grid for pictures with the given longer side, which are reduced to PhotographCell.
func NewGrid(side int) Grid {
	g := Grid{Cell: max(1, min(side, PhotographCell)), Lossless: side <= largestLossless}
	if !g.Lossless {
		g.Cell = (g.Cell + 15) / 16 * 16
	}
	g.Columns, g.Rows = min(contactWidth/g.Cell, mostCells), min(contactHeight/g.Cell, mostCells)
	return g
}

// Len returns the number of thumbnails on a sheet.
func (g Grid) Len() int { return g.Columns * g.Rows }

// Memory returns the bytes needed to make a sheet.
func (g Grid) Memory() int64 { return 10 * int64(g.Len()) * int64(g.Cell) * int64(g.Cell) }

// Extension returns the extension of the sheets' files.
func (g Grid) Extension() string {
	if g.Lossless {
		return ".png"
	}
	return ".jpg"
}

// Encode returns the file of a contact sheet of at most Len thumbnails, which Small made for a cell, or nil. The file has
// a single channel if all pixels are grey.
func (g Grid) Encode(thumbs []*image.RGBA) ([]byte, error) {
	sheet := image.NewRGBA(image.Rect(0, 0, min(len(thumbs), g.Columns)*g.Cell, (len(thumbs)+g.Columns-1)/g.Columns*g.Cell))
	fillRect(sheet, sheet.Rect, color.Black)
	for i, thumb := range thumbs {
		if thumb != nil && !thumb.Rect.Empty() {
			g.place(sheet, image.Pt(i%g.Columns, i/g.Columns).Mul(g.Cell), thumb)
		}
	}
	img := oneChannel(sheet)
	var out bytes.Buffer
	if g.Lossless {
		err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
		return out.Bytes(), err
	}
	err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 78})
	return out.Bytes(), err
}

// place draws a thumbnail into the cell at a point. The rest of the cell repeats the thumbnail's last column and row, which
// compresses well and keeps the thumbnail's edges unchanged.
func (g Grid) place(sheet *image.RGBA, at image.Point, thumb *image.RGBA) {
	size := thumb.Rect.Size()
	draw.Draw(sheet, image.Rectangle{Max: size}.Add(at), thumb, thumb.Rect.Min, draw.Src)
	repeat := func(from, to image.Rectangle) {
		if !to.Empty() {
			draw.NearestNeighbor.Scale(sheet, to.Add(at), sheet, from.Add(at), draw.Src, nil)
		}
	}
	repeat(image.Rect(size.X-1, 0, size.X, size.Y), image.Rect(size.X, 0, g.Cell, size.Y))
	repeat(image.Rect(0, size.Y-1, g.Cell, size.Y), image.Rect(0, size.Y, g.Cell, g.Cell))
}

// Thumbnail fits a picture into a box of box×box pixels on white, and keeps its aspect ratio. It averages large
// pictures down, and enlarges small ones by whole factors, so that they stay sharp.
func Thumbnail(img image.Image, box int) *image.RGBA {
	b := img.Bounds()
	return fitToBox(img, box, max(1, box/max(b.Dx(), b.Dy(), 1)))
}

// Small is Thumbnail, but never enlarges.
func Small(img image.Image, box int) *image.RGBA { return fitToBox(img, box, 1) }

// fitToBox reduces a picture to the box, or draws a small one on white enlarged by times.
func fitToBox(img image.Image, box, times int) *image.RGBA {
	b := img.Bounds()
	if max(b.Dx(), b.Dy()) > box {
		return features.Thumbnail(img, box)
	}
	out := image.NewRGBA(image.Rect(0, 0, times*b.Dx(), times*b.Dy()))
	fillRect(out, out.Rect, color.White)
	if times == 1 {
		draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	} else {
		draw.NearestNeighbor.Scale(out, out.Rect, img, b, draw.Over, nil)
	}
	return out
}

const (
	MarkBox = 328 // the largest side in pixels of photos with marks

	faintest, fullest  = 0.25, 0.65 // the weight of the part's colour in a marked pixel, at strengths 0 and 1
	markFade, restFade = 0.15, 0.65 // how far a photo is faded towards white, in and outside of marks
	minNumbered        = 0.01       // the smallest share of a photo that gets a number
)

// DrawMarks makes a photo grey and tints the patches of each part with its colour, more strongly for larger strengths.
// marks are in pixels of a photo of the given size, before it was scaled to small. A pixel belongs to the part whose
// patches cover it most, each weighted by its strength and less towards its edge; ties go to the lower part. With fade,
// the photo is pale outside of marks. Otherwise the number of each part, from 1, is where the part is strongest, if there
// is space. The only error is the context's.
func DrawMarks(ctx context.Context, small *image.RGBA, size image.Point, marks []models.Patch, fade bool) error {
	t, err := assignPixels(ctx, marks, size, small.Rect.Size())
	if err != nil {
		return err
	}
	t.paint(small, fade)
	if !fade {
		t.writeNumbers(small)
	}
	return nil
}

type territory struct {
	size  image.Point
	owner []int // the part of each pixel, row by row, or −1
	// weight is the owner's coverage of the pixel, and strength the mean strength of its patches there, weighted by
	// coverage.
	weight, strength []float32
}

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
		part, pixels int
		rect         image.Rectangle // of the number, at the part's strongest pixel
		inside       bool            // the number fits inside the part
		strongest    float32
	}
	places := map[int]*place{}
	for p, part := range t.owner {
		if part < 0 {
			continue
		}
		at := places[part]
		if at == nil {
			at = &place{part: part, rect: image.Rectangle{Max: chipSize(part)}}
			places[part] = at
		}
		at.pixels++
		size := at.rect.Size()
		rect := image.Rectangle{Max: size}.Add(image.Pt(p%t.size.X, p/t.size.X).Sub(size.Div(2)))
		inside := t.partAt(rect.Min.X, rect.Min.Y) == part && t.partAt(rect.Max.X-1, rect.Min.Y) == part &&
			t.partAt(rect.Min.X, rect.Max.Y-1) == part && t.partAt(rect.Max.X-1, rect.Max.Y-1) == part
		if inside && !at.inside || inside == at.inside && t.weight[p] > at.strongest {
			at.inside, at.strongest, at.rect = inside, t.weight[p], rect
		}
	}
	var used []image.Rectangle
	least := minNumbered * float64(len(t.owner))
	bySize := func(a, b *place) int { return cmp.Or(b.pixels-a.pixels, a.part-b.part) }
	for _, at := range slices.SortedFunc(maps.Values(places), bySize) {
		if float64(at.pixels) >= least && at.rect.In(img.Rect) && !slices.ContainsFunc(used, at.rect.Overlaps) {
			used = append(used, at.rect)
			drawChip(img, at.part, at.rect)
		}
	}
}

// partColours start with the blue of the figures; each further colour is farthest from all before it in Oklab (Glasbey
// et al. 2007). Dull, very dark, very light and the most saturated colours, mostly purple, are left out.
var partColours = [...]uint32{
	0x0072b2, 0xc3e100, 0xff96ff, 0xd22d00, 0x009600, 0x00d2ff, 0x961e96, 0xff965a, 0x9678ff, 0xe14ba5, 0xa5872d, 0x3cc387,
	0x5a6900, 0x694bd2, 0x00a5c3, 0x4bf0c3, 0x963c4b, 0xc3b43c, 0x0f87ff, 0xff5a5a, 0xb4a5ff, 0xe187b4, 0xa569a5, 0x009678,
	0x965a0f, 0xffc35a, 0xc3695a, 0xc31e69, 0xa54bd2, 0x5ae169, 0xd278f0, 0x5ab400, 0x7896e1, 0xe17800, 0x784b96, 0xb4e196,
	0xffa5c3, 0x6978c3, 0x69872d, 0x78a55a, 0x005ad2, 0x4bd2c3, 0x00b4ff, 0xff69c3, 0xb4001e, 0x96c300, 0x00784b, 0xe13c69,
	0xe1b4ff, 0x5a69f0, 0xe18778, 0xb487d2, 0xb43ca5, 0xa54b78, 0xe16987, 0x4b5aa5, 0xd29600, 0xb44b4b, 0x96c378, 0x00b4a5,
	0xc35ac3, 0xb46900, 0x00a55a, 0xc35a87,
}

// partColour returns the colour of a part, numbered from 0. Colours repeat after the last.
func partColour(part int) color.RGBA {
	c := partColours[part%len(partColours)]
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff}
}

// PartColour returns the colour of a part for a page, as in "#0072b2".
func PartColour(part int) string { return fmt.Sprintf("#%06x", partColours[part%len(partColours)]) }

// mix returns the opaque colour between a, at share 0, and b, at share 1.
func mix(a, b color.RGBA, share float64) color.RGBA {
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}

// sheetFace returns the font of figures at a size in pixels. A face is not safe for concurrent use.
func sheetFace(size plotfont.Length) font.Face {
	const pixel = 72 // dots an inch, so that a point is a pixel
	face := plotfont.DefaultCache.Lookup(plotfont.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return unkerned{face.FontFace(pixel)}
}

// unkerned is a face without kerning, which would join the digits of a small 11.
type unkerned struct{ font.Face }

func (unkerned) Kern(_, _ rune) fixed.Int26_6 { return 0 }

func fillRect(img draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// drawText writes a line of text that starts at x on the base line y.
func drawText(img draw.Image, face font.Face, c color.Color, s string, x, y int) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }
