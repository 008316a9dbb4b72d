// Package pictures finds copies, outliers, and blurred or blank images. A [Look] summarises an image in a few hundred
// bytes. [Copies], [Remarks] and [Outliers] compare looks, thumbnails and features only.
package pictures

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	// Version is part of the cache keys of looks and copies. It must change when New returns another look for the same
	// image, or Copies other copies.
	Version       = "7"
	ThumbnailSide = 160 // largest longer side of a thumbnail, in pixels
	// Least is the smallest height and width, in pixels, to which images may be reduced for New; see [imagefile.Use].
	Least      = workSide
	LeastSide  = 64  // smallest height and width of images that can be blurred or near duplicates
	workSide   = 480 // largest longer side of the image that is measured, in pixels
	smallSide  = 64  // height and width of the small image, brightness only
	roughSide  = 16  // height and width of the rough image
	colourSide = 8   // height and width of its two colour differences
	quality    = 90  // JPEG quality of thumbnails
)

// Look is a summary of an image.
type Look struct {
	Width, Height int     // size of the original in pixels
	Sharpness     float64 // slope of the sharpest edges, from 0 to 1, or −1 if there are too few edges
	// Spread is the range of values, from 0 to 255: the difference between the 1st and the 99th percentile of the
	// colour channel with the largest difference.
	Spread float64

	small  [smallSide * smallSide]uint8       // brightness, stretched to a square
	colour [2 * colourSide * colourSide]uint8 // Cb, then Cr
	points []keypoint
}

// New returns the look of an image and its thumbnail over a white background, a JPEG file whose longer side is at most
// ThumbnailSide. img may be reduced to Least; whole is the size of the original.
func New(img image.Image, whole image.Point) (*Look, []byte, error) {
	work := features.Thumbnail(img, workSide)
	l := &Look{Width: whole.X, Height: whole.Y, Sharpness: sharpness(work)}
	canvas := features.Stretched(work, side, side)
	l.Spread = spread(canvas)
	brightness, cb, cr := planes(canvas)
	for i, v := range brightness.reduced(smallSide).v {
		l.small[i] = roundToByte(v)
	}
	l.points = keypoints(work)
	blues, reds := cb.reduced(colourSide), cr.reduced(colourSide)
	for i := range blues.v {
		l.colour[i], l.colour[len(blues.v)+i] = roundToByte(blues.v[i]+128), roundToByte(reds.v[i]+128)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, features.Thumbnail(work, ThumbnailSide), &jpeg.Options{Quality: quality}); err != nil {
		return nil, nil, err
	}
	return l, file.Bytes(), nil
}

// Memory returns an upper bound of the bytes that New allocates for an image of width×height pixels.
func Memory(width, height int) int64 {
	size := image.Pt(width, height)
	work := features.ThumbnailSize(size, workSide)
	return features.ThumbnailMemory(size, workSide) + 130*int64(work.X)*int64(work.Y) + 100*side*side
}

func roundToByte(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// planes returns the brightness and the two colour differences of a square image (ITU-R BT.601), in levels of 256.
func planes(c *features.Canvas) (brightness, cb, cr grey) {
	area := c.Height * c.Width
	brightness, cb, cr = newGrey(c.Width, c.Height), newGrey(c.Width, c.Height), newGrey(c.Width, c.Height)
	for i := range area {
		r, g, b := 255*c.Values[i], 255*c.Values[area+i], 255*c.Values[2*area+i]
		y := 0.299*r + 0.587*g + 0.114*b
		brightness.v[i], cb.v[i], cr.v[i] = float32(y), float32((b-y)/1.772), float32((r-y)/1.402)
	}
	return brightness, cb, cr
}

// stored is the binary form of a look, little-endian.
type stored struct {
	Width, Height     uint32
	Sharpness, Spread float64
	Small             [smallSide * smallSide]uint8
	Colour            [2 * colourSide * colourSide]uint8
	Points            uint16
}

// AppendBinary implements [encoding.BinaryAppender].
func (l *Look) AppendBinary(b []byte) ([]byte, error) {
	b, err := binary.Append(b, binary.LittleEndian, stored{uint32(l.Width), uint32(l.Height), l.Sharpness, l.Spread, l.small, l.colour, uint16(len(l.points))})
	if err != nil {
		return nil, err
	}
	return binary.Append(b, binary.LittleEndian, l.points)
}

// Cut decodes the look at the start of b, in the format of AppendBinary, and returns the rest of b.
func (l *Look) Cut(b []byte) (rest []byte, err error) {
	err = guard.Try(func() {
		var s stored
		rest = b[guard.Must(binary.Decode(b, binary.LittleEndian, &s)):]
		guard.FailIf(s.Width < 1 || s.Height < 1 || !(s.Sharpness >= -1 && s.Sharpness <= 1e6) || !(s.Spread >= 0 && s.Spread <= 256), "values out of range")
		*l = Look{int(s.Width), int(s.Height), s.Sharpness, s.Spread, s.Small, s.Colour, make([]keypoint, s.Points)}
		rest = rest[guard.Must(binary.Decode(rest, binary.LittleEndian, l.points)):]
	})
	return rest, guard.Wrap(err, "pictures: thumbnail")
}

const (
	edgeReach   = 8  // pixels on both sides of an edge in which its height is measured
	leastSlope  = 6  // smallest change of brightness between two pixels at an edge, in levels of 256
	leastHeight = 40 // smallest height of an edge, in levels of 256
	leastEdges  = 60 // smallest number of edges of a direction that counts

	// Thresholds of Remarks; docs/results.md has the measurements behind them.
	blankSpread  = 10
	blurredBelow = 0.32

	OutlierNeighbours = 15  // number of neighbours for Outliers
	leastNeighbours   = 5   // an image with fewer neighbours is not an outlier
	deviations        = 2   // λ of the outlier probability, in standard deviations
	leastOutlier      = 0.9 // smallest probability of an outlier
)

// sharpness returns the slope of edges between two pixels relative to their height, which is 0.4/σ after a Gaussian blur
// of σ pixels. It takes the steepest 2 % of edges, so that the background may be out of focus, and the least sharp of
// four directions, because motion blur keeps edges along it sharp. It is −1 if there are too few edges.
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

// spread returns the largest difference between the 1st and the 99th percentile of a plane, from 0 to 255.
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

// The values of Remarks.
const (
	Blank   = "blank"
	Blurred = "blurred"
)

// Remarks returns, for each look, Blank if nearly all of the image has one colour, Blurred if its sharpness is below 0.32
// and its height and width are at least LeastSide, or else "".
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

// Outliers returns, for each of n images, its local outlier probability (Kriegel, Kröger, Schubert and Zimek 2009),
// or 0 if that is below 0.9. near holds the nearest images in feature space, without copies, and distances their
// distances. The first OutlierNeighbours are used; an image with fewer than 5 gets 0.
//
// With the 15 neighbours S of an image o, σ(o) = √(Σ d(o,s)²/|S|), p(o) = σ(o)/mean σ(s) − 1, and the
// probability is max(0, erf(p/(2·√mean p²·√2))).
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
