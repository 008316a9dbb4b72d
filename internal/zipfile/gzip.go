package zipfile

import (
	"bufio"
	"compress/gzip"
	"io"
	"io/fs"

	"github.com/seed4492f2cd/partwise/internal/number"
)

// MostDeflate is how many bytes one byte that DEFLATE has packed can unpack to: a code
// stands for at most 258 bytes and takes two bits at least.
const MostDeflate = 1032

// Gunzip returns what r holds, unpacked where it is gzipped, and whether it was.
func Gunzip(r io.Reader) (b *bufio.Reader, packed bool, err error) {
	size := SizeOf(r)
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

// SizeOf returns how many bytes a file or a string holds, or 0 for what does not tell.
func SizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	case interface{ Size() int64 }:
		return r.Size()
	}
	return 0
}
