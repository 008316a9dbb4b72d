package report

import (
	"bufio"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file below dir, whose name has forward slashes, beside its
// place and renames it, so that a reader or a crash never meets half of it.
func writeFile(dir, name string, write func(io.Writer) error) (err error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
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

// writePNG writes a picture below dir.
func writePNG(dir, name string, img image.Image) error {
	return writeFile(dir, name, func(w io.Writer) error { return png.Encode(w, img) })
}
