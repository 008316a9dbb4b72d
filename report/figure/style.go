package figure

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Palette is Okabe and Ito's ("Color Universal Design", 2008), which is safe for all kinds of colour vision, without
// its yellow, which is faint on white. Orange, which resembles vermilion, comes late.
var Palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // bluish green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

// markers and dashes distinguish lines in grey print and beyond the Palette.
var (
	markers = []vgdraw.GlyphDrawer{
		vgdraw.CircleGlyph{}, vgdraw.SquareGlyph{}, vgdraw.PyramidGlyph{}, vgdraw.CrossGlyph{},
		vgdraw.RingGlyph{}, vgdraw.BoxGlyph{}, vgdraw.TriangleGlyph{}, vgdraw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}
)

var (
	gridGrey  = color.Gray{0xdd}
	noteGrey  = color.Gray{0x55}
	frameGrey = color.Gray{0xbb}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// lineOf returns the line style of method i, the same in every figure.
func lineOf(i int) vgdraw.LineStyle {
	return vgdraw.LineStyle{Color: Palette[i%len(Palette)], Width: vg.Points(1.3), Dashes: dashes[i%len(dashes)]}
}

// markerOf returns the marker of method i, the same in every figure.
func markerOf(i int) vgdraw.GlyphStyle {
	return vgdraw.GlyphStyle{Color: Palette[i%len(Palette)], Radius: vg.Points(2.8), Shape: markers[i%len(markers)]}
}

// Looks numbers methods, so that a method has the same colour, marker and dashes in all figures. With nil Looks each
// figure numbers its own methods.
type Looks map[string]int

// NewLooks numbers the methods of an experiment in their order. The methods of a sweep share one number.
func NewLooks(methods []string, sweeps []spec.Sweep) Looks {
	looks := Looks{}
	for _, method := range methods {
		name := method
		if at := slices.IndexFunc(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }); at >= 0 {
			name = sweeps[at].Name
		}
		if _, ok := looks[name]; !ok {
			looks[name] = looks.count()
		}
		looks[method] = looks[name]
	}
	return looks
}

// count returns the number of numbers in use.
func (l Looks) count() (n int) {
	for _, number := range l {
		n = max(n, number+1)
	}
	return n
}

// number returns the number of a method at place in a figure.
func (l Looks) number(method string, place int) int {
	if number, ok := l[method]; ok {
		return number
	}
	return l.count() + place
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

// shorten fits a name by an ellipsis in its middle, because both ends of file names matter.
func shorten(name string, fits func(string) bool) string {
	if fits(name) {
		return name
	}
	letters := []rune(strings.TrimSpace(name))
	if n := len(letters); n > 2*longestShown { // longer names fit nowhere
		letters = slices.Concat(letters[:longestShown], letters[n-longestShown:])
	}
	for keep := len(letters) - 1; keep > 0; keep-- {
		s := string(letters[:keep/2]) + "…" + string(letters[len(letters)-(keep-keep/2):])
		if fits(s) {
			return s
		}
	}
	return ""
}

// fitName returns a name as one line of at most this width.
func fitName[T int | plotfont.Length](name string, width func(string) T, most T) string {
	return shorten(plaintext.Line(name), func(s string) bool { return width(s) <= most })
}

// Evenly returns at most n of the items, equally spaced.
func Evenly(items []int, n int) []int {
	if len(items) <= n {
		return items
	}
	picked := make([]int, n)
	for i := range picked {
		picked[i] = items[i*len(items)/n]
	}
	return picked
}
