package figure

import (
	"image/color"
	"math"
	"sync"
)

// maxPartColours is how many colours there are for parts; they come again
// after that.
const maxPartColours = 64

// partColour returns the colour of a part, numbered from 0.
func partColour(part int) color.RGBA { return partColours()[part%maxPartColours] }

// partColours returns colours that are easily told apart: the blue of the
// figures, and then always the one that is farthest from all before it
// (Glasbey et al. 2007, "Colour displays for categorical images"), by distances
// in Oklab. Very dark, light and dull colours are left out, since they would
// be lost on grey photographs, and so are the fullest, nearly all of which are
// purple.
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
					candidates = append(candidates, c)
					places = append(places, lab)
				}
			}
		}
	}
	first := color.RGBAModel.Convert(Palette[0]).(color.RGBA)
	colours, last := []color.RGBA{first}, oklab(first)
	nearest := make([]float64, len(candidates))
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
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

// oklab returns a colour's lightness, from 0 to 1, and its two opponent values,
// in the space of Ottosson (2020), where distances are about those that are
// seen.
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
