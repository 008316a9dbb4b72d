package features

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

const defaultStep, defaultBin = 8, 4

// DenseSIFT computes upright SIFT descriptors, 4×4 bins of 8 orientations, of patches on a regular grid. Its zero value
// means patches of 16×16 pixels every 8 pixels (Ambai et al. 2011).
//
// Each patch is described like a key point of angle 0 at its centre (Lowe 2004, section 6.1). Values are ordered
// by row and column of the bin, then by orientation, counter-clockwise from the right.
type DenseSIFT struct {
	Step      int     `setting:"step" default:"8" help:"distance between patch centres, in pixels" range:"[1,4096]"`
	Bins      []int   `setting:"bins" default:"4" help:"side of a bin in pixels, or a list of sides; a patch has 4×4 bins" range:"[1,1e9]"`
	Root      bool    `setting:"root" help:"RootSIFT: square roots of the descriptor"`
	Contrast  float64 `setting:"contrast" default:"none" help:"contrast below which the descriptor of a patch is zero" range:"(0,]"`
	MaxPixels int     `setting:"pixels" default:"1048576" help:"maximum number of pixels; larger images are scaled down" range:"[1,1e9]"`
}

// Label implements [Extractor].
func (d DenseSIFT) Label() string {
	sides := lists.Map(d.bins(), func(bin int) string { return fmt.Sprintf("%d×%[1]d", siftBins*bin) })
	out := fmt.Sprintf("SIFT of patches of %s pixels at every %d", strings.Join(sides, " and "), cmp.Or(d.Step, defaultStep))
	if d.Root {
		out += ", its square root"
	}
	if d.Contrast > 0 {
		out += fmt.Sprintf(", patches of contrast below %v as zeros", d.Contrast)
	}
	return out
}

// Check, Dim and WhyNone implement [DescriptorExtractor].
func (d DenseSIFT) Check() error  { return validate(d) }
func (DenseSIFT) Dim() int        { return siftDim }
func (DenseSIFT) WhyNone() string { return "smaller than a patch" }

func (d DenseSIFT) bins() []int {
	if len(d.Bins) == 0 {
		return []int{defaultBin}
	}
	return d.Bins
}

// Extract returns the descriptors of the patches that fit into the image, ordered by scale as in Bins, then by row and
// column. There may be none. A uniform patch has a zero vector.
func (d DenseSIFT) Extract(img image.Image) (*Descriptors, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	size := img.Bounds().Size()
	out := &Descriptors{Dim: siftDim, Width: size.X, Height: size.Y}
	if r := reducedSize(size, cmp.Or(d.MaxPixels, defaultMaxPixels)); min(r.X, r.Y) < 1 {
		return out, nil
	} else if r != size {
		defer out.enlarge(float64(size.X)/float64(r.X), float64(size.Y)/float64(r.Y))
		img, size = reducedGrey(img, r), r
	}
	var grids []*siftGrid
	n := 0
	for _, bin := range d.bins() {
		if grid := newSIFTGrid(size, bin, cmp.Or(d.Step, defaultStep)); grid != nil {
			grid.root, grid.contrast = d.Root, d.Contrast
			grids = append(grids, grid)
			n += grid.columns * grid.rows
		}
	}
	if n == 0 {
		return out, nil
	}
	out.Vectors = make([]uint8, n*siftDim)
	out.X, out.Y, out.Scale = make([]float32, 0, n), make([]float32, 0, n), make([]float32, 0, n)
	grey := greyRows(img)
	for _, grid := range grids {
		grid.describe(out, grey)
	}
	return out, nil
}

func (d DenseSIFT) Memory(width, height int) int64 {
	size := reducedSize(image.Pt(width, height), cmp.Or(d.MaxPixels, defaultMaxPixels))
	pixels := int64(size.X) * int64(size.Y)
	// Grey values of the original and the reduced image, the descriptors twice (as vectors and as bytes), the blurred
	// image, and rows of gradients.
	need := 2*int64(width)*int64(height) + pixels + reductionMemory(width, height)
	step := int64(max(cmp.Or(d.Step, defaultStep), 1))
	for _, bin := range d.bins() {
		if bin < 1 || bin > min(size.X, size.Y)/siftBins {
			continue
		}
		columns, rows := int64(size.X)/step+1, int64(size.Y)/step+1
		need += 2*columns*rows*(siftDim+12) + columns*siftBins*orientations*4*int64((siftBins+1)*bin+siftBins) + 8*pixels + 32*int64(size.X)
	}
	return need
}

