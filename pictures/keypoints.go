package pictures

import (
	"cmp"
	"image"
	"maps"
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
)

const (
	keypointSide = 400 // largest longer side of the image in which key points are found, in pixels
	levels       = 9   // levels of the image pyramid, each levelScale times smaller than the one before
	levelScale   = 1.2 // ratio of the sides of two levels
	perLevel     = 24  // largest number of key points of a level
	cornerCell   = 12  // a square of this side has at most one key point, in pixels
	patchRadius  = 12  // largest distance of a tested pixel from the key point, in pixels of its level
	border       = patchRadius + 2
)

// keypoint is a corner with a binary descriptor (BRIEF; Calonder et al. 2010). The pairs of pixels that it compares are
// closed under the eight symmetries of the square: each half of a word has the 32 comparisons under one symmetry. The
// descriptor of a mirrored or turned image is therefore a permutation of the halves; see symmetry.
type keypoint struct {
	X, Y  uint16 // in units of 1/65535 of the width and height
	Level uint8
	Bits  [4]uint64
}

// Symmetry is one of the eight symmetries of the square: it swaps x and y (bit 2), then negates x (bit 0) and y (bit 1).
type Symmetry uint8

func (g Symmetry) apply(z complex128) complex128 {
	x, y := real(z), imag(z)
	if g&4 != 0 {
		x, y = y, x
	}
	if g&1 != 0 {
		x = -x
	}
	if g&2 != 0 {
		y = -y
	}
	return complex(x, y)
}

func (g Symmetry) inverse() (h Symmetry) {
	for composed[h][g] != 0 {
		h++
	}
	return h
}

var (
	pairs    [32][2]complex128
	composed [8][8]Symmetry // composed[h][g] applies g, then h
)

func init() {
	src := rand.New(rand.NewPCG(1, 1))
	coordinate := func() float64 { return float64(src.IntN(2*patchRadius-1) - patchRadius + 1) }
	for i := range pairs {
		for p := &pairs[i]; max(cmplx.Abs(p[0]), cmplx.Abs(p[1])) >= patchRadius || cmplx.Abs(p[0]-p[1]) <= 4; {
			*p = [2]complex128{complex(coordinate(), coordinate()), complex(coordinate(), coordinate())}
		}
	}
	for i := range 8 * 8 * 8 {
		if h, g, both := Symmetry(i/64), Symmetry(i/8%8), Symmetry(i%8); h.apply(g.apply(1+2i)) == both.apply(1+2i) {
			composed[h][g] = both
		}
	}
}

// under returns the descriptor of the image that has at point v what this one has at h(v).
func (k *keypoint) under(h Symmetry) (out [4]uint64) {
	for g, from := range composed[h] {
		out[g/2] |= k.Bits[from/2] >> (from % 2 * 32) & math.MaxUint32 << (g % 2 * 32)
	}
	return out
}

func hamming(a, b *[4]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
}

type grey struct {
	w, h int
	v    []float32
}

func newGrey(w, h int) grey { return grey{w, h, make([]float32, w*h)} }

func greyOf(img *image.RGBA) grey {
	g := newGrey(img.Rect.Dx(), img.Rect.Dy())
	for i := range g.v {
		g.v[i] = 0.299*float32(img.Pix[4*i]) + 0.587*float32(img.Pix[4*i+1]) + 0.114*float32(img.Pix[4*i+2])
	}
	return g
}

// smoothed returns g after a binomial filter of 1, 2, 1 in both directions.
func (g grey) smoothed() grey {
	rows, out := newGrey(g.w, g.h), newGrey(g.w, g.h)
	for y := range g.h {
		line, to := g.v[y*g.w:(y+1)*g.w], rows.v[y*g.w:(y+1)*g.w]
		for x := range to {
			to[x] = (line[max(x-1, 0)] + 2*line[x] + line[min(x+1, g.w-1)]) / 4
		}
	}
	for y := range g.h {
		above, line, below := rows.v[max(y-1, 0)*g.w:], rows.v[y*g.w:], rows.v[min(y+1, g.h-1)*g.w:]
		for x := range g.w {
			out.v[y*g.w+x] = (above[x] + 2*line[x] + below[x]) / 4
		}
	}
	return out
}

