package imagefile

import (
	"cmp"
	"fmt"
	"image"
	"image/color"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// Use is a use of a decoded image.
type Use struct {
	// Least is the least height and width of a reduced image, 0 for the whole image.
	Least int
	// Memory returns the most bytes that Do allocates for an image of up to this size. nil means none.
	Memory func(width, height int) int64
	// Do receives the image, and the size of the whole image.
	Do func(img image.Image, whole image.Point) error
}

// MemoryOf returns the bytes that Do allocates for an image of a size.
func (u Use) MemoryOf(size image.Point) int64 {
	if u.Memory == nil {
		return 0
	}
	return u.Memory(size.X, size.Y)
}

// Reading decodes an image file once for several uses. JPEG files that internal/jpegmeans supports are decoded to
// reduced images directly; other images are decoded whole and then reduced.
type Reading struct {
	Header    Header // as stored in the file
	Truncated string // the part of a truncated file that exists, in words; "" for a complete file

	content []byte
	kind    *format
	turn    int                          // the orientation of the preview of a raw image, else 0
	jpeg    *jpegmeans.File              // nil for other kinds
	images  [mostReduced + 1]image.Image // by the factor of reduction; 1 is the whole image
}

// NewReading reads the header of a file with this content. With mend a truncated JPEG file is used as far as it goes;
// it is an error if less than half of its rows are there. A raw image is read as its JPEG preview.
func NewReading(content []byte, mend bool) (r *Reading, err error) {
	defer guard.Catch(&err)
	if kind := formatOf(content[:min(len(content), MagicLength)]); kind != nil && kind.name == raw {
		jpeg := guard.Must(preview(content))
		r = guard.Must(NewReading(jpeg, mend))
		r.turn = previewOrientation(content, jpegmeans.Parse(jpeg))
		return r, nil
	}
	kind, header, err := readHeader(content)
	guard.Check(err)
	r = &Reading{content: content, kind: kind, Header: header}
	if kind.name == "JPEG" {
		r.jpeg = jpegmeans.Parse(content)
	}
	if r.jpeg == nil || !mend {
		return r, nil
	}
	mended, rows := r.jpeg.Mend()
	said := fmt.Sprintf("the JPEG file ends early: it has %d of %d rows", rows, header.Height)
	switch {
	case rows == 0:
		return r, nil
	case 2*rows < header.Height:
		return nil, NewError(KindTruncated, "%s, and images with less than half of their rows are not used", said)
	case rows == header.Height && r.jpeg.Progressive:
		said = "the progressive JPEG file ends early: its finest detail is missing"
	}
	if r, err = NewReading(mended, false); err == nil {
		r.Truncated = said
	}
	return r, err
}

// Length returns the size of the file in bytes.
func (r *Reading) Length() int64 { return int64(len(r.content)) }

func (r *Reading) size() image.Point { return image.Pt(r.Header.Width, r.Header.Height) }

// decodingFactor returns the factor by which decoding reduces the height and width.
func (r *Reading) decodingFactor(least int) int {
	if r.jpeg == nil || least <= 0 {
		return 1
	}
	if times := reduction(r.size(), least); r.jpeg.Serves(times) {
		return times
	}
	return 1
}

// Memory returns the most bytes that decoding and the uses, one after the other, allocate.
func (r *Reading) Memory(uses []Use) int64 {
	var decoding [mostReduced + 1]int64
	most := int64(0)
	for _, u := range uses {
		of, times := r.size(), r.decodingFactor(u.Least)
		if times > 1 {
			of = reducedBounds(of, times).Size()
			decoding[times] = max(decoding[times], r.jpeg.Memory(times)+smallDecoding)
		} else {
			decoding[1] = r.Header.Memory
			if times := reduction(of, u.Least); u.Least > 0 && times > 1 {
				small := reducedBounds(of, times).Size()
				decoding[times] = max(decoding[times], 4*int64(small.X)*int64(small.Y))
			}
		}
		most = max(most, u.MemoryOf(of))
	}
	for _, bytes := range decoding {
		most += bytes
	}
	if r.Truncated != "" {
		most += r.Length() // a copy
	}
	return most
}

// Image returns the image and the size of the whole one. Unless least is 0, the image is reduced as by [Reduced].
func (r *Reading) Image(least int) (img image.Image, whole image.Point, err error) {
	defer guard.Catch(&err)
	if times := r.decodingFactor(least); times > 1 {
		orientation := r.orientation()
		if r.images[times] == nil {
			r.images[times] = orient(r.decodeSafely(func() (image.Image, error) { return r.jpeg.Decode(times) }), orientation)
		}
		return r.images[times], uprightSize(r.size(), orientation), nil
	}
	if r.images[1] == nil {
		r.images[1] = r.decode()
	}
	whole = r.images[1].Bounds().Size()
	times := 1
	if least > 0 {
		times = reduction(whole, least)
	}
	if r.images[times] == nil {
		r.images[times] = Reduced(r.images[1], least)
	}
	return r.images[times], whole, nil
}

// decodeSafely returns the result of decode. It calls guard.Fail, also if decode panics.
func (r *Reading) decodeSafely(decode func() (image.Image, error)) (img image.Image) {
	err := guard.Call(func() (err error) {
		img, err = decode()
		return err
	})
	guard.Check(decodeError(r.kind, err))
	return img
}

// decode returns the whole image, upright. It calls guard.Fail.
func (r *Reading) decode() image.Image {
	img := r.decodeSafely(func() (image.Image, error) { return r.kind.decode(r.content) })
	size, of := img.Bounds().Size(), r.Header
	guard.FailIf(size.X < 1 || size.Y < 1, "no pixels")
	guard.FailIf(size.X > of.Width || size.Y > of.Height, "%d×%d pixels, but the header declares %d×%d", size.X, size.Y, of.Width, of.Height)
	if r.jpeg != nil {
		img = orient(img, r.orientation())
	}
	return img
}

const mostReduced = 8 // the largest factor of Reduced

// reduction returns the factor by which Reduced divides the height and width of an image.
func reduction(size image.Point, least int) int {
	times := 1
	for times < mostReduced && min(size.X, size.Y)/(2*times) >= max(least, 1) {
		times *= 2
	}
	return times
}

// Reduced returns img with its height and width divided by 2, 4 or 8, the largest factor that keeps both at or above
// least, or img itself. Each pixel is the mean of a block; blocks at the right and lower border of the stored image may
// be incomplete. Only images as decoded from JPEG and opaque 8-bit PNG files are reduced; others are returned
// unchanged. A [Reading] decodes a JPEG file to a reduced image directly.
func Reduced(img image.Image, least int) image.Image {
	size := img.Bounds().Size()
	times := reduction(size, least)
	if times == 1 {
		return img
	}
	switch src := img.(type) {
	case *oriented:
		if inner, ok := Reduced(src.RGBA64Image, least).(image.RGBA64Image); ok {
			return &oriented{inner, src.orientation}
		}
	case *image.YCbCr:
		b := src.Rect
		// The number of pixels of a chroma sample: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, 4:1:0.
		of := [...][2]int{{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}}[src.SubsampleRatio]
		across, down := of[0], of[1]
		if across > times || down > times || b.Min.X%across != 0 || b.Min.Y%down != 0 {
			return img
		}
		out := image.NewYCbCr(reducedBounds(size, times), image.YCbCrSubsampleRatio444)
		blockMeans(plane{out.Y, out.YStride, 1}, plane{src.Y[src.YOffset(b.Min.X, b.Min.Y):], src.YStride, 1}, size, times, times)
		chroma := image.Pt((size.X+across-1)/across, (size.Y+down-1)/down)
		at := src.COffset(b.Min.X, b.Min.Y)
		blockMeans(plane{out.Cb, out.CStride, 1}, plane{src.Cb[at:], src.CStride, 1}, chroma, times/across, times/down)
		blockMeans(plane{out.Cr, out.CStride, 1}, plane{src.Cr[at:], src.CStride, 1}, chroma, times/across, times/down)
		return out
	case *image.Gray:
		out := image.NewGray(reducedBounds(size, times))
		blockMeans(plane{out.Pix, out.Stride, 1}, plane{src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y):], src.Stride, 1}, size, times, times)
		return out
	case *image.RGBA:
		if src.Opaque() {
			out, pix := image.NewRGBA(reducedBounds(size, times)), src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y):]
			for channel := range 4 {
				blockMeans(plane{out.Pix[channel:], out.Stride, 4}, plane{pix[channel:], src.Stride, 4}, size, times, times)
			}
			return out
		}
	case *image.NRGBA:
		if src.Opaque() {
			return Reduced(&image.RGBA{Pix: src.Pix, Stride: src.Stride, Rect: src.Rect}, least)
		}
	}
	return img
}