// greyRows returns a function that writes row y of the image to row, as grey values from 0 (black) to 1 (white).
func greyRows(img image.Image) func(row []float32, y int) {
	g, ok := img.(*image.Gray16)
	if !ok {
		g = imagefile.Gray(img)
	}
	return func(row []float32, y int) {
		pix := g.Pix[y*g.Stride:]
		for x := range row {
			row[x] = float32(binary.BigEndian.Uint16(pix[2*x:])) / 0xffff
		}
	}
}

const (
	siftBlur   = 0.67 / 4     // standard deviation of the blur before gradients, in bins
	siftWindow = siftBins / 2 // standard deviation of the Gaussian window over the patch, in bins
)

// siftGrid is a grid of patches of one size over an image, with the settings of their descriptors.
type siftGrid struct {
	width, height, bin, step int
	columns, rows            int       // number of patches in x and y
	blur                     []blurTap // the Gaussian filter, from its centre outwards
	// window holds, for each bin along one side of a patch, the weights of the 2·bin-1 pixels around the bin's
	// centre: linear interpolation between two bins times the Gaussian window over the patch. Both are separable, so
	// gradients are pooled along x first.
	window   [siftBins][]float32
	root     bool
	contrast float64
}

type blurTap struct {
	offset int
	weight float32
}

