// Package features computes features of the samples of a data set, for factorisation and clustering.
//
// [Extract] decodes, crops and resizes each image, computes a row of features with a [RowExtractor] and normalises it.
// [Describe] computes local descriptors with a [DescriptorExtractor]. [Extractors] lists both kinds. The example of
// Extract shows how to get the feature matrix of a set.
//
// Pixels of image files have values from 0 (black) to 1 (white); vectors keep their scale. Images are reduced by area
// averaging and enlarged by linear interpolation.
//
// A sample is unusable if its file cannot be read, its crop does not fit, a value is not finite or all values are zero.
// The error names the sample. It stops the extraction or, with SkipBad, is listed in Skipped.
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

// Extractor computes features of images: a [RowExtractor] computes one row per image, a [DescriptorExtractor] descriptors
// of patches. It is a struct of settings whose zero value means the defaults. Use it with [Extract] and
// [Describe].
type Extractor interface {
	// Label describes the features, as in "16×16 pixels in colour".
	Label() string
}

// RowExtractor computes a row of features per image.
type RowExtractor interface {
	Extractor
	// Rows validates the settings and prepares the extraction for the images of a set.
	Rows(ctx context.Context, set *datasets.Set) (*Rows, error)
}

// Rows describes how a [RowExtractor] computes rows.
type Rows struct {
	// Height, Width and Channels are the size of images after crop and resizing: grey for 1 channel, red, green and
	// blue for 3. Crop is the default crop; nil means the whole image.
	Height, Width, Channels int
	Crop                    Crop
	// Places is the spatial grid of a row's features, by rows from the upper left; zero if there is none.
	Places Cells
	// Columns is m, the length of a row. Fill computes the row of an image; row is zero before. It allocates at most
	// Memory bytes and is called concurrently. If Fill is nil, the row is the image, plane by plane, and basis
	// vectors are images.
	Columns int
	Fill    func(row []float64, img *Canvas) error
	Memory  int64
	// Digest identifies other inputs of rows than the image, the crop and the extractor's settings, such as the
	// content of a file. It is part of the cache key.
	Digest string
}

// DescriptorExtractor computes local descriptors of patches of an image. It receives the decoded image unchanged.
type DescriptorExtractor interface {
	Extractor
	Check() error // returns an error for invalid settings, and if this build has no support
	Dim() int     // returns the length of a descriptor
	// Extract returns the descriptors of an image, possibly none. It is called concurrently.
	Extract(image.Image) (*Descriptors, error)
	// Memory returns the largest number of bytes that Extract allocates for an image of width×height pixels.
	Memory(width, height int) int64
	WhyNone() string // returns the reason why an image has no descriptors
}

// Info describes an extractor.
type Info struct {
	// Name is the key that selects the extractor in an experiment file, and Form the value if several extractors
	// share the key.
	Name, Form  string
	Title, Help string
	Images      string // its use of images, as in "takes 32×32 greys"
	Colour      bool   // requires colour images; vectors are grey
	KeepsShape  bool   // a row is an image
	// Cached is set if reading rows from the cache is faster than computing them. Descriptors are always cached.
	Cached bool
	Zero   Extractor // the extractor with default settings
}

// Descriptors reports whether the extractor is a [DescriptorExtractor].
func (i Info) Descriptors() bool {
	_, ok := i.Zero.(DescriptorExtractor)
	return ok
}

// New returns the extractor with the given settings. Values are numbers, strings or booleans.
func (i Info) New(params map[string]any) (Extractor, error) {
	return settings.New(settings.Of(params), i.Zero)
}

// validate returns an error for the first setting that is out of its range.
func validate[E Extractor](e E) error {
	for name, v := range settings.Encode(e) {
		if _, err := settings.New(settings.Of(map[string]any{name: v}), e); err != nil {
			return fmt.Errorf("%s: %s: %w", InfoOf(e).Title, name, err)
		}
	}
	return nil
}

// Extractors returns all extractors, the default first.
func Extractors() []Info { return slices.Clone(extractors) }

// InfoOf returns the description of an extractor. An unknown one is described by its type.
func InfoOf(e Extractor) Info {
	for _, i := range extractors {
		if reflect.TypeOf(i.Zero) == reflect.TypeOf(e) {
			return i
		}
	}
	return Info{Name: fmt.Sprintf("%T", e), Zero: e}
}

// extractors is the list of extractors, the default first.
var extractors = []Info{
	{Name: "pixels", Title: "Pixels", Help: "grey or colour values of the resized image",
		Images: "needs images and resizes them", KeepsShape: true, Zero: Pixels{}},
	{Name: "hog", Title: "Histograms of oriented gradients",
		Help:   "8×8 cells of 8 orientations, for objects that fill the image (Dalal and Triggs 2005)",
		Images: "needs images and resizes them to 32×32 grey pixels", Zero: HOG{}},
	{Name: "colour", Form: "hsv", Title: "Colour histograms",
		Help:   "histograms of hue, saturation and value in grid cells",
		Images: "needs colour images and resizes them to 64×64 pixels", Colour: true, Cached: true, Zero: ColourHistogram{}},
	{Name: "network", Form: lite0, Title: "A convolutional network",
		Help:   "pooled features of EfficientNet-Lite0, trained on ImageNet (Tan and Le 2019), or of an ONNX model",
		Images: "needs colour images and crops them to the central square", Cached: true, Zero: Network{}},
	{Name: "sift", Form: "dense", Title: "Dense SIFT",
		Help:   "SIFT descriptors on a regular grid, for visual words (Lowe 2004; Ambai et al. 2011)",
		Images: "needs uncropped images", Zero: DenseSIFT{}},
	{Name: "sift", Form: "keypoints", Title: "SIFT at key points",
		Help:   "SIFT descriptors at detected key points, for visual words; needs a build with OpenCV (Lowe 2004)",
		Images: "needs uncropped images", Zero: KeypointSIFT{}},
}
