package datasets

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
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
	// KindUsed is for files that end early and are used all the same: see Images.UseTruncated.
	KindUsed Kind = "truncated, used as far as it goes"
)

// several holds what several files of a kind are, where that is said in another way.
var several = map[Kind]string{
	KindHEIC: "HEIC images (not supported)", KindAVIF: "AVIF images (not supported)", KindNoImage: "not images",
	KindBrokenLink: "links to nothing", KindCircle: "links to folders that they lie in",
}

// ImageError is the error of an image file that cannot be used.
type ImageError struct {
	Kind Kind
	Err  error
}

func (e *ImageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ImageError) Unwrap() error { return e.Err }

// kinded is an error of a kind.
func kinded(kind Kind, format string, args ...any) error {
	return &ImageError{kind, fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the error of a sample.
func KindOf(err error) Kind {
	var of *ImageError
	if errors.As(err, &of) {
		return of.Kind
	}
	return KindNoFeatures
}

// kindOf returns the kind of the error of a file.
func kindOf(err error) Kind {
	var of *ImageError
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

// BadFile is a file or folder that is not used, or with KindUsed only in part.
type BadFile struct {
	// Name is its path below the folder of images.
	Name   string
	Kind   Kind
	Reason string
}

// CountKinds says how many there are of each kind, the largest number first.
func CountKinds(bad []BadFile) string {
	count := map[Kind]int{}
	for _, b := range bad {
		count[b.Kind]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b Kind) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	var parts []string
	for _, k := range kinds {
		parts = append(parts, counted(count[k], string(k), cmp.Or(several[k], string(k))))
	}
	return strings.Join(parts, ", ")
}

// WriteBadFiles writes a CSV file of them.
func WriteBadFiles(w io.Writer, bad []BadFile) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"file", "kind", "reason"}) // Flush tells what fails
	for _, b := range bad {
		_ = out.Write([]string{spreadsheet.Cell(b.Name), string(b.Kind), spreadsheet.Cell(b.Reason)})
	}
	out.Flush()
	return out.Error()
}
