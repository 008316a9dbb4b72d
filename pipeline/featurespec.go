package pipeline

import (
	"context"
	"fmt"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Features says what is made of the samples. The zero value is 32×32 grey
// pixels of unit length, and vectors as they are.
type Features struct {
	// Suited takes what suits the images in place of all below: visual words
	// where each has 64 pixels or more in width and height, colours where one
	// is smaller. It is not part of the file.
	Suited bool
	// HOG takes histograms of oriented gradients in place of the pixels.
	HOG bool
	// Words, if set, takes histograms of visual words in place of the pixels.
	Words         *Words
	Height, Width int
	// Colour takes red, green and blue in place of grey where the samples are
	// image files.
	Colour    bool
	Normalise features.Norm
	// Square takes the largest square in the middle, Box a part in pixels
	// (x0, y0, x1, y1), and Eyes names the CSV file of the eyes' places by
	// which faces are aligned.
	Square bool
	Box    []int
	Eyes   string
	// SkipBad leaves out what cannot be read. It is not part of the file.
	SkipBad bool
}

// DecodeSetting reads {pixels: 32, colour: true, normalise: l2, crop: square},
// {hog: true}, or {sift: dense, words: 200, grid: 4x4}.
func (f *Features) DecodeSetting(node *settings.Value) error {
	*f = Features{SkipBad: f.SkipBad}
	if keyOf(node, "sift") != node {
		f.Words = &Words{}
	}
	return fields(node, func(key string, value *settings.Value) error {
		switch {
		case key == "normalise" || f.Words == nil && !wordKeys[key]:
		case f.Words == nil:
			return keyOf(node, key).Errorf("%s is for visual words, which begin with sift (sift: dense, for example)", key)
		case wordKeys[key]:
			return f.Words.set(key, value)
		case pixelKeys[key]:
			return keyOf(node, key).Errorf("%s does not go with sift, which describes the photographs as they are", key)
		}
		s := value.Text
		var err error
		switch key {
		case "hog":
			if settings.Decode(value, &f.HOG) != nil {
				return value.Errorf("want true or false")
			}
			for _, other := range []string{"pixels", "colour"} {
				if at := keyOf(node, other); f.HOG && at != node {
					return at.Errorf("%s does not go with hog, which takes 32×32 greys", other)
				}
			}
		case "pixels":
			var size Size
			err = settings.Decode(value, &size)
			f.Height, f.Width = size.Height, size.Width
		case "colour":
			if settings.Decode(value, &f.Colour) != nil {
				return value.Errorf("want true or false")
			}
		case "normalise":
			if f.Normalise, err = features.ParseNorm(s); err != nil {
				return value.Errorf("%v", err)
			}
		case "crop":
			if s == "square" {
				f.Square = true
				return nil
			}
			var form struct {
				Box  []int  `setting:"box" range:"[-1000000,1000000]"`
				Eyes string `setting:"eyes" want:"the name of a CSV file"`
			}
			if value.Kind != settings.KindMapping {
				return value.Want("a crop: square, {box: [x0, y0, x1, y1]} or {eyes: FILE}")
			}
			if err := settings.Decode(value, &form); err != nil {
				return err
			}
			f.Box, f.Eyes = form.Box, form.Eyes
			if box := value.Get("box").Value; box != nil {
				if len(f.Box) != 4 {
					return box.Errorf("want the pixels [x0, y0, x1, y1]")
				}
				if f.Box[0] < 0 || f.Box[1] < 0 || f.Box[0] >= f.Box[2] || f.Box[1] >= f.Box[3] {
					return box.Errorf("the box %v holds no pixels; want 0 <= x0 < x1 and 0 <= y0 < y1", f.Box)
				}
			}
			return nil
		default:
			return unknownKey("pixels, colour, normalise, crop, hog, sift, words, grid, idf and power")
		}
		return err
	})
}

// The keys that say what is taken, but for normalise.
var (
	pixelKeys = map[string]bool{"pixels": true, "colour": true, "crop": true, "hog": true}
	wordKeys  = map[string]bool{"sift": true, "words": true, "grid": true, "idf": true, "power": true}
)

// photographSide is the least width and height of what is taken for photographs.
const photographSide = 64

// Resolve returns the features themselves where they are to be found for the images of
// a set.
func (f Features) Resolve(set *datasets.Set) Features {
	if !f.Suited {
		return f
	}
	f = Features{SkipBad: f.SkipBad, Colour: true}
	for _, file := range set.Files {
		// A file that cannot be read is found out later.
		if w, h, err := datasets.ImageSize(file); err == nil && min(w, h) < photographSide {
			return f
		}
	}
	if set.Files != nil {
		f.Words = &Words{Fewer: true}
	}
	return f
}

// extract returns the features of a set, but for visual words.
func (f Features) extract(ctx context.Context, set *datasets.Set, images *datasets.Images, progress func(done, total int)) (*features.Matrix, error) {
	var crop features.Crop
	switch {
	case f.Square:
		crop = features.Square{}
	case f.Box != nil:
		crop = features.Box{X0: f.Box[0], Y0: f.Box[1], X1: f.Box[2], Y1: f.Box[3]}
	case f.Eyes != "":
		eyes, err := features.ReadEyes(f.Eyes)
		if err != nil {
			return nil, err
		}
		crop = eyes
	}
	var by features.RowExtractor = features.Pixels{Size: features.Size{Height: f.Height, Width: f.Width}, Colour: f.Colour}
	if f.HOG {
		by = features.HOG{}
	}
	return features.Extract(ctx, set, by, features.Options{Crop: crop, Normalise: f.Normalise, SkipBad: f.SkipBad, Images: images, Progress: progress})
}

// String returns the features in words.
func (f Features) String() string {
	if f.Words != nil {
		return fmt.Sprintf("%s, normalised by %s", f.Words, f.Normalise)
	}
	size := "32×32 pixels"
	if f.Height > 0 {
		size = fmt.Sprintf("%d×%d pixels", f.Height, f.Width)
	}
	if f.Colour {
		size += " in colour"
	}
	switch {
	case f.HOG:
		size = "histograms of oriented gradients of 32×32 pixels"
	case f.Height == 0:
		size += ", or the set's own"
	}
	switch {
	case f.Square:
		size += ", the middle square"
	case f.Box != nil:
		size += fmt.Sprintf(", the box %v", f.Box)
	case f.Eyes != "":
		size += ", aligned by the eyes"
	}
	return fmt.Sprintf("%s, normalised by %s", size, f.Normalise)
}