func reducedBounds(size image.Point, times int) image.Rectangle {
	return image.Rect(0, 0, (size.X+times-1)/times, (size.Y+times-1)/times)
}

// plane holds the samples of one channel at a distance of step.
type plane struct {
	pix          []uint8
	stride, step int
}

// blockMeans writes the rounded means of blocks of across×down samples of a plane.
func blockMeans(dst, src plane, size image.Point, across, down int) {
	sums := make([]uint32, (size.X+across-1)/across)
	for y := 0; y < size.Y; y += down {
		clear(sums)
		rows := min(down, size.Y-y)
		for v := range rows {
			line := src.pix[(y+v)*src.stride:]
			for x := range sums {
				var sum uint32
				for i := x * across * src.step; i < min((x+1)*across, size.X)*src.step; i += src.step {
					sum += uint32(line[i])
				}
				sums[x] += sum
			}
		}
		for x, sum := range sums {
			n := uint32(rows * min(across, size.X-x*across))
			dst.pix[y/down*dst.stride+x*dst.step] = uint8((sum + n/2) / n)
		}
	}
}

// orientation returns the orientation of a JPEG image.
func (r *Reading) orientation() int { return cmp.Or(r.turn, orientationOf(r.jpeg.EXIF)) }

// orientationOf returns the orientation tag, 1 to 8, of a TIFF file or an EXIF block, or 1 (upright).
func orientationOf(content []byte) int {
	if v := tiffTags(content)[tiffOrientation]; 1 <= v && v <= 8 {
		return int(v)
	}
	return 1
}

