// Package features turns the samples of a set into one matrix for the factorisation and the clustering.
//
// [Extract] gives each image, decoded and cropped, to an extractor that makes a row of it, and normalises the
// rows. [Describe] gives images to one that describes their patches. [Extractors] lists both.
//
// The values of image files run from 0 (black) to 1 (white); vectors keep their own scale. A reduced pixel is
// the mean of the part of the image that it covers, and an enlarged one is interpolated linearly.
//
// A file that cannot be read, an image that a crop does not fit, a value that is not finite and a sample whose
// values are all zero are errors that name the sample. They stop the run or, with SkipBad, are listed while the
// sample is left out.
package features

import (
	"context"
	"fmt"
	"image"
	"reflect"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Extractor makes features of images: a [RowExtractor] one row of each, or a [DescriptorExtractor] descriptors
// of its patches. It is a plain struct of settings whose zero value has their defaults. [Extract] and
// [Describe] do the rest.
type Extractor interface {
	// Label says what is made of an image, as in "16×16 pixels in colour".
	Label() string
}

// RowExtractor makes a row of features of each image.
type RowExtractor interface {
	Extractor
	// Rows gets ready for the images of a set, or reports settings that make no sense.
	Rows(ctx context.Context, set *datasets.Set) (*Rows, error)
}

// Rows is how a [RowExtractor] makes rows.
type Rows struct {
	// Height, Width and Channels are what images are brought to, cropped, before Fill is called: grey for 1
	// channel, red, green and blue for 3. Crop is taken where none is chosen, nil for the whole.
	Height, Width, Channels int
	Crop                    Crop
	// Places is the spatial grid of a row's features, row by row from the upper left; zero if it has none.
	Places Cells
	// Columns is m, the length of a row. Fill writes the row of an image, which is zero before, in at most
	// Memory bytes. Several goroutines call it at once. Where it is nil the row is the image, plane after
	// plane, and basis vectors are images.
	Columns int
	Fill    func(row []float64, img *Canvas) error
	Memory  int64
	// Digest tells apart what rows depend on beside the image, the crop and the extractor's settings, such as
	// the content of a file. It is part of the cache's key.
	Digest string
}

// DescriptorExtractor describes the patches of an image, which it is given as it was decoded.
type DescriptorExtractor interface {
	Extractor
	Check() error // reports settings that make no sense, and what this build cannot do
	Dim() int     // the length of a descriptor
	// Extract returns the descriptors of an image; none is no error. Several goroutines call it at once.
	Extract(image.Image) (*Descriptors, error)
	// Memory returns how many bytes Extract takes, at most, for an image of width×height pixels, beside those
	// of the image.
	Memory(width, height int) int64
	WhyNone() string // says why an image has no descriptors
}

// Info is an entry of the list of extractors.
type Info struct {
	// Name is the key by which an experiment chooses the extractor, and Form the value, where several have one
	// name.
	Name, Form  string
	Title, Help string
	Images      string // what it does with images, as in "needs 32×32 grey pixels"
	MinSide     int    // the least width and height of the images that it is meant for
	Colour      bool   // grey images, such as those that vectors hold, will not do
	KeepsShape  bool   // a row is an image
	// Cached is set where reading rows is faster than making them. Descriptors are always cached.
	Cached bool
	Zero   Extractor // has the settings' defaults
}

// Descriptors tells whether it makes descriptors, and not a row, of an image.
func (i Info) Descriptors() bool {
	_, ok := i.Zero.(DescriptorExtractor)
	return ok
}

// New returns the extractor with the given settings, whose values are numbers, strings or booleans.
func (i Info) New(params map[string]any) (Extractor, error) {
	return settings.New(settings.Of(params), i.Zero)
}

// check returns an error for a setting that is out of its range.
func check[E Extractor](e E) error {
	for name, v := range settings.Encode(e) {
		if _, err := settings.New(settings.Of(map[string]any{name: v}), e); err != nil {
			return fmt.Errorf("%s: %s: %w", InfoOf(e).Title, name, err)
		}
	}
	return nil
}

// Extractors returns the list of extractors, the one that is used where none is chosen first.
func Extractors() []Info { return slices.Clone(extractors) }

// InfoOf returns the entry of an extractor, or one of its type alone where it is not in the list.
func InfoOf(e Extractor) Info {
	for _, i := range extractors {
		if reflect.TypeOf(i.Zero) == reflect.TypeOf(e) {
			return i
		}
	}
	return Info{Name: fmt.Sprintf("%T", e), Zero: e}
}

// extractors is the list of extractors.
var extractors = []Info{
	{Name: "pixels", Title: "Pixels", Help: "grey or colour values of the resized image",
		Images: "needs images of one size", KeepsShape: true, Zero: Pixels{}},
	{Name: "hog", Title: "Histograms of oriented gradients",
		Help:   "8×8 cells of 8 orientations, for objects that fill the image (Dalal and Triggs 2005)",
		Images: "needs 32×32 grey pixels", Zero: HOG{}},
	{Name: "colour", Form: "hsv", Title: "Colour histograms",
		Help:   "histograms of hue, saturation and value in grid cells",
		Images: "needs 64×64 colour pixels", Colour: true, Cached: true, Zero: ColourHistogram{}},
	{Name: "network", Form: lite0, Title: "A convolutional network",
		Help:   "pooled features of EfficientNet-Lite0, trained on ImageNet (Tan and Le 2019), or of an ONNX model",
		Images: "needs colour images and crops them to the central square", Cached: true, Zero: Network{}},
	{Name: "sift", Form: "dense", Title: "Dense SIFT",
		Help:   "SIFT descriptors on a regular grid, for visual words (Lowe 2004; Ambai et al. 2011)",
		Images: "needs uncropped images", MinSide: 64, Zero: DenseSIFT{}},
	{Name: "sift", Form: "keypoints", Title: "SIFT at key points",
		Help:   "SIFT descriptors at detected key points, for visual words; needs the build with OpenCV (Lowe 2004)",
		Images: "needs uncropped images", MinSide: 64, Zero: KeypointSIFT{}},
}
