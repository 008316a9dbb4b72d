package features

import (
	"image"
	"math"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

const (
	// siftBlur is the standard deviation, in bins, of the blur before the gradients are taken.
	siftBlur = 0.67 / 4
	// siftWindow is the standard deviation, in bins, of the window that makes gradients count less the farther
	// they are from the patch's centre: half a patch.
	siftWindow = siftBins / 2
)

// siftGrid is the grid of the patches of one size over an image, with the settings of their descriptors.
type siftGrid struct {
	width, height, bin, step int
	// columns and rows are the number of patches in x and y.
	columns, rows int
	// blur holds the weights of the Gaussian from its middle outwards.
	blur []float32
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
	g := &siftGrid{
		width: size.X, height: size.Y, bin: bin, step: step,
		columns: (size.X-patch)/step + 1, rows: (size.Y-patch)/step + 1,
	}
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

// siftBuffers holds, of each stage of a grid's descriptors, the rows that the next one needs.
type siftBuffers struct {
	padded    []float32  // a row of greys, mirrored at both ends
	across    ring       // rows blurred along x
	blurred   ring       // rows blurred along x and y
	gradients []gradient // of one row, with none for a bin's width on both sides
	pooled    ring       // rows of gradients pooled along x, for each column of bins of each patch
	bins      ring       // the four rows of bins of a row of patches
}

// ring holds the last few rows of an image.
type ring struct {
	values       []float32
	rows, length int
}

func newRing(rows, length int) ring { return ring{make([]float32, rows*length), rows, length} }

// row returns the memory of row y, which is also that of y plus or minus the number of rows.
func (r *ring) row(y int) []float32 { return r.values[y%r.rows*r.length:][:r.length] }

// describe appends the descriptors of the grid's patches in one pass over the rows of the image.
func (g *siftGrid) describe(out *Descriptors, grey func(row []float32, y int)) {
	const cells = siftBins * orientations
	radius := len(g.blur) - 1
	buf := &siftBuffers{
		padded: make([]float32, g.width+2*radius), across: newRing(2*radius+1, g.width), blurred: newRing(3, g.width),
		gradients: make([]gradient, g.width+2*g.bin),
		pooled:    newRing((siftBins+1)*g.bin-1, g.columns*cells), bins: newRing(siftBins, g.columns*cells),
	}
	described := 0 // rows of patches
	for last := range g.height + radius {
		if last < g.height {
			g.blurAcross(buf, grey, last)
		}
		y := last - radius
		if y < 0 {
			continue
		}
		g.blurDown(buf, y)
		// The first and the last row have no gradients.
		if y < 2 {
			continue
		}
		y--
		above, row, below := buf.blurred.row(y-1), buf.blurred.row(y), buf.blurred.row(y+1)
		gradients(buf.gradients[g.bin+1:][:g.width-2], above, row, below)
		g.poolAcross(buf, y)
		for ; described < g.rows && y >= min(g.middle(described, siftBins-1)+g.bin-1, g.height-2); described++ {
			g.poolDown(buf, described)
			g.finish(out, buf, described)
		}
	}
}

// blurAcross reads row y and blurs it along x. The image is mirrored at its outermost pixels.
func (g *siftGrid) blurAcross(buf *siftBuffers, grey func(row []float32, y int), y int) {
	radius := len(g.blur) - 1
	padded, end := buf.padded, radius+g.width-1
	grey(padded[radius:end+1], y)
	for t := 1; t <= radius; t++ {
		padded[radius-t], padded[end+t] = padded[radius+t], padded[end-t]
	}
	row := buf.across.row(y)
	clear(row)
	for t, weight := range g.blur {
		addScaled(row, weight, padded[radius-t:])
		if t > 0 {
			addScaled(row, weight, padded[radius+t:])
		}
	}
}

// blurDown makes row y of the blurred image.
func (g *siftGrid) blurDown(buf *siftBuffers, y int) {
	row := buf.blurred.row(y)
	clear(row)
	for t, weight := range g.blur {
		above, below := max(y-t, t-y), min(y+t, 2*(g.height-1)-y-t)
		addScaled(row, weight, buf.across.row(above))
		if t > 0 {
			addScaled(row, weight, buf.across.row(below))
		}
	}
}

// poolAcross pools the gradients of row y along x.
func (g *siftGrid) poolAcross(buf *siftBuffers, y int) {
	row := buf.pooled.row(y)
	clear(row)
	for k := range g.columns {
		for b, window := range g.window {
			sums := (*[orientations]float32)(row)
			row = row[orientations:]
			// From bin-1 pixels before the middle, after the bin's width of none.
			grads := buf.gradients[g.middle(k, b)+1:][:len(window)]
			for t, weight := range window {
				sums[grads[t].axis%orientations] += weight * grads[t].axisPart
				sums[grads[t].diagonal%orientations] += weight * grads[t].diagonalPart
			}
		}
	}
}

// poolDown pools the gradients for row k of the patches along y.
func (g *siftGrid) poolDown(buf *siftBuffers, k int) {
	for b, window := range g.window {
		sums := buf.bins.row(b)
		clear(sums)
		for t, weight := range window {
			if y := g.middle(k, b) + 1 - g.bin + t; 1 <= y && y <= g.height-2 {
				addScaled(sums, weight, buf.pooled.row(y))
			}
		}
	}
}

// finish appends the descriptors of row k of the patches.
func (g *siftGrid) finish(out *Descriptors, buf *siftBuffers, k int) {
	const cells = siftBins * orientations
	// The sum of a histogram in which all gradients are as long as contrast is in two pixels, over which
	// gradients are taken.
	var least float32
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
			copy(hist[b*cells:(b+1)*cells], buf.bins.row(b)[column*cells:])
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
	// siftBins is the number of bins along each side of a SIFT patch.
	siftBins = 4
	// siftDim is the length of a SIFT descriptor.
	siftDim = siftBins * siftBins * orientations
	// siftClip is the largest part that one value may have of a descriptor's length (Lowe 2004, section 6.1).
	siftClip = 0.2
	// siftUnit is the byte that 1 becomes. What comes out above 255 is cut off: few values of a unit vector of
	// this length are greater than a half.
	siftUnit = 512
)

// siftVector writes the descriptor of a histogram of gradients to out and changes the histogram: it is made a
// unit vector, clipped, and a unit vector again. With root it is RootSIFT (Arandjelović and Zisserman 2012).
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
	size := length(hist)
	if size == 0 {
		clear(out[:])
		return
	}
	scale := siftUnit / size
	for i, v := range hist {
		out[i] = uint8(min(int(v*scale+0.5), 255))
	}
}

// length returns the Euclidean length of hist.
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
