package features

import (
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"math/cmplx"
	"os"
	"strconv"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Crop selects the part of an image that becomes the sample: a [Box], [Square], [Eyes] or [Whole].
type Crop interface {
	// digest identifies the part of the sample's image, for cache keys.
	digest(sample string) string
}

// Part returns the rectangle that a crop selects from an image of the given size with its upper left corner at (0, 0).
// ok is false for [Eyes], which does not select a rectangle.
func Part(crop Crop, size image.Point) (part image.Rectangle, ok bool) {
	switch c := crop.(type) {
	case Whole:
		return image.Rectangle{Max: size}, true
	case Square:
		side := min(size.X, size.Y)
		corner := image.Pt((size.X-side)/2, (size.Y-side)/2)
		return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}, true
	case Box:
		return image.Rectangle{image.Pt(c.X0, c.Y0), image.Pt(c.X1, c.Y1)}, true
	}
	return image.Rectangle{}, false
}

// Box is the rectangle of pixels X0 ≤ x < X1, Y0 ≤ y < Y1, with (0, 0) at the upper left. It is an error if the image
// does not contain it.
type Box struct{ X0, Y0, X1, Y1 int }

// Square is the largest centred square of an image.
type Square struct{}

// Whole is the entire image.
type Whole struct{}

func (b Box) digest(string) string  { return fmt.Sprintf("%#v", b) }
func (Square) digest(string) string { return "square" }
func (Whole) digest(string) string  { return "" }

// resampleCrop resizes the crop of the sample's image to dst. Both start at (0, 0). It calls guard.Fail.
func resampleCrop(dst *Canvas, src image.Image, crop Crop, sample string) {
	if e, ok := crop.(*Eyes); ok {
		e.resample(dst, src, sample)
		return
	}
	part, _ := Part(crop, src.Bounds().Size())
	guard.FailIf(part.Empty() || !part.In(src.Bounds()), "the box from (%d, %d) to (%d, %d) is outside the image of %d×%d pixels",
		part.Min.X, part.Min.Y, part.Max.X, part.Max.Y, src.Bounds().Dx(), src.Bounds().Dy())
	resize(dst, src, part)
}

// Eyes aligns faces: it rotates, scales and shifts an image so that the left eye is at 30 % and the right eye at 70 % of
// the width, both at 35 % of the height. The area outside the image is black. It is an error if the eyes of a sample are
// missing from the file or outside the image.
type Eyes struct {
	file string
	at   map[string]eyes // by sample, as x + iy with pixel centres at integers
}

type eyes struct{ left, right complex128 }

// ReadEyes reads eye positions from a CSV file with the columns file, left_x, left_y, right_x and right_y, in pixels from
// the centre of the upper left pixel. The column file is the sample's name in the data set; left is left in the image.
// The first line may be a header.
func ReadEyes(file string) (_ *Eyes, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("eyes: %w", err)
	}
	defer f.Close()
	reader := csv.NewReader(f)
	reader.FieldsPerRecord, reader.TrimLeadingSpace = 5, true
	e := &Eyes{file: file, at: map[string]eyes{}}
	err = guard.Try(func() {
		for first := true; ; first = false {
			record, err := reader.Read()
			if err == io.EOF {
				return
			}
			guard.FailIf(errors.Is(err, csv.ErrFieldCount), "%w, expected five: file,left_x,left_y,right_x,right_y", err)
			guard.Check(err)
			if !first || !strings.EqualFold(strings.TrimSpace(record[1]), "left_x") {
				line, _ := reader.FieldPos(0)
				guard.Within(func() { e.add(record) }, "line %d", line)
			}
		}
	})
	return e, guard.Wrap(err, "eyes %s", file)
}

// add adds the eyes of a line. It calls guard.Fail.
func (e *Eyes) add(record []string) {
	var v [4]float64
	for i, field := range record[1:] {
		x, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		guard.FailIf(err != nil || math.IsNaN(x) || math.IsInf(x, 0), "%q: expected a number of pixels", field)
		v[i] = x
	}
	guard.FailIf(v[2]-v[0] < 1, "the right eye, at x = %v, must be to the right of the left eye, at x = %v", v[2], v[0])
	name, found := strings.TrimSpace(record[0]), eyes{complex(v[0], v[1]), complex(v[2], v[3])}
	other, known := e.at[name]
	guard.FailIf(known && other != found, "%q already has other eye positions", name)
	e.at[name] = found
}

func (e *Eyes) digest(sample string) string { return fmt.Sprintf("eyes %v", e.at[sample]) }

func (e *Eyes) resample(dst *Canvas, src image.Image, sample string) {
	from, ok := e.at[sample]
	guard.FailIf(!ok, "%s has no eye positions for %s", e.file, sample)
	for _, eye := range []complex128{from.left, from.right} {
		// The image extends half a pixel beyond the centres of the outermost pixels.
		x, y, size := real(eye)+0.5, imag(eye)+0.5, src.Bounds().Size()
		guard.FailIf(x < 0 || y < 0 || x > float64(size.X) || y > float64(size.Y),
			"the eye at (%v, %v) is outside the image of %d×%d pixels", real(eye), imag(eye), size.X, size.Y)
	}
	width, height := float64(dst.Width), float64(dst.Height)
	to := eyes{complex(0.3*width, 0.35*height), complex(0.7*width, 0.35*height)}
	// The similarity z → turn·z + shift that maps both eyes to their targets. Package draw puts pixel corners, not
	// centres, at integers.
	const half = 0.5 + 0.5i
	turn := (to.right - to.left) / (from.right - from.left)
	shift := to.left - turn*(from.left+half)
	guard.FailIf(cmplx.IsNaN(shift) || cmplx.IsInf(shift), "the eyes of %s cannot be aligned", sample)
	drawn := image.NewRGBA64(image.Rect(0, 0, dst.Width, dst.Height))
	to3 := f64.Aff3{real(turn), -imag(turn), real(shift), imag(turn), real(turn), imag(shift)}
	draw.CatmullRom.Transform(drawn, to3, src, src.Bounds(), draw.Src, nil)
	resize(dst, drawn, drawn.Rect)
}