// oriented is a stored image seen upright.
type oriented struct {
	image.RGBA64Image
	orientation int
}

func orient(img image.Image, orientation int) image.Image {
	src, ok := img.(image.RGBA64Image)
	if !ok || orientation == 1 {
		return img
	}
	return &oriented{src, orientation}
}

func uprightSize(stored image.Point, orientation int) image.Point {
	if orientation >= 5 {
		return image.Pt(stored.Y, stored.X)
	}
	return stored
}

func (o *oriented) Bounds() image.Rectangle {
	return image.Rectangle{Max: uprightSize(o.RGBA64Image.Bounds().Size(), o.orientation)}
}

func (o *oriented) stored(x, y int) (int, int) {
	b := o.RGBA64Image.Bounds()
	right, bottom := b.Dx()-1, b.Dy()-1
	if o.orientation >= 5 { // mirrored at the main diagonal
		x, y = y, x
	}
	switch o.orientation {
	case 2, 8:
		x = right - x
	case 4, 6:
		y = bottom - y
	case 3, 7:
		x, y = right-x, bottom-y
	}
	return b.Min.X + x, b.Min.Y + y
}

func (o *oriented) At(x, y int) color.Color { return o.RGBA64Image.At(o.stored(x, y)) }

func (o *oriented) RGBA64At(x, y int) color.RGBA64 { return o.RGBA64Image.RGBA64At(o.stored(x, y)) }
