// Package imagefile decodes image files: their headers, with bounds on size and memory,
// their pixels, upright and, where asked for, reduced, and what is wrong with them.
package imagefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// MaxPixels is the largest image that is decoded, as width × height, by its header.
const MaxPixels = 100_000_000

// maxImageFile is the longest image file that is read, in bytes: MaxPixels pixels of 8 bytes, and as much again.
const maxImageFile = 2 * 8 * MaxPixels

type format struct {
	name    string
	magics  []string // what its files begin with; '?' stands for any byte
	config  func(io.Reader) (image.Config, error)
	decode  func(content []byte) (image.Image, error)
	densest int64 // how many pixels a byte of the file can stand for, 0 where nothing bounds it
}

const mostLZW = 4096 // how many bytes a byte that LZW has packed can stand for

var formats = []format{
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, from(png.Decode), 8 * zipfile.MostDeflate},
	{"JPEG", []string{"\xff\xd8\xff"}, jpeg.DecodeConfig, from(jpeg.Decode), 8 * 8 * 8}, // a block takes a bit
	{"GIF", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, from(gif.Decode), mostLZW},
	{"BMP", []string{"BM????\x00\x00\x00\x00"}, bmp.DecodeConfig, from(bmp.Decode), 8},
	{"TIFF", []string{"II*\x00", "MM\x00*"}, tiff.DecodeConfig, decodeTIFF, 8 * mostLZW}, // CCITT packs white rows better still
	{"WebP", []string{"RIFF????WEBPVP8"}, webp.DecodeConfig, from(webp.Decode), 0},
	{"PNM", pnmMagics, decodePNMConfig, decodePNM, 1},
}

func from(decode func(io.Reader) (image.Image, error)) func([]byte) (image.Image, error) {
	return func(content []byte) (image.Image, error) { return decode(bytes.NewReader(content)) }
}

// MagicLength is how many bytes tell the kind of every image file.
const MagicLength = 64

// formatOf returns the format of a file that begins with head, or nil where it is no image.
func formatOf(head []byte) *format {
	for i := range formats {
		for _, magic := range formats[i].magics {
			fits := len(head) >= len(magic)
			for at := 0; fits && at < len(magic); at++ {
				fits = magic[at] == '?' || magic[at] == head[at]
			}
			if fits {
				return &formats[i]
			}
		}
	}
	return nil
}

// unreadKind returns the error of a kind that is known and not read, with what converts it, or nil. HEIF files
// begin with a box of their kinds, one of which may be general (ISO/IEC 14496-12, 23008-12).
func unreadKind(head []byte) error {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return nil
	}
	kinds := []string{string(head[8:12])}
	for at := 16; at+4 <= min(len(head), int(binary.BigEndian.Uint32(head))); at += 4 {
		kinds = append(kinds, string(head[at:at+4]))
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(any, kind) })
	}
	switch {
	case has("avif", "avis"):
		return NewError(KindAVIF, "AVIF images are not supported; convert it with avifdec PICTURE.avif PICTURE.png or magick PICTURE.avif PICTURE.jpg")
	case has("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"):
		return NewError(KindHEIC, "HEIC images are not supported; convert it with heif-convert PICTURE.heic PICTURE.jpg, magick PICTURE.heic PICTURE.jpg or, on macOS, sips -s format jpeg PICTURE.heic --out PICTURE.jpg")
	}
	return nil
}

// imageExtensions promise an image, also of kinds that cannot be decoded: an error names such a file.
var imageExtensions = []string{
	".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm",
	".pbm", ".pam", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".ras",
}

// HasExtension tells whether a file's name ends as an image's does, of whatever kind.
func HasExtension(name string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(filepath.Ext(name)))
}

// Is tells by its first bytes, MagicLength of them, whether a file is an image of a format that is read.
func Is(head []byte) bool { return formatOf(head) != nil }

// IsFile is Is of the file at path.
func IsFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, MagicLength)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return Is(head[:n]), nil
}

// Decode reads the image file at path: PNG, JPEG (turned upright as EXIF says), GIF (its first frame), BMP,
// TIFF, WebP, PGM or PPM, which the content tells. Errors name the file.
func Decode(path string) (img image.Image, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, OpenError(err)
	}
	if err := CheckLength(path, info.Size()); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, OpenError(err)
	}
	r, err := NewReading(content, false)
	if err == nil {
		img, _, err = r.Image(0)
	}
	if err != nil {
		return nil, FileError(path, err)
	}
	return img, nil
}

// FileError is the error of the image file at path.
func FileError(path string, err error) error {
	return &Error{KindOfFile(err), fmt.Errorf("image %s: %w", path, err)}
}

// CheckLength returns an error for an image file that is too long to be read.
func CheckLength(path string, bytes int64) error {
	if bytes > maxImageFile {
		return NewError(KindTooLarge, "image %s: %d bytes, above the limit of %d", path, bytes, maxImageFile)
	}
	return nil
}

