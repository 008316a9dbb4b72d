// Package pictures finds copies, outliers, and blurred or blank pictures. A [Look] describes a picture in a few
// hundred bytes; only looks, thumbnails and features are compared.
package pictures

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	// Version is part of the key under which looks are cached: it changes with what New returns for the same
	// picture.
	Version       = "4"
	ThumbnailSide = 160 // the longer side of a thumbnail in pixels, at most
	// Least is the height and width that a picture has to keep, in pixels, for its look; see [imagefile.Use].
	Least      = workSide
	LeastSide  = 64  // height and width from which a picture can be blurred, and a near duplicate
	workSide   = 480 // the longer side of the picture that is measured, in pixels, at most
	roughSide  = 16  // height and width of the rough picture of a look, in its brightness
	colourSide = 8   // and in its two colour differences
	quality    = 90  // of thumbnails as JPEG files
)

// Look is what is kept of a picture.
type Look struct {
	Width, Height int     // of the picture, in pixels
	Sharpness     float64 // how steep the sharpest edges are, from 0 to 1, and −1 with too few edges to tell
	// Spread is how much the picture changes, from 0 to 255: the difference between the darkest and the brightest
	// places, or between those of most and least of a colour, but for the outer hundredth each.
	Spread float64

	rough  [roughSide * roughSide]uint8       // brightness, stretched to a square
	colour [2 * colourSide * colourSide]uint8 // Cb, then Cr
}

// New returns the look of a picture and its thumbnail, a JPEG file whose longer side has ThumbnailSide pixels
// at most. The picture is laid over white. It may be reduced to Least, and whole is the size of the whole.
func New(img image.Image, whole image.Point) (*Look, []byte, error) {
	work := features.Thumbnail(img, workSide)
	l := &Look{Width: whole.X, Height: whole.Y, Sharpness: sharpness(work)}
	canvas := features.Stretched(work, side, side)
	l.Spread = spread(canvas)
	brightness, cb, cr := planes(canvas)
	for i, v := range brightness.reduced(roughSide).v {
		l.rough[i] = level(v)
	}
	blues, reds := cb.reduced(colourSide), cr.reduced(colourSide)
	for i := range blues.v {
		l.colour[i], l.colour[len(blues.v)+i] = level(blues.v[i]+128), level(reds.v[i]+128)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, features.Thumbnail(work, ThumbnailSide), &jpeg.Options{Quality: quality}); err != nil {
		return nil, nil, err
	}
	return l, file.Bytes(), nil
}

// Memory returns how many bytes New takes, at most, for a picture of width×height pixels, beside those of the
// picture.
func Memory(width, height int) int64 {
	size := image.Pt(width, height)
	work := features.ThumbnailSize(size, workSide)
	return features.ThumbnailMemory(size, workSide) + 32*int64(work.X)*int64(work.Y) + 100*side*side
}

func level(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// planes returns the brightness of a square picture and its two colour differences (ITU-R BT.601), in levels of
// 256.
func planes(c *features.Canvas) (brightness, cb, cr plane) {
	area := c.Height * c.Width
	brightness, cb, cr = newPlane(c.Width), newPlane(c.Width), newPlane(c.Width)
	for i := range area {
		r, g, b := 255*c.Values[i], 255*c.Values[area+i], 255*c.Values[2*area+i]
		y := 0.299*r + 0.587*g + 0.114*b
		brightness.v[i], cb.v[i], cr.v[i] = float32(y), float32((b-y)/1.772), float32((r-y)/1.402)
	}
	return brightness, cb, cr
}

// stored is a look as bytes, the numbers with their low byte first.
type stored struct {
	Width, Height     uint32
	Sharpness, Spread float64
	Rough             [roughSide * roughSide]uint8
	Colour            [2 * colourSide * colourSide]uint8
}

// AppendBinary appends the look to b.
func (l *Look) AppendBinary(b []byte) ([]byte, error) {
	return binary.Append(b, binary.LittleEndian, stored{uint32(l.Width), uint32(l.Height), l.Sharpness, l.Spread, l.rough, l.colour})
}

// Cut reads the look with which b begins, as AppendBinary appends it, and returns the rest.
func (l *Look) Cut(b []byte) (rest []byte, err error) {
	var s stored
	n, err := binary.Decode(b, binary.LittleEndian, &s)
	if err != nil {
		return nil, fmt.Errorf("pictures: thumbnail: %w", err)
	}
	if s.Width < 1 || s.Height < 1 || !(s.Sharpness >= -1 && s.Sharpness <= 1e6) || !(s.Spread >= 0 && s.Spread <= 256) {
		return nil, errors.New("pictures: not a thumbnail")
	}
	*l = Look{int(s.Width), int(s.Height), s.Sharpness, s.Spread, s.Rough, s.Colour}
	return b[n:], nil
}

const (
	edgeReach   = 8  // how far to both sides of an edge its height is looked for, in pixels
	leastSlope  = 6  // levels by which brightness changes at an edge between two pixels,
	leastHeight = 40 // and in all
	leastEdges  = 60 // from which a direction tells of the sharpness

	// Thresholds of Remarks. docs/results.md has the measurements that they stand on.
	blankSpread  = 10
	blurredBelow = 0.35

	OutlierNeighbours = 15  // by which outliers are told
	leastNeighbours   = 5   // without which a picture is none
	deviations        = 2   // λ, the standard deviations by which normal is told from not
	leastOutlier      = 0.9 // the probability from which a picture is an outlier
)

// sharpness is the slope of edges between two pixels as a share of their height: 0.4/σ after a Gaussian blur of
// σ pixels. It is that of the steepest fiftieth, so that the background may be soft, in the least sharp of four
// directions, as motion leaves the edges along it sharp. It is −1 with too few edges.
func sharpness(img *image.RGBA) float64 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	grey := make([]float64, w*h)
	for i := range grey {
		grey[i] = 0.299*float64(img.Pix[4*i]) + 0.587*float64(img.Pix[4*i+1]) + 0.114*float64(img.Pix[4*i+2])
	}
	least := -1.0
	for _, to := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
		step := elementary.Hypot(float64(to[0]), float64(to[1]))
		along, across := to[1]*w+to[0], to[0]*w-to[1]
		reach := int(edgeReach/step + 0.5)
		var found []float64
		for y := reach + 1; y < h-reach-2; y++ {
			for x := reach + 1; x < w-reach-2; x++ {
				at := y*w + x
				rise := math.Abs(grey[at+along] - grey[at])
				if rise < leastSlope*step || rise < math.Abs(grey[at]-grey[at-along]) || rise < math.Abs(grey[at+2*along]-grey[at+along]) ||
					math.Abs(grey[at+across]-grey[at-across]) > 1.4*rise { // an edge of another direction
					continue
				}
				low, high := grey[at], grey[at]
				for t := -reach; t <= reach+1; t++ {
					low, high = min(low, grey[at+t*along]), max(high, grey[at+t*along])
				}
				if high-low >= leastHeight {
					found = append(found, rise/step/(high-low))
				}
			}
		}
		if len(found) < leastEdges {
			continue
		}
		slices.Sort(found)
		if steep := found[len(found)-max(len(found)/50, 15)]; least < 0 || steep < least {
			least = steep
		}
	}
	return least
}

