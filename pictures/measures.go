package pictures

import (
	"image"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	// tiles is the number of rows and columns of tiles of which the sharpness is measured.
	tiles = 8
	// leastVariance is the variance of the brightness from which a tile tells of it.
	leastVariance = 100
)

// sharpness returns how sharp the sharpest tiles of a picture are: the ninth tenth, over
// 8×8 tiles whose brightness varies, of the variance of the Laplacian over the variance of
// the brightness. The variance of the Laplacian is that of Pech-Pacheco et al. (2000);
// the quotient does not depend on the contrast, and a sharp subject before a soft ground
// is sharp. It is −1 where no tile has contrast.
func sharpness(img *image.RGBA) float64 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	grey := make([]float64, w*h)
	for i := range grey {
		grey[i] = 0.299*float64(img.Pix[4*i]) + 0.587*float64(img.Pix[4*i+1]) + 0.114*float64(img.Pix[4*i+2])
	}
	var found []float64
	for row := range tiles {
		for column := range tiles {
			var n, s, ss, l, ll float64
			for y := max(row*h/tiles, 1); y < min((row+1)*h/tiles, h-1); y++ {
				for x := max(column*w/tiles, 1); x < min((column+1)*w/tiles, w-1); x++ {
					at := y*w + x
					v := grey[at]
					laplacian := grey[at-1] + grey[at+1] + grey[at-w] + grey[at+w] - 4*v
					n, s, ss, l, ll = n+1, s+v, ss+v*v, l+laplacian, ll+laplacian*laplacian
				}
			}
			if n > 0 && ss/n-s*s/n/n >= leastVariance {
				found = append(found, (ll-l*l/n)/(ss-s*s/n))
			}
		}
	}
	if len(found) == 0 {
		return -1
	}
	slices.Sort(found)
	return found[len(found)*9/10]
}

// spread returns by how much the planes of a picture change, from 0 to 255: the most of
// the differences between the 1st and the 99th hundredth of each.
func spread(c *features.Canvas) (most float64) {
	area := c.Height * c.Width
	for plane := range c.Channels {
		values := c.Values[plane*area : (plane+1)*area]
		least, greatest := topk.NewSelection[struct{}](area/100+1), topk.NewSelection[struct{}](area/100+1)
		for _, v := range values {
			least.Add(v, struct{}{})
			greatest.Add(-v, struct{}{})
		}
		most = max(most, 255*(-greatest.Last()-least.Last()))
	}
	return most
}

// What Remarks says of a picture.
const (
	Blank   = "blank"
	Blurred = "blurred"
)

// Thresholds of Remarks. docs/results.md has the measurements that they stand on.
const (
	blankSpread    = 10
	blurredBelow   = 0.2
	blurredSurely  = 0.08
	blurredOfOther = 0.25
)

// Remarks returns for each look what is wrong with the picture, or "". It is Blank where
// nearly all of it has one colour. It is Blurred where it is at least LeastSide pixels
// high and wide, and its sharpness is below 0.2 and less than a quarter of the median of
// all, or below 0.08. A picture without contrast is not said to be blurred.
func Remarks(looks []*Look) []string {
	var all []float64
	for _, l := range looks {
		if l.Sharpness >= 0 {
			all = append(all, l.Sharpness)
		}
	}
	slices.Sort(all)
	out := make([]string, len(looks))
	for i, l := range looks {
		switch {
		case l.Spread < blankSpread:
			out[i] = Blank
		case min(l.Width, l.Height) < LeastSide || l.Sharpness < 0:
		case l.Sharpness < blurredSurely, l.Sharpness < blurredBelow && l.Sharpness < blurredOfOther*all[len(all)/2]:
			out[i] = Blurred
		}
	}
	return out
}
