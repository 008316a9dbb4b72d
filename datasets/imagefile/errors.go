package imagefile

import (
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Kind classifies the errors of image files.
type Kind string

const (
	KindHEIC        Kind = "HEIC image (not supported)"
	KindAVIF        Kind = "AVIF image (not supported)"
	KindUnsupported Kind = "of a form that is not supported"
	KindNoImage     Kind = "not an image"
	KindEmpty       Kind = "empty"
	KindTruncated   Kind = "truncated"
	KindDamaged     Kind = "damaged"
	KindTooLarge    Kind = "too large"
	KindBrokenLink  Kind = "link to nothing"
	KindCircle      Kind = "link to a folder that it lies in"
	KindUnreadable  Kind = "unreadable"
	// KindNoFeatures is for images of which no features can be made.
	KindNoFeatures Kind = "without features"
	// KindUsed is for files that end early and are used all the same: see NewReading.
	KindUsed Kind = "truncated, used as far as it goes"
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
