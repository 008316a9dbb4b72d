package features

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

const (
	siftBlur   = 0.67 / 4     // the standard deviation, in bins, of the blur before the gradients are taken
	siftWindow = siftBins / 2 // that of the Gaussian around the patch's centre: half a patch
)

// siftGrid is the grid of the patches of one size over an image, with the settings of their descriptors.
type siftGrid struct {
	width, height, bin, step int
	columns, rows            int       // of patches
	blur                     []float32 // the weights of the Gaussian from its middle outwards
	// window holds, for each bin along one side of a patch, the weights of the 2·bin-1 pixels around the bin's
	// centre: the triangle that shares a pixel between two bins, times the Gaussian around the patch's centre.
	// Both are separable, so gradients are pooled along x first.
	window   [siftBins][]float32
	root     bool
	contrast float64
}

// newSIFTGrid returns the grid over an image, or nil where no patch fits in.
func newSIFTGrid(size image.Point, bin, step int) *siftGrid {
	// Four times the bin might be too large for an int.
	if bin > min(size.X, size.Y)/siftBins {
		return nil
	}
	patch := siftBins * bin
	g := &siftGrid{width: size.X, height: size.Y, bin: bin, step: step, columns: (size.X-patch)/step + 1, rows: (size.Y-patch)/step + 1}
	sigma := siftBlur * float64(bin)
	sum := -1.0 // the middle is counted twice
	for t := range int(math.Ceil(4*sigma)) + 1 {
		v := elementary.Exp(-float64(t*t) / (2 * sigma * sigma))
		g.blur = append(g.blur, float32(v))
		sum += 2 * v
	}
	for t := range g.blur {
		g.blur[t] /= float32(sum)
	}
	for b := range g.window {
		for t := 1 - bin; t < bin; t++ {
			u := float64(t) / float64(bin)
			r := (float64(b) - (siftBins-1)/2.0 + u) / siftWindow
			g.window[b] = append(g.window[b], float32((1-math.Abs(u))*elementary.Exp(-r*r/2)))
		}
	}
	return g
}

// middle returns the pixel, in x or y, in the middle of bin b of the patch k.
func (g *siftGrid) middle(k, b int) int { return k*g.step + b*g.bin + g.bin/2 }

// describe appends the descriptors of the grid's patches, one row of patches after the other.
func (g *siftGrid) describe(out *Descriptors, grey func(row []float32, y int)) {
	blurred := g.blurred(grey)
	row := func(y int) []float32 { return blurred[y*g.width:][:g.width] }
	grads := make([]gradient, g.width+2*g.bin) // of one row, with none for a bin's width on both sides
	// The rows of gradients under a row of patches, pooled along x for each column of bins of each patch.
	pooled := newRows((siftBins+1)*g.bin-1, g.columns*siftBins*orientations)
	bins := newRows(siftBins, g.columns*siftBins*orientations)
	next := 1 // the first and the last row have no gradients
	for k := range g.rows {
		for ; next <= min(g.middle(k, siftBins-1)+g.bin-1, g.height-2); next++ {
			gradients(grads[g.bin+1:][:g.width-2], row(next-1), row(next), row(next+1))
			g.poolAcross(pooled[next%len(pooled)], grads)
		}
		for b, window := range g.window {
			clear(bins[b])
			for t, weight := range window {
				if y := g.middle(k, b) + 1 - g.bin + t; 1 <= y && y <= g.height-2 {
					addScaled(bins[b], weight, pooled[y%len(pooled)])
				}
			}
		}
		g.finish(out, bins, k)
	}
}

func newRows(n, length int) [][]float32 {
	return slices.Collect(slices.Chunk(make([]float32, n*length), length))
}

