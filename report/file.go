package report

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
)

// folder is a folder that a report is written to.
type folder struct {
	dir string
	// ctx ends the writing.
	ctx context.Context
}

// write writes a file of the folder, whose name has forward slashes, beside its
// place and renames it, so that a reader or a crash never meets half of it. Once
// the context is done it returns its error.
func (to folder) write(name string, write func(io.Writer) error) (err error) {
	if err := to.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(to.dir, filepath.FromSlash(name))
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// The same name every time, so that what a killed run leaves goes away.
	f, err := os.Create(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// png writes a picture.
func (to folder) png(name string, img image.Image) error {
	return to.write(name, func(w io.Writer) error { return png.Encode(w, img) })
}