// spread is the difference between the 1st and the 99th hundredth of the plane that changes most, from 0 to 255.
func spread(c *features.Canvas) (most float64) {
	area := c.Height * c.Width
	for plane := range c.Channels {
		low, high := topk.NewSelection[struct{}](area/100+1), topk.NewSelection[struct{}](area/100+1)
		for _, v := range c.Values[plane*area : (plane+1)*area] {
			low.Add(v, struct{}{})
			high.Add(-v, struct{}{})
		}
		most = max(most, 255*(-high.Last()-low.Last()))
	}
	return most
}

// What Remarks says of a picture.
const (
	Blank   = "blank"
	Blurred = "blurred"
)

// Remarks returns for each look Blank if nearly all of the picture has one colour, Blurred if its sharpness is
// below 0.35 and it has at least LeastSide pixels in height and width, or "".
func Remarks(looks []*Look) []string {
	out := make([]string, len(looks))
	for i, l := range looks {
		switch {
		case l.Spread < blankSpread:
			out[i] = Blank
		case min(l.Width, l.Height) < LeastSide:
		case l.Sharpness >= 0 && l.Sharpness < blurredBelow:
			out[i] = Blurred
		}
	}
	return out
}

// Outliers returns for each of n pictures the probability that it is an outlier, by the local outlier
// probabilities of Kriegel, Kröger, Schubert and Zimek (2009), and 0 where that is below 0.9. near holds the
// pictures nearest by their features, without copies, and distances how far they are; with fewer than 5 it is
// 0.
//
// With the 15 neighbours S of a picture o, σ(o) = √(Σ d(o,s)²/|S|), p(o) = σ(o)/mean σ(s) − 1, and the
// probability is erf(p/(2·√mean p²·√2)), or 0.
func Outliers(near [][]int, distances [][]float64) []float64 {
	n := len(near)
	sigma := make([]float64, n)
	for i, all := range distances {
		for _, d := range all[:min(len(all), OutlierNeighbours)] {
			sigma[i] += d * d / float64(min(len(all), OutlierNeighbours))
		}
		sigma[i] = math.Sqrt(sigma[i])
	}
	out := make([]float64, n)
	var square, counted float64
	for i, all := range near {
		all = all[:min(len(all), OutlierNeighbours)]
		if len(all) < leastNeighbours {
			continue
		}
		var mean float64
		for _, j := range all {
			mean += sigma[j] / float64(len(all))
		}
		if mean > 0 {
			out[i] = sigma[i]/mean - 1
		}
		square += out[i] * out[i]
		counted++
	}
	width := deviations * math.Sqrt(square/max(counted, 1)) * math.Sqrt2
	for i, p := range out {
		out[i] = 0
		if p > 0 && width > 0 {
			if found := elementary.Erf(p / width); found >= leastOutlier {
				out[i] = found
			}
		}
	}
	return out
}
