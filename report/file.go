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

// What WriteClusters and WriteExperiment write: the names of files and, with a
// slash at their ends, of folders.
var (
	ClustersFiles   = []string{"index.html", "groups/", "bases/", "patches/", "words/"}
	ExperimentFiles = []string{"index.html", "tables/", "curves/", "confusion/", "bases/", "coefficients/", "patches/", "words/", photographsFile}
)

// folder is a folder that a report is written to.
type folder struct {
	dir string
	// ctx ends the writing.
	ctx context.Context
}

// write writes a file of the folder, whose name has forward slashes, in one step,
// so that a reader or a crash never meets half of it. Once the context is done it
// returns its error.
func (to folder) write(name string, write func(io.Writer) error) error {
	if err := to.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(to.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := atomicfile.WriteFunc(path, write)
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// png writes a picture.
func (to folder) png(name string, img image.Image) error {
	return to.write(name, func(w io.Writer) error { return png.Encode(w, img) })
}