// at returns the brightness at a point in pixels by linear interpolation.
func (g grey) at(x, y float64) float32 {
	x, y = min(max(x-0.5, 0), float64(g.w-1)), min(max(y-0.5, 0), float64(g.h-1))
	x0, y0 := min(int(x), max(g.w-2, 0)), min(int(y), max(g.h-2, 0))
	a, b := float32(x-float64(x0)), float32(y-float64(y0))
	p := g.v[y0*g.w+x0:]
	right, down := min(1, g.w-1), min(1, g.h-1)*g.w
	return (1-b)*((1-a)*p[0]+a*p[right]) + b*((1-a)*p[down]+a*p[down+right])
}

func (g grey) resized(w, h int) grey {
	out := newGrey(w, h)
	for y := range h {
		for x := range w {
			out.v[y*w+x] = g.at((float64(x)+0.5)*float64(g.w)/float64(w), (float64(y)+0.5)*float64(g.h)/float64(h))
		}
	}
	return out
}

// keypoints returns the key points of an image: at each level, the corners with the largest ratio of the determinant and
// the trace of the structure tensor (Noble 1988).
func keypoints(img *image.RGBA) (found []keypoint) {
	g, whole := greyOf(img), features.ThumbnailSize(img.Rect.Size(), keypointSide)
	if whole.X < g.w {
		g = g.smoothed().resized(whole.X, whole.Y)
	}
	scale := 1.0
	for level := range levels {
		if level > 0 {
			scale *= levelScale
			g = g.smoothed().resized(int(float64(whole.X)/scale+0.5), int(float64(whole.Y)/scale+0.5))
		}
		if min(g.w, g.h) <= 2*border {
			break
		}
		soft := g.smoothed()
		strength := soft.corners()
		type corner struct {
			strength float32
			at       int
		}
		cells := map[int]corner{}
		for y := border; y < g.h-border; y++ {
			for x := border; x < g.w-border; x++ {
				at := y*g.w + x
				s := strength.v[at]
				if s < 4 || s < strength.v[at-1] || s <= strength.v[at+1] || s < strength.v[at-g.w] || s <= strength.v[at+g.w] {
					continue
				}
				if cell := y/cornerCell*g.w + x/cornerCell; s > cells[cell].strength {
					cells[cell] = corner{s, at}
				}
			}
		}
		all := slices.SortedFunc(maps.Values(cells), func(a, b corner) int {
			return cmp.Or(cmp.Compare(b.strength, a.strength), a.at-b.at)
		})
		blurred := soft.smoothed().smoothed()
		for _, c := range all[:min(len(all), perLevel)] {
			x, y := c.at%g.w, c.at/g.w
			found = append(found, keypoint{
				X: uint16(65535 * (float64(x) + 0.5) / float64(g.w)), Y: uint16(65535 * (float64(y) + 0.5) / float64(g.h)),
				Level: uint8(level), Bits: blurred.describe(x, y),
			})
		}
	}
	return found
}

func (g grey) corners() grey {
	xx, yy, xy := newGrey(g.w, g.h), newGrey(g.w, g.h), newGrey(g.w, g.h)
	for y := 1; y < g.h-1; y++ {
		for x := 1; x < g.w-1; x++ {
			at := y*g.w + x
			dx, dy := g.v[at+1]-g.v[at-1], g.v[at+g.w]-g.v[at-g.w]
			xx.v[at], yy.v[at], xy.v[at] = dx*dx, dy*dy, dx*dy
		}
	}
	xx, yy, xy = xx.smoothed().smoothed(), yy.smoothed().smoothed(), xy.smoothed().smoothed()
	for i, a := range xx.v {
		b, c := yy.v[i], xy.v[i]
		xx.v[i] = (a*b - c*c) / (a + b + 1)
	}
	return xx
}

func (g grey) describe(x, y int) (out [4]uint64) {
	for b, p := range pairs {
		for s := range Symmetry(8) {
			at := func(z complex128) float32 { return g.v[(y+int(imag(z)))*g.w+x+int(real(z))] }
			if at(s.apply(p[0])) < at(s.apply(p[1])) {
				out[s/2] |= 1 << (int(s%2)*32 + b)
			}
		}
	}
	return out
}
