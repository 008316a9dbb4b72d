// Package zipfile opens zip archives whose directories may be damaged or made to do harm.
package zipfile

import (
	"archive/zip"
	"fmt"
	"io"
)

// MaxDirectory is the length of the longest directory that is read, in bytes. It is read into memory whole.
const MaxDirectory = 8 << 20

// Encrypted is the flag of an encrypted entry.
const Encrypted = 1

// Open reads the directory of an archive of size bytes.
func Open(r io.ReaderAt, size int64) (*zip.Reader, error) {
	directory := &bounded{r, MaxDirectory}
	z, err := zip.NewReader(directory, size)
	directory.left = -1
	return z, err
}

// bounded lets left bytes be read from r, or any number if left is negative.
type bounded struct {
	r    io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, fmt.Errorf("the directory of the archive is larger than %d bytes", MaxDirectory)
		}
	}
	return b.r.ReadAt(p, off)
}