// blurred returns the blurred image, which is mirrored at its outermost pixels.
func (g *siftGrid) blurred(grey func(row []float32, y int)) []float32 {
	radius, end := len(g.blur)-1, len(g.blur)+g.width-2
	padded := make([]float32, g.width+2*radius)
	across, out := make([]float32, g.width*g.height), make([]float32, g.width*g.height)
	for y := range g.height {
		grey(padded[radius:end+1], y)
		for t := 1; t <= radius; t++ {
			padded[radius-t], padded[end+t] = padded[radius+t], padded[end-t]
		}
		row := across[y*g.width:][:g.width]
		for t, weight := range g.blur {
			addScaled(row, weight, padded[radius-t:])
			if t > 0 {
				addScaled(row, weight, padded[radius+t:])
			}
		}
	}
	for y := range g.height {
		row := out[y*g.width:][:g.width]
		for t, weight := range g.blur {
			above, below := max(y-t, t-y), min(y+t, 2*(g.height-1)-y-t)
			addScaled(row, weight, across[above*g.width:])
			if t > 0 {
				addScaled(row, weight, across[below*g.width:])
			}
		}
	}
	return out
}

// poolAcross pools the gradients of a row along x.
func (g *siftGrid) poolAcross(row []float32, gradients []gradient) {
	clear(row)
	for k := range g.columns {
		for b, window := range g.window {
			sums := (*[orientations]float32)(row)
			row = row[orientations:]
			// From bin-1 pixels before the middle, after the bin's width of none.
			grads := gradients[g.middle(k, b)+1:][:len(window)]
			for t, weight := range window {
				sums[grads[t].axis%orientations] += weight * grads[t].axisPart
				sums[grads[t].diagonal%orientations] += weight * grads[t].diagonalPart
			}
		}
	}
}

// finish appends the descriptors of row k of the patches, given its four rows of bins.
func (g *siftGrid) finish(out *Descriptors, bins [][]float32, k int) {
	const cells = siftBins * orientations
	var least float32 // the sum of a histogram of gradients as long as contrast, which are over two pixels
	for _, window := range g.window {
		for _, weight := range window {
			least += weight
		}
	}
	least *= least * 2 * float32(g.contrast)
	centre := float32(g.bin/2) + (siftBins-1)/2.0*float32(g.bin)
	for column := range g.columns {
		var hist [siftDim]float32
		for b := range siftBins {
			copy(hist[b*cells:(b+1)*cells], bins[b][column*cells:])
		}
		i := out.Len()
		out.X = append(out.X, float32(column*g.step)+centre)
		out.Y = append(out.Y, float32(k*g.step)+centre)
		out.Scale = append(out.Scale, float32(g.bin))
		sum := float32(0)
		for _, v := range hist {
			sum += v
		}
		if least == 0 || sum >= least {
			siftVector((*[siftDim]uint8)(out.Vector(i)), &hist, g.root)
		}
	}
}

// addScaled adds weight·src to dst. src may be longer.
func addScaled(dst []float32, weight float32, src []float32) {
	gonum.Implementation{}.Saxpy(len(dst), weight, src, 1, dst, 1)
}

const (
	siftBins = 4 // along each side of a patch
	siftDim  = siftBins * siftBins * orientations
	// siftClip is the largest part that one value may have of a descriptor's length (Lowe 2004, section 6.1).
	siftClip = 0.2
	// siftUnit is the byte that 1 becomes. What comes out above 255 is cut off: few values of a unit vector of
	// this length are greater than a half.
	siftUnit = 512
)

// siftVector writes the descriptor of a histogram of gradients: a unit vector, clipped, and a unit vector
// again, with root RootSIFT (Arandjelović and Zisserman 2012). It changes the histogram.
func siftVector(out *[siftDim]uint8, hist *[siftDim]float32, root bool) {
	clip := siftClip * length(hist)
	for i, v := range hist {
		if v > clip {
			hist[i] = clip
		}
	}
	if root {
		for i, v := range hist {
			hist[i] = float32(math.Sqrt(float64(v)))
		}
	}
	clear(out[:])
	if size := length(hist); size > 0 {
		scale := siftUnit / size
		for i, v := range hist {
			out[i] = uint8(min(int(v*scale+0.5), 255))
		}
	}
}

func length(hist *[siftDim]float32) float32 {
	// Four sums do not wait for one another.
	var a, b, c, d float32
	for i := 0; i < siftDim; i += 4 {
		a += hist[i] * hist[i]
		b += hist[i+1] * hist[i+1]
		c += hist[i+2] * hist[i+2]
		d += hist[i+3] * hist[i+3]
	}
	return float32(math.Sqrt(float64(a + b + c + d)))
}