// Header is what the header of an image file promises.
type Header struct {
	Format string // "PNG", "JPEG", "GIF", "BMP", "TIFF", "WebP" or "PNM"
	// Width and Height are the image's size as it lies in the file, before a JPEG is turned upright.
	Width, Height int
	Memory        int64 // the most bytes that decoding allocates at a time, without those of the file
}

// readHeader reads the header of the image file whose whole content this is, without decoding a pixel.
func readHeader(content []byte) (*format, Header, error) {
	kind, config, err := decodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, Header{}, err
	}
	memory, err := kind.memory(content, config)
	return kind, Header{kind.name, config.Width, config.Height, memory + smallDecoding}, decodeError(kind, err)
}

// Size returns the width and height that the header of the image file at
// path promises, as it lies in the file. Errors are those of Decode.
func Size(path string) (width, height int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, fmt.Errorf("image: %w", err)
	}
	defer f.Close()
	_, config, err := decodeConfig(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return 0, 0, fmt.Errorf("image %s: %w", path, err)
	}
	return config.Width, config.Height, nil
}

// decodeConfig reads the header of r, whatever was read of it before.
func decodeConfig(r interface {
	io.ReaderAt
	io.ReadSeeker
}) (kind *format, config image.Config, err error) {
	head := make([]byte, MagicLength)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, config, err
	}
	if n == 0 {
		return nil, config, NewError(KindEmpty, "the file is empty")
	}
	if kind = formatOf(head[:n]); kind == nil {
		return nil, config, cmp.Or(unreadKind(head[:n]), NewError(KindNoImage, "not a PNG, JPEG, GIF, BMP, TIFF, WebP, PGM or PPM file"))
	}
	r.Seek(0, io.SeekStart)
	err = guard.Call(func() error {
		config, err = kind.config(r)
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

// decodeError says of an early end of which kind of file it is.
func decodeError(kind *format, err error) error {
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s file ends early: %w", kind.name, err)
	case strings.HasSuffix(err.Error(), "unexpected EOF"): // which image/gif does not wrap
		return fmt.Errorf("the %s file ends early: %w", kind.name, io.ErrUnexpectedEOF)
	}
	return err
}

// Gray returns img in shades of grey, its upper left corner at (0, 0). The grey of a pixel is its luma by ITU-R
// BT.601, 0.299·R + 0.587·G + 0.114·B in the 16-bit arithmetic of color.Gray16Model; a transparent pixel is
// laid over white first. Eight-bit greys are kept as 257 times their value.
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
	KindHEIC        Kind = "HEIC image (not supported)"
	KindAVIF        Kind = "AVIF image (not supported)"
	KindUnsupported Kind = "unsupported format"
	KindNoImage     Kind = "not an image"
	KindEmpty       Kind = "empty"
	KindTruncated   Kind = "truncated"
	KindDamaged     Kind = "damaged"
	KindTooLarge    Kind = "too large"
	KindBrokenLink  Kind = "broken link"
	KindCircle      Kind = "circular link"
	KindUnreadable  Kind = "unreadable"
	// KindNoFeatures is for images of which no features can be made.
	KindNoFeatures Kind = "without features"
	// KindUsed is for files that end early and are used all the same: see NewReading.
	KindUsed Kind = "truncated, partly used"
)

// Error is the error of an image file that cannot be used.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NewError is an error of a kind.
func NewError(kind Kind, format string, args ...any) error {
	return &Error{kind, fmt.Errorf(format, args...)}
}

// OpenError is the error of an image file, which it names, that cannot be opened or read.
func OpenError(err error) error { return &Error{KindOfFile(err), fmt.Errorf("image: %w", err)} }

// KindOf returns the kind of the error of a sample.
func KindOf(err error) Kind {
	var of *Error
	if errors.As(err, &of) {
		return of.Kind
	}
	return KindNoFeatures
}

// KindOfFile returns the kind of the error of a file.
func KindOfFile(err error) Kind {
	var of *Error
	var at *fs.PathError
	var tiffForm tiff.UnsupportedError
	var jpegForm jpeg.UnsupportedError
	var pngForm png.UnsupportedError
	switch {
	case errors.As(err, &of):
		return of.Kind
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP):
		return KindBrokenLink
	case errors.As(err, &at):
		return KindUnreadable
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, png.FormatError("not enough pixel data")),
		strings.Contains(err.Error(), "short Huffman data"), strings.Contains(err.Error(), "not enough image data"): // of image/jpeg and image/gif
		return KindTruncated
	case errors.As(err, &tiffForm) || errors.As(err, &jpegForm) || errors.As(err, &pngForm) || errors.Is(err, bmp.ErrUnsupported):
		return KindUnsupported
	}
	return KindDamaged
}
