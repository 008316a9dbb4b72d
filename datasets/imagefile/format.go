// Package imagefile decodes image files safely: it checks headers against limits of size and memory, decodes pixels,
// upright and optionally reduced, and classifies errors.
package imagefile

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/heif"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// MaxPixels is the largest width × height of a decoded image.
const MaxPixels = 100_000_000

// maxImageFile is the largest size of an image file in bytes: twice the size of MaxPixels pixels of 8 bytes.
const maxImageFile = 2 * 8 * MaxPixels

type format struct {
	name    string
	magics  []string // the first bytes of its files; '?' matches any byte
	config  func(io.Reader) (image.Config, error)
	decode  func(content []byte) (image.Image, error)
	densest int64 // the most pixels per byte of the file, 0 for no limit
}

const mostLZW = 4096 // the most bytes per byte of LZW data

var formats = []format{
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, contentDecoder(png.Decode), 8 * zipfile.MostDeflate},
	{"JPEG", []string{"\xff\xd8\xff"}, jpeg.DecodeConfig, contentDecoder(jpeg.Decode), 8 * 8 * 8}, // a block takes a bit
	{"GIF", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, contentDecoder(gif.Decode), mostLZW},
	{"BMP", []string{"BM????\x00\x00\x00\x00"}, bmp.DecodeConfig, contentDecoder(bmp.Decode), 8},
	{"TIFF", []string{"II*\x00", "MM\x00*"}, tiff.DecodeConfig, decodeTIFF, 8 * mostLZW}, // CCITT packs white rows even better
	{"WebP", []string{"RIFF????WEBPVP8"}, webp.DecodeConfig, contentDecoder(webp.Decode), 0},
	{"HEIF", heifMagics, heifConfig, decodeHEIF, 0},
	{raw, rawMagics, previewConfig, nil, 0}, // NewReading decodes the preview
	{"PNM", pnmMagics, decodePNMConfig, decodePNM, 1},
}

const raw = "raw" // the format of raw images

// heifMagics begin HEIC and AVIF files: a box of brands (ISO/IEC 23008-12).
var heifMagics = []string{
	"????ftypheic", "????ftypheix", "????ftypheim", "????ftypheis", "????ftyphevc", "????ftyphevx", "????ftypmif1", "????ftypmsf1",
	"????ftypavif", "????ftypavis",
}

func heifConfig(r io.Reader) (image.Config, error) {
	h, err := heif.ReadHeader(r)
	return image.Config{Width: h.Width, Height: h.Height}, err
}

func decodeHEIF(content []byte) (image.Image, error) {
	img, orientation, err := heif.Decode(content)
	if err != nil {
		return nil, err
	}
	return orient(img, orientation), nil
}

func contentDecoder(decode func(io.Reader) (image.Image, error)) func([]byte) (image.Image, error) {
	return func(content []byte) (image.Image, error) { return decode(bytes.NewReader(content)) }
}

// MagicLength is the number of leading bytes of a file that identify any image format.
const MagicLength = 256

// formatOf returns the format of a file that begins with head, or nil if it is not an image.
func formatOf(head []byte) *format {
	for i := range formats {
		for _, magic := range formats[i].magics {
			fits := len(head) >= len(magic)
			for at := 0; fits && at < len(magic); at++ {
				fits = magic[at] == '?' || magic[at] == head[at]
			}
			switch {
			case fits && formats[i].name == "TIFF" && isRawTIFF(head):
				return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == raw })]
			case fits:
				return &formats[i]
			}
		}
	}
	return nil
}

// imageExtensions are extensions of images, including unsupported ones, so that errors name such files.
var imageExtensions = []string{
	".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm",
	".pbm", ".pam", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".ras",
}

// HasExtension reports whether a file's name has the extension of an image, supported or not.
func HasExtension(name string) bool {
	return hasExtension(name, imageExtensions) || IsRaw(name)
}

// Is reports whether a file that begins with head, MagicLength bytes, is an image of a supported format.
func Is(head []byte) bool { return formatOf(head) != nil }

// IsFile is Is for the file at path.
func IsFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	kind, err := readFormat(f)
	if err == io.EOF {
		err = nil
	}
	return kind != nil, err
}

// readFormat returns the format of a file, or nil if it is not an image. The error for an empty file is io.EOF.
func readFormat(r io.ReaderAt) (*format, error) {
	head := make([]byte, MagicLength)
	n, err := r.ReadAt(head, 0)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return formatOf(head[:n]), err
}

// FileError returns err as the error of the image file at path, or nil for nil.
func FileError(path string, err error) error { return withKind(err, "image %s", path) }

// CheckLength returns an error for an image file that is too large to be read.
func CheckLength(path string, bytes int64) error {
	if bytes > maxImageFile {
		return NewError(KindTooLarge, "image %s: %d bytes, above the limit of %d", path, bytes, maxImageFile)
	}
	return nil
}

// Header is the information in the header of an image file.
type Header struct {
	Format string // "PNG", "JPEG", "GIF", "BMP", "TIFF", "WebP", "HEIF" (HEIC and AVIF) or "PNM"
	// Width and Height are the stored size, before a JPEG is turned upright.
	Width, Height int
	Memory        int64 // the most bytes that decoding allocates at a time, beside the file
}

