package figure

import (
	"image/color"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// Palette is Okabe and Ito's ("Color Universal Design", 2008), which readers with any colour vision
// tell apart, without its yellow, which fades on white.
var Palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // bluish green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
}

// markers and dashes tell lines apart in grey print and beyond the length of the Palette.
var (
	markers = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
		draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}
)

var (
	gridGrey  = color.Gray{0xdd}
	noteGrey  = color.Gray{0x55}
	frameGrey = color.Gray{0xbb}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// lineOf is the line of the i-th method, the same in every figure.
func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: Palette[i%len(Palette)], Width: vg.Points(1.3), Dashes: dashes[i%len(dashes)]}
}

// markerOf is the marker of the i-th method, the same in every figure.
func markerOf(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: Palette[i%len(Palette)], Radius: vg.Points(2.8), Shape: markers[i%len(markers)]}
}

// Looks numbers methods, so that a method has the same colour, marker and dashes in all figures.
// With nil Looks each figure numbers its methods itself.
type Looks map[string]int

// NewLooks numbers the methods of an experiment in their order. A sweep and all its settings share
// one number.
func NewLooks(methods []string, sweeps []pipeline.Sweep) Looks {
	looks := Looks{}
	for _, method := range methods {
		name := method
		if at := slices.IndexFunc(sweeps, func(s pipeline.Sweep) bool { return slices.Contains(s.Methods, method) }); at >= 0 {
			name = sweeps[at].Name
		}
		number, ok := looks[name]
		if !ok {
			number = looks.count()
			looks[name] = number
		}
		looks[method] = number
	}
	return looks
}

// count is how many numbers are given.
func (l Looks) count() int {
	n := 0
	for _, number := range l {
		n = max(n, number+1)
	}
	return n
}

// number returns the number of a method that is at the given place in a figure.
func (l Looks) number(method string, place int) int {
	if number, ok := l[method]; ok {
		return number
	}
	return l.count() + place
}

// maxPartColours is the number of colours of parts, after which they repeat.
const maxPartColours = 64

// partColour returns the colour of a part, numbered from 0.
func partColour(part int) color.RGBA { return partColours()[part%maxPartColours] }

// partColours returns colours that are easily told apart: the blue of the figures, and then always
// the one farthest from all before it (Glasbey et al. 2007, "Colour displays for categorical
// images"), by distances in Oklab. It leaves out very dark, light and dull colours, which are lost
// on grey photos, and the fullest, nearly all of which are purple.
var partColours = sync.OnceValue(func() []color.RGBA {
	const step = 15 // of the candidates, which include 0 and 255
	var candidates []color.RGBA
	var places [][3]float64
	for r := 0; r <= 255; r += step {
		for g := 0; g <= 255; g += step {
			for b := 0; b <= 255; b += step {
				c := color.RGBA{uint8(r), uint8(g), uint8(b), 0xff}
				lab := oklab(c)
				lightness, chroma := lab[0], math.Hypot(lab[1], lab[2])
				if lightness > 0.48 && lightness < 0.86 && chroma > 0.11 && chroma < 0.21 {
					candidates, places = append(candidates, c), append(places, lab)
				}
			}
		}
	}
	first := color.RGBAModel.Convert(Palette[0]).(color.RGBA)
	colours, last := []color.RGBA{first}, oklab(first)
	nearest := slices.Repeat([]float64{math.Inf(1)}, len(candidates))
	for len(colours) < maxPartColours {
		farthest := 0
		for i, p := range places {
			l, a, b := p[0]-last[0], p[1]-last[1], p[2]-last[2]
			nearest[i] = min(nearest[i], l*l+a*a+b*b)
			if nearest[i] > nearest[farthest] {
				farthest = i
			}
		}
		last = places[farthest]
		colours = append(colours, candidates[farthest])
	}
	return colours
})

// oklab returns a colour's lightness, from 0 to 1, and its two opponent values in Oklab (Ottosson
// 2020), where distances are about those that people see.
func oklab(c color.RGBA) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// mix returns the opaque colour between two others, the second at share 1.
func mix(a, b color.RGBA, share float64) color.RGBA {
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}
