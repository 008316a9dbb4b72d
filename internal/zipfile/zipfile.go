// Package zipfile opens zip archives whose directories may be damaged or made to do harm.
package zipfile

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"

	"github.com/seed4492f2cd/partwise/internal/number"
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

// MostDeflate is how many bytes a byte of DEFLATE can stand for: a code of two bits stands for at most 258.
const MostDeflate = 1032

// Gunzip returns what r, a file or a string, holds, unpacked where it is gzipped, and whether it was.
func Gunzip(r io.Reader) (b *bufio.Reader, packed bool, err error) {
	size := int64(0)
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	case interface{ Size() int64 }:
		size = r.Size()
	}
	b = number.Buffered(r, size)
	if head, _ := b.Peek(2); string(head) != "\x1f\x8b" {
		return b, false, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, true, err
	}
	return number.Buffered(z, MostDeflate*size), true, nil
}
