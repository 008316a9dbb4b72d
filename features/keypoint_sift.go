package features

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

const (
	defaultMaxPixels = 1 << 20
	keypointSide     = 6   // smallest side of an image: points are 5 pixels or more from the border at double size
	keypointBin      = 1.5 // side of a bin relative to the diameter of a key point
	keypointPixel    = 400 // bytes that the detector allocates per pixel
)

// ErrNoOpenCV is the error of [KeypointSIFT] in a build without OpenCV.
var ErrNoOpenCV = errors.New("key points need OpenCV, which this build does not include: " +
	`build with "make opencv", or use sift: dense`)

// KeypointSIFT computes SIFT descriptors at detected key points with OpenCV (Lowe 2004). The zero value means OpenCV's
// defaults. A patch has 4×4 bins of 8 orientations as in [DenseSIFT], and is rotated to its dominant orientation. In a
// build without OpenCV, Check and Extract return ErrNoOpenCV.
type KeypointSIFT struct {
	MaxPoints int     `setting:"most" default:"all" help:"maximum number of key points per image" range:"[1,1e9]"`
	Contrast  float64 `setting:"contrast" default:"0.04" help:"contrast threshold: weaker key points are dropped" range:"(0,1]"`
	Edge      float64 `setting:"edge" default:"10" help:"edge threshold: ratio of curvatures above which key points are dropped" range:"[1,1e6]"`
	Sigma     float64 `setting:"sigma" default:"1.6" help:"Gaussian blur of the first image of an octave, in pixels" range:"[0.1,10]"`
	Root      bool    `setting:"root" help:"RootSIFT: square roots of the descriptor"`
	MaxPixels int     `setting:"pixels" default:"1048576" help:"maximum number of pixels; larger images are scaled down" range:"[1,1e9]"`
}

// Label implements [Extractor].
func (k KeypointSIFT) Label() string {
	out := "SIFT at keypoints"
	if k.MaxPoints > 0 {
		out += fmt.Sprintf(", the %d strongest of an image", k.MaxPoints)
	}
	if k.Root {
		out += ", its square root"
	}
	return out
}

// Dim and WhyNone implement [DescriptorExtractor].
func (KeypointSIFT) Dim() int        { return siftDim }
func (KeypointSIFT) WhyNone() string { return "no key points found" }

// Check implements [DescriptorExtractor].
func (k KeypointSIFT) Check() error {
	if findKeypoints == nil {
		return ErrNoOpenCV
	}
	return validate(k)
}

// Extract returns the descriptors of the image's key points, possibly none, by decreasing contrast. X and Y follow
// OpenCV's convention, which usually adds a quarter of a pixel.
func (k KeypointSIFT) Extract(img image.Image) (_ *Descriptors, err error) {
	defer guard.Catch(&err)
	guard.Check(guard.Wrap(k.Check(), "features"))
	size := img.Bounds().Size()
	out := &Descriptors{Dim: siftDim, Width: size.X, Height: size.Y}
	searched := reducedSize(size, cmp.Or(k.MaxPixels, defaultMaxPixels))
	if min(searched.X, searched.Y) < keypointSide {
		return out, nil
	}
	points, err := findKeypoints(k, reducedGrey(img, searched))
	guard.Check(guard.Wrap(err, "features: key points of an image of %d×%d pixels", size.X, size.Y))
	slices.SortFunc(points, func(a, b keypoint) int {
		return cmp.Or(cmp.Compare(b.contrast, a.contrast), cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x),
			cmp.Compare(a.diameter, b.diameter), cmp.Compare(a.angle, b.angle))
	})
	if k.MaxPoints > 0 && k.MaxPoints < len(points) {
		points = points[:k.MaxPoints]
	}
	for _, p := range points {
		if k.Root {
			rootVector(&p.vector)
		}
		out.Vectors = append(out.Vectors, p.vector[:]...)
		out.X, out.Y = append(out.X, float32(p.x)), append(out.Y, float32(p.y))
		out.Scale = append(out.Scale, float32(keypointBin*p.diameter))
	}
	out.enlarge(float64(size.X)/float64(searched.X), float64(size.Y)/float64(searched.Y))
	return out, nil
}

func (k KeypointSIFT) Memory(width, height int) int64 {
	size := reducedSize(image.Pt(width, height), cmp.Or(k.MaxPixels, defaultMaxPixels))
	// OpenCV doubles the image and stores six blurred images and five differences per octave, in 16 or 32 bits, plus
	// the key points.
	return 2*int64(width)*int64(height) + reductionMemory(width, height) + keypointPixel*int64(size.X)*int64(size.Y)
}

// reductionMemory returns the bytes of the buffers of reducedGrey.
func reductionMemory(width, height int) int64 { return 64 * (int64(width) + int64(height)) }

type keypoint struct {
	x, y, diameter, angle, contrast float64
	vector                          [siftDim]uint8
}

// findKeypoints detects and describes key points, in any order. It is nil in a build without OpenCV.
var findKeypoints func(k KeypointSIFT, img *image.Gray) ([]keypoint, error)

// reducedSize returns the largest size of about the same aspect ratio with at most the given number of pixels.
func reducedSize(size image.Point, pixels int) image.Point {
	factor := math.Sqrt(float64(pixels) / (float64(size.X) * float64(size.Y)))
	if !(factor < 1) {
		return size
	}
	return image.Pt(int(float64(size.X)*factor), int(float64(size.Y)*factor))
}

// reducedGrey returns the image in grey, reduced to size; see resample.
func reducedGrey(img image.Image, size image.Point) *image.Gray {
	out, from, grey := image.NewGray(image.Rectangle{Max: size}), img.Bounds().Size(), greyRows(img)
	single := make([]float32, from.X)
	read := func(row []float64, y int) {
		grey(single, y)
		for x, v := range single {
			row[x] = float64(v)
		}
	}
	resample(from, size, 1, read, func(y int, row []float64) {
		for x, v := range row {
			out.Pix[y*out.Stride+x] = uint8(v*0xff + 0.5)
		}
	})
	return out
}

// rootVector converts a SIFT descriptor to RootSIFT.
func rootVector(v *[siftDim]uint8) {
	sum := 0
	for _, a := range v {
		sum += int(a)
	}
	for i, a := range v {
		v[i] = uint8(min(siftUnit*math.Sqrt(float64(a)/float64(max(sum, 1)))+0.5, 0xff))
	}
}