// readHeader reads the header of the image file with this content, without decoding pixels.
func readHeader(content []byte) (*format, Header, error) {
	kind, config, err := decodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, Header{}, err
	}
	header := Header{kind.name, config.Width, config.Height, smallDecoding}
	err = guard.Try(func() { header.Memory += kind.memory(content, config) })
	return kind, header, decodeError(kind, err)
}

// Size returns the stored width and height in the header of the image file at path, with the same errors as Decode.
func Size(path string) (width, height int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, fmt.Errorf("image: %w", err)
	}
	defer f.Close()
	_, config, err := decodeConfig(f)
	return config.Width, config.Height, guard.Wrap(err, "image %s", path)
}

// decodeConfig reads the header of an image file.
func decodeConfig(r io.ReaderAt) (kind *format, config image.Config, err error) {
	switch kind, err = readFormat(r); {
	case err == io.EOF:
		err = NewError(KindEmpty, "the file is empty")
	case err == nil && kind == nil:
		err = NewError(KindNoImage, "not a PNG, JPEG, GIF, BMP, TIFF, WebP, HEIC, AVIF, raw, PGM or PPM file")
	}
	if err != nil {
		return nil, config, err
	}
	err = guard.Call(func() error {
		config, err = kind.config(io.NewSectionReader(r, 0, math.MaxInt64))
		return err
	})
	switch w, h := config.Width, config.Height; {
	case err != nil:
		err = decodeError(kind, err)
	case w < 1 || h < 1:
		err = fmt.Errorf("%d×%d pixels", w, h)
	case w > MaxPixels/h:
		err = NewError(KindTooLarge, "%d×%d pixels, above the limit of %d million", w, h, MaxPixels/1_000_000)
	}
	return kind, config, err
}

// notEnough is the error of image/png for a truncated file.
const notEnough = png.FormatError("not enough pixel data")

// decodeError adds the format to the error of a truncated file.
func decodeError(kind *format, err error) error {
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s file ends early: %w", kind.name, err)
	case strings.HasSuffix(err.Error(), "unexpected EOF"), errors.Is(err, notEnough): // image/gif does not wrap it
		return fmt.Errorf("the %s file ends early: %w", kind.name, io.ErrUnexpectedEOF)
	}
	return err
}

// Gray returns img in grey, with its upper left corner at (0, 0). Grey is the luma of ITU-R BT.601, 0.299·R + 0.587·G +
// 0.114·B, in the 16-bit arithmetic of color.Gray16Model. Transparent pixels are blended with white. An 8-bit grey
// value g becomes 257·g.
func Gray(img image.Image) *image.Gray16 {
	b := img.Bounds()
	out := image.NewGray16(image.Rect(0, 0, b.Dx(), b.Dy()))
	for i := range out.Pix {
		out.Pix[i] = 0xff
	}
	draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	return out
}

// Kind classifies the errors of image files.
type Kind string

const (
	KindUnsupported Kind = "unsupported format"
	KindNoImage     Kind = "not an image"
	KindEmpty       Kind = "empty"
	KindTruncated   Kind = "truncated"
	KindDamaged     Kind = "damaged"
	KindTooLarge    Kind = "too large"
	KindBrokenLink  Kind = "broken link"
	KindCircle      Kind = "circular link"
	KindUnreadable  Kind = "unreadable"
	// KindNoFeatures is for images without usable features.
	KindNoFeatures Kind = "without features"
	// KindUsed is for truncated files that are used nevertheless: see NewReading.
	KindUsed Kind = "truncated, partly used"
)

// Error is the error of an unusable image file.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NewError returns an error of a kind.
func NewError(kind Kind, format string, args ...any) error {
	return &Error{kind, fmt.Errorf(format, args...)}
}

// OpenError returns the error of an image file that cannot be opened or read, or nil for nil. err must name the file.
func OpenError(err error) error { return withKind(err, "image") }

func withKind(err error, context string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{KindOfFile(err), guard.Wrap(err, context, args...)}
}

// KindOf returns the kind of an error of a sample, KindNoFeatures if it has none.
func KindOf(err error) Kind {
	if of, ok := errors.AsType[*Error](err); ok {
		return of.Kind
	}
	return KindNoFeatures
}

// KindOfFile returns the kind of an error from opening, reading or decoding an image file.
func KindOfFile(err error) Kind {
	of, isKnown := errors.AsType[*Error](err)
	switch {
	case isKnown:
		return of.Kind
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP):
		return KindBrokenLink
	case has[*fs.PathError](err):
		return KindUnreadable
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, notEnough),
		strings.Contains(err.Error(), "short Huffman data"), strings.Contains(err.Error(), "not enough image data"): // from image/jpeg and image/gif
		return KindTruncated
	case has[tiff.UnsupportedError](err) || has[jpeg.UnsupportedError](err) || has[png.UnsupportedError](err) || errors.Is(err, bmp.ErrUnsupported):
		return KindUnsupported
	}
	return KindDamaged
}

// has reports whether err wraps an error of a type.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
