package features

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
)

const defaultStep, defaultBin = 8, 4

// DenseSIFT describes patches on a grid over the whole image by SIFT descriptors that are not turned: 4×4 bins
// of 8 orientations. Its zero value takes patches of 16×16 pixels, every 8 pixels, as Ambai et al. 2011 do.
//
// A descriptor is that of Lowe 2004, section 6.1, for a key point of angle 0 at the patch's centre. Its values
// are ordered by the bin's row and column, then by the orientation, counter-clockwise from the right.
type DenseSIFT struct {
	Step      int     `setting:"step" default:"8" help:"pixels between patches" range:"[1,4096]"`
	Bins      []int   `setting:"bins" default:"4" help:"side of a bin in pixels, or a list of them; a patch has 4×4" range:"[1,1e9]"`
	Root      bool    `setting:"root" help:"RootSIFT: square roots"`
	Contrast  float64 `setting:"contrast" default:"none" help:"contrast below which a patch has the vector zero" range:"(0,]"`
	MaxPixels int     `setting:"pixels" default:"1048576" help:"width × height to which larger images are reduced" range:"[1,1e9]"`
}

func (d DenseSIFT) Label() string {
	var sides []string
	for _, bin := range d.bins() {
		sides = append(sides, fmt.Sprintf("%d×%[1]d", siftBins*bin))
	}
	out := fmt.Sprintf("SIFT of patches of %s pixels at every %d", strings.Join(sides, " and "), cmp.Or(d.Step, defaultStep))
	if d.Root {
		out += ", its square root"
	}
	if d.Contrast > 0 {
		out += fmt.Sprintf(", those of a contrast below %v as zeros", d.Contrast)
	}
	return out
}

// Check, Dim and WhyNone implement [DescriptorExtractor].
func (d DenseSIFT) Check() error  { return check(d) }
func (DenseSIFT) Dim() int        { return siftDim }
func (DenseSIFT) WhyNone() string { return "no patch fits into it" }

// bins returns the sizes of the bins.
func (d DenseSIFT) bins() []int {
	if len(d.Bins) == 0 {
		return []int{defaultBin}
	}
	return d.Bins
}

// Extract returns the descriptors of the patches that lie within the image, by scale as in Bins, then by row
// and column. An image that is smaller than a patch has none, which is no error, and a patch of one grey value
// has the vector zero.
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

// Memory returns how many bytes Extract takes, at most, for an image of width×height pixels, beside those of
// the image.
func (d DenseSIFT) Memory(width, height int) int64 {
	size := reducedSize(image.Pt(width, height), cmp.Or(d.MaxPixels, defaultMaxPixels))
	pixels := int64(size.X) * int64(size.Y)
	// The greys of the whole image and of the reduced one, the descriptors, once more as bytes, the blurred
	// image, and rows of gradients.
	need := 2*int64(width)*int64(height) + pixels + reducing(width, height)
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

// greyRows returns the function that writes row y of the image to row, as greys from 0 (black) to 1 (white).
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
