package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// heifFile returns a HEIC or AVIF file of four grey squares. turned.* are turned by 90° and mirrored, exif.heic has an
// orientation in EXIF, which HEIF ignores, and deep.avif has 10 bits and full colour. heif-enc and avifenc made them.
func heifFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "heif", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestHEIF(t *testing.T) {
	const a, b, c, d = 250, 170, 90, 10
	for name, want := range map[string][4]float64{ // upper left, upper right, lower left, lower right
		"plain.heic": {a, b, c, d}, "exif.heic": {a, b, c, d}, "plain.avif": {a, b, c, d}, "deep.avif": {a, b, c, d},
		"turned.heic": {a, c, b, d}, // clockwise, then left to right
		"turned.avif": {a, c, b, d}, // anticlockwise, then top to bottom
	} {
		content := heifFile(t, name)
		img, err := DecodeBytes(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		width, height := 64, 32
		if strings.HasPrefix(name, "turned") {
			width, height = height, width
		}
		h, err := headerOf(content)
		if size := img.Bounds().Size(); err != nil || size.X != width || size.Y != height || h.Width != width || h.Height != height || h.Format != "HEIF" {
			t.Errorf("%s: %v, header %+v, %v", name, size, h, err)
			continue
		}
		g := Gray(img)
		for i, v := range want {
			if got := float64(g.Gray16At(width/4+i%2*width/2, height/4+i/2*height/2).Y) / 257; math.Abs(got-v) > 6 {
				t.Errorf("%s: square %d is %v, want %v", name, i, got, v)
			}
		}
		// Each cut is one error: of a truncated or damaged file.
		for cut := 12; cut < len(content); cut += 1 + cut/3 {
			if _, err := DecodeBytes(content[:cut]); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s cut at %d: %v", name, cut, err)
			}
		}
		if _, err := DecodeBytes(content[:len(content)/3]); !errors.Is(err, io.ErrUnexpectedEOF) || KindOfFile(err) != KindTruncated {
			t.Errorf("%s cut in its metadata: %v", name, err)
		}
		// A huge size is refused by the header. One that is only wrong costs no more memory than the true one.
		at := bytes.LastIndex(content, []byte("ispe"))
		for _, size := range []uint32{100_000, 1<<32 - 1, 0, 16} {
			wrong := bytes.Clone(content)
			for _, field := range []int{8, 12} {
				binary.BigEndian.PutUint32(wrong[at+field:], size)
			}
			var err error
			checkMemory(t, 1<<20, func() { _, err = headerOf(wrong) })
			if size != 16 && err == nil || size > 1<<16 && KindOfFile(err) != KindTooLarge {
				t.Errorf("%s of %d×%d pixels: %v", name, size, size, err)
			}
			_, _ = DecodeBytes(wrong)
		}
	}
}