// newSIFTGrid returns the grid over an image, or nil if no patch fits.
func newSIFTGrid(size image.Point, bin, step int) *siftGrid {
	// 4·bin could overflow.
	if bin > min(size.X, size.Y)/siftBins {
		return nil
	}
	patch := siftBins * bin
	g := &siftGrid{width: size.X, height: size.Y, bin: bin, step: step, columns: (size.X-patch)/step + 1, rows: (size.Y-patch)/step + 1}
	sigma := siftBlur * float64(bin)
	sum := -1.0 // the loop counts the centre twice
	for t := range int(math.Ceil(4*sigma)) + 1 {
		v := elementary.Exp(-float64(t*t) / (2 * sigma * sigma))
		g.blur = append(g.blur, blurTap{-t, float32(v)}, blurTap{t, float32(v)})
		sum += 2 * v
	}
	g.blur = g.blur[1:] // drop the second centre
	for t := range g.blur {
		g.blur[t].weight /= float32(sum)
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

// binCentre returns the pixel, in x or y, at the centre of bin b of patch k.
func (g *siftGrid) binCentre(k, b int) int { return k*g.step + b*g.bin + g.bin/2 }

// describe appends the descriptors of the patches, row by row.
func (g *siftGrid) describe(out *Descriptors, grey func(row []float32, y int)) {
	blurred := g.blurred(grey)
	row := func(y int) []float32 { return blurred[y*g.width:][:g.width] }
	grads := make([]gradient, g.width+2*g.bin) // one row, padded with zeros by a bin on both sides
	// A ring buffer of the rows under a row of patches, pooled along x for each column of bins of each patch.
	pooled := newRows((siftBins+1)*g.bin-1, g.columns*siftBins*orientations)
	bins := newRows(siftBins, g.columns*siftBins*orientations)
	next := 1 // the first and the last row have no gradients
	for k := range g.rows {
		for ; next <= min(g.binCentre(k, siftBins-1)+g.bin-1, g.height-2); next++ {
			gradients(grads[g.bin+1:][:g.width-2], row(next-1), row(next), row(next+1))
			g.poolAcross(pooled[next%len(pooled)], grads)
		}
		for b, window := range g.window {
			clear(bins[b])
			for t, weight := range window {
				if y := g.binCentre(k, b) + 1 - g.bin + t; 1 <= y && y <= g.height-2 {
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

// blurred returns the blurred image, with reflection at the borders.
func (g *siftGrid) blurred(grey func(row []float32, y int)) []float32 {
	radius, end := len(g.blur)/2, len(g.blur)/2+g.width-1
	padded := make([]float32, g.width+2*radius)
	across, out := make([]float32, g.width*g.height), make([]float32, g.width*g.height)
	for y := range g.height {
		grey(padded[radius:end+1], y)
		for t := 1; t <= radius; t++ {
			padded[radius-t], padded[end+t] = padded[radius+t], padded[end-t]
		}
		for _, tap := range g.blur {
			addScaled(across[y*g.width:][:g.width], tap.weight, padded[radius+tap.offset:])
		}
	}
	for y := range g.height {
		for _, tap := range g.blur {
			from := y + tap.offset
			from = min(max(from, -from), 2*(g.height-1)-from)
			addScaled(out[y*g.width:][:g.width], tap.weight, across[from*g.width:])
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
			// From bin-1 pixels before the centre; the padding adds bin.
			grads := gradients[g.binCentre(k, b)+1:][:len(window)]
			for t, weight := range window {
				sums[grads[t].axis%orientations] += weight * grads[t].axisPart
				sums[grads[t].diagonal%orientations] += weight * grads[t].diagonalPart
			}
		}
	}
}

// finish appends the descriptors of patch row k, given its four rows of bins.
func (g *siftGrid) finish(out *Descriptors, bins [][]float32, k int) {
	const cells = siftBins * orientations
	var least float32 // sum of the histogram of a patch whose gradients, over two pixels, all equal contrast
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

// addScaled adds weight·src to dst. src may be longer than dst.
func addScaled(dst []float32, weight float32, src []float32) {
	gonum.Implementation{}.Saxpy(len(dst), weight, src, 1, dst, 1)
}

const (
	siftBins = 4 // along each side of a patch
	siftDim  = siftBins * siftBins * orientations
	// siftClip is the largest value of a unit descriptor before it is normalised again (Lowe 2004, section 6.1).
	siftClip = 0.2
	// siftUnit scales unit vectors to bytes. Values above 255 are clipped; few values of a unit vector of this
	// dimension exceed ½.
	siftUnit = 512
)

// siftVector writes the descriptor of a histogram of gradients: normalised, clipped and normalised again, with root as
// RootSIFT (Arandjelović and Zisserman 2012). It overwrites hist.
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
	var sums [4]float32 // independent sums for speed
	for i, v := range hist {
		sums[i%4] += v * v
	}
	return float32(math.Sqrt(float64(sums[0] + sums[1] + sums[2] + sums[3])))
}

// orientations is the number of gradient orientations, 45° apart, counter-clockwise from the right.
const orientations = 8

// gradient is the gradient at one pixel, its magnitude interpolated between the two nearest orientations. As they are 45°
// apart, one is always along an axis (0, 2, 4, 6) and the other along a diagonal.
type gradient struct {
	axisPart, diagonalPart float32
	axis, diagonal         uint8
}

// octants holds the two nearest orientations of a gradient, indexed by the signs of its components (bits 0 and 1: x and
// y are negative) and by the longer component (bit 2: y).
var octants = [8]struct{ axis, diagonal uint8 }{
	{0, 1}, {4, 3}, {0, 7}, {4, 5},
	{2, 1}, {2, 3}, {6, 7}, {6, 5},
}

// atanSteps gives angles an error of at most 1/1500 of 45°, far below the resolution of a descriptor's bytes.
const atanSteps = 1024

// atanTable holds the angle of the slope i/atanSteps as a fraction of 45°.
var atanTable = func() (table [atanSteps + 1]float32) {
	for i := range table {
		table[i] = float32(math.Atan(float64(i)/atanSteps) * 4 / math.Pi)
	}
	return table
}()

// gradients writes the gradient at pixel j+1 of row to out[j]: differences over two pixels, not halved. It is
// branch-free, because branches would be unpredictable.
func gradients(out []gradient, above, row, below []float32) {
	n := len(out)
	above, below = above[1:n+1], below[1:n+1]
	left, right := row[:n], row[2:n+2]
	for j := range out {
		dx, dy := right[j]-left[j], above[j]-below[j]
		const sign = 1 << 31
		bx, by := math.Float32bits(dx), math.Float32bits(dy)
		// Positive floats have the order of their bits.
		ax, ay := bx&^sign, by&^sign
		// The smallest positive float avoids 0/0 for a zero gradient.
		short, long := math.Float32frombits(min(ax, ay)), math.Float32frombits(max(ax, ay, 1))
		octant := octants[bx>>31|by>>31<<1|(ax-ay)>>31<<2]
		length := float32(math.Sqrt(float64(dx*dx + dy*dy)))
		diagonal := length * atanTable[int(short/long*atanSteps+0.5)]
		out[j] = gradient{length - diagonal, diagonal, octant.axis, octant.diagonal}
	}
}
