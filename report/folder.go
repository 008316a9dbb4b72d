package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
)

// folder is a folder that a report is written to.
type folder struct {
	dir string
	// ctx ends the writing.
	ctx context.Context
}

// write writes a file of the folder, whose name has forward slashes, in one step,
// so that a reader or a crash never meets half of it. Once the context is done it
// returns its error, before or in the middle of the file.
func (to folder) write(name string, write func(io.Writer) error) error {
	if err := to.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(to.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := atomicfile.WriteFunc(path, func(w io.Writer) error { return write(atomicfile.UntilDone(to.ctx, w)) })
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// picture writes a picture and returns what a page shows of it. It takes half of the time of
// png.DefaultCompression or less, for an eighth more bytes.
func (to folder) picture(path, alt string, img image.Image) (*picture, error) {
	size := img.Bounds().Size()
	return &picture{path, alt, size.X, size.Y}, to.write(path, func(w io.Writer) error { return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img) })
}
