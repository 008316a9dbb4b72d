// Package zipfile opens untrusted zip archives and gzip files.
package zipfile

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/seed4492f2cd/partwise/internal/number"
)

// MaxDirectory is the largest size of an archive's directory in bytes, which is read into memory.
const MaxDirectory = 8 << 20

// Open reads the directory of an archive of size bytes.
func Open(r io.ReaderAt, size int64) (*zip.Reader, error) {
	directory := &bounded{r, MaxDirectory}
	z, err := zip.NewReader(directory, size)
	directory.left = -1
	return z, err
}

// OpenEntry opens an entry for reading, unless it is encrypted.
func OpenEntry(f *zip.File) (io.ReadCloser, error) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, errors.New("the file is encrypted")
	}
	return f.Open()
}

// bounded limits reads from r to left bytes, unless left is negative.
type bounded struct {
	r    io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, fmt.Errorf("the directory of the archive is larger than the limit of %d bytes", MaxDirectory)
		}
	}
	return b.r.ReadAt(p, off)
}

// MostDeflate is the largest compression ratio of DEFLATE: two bits can encode up to 258 bytes.
const MostDeflate = 1032

// Gunzip returns a reader for r. It decompresses gzipped content, which packed reports.
func Gunzip(r io.Reader) (b *bufio.Reader, packed bool, err error) {
	b = number.Buffered(r, 0)
	if head, _ := b.Peek(2); string(head) != "\x1f\x8b" {
		return b, false, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, true, err
	}
	return number.Buffered(z, 0), true, nil
}
