package vectorfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Open reads a file of vectors by MAT, IDX, NPY, NPZ, Indexed or CSV, which its content
// tells, not its name.
func Open(ctx context.Context, path string, opt Options) (*Content, error) {
	opt.ctx = ctx
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r, _, err := zipfile.Gunzip(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if head, err = r.Peek(len(head)); len(head) == 0 {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case len(head) == 0:
		return nil, fmt.Errorf("%s: the file is empty", path)
	case imagefile.Is(head):
		return nil, fmt.Errorf("%s: a single image; give the folder that holds the images", path)
	}
	if opt.OnDisk && !isIDX(head) && !isNPY(head) {
		return nil, NotOnDisk(path)
	}
	for _, r := range readers {
		if r.fits(head) {
			return r.read(path, opt)
		}
	}
	return nil, fmt.Errorf("%s: neither a MATLAB, IDX, NumPy, SVMlight nor CSV file", path)
}

// Add adds a reader of files that fits tells by their first bytes, which is tried before that
// of CSV, and returns what removes it again. It is called before a file is opened.
func Add(fits func(head []byte) bool, read func(path string, opt Options) (*Content, error)) (remove func()) {
	before := readers
	readers = slices.Insert(slices.Clone(readers), len(readers)-1, reader{fits, read})
	return func() { readers = before }
}

// reader reads a kind of file of vectors, which it tells by its first bytes.
type reader struct {
	fits func(head []byte) bool
	read func(path string, opt Options) (*Content, error)
}

// readers are tried in this order.
var readers = []reader{
	{isIDX, IDX},
	{isNPY, NPY},
	{startsWith("PK\x03\x04"), NPZ},
	{func(head []byte) bool { return sniffMAT(head) != notMAT }, MAT},
	{isIndexed, Indexed},
	{func(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }, CSV},
}

// NotOnDisk is the error of a set whose vectors cannot stay on disk.
func NotOnDisk(name string) error {
	return fmt.Errorf("%s: only folders of images, IDX files and NumPy's .npy files can be read a few samples at a time", name)
}

var isNPY = startsWith("\x93NUMPY")

func startsWith(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}
