package figure

import (
	"image"
	"image/color"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

const (
	sheetGap      = 10
	captionHeight = 17
)

// sheetFace returns the font of the figures in a size in pixels. A face is for one goroutine.
func sheetFace(size plotfont.Length) font.Face {
	const pixel = 72 // dots an inch: a point is a pixel
	face := plotfont.DefaultCache.Lookup(plotfont.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return unkerned{face.FontFace(pixel)}
}

// unkerned is a face without kerning, with which the digits of a small 11 would run into each other.
type unkerned struct{ font.Face }

func (unkerned) Kern(_, _ rune) fixed.Int26_6 { return 0 }

// fill paints a rectangle in one colour.
func fill(img draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// write writes a line of text that starts at x on the base line y.
func write(img draw.Image, face font.Face, c color.Color, s string, x, y int) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// textWidth is the width of a line in pixels.
func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

// shorten makes a name fit by an ellipsis in its middle: both ends of a file name tell files apart.
func shorten(name string, fits func(string) bool) string {
	if fits(name) {
		return name
	}
	letters := []rune(strings.TrimSpace(name))
	if n := len(letters); n > 2*longestShown { // which fits nowhere
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

// fitName returns a name in one line that is at most so wide.
func fitName[T int | plotfont.Length](name string, width func(string) T, most T) string {
	return shorten(plaintext.Line(name), func(s string) bool { return width(s) <= most })
}

// Evenly picks at most n of the items, at equal distances.
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
