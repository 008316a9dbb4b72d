package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// Decoding allocates at most what ReadHeader says.
func TestImageMemory(t *testing.T) {
	for name, content := range manyImages(t) {
		header, err := headerOf(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		used := testkit.Allocated(func() {
			var img image.Image
			if img, err = DecodeBytes(content); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if size := img.Bounds().Size(); size != image.Pt(header.Width, header.Height) && name != "jpeg upright" {
				t.Errorf("%s: %v, and the header says %+v", name, size, header)
			}
		})
		if int64(used) > header.Memory {
			t.Errorf("%s: %d bytes of memory, and the header says %+v", name, used, header)
		}
	}
}

// A large image takes at most the stated memory, and not much less.
func TestLargeImageMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("the memory of the race detector counts too")
	}
	const side = 2000
	for name, content := range map[string][]byte{
		"png deep":         RawPNG(side, side, 16, 6, 0, make([]byte, side*(1+8*side))),
		"jpeg progressive": ProgressiveJPEG(side, side, 3),
		"webp":             webPFile(side, side, 1, 2, 3),
		"tiff deflate":     greyTIFF(side, side, 8, Deflated(make([]byte, side*side))),
		"pgm":              append([]byte("P5 2000 2000 255\n"), make([]byte, side*side)...),
	} {
		header, err := headerOf(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		used := int64(testkit.Allocated(func() {
			if _, err := DecodeBytes(content); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}))
		if used > header.Memory || used < header.Memory/10 {
			t.Errorf("%s: %d bytes of memory, and the header says %d", name, used, header.Memory)
		}
	}
}

func TestHostileImages(t *testing.T) {
	huge := tag(324, 4, []uint32{1024})
	tile := func(w, h uint32) []tiffEntry {
		return []tiffEntry{tag(322, 4, []uint32{w}), tag(323, 4, []uint32{h}), huge, tag(325, 4, []uint32{64})}
	}
	hugeBMP := func(width, height int32) []byte {
		file := Encoded(t, bmp.Encode, Sample())
		binary.LittleEndian.PutUint32(file[18:], uint32(width))
		binary.LittleEndian.PutUint32(file[22:], uint32(height))
		return file
	}
	hugeJPEG := Encoded(t, EncodeJPEG, Sample())
	copy(hugeJPEG[bytes.Index(hugeJPEG, []byte{0xff, 0xc0})+5:], "\x27\x10\x27\x10")
	frame := func(left, top, width, height uint16) []byte {
		file := Encoded(t, EncodeGIF, Sample())
		at := bytes.IndexByte(file[13+3*256:], 0x2c) + 13 + 3*256
		for i, v := range []uint16{left, top, width, height} {
			binary.LittleEndian.PutUint16(file[at+1+2*i:], v)
		}
		return file
	}
	wideGIF := frame(0, 0, 9999, 9999)
	copy(wideGIF[6:], "\x0f\x27\x0f\x27")
	vp8 := "\x10\x00\x00\x9d\x01\x2a\x07\x00\x05\x00"
	lyingVP8 := RIFF("VP8 " + vp8)
	binary.LittleEndian.PutUint32(lyingVP8[4:], 1<<24)
	binary.LittleEndian.PutUint32(lyingVP8[16:], 1<<23)
	longDirectory := greyTIFF(4, 4, 1, make([]byte, 16))
	binary.LittleEndian.PutUint16(longDirectory[8:], 0xffff)
	farDirectory := greyTIFF(4, 4, 1, make([]byte, 16))
	binary.LittleEndian.PutUint32(farDirectory[4:], 0xfffffff0)

	// Blocks of a TIFF file that share bytes, or unpack to far more than the image.
	shared := func(n int, count uint32) []uint32 { return slices.Repeat([]uint32{count}, n) }
	tallTIFF := greyTIFF(1, 1<<20, 8, Deflated(make([]byte, 1<<20)), tag(322, 4, []uint32{1024}), tag(323, 4, []uint32{1024}),
		tag(324, 4, shared(1024, 1024)), tag(325, 4, shared(1024, 1040)))

	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"tiff: tiles far beyond the image":     {tallTIFF, "1024 blocks of 1024×1024 pixels"},
		"png: no pixels behind the header":     {pngHeader(10000, 10000), "PNG file ends early"},
		"png: deflate cannot hold so much":     {RawPNG(10000, 10000, 1, 0, 0, make([]byte, 1000)), "pixels, too many for the"},
		"jpeg: no blocks behind the header":    {hugeJPEG, "pixels, too many for the"},
		"jpeg: 129 scans":                      {ProgressiveJPEG(16, 16, 129), "pixels in 129 scans; the limit is 128 scans"},
		"jpeg: 21 scans of 100 million pixels": {ProgressiveJPEG(10000, 10000, 21), "pixels in 21 scans; the limit is 20 scans"},
		"jpeg: 5000 scans":                     {ProgressiveJPEG(8, 8, 5000), "5000 scans"},
		"gif: frame beyond the canvas":         {frame(3, 0, 7, 5), "frame bounds larger"},
		"gif: frame larger than its bytes":     {wideGIF, "pixels, too many for the"},
		"gif: no frame":                        {Encoded(t, EncodeGIF, Sample())[:13+3*256], "ends early"},
		"bmp: huge height":                     {hugeBMP(7, 10_000_000), "pixels, too many for the"},
		"bmp: huge negative height":            {hugeBMP(7, -10_000_000), "pixels, too many for the"},
		"bmp: least height":                    {hugeBMP(7, -1<<31), "pixels, above the limit of 100 million"},
		"bmp: negative width":                  {hugeBMP(-7, 5), "unsupported"},
		"tiff: more than the file holds":       {greyTIFF(10000, 10000, 1, make([]byte, 64)), "pixels, too many for the"},
		"tiff: packbits cannot hold so much":   {greyTIFF(10000, 10000, 32773, make([]byte, 64)), "pixels, too many for the"},
		"tiff: strip unpacks to too much":      {greyTIFF(8, 8, 32773, bytes.Repeat([]byte{0x81, 0}, 500)), "too large"},
		"tiff: deflate cannot hold so much":    {greyTIFF(10000, 10000, 8, Deflated(make([]byte, 64))), "pixels, too many for the"},
		"tiff: tile of no height":              {greyTIFF(8, 8, 1, make([]byte, 64), tile(16, 0)...), "too small"},
		"tiff: tile of one row":                {greyTIFF(8, 8, 1, make([]byte, 64), tile(16, 1)...), "too small"},
		"tiff: tiles larger than the image":    {greyTIFF(8, 8, 8, Deflated(make([]byte, 64)), tile(8, 10_000_000)...), "tile size exceeds"},
		"tiff: tile area overflows":            {greyTIFF(8, 8, 1, make([]byte, 64), tile(1<<31, 1<<31)...), "blocks of 2147483648×2147483648"},
		"tiff: too few tiles":                  {greyTIFF(64, 64, 1, make([]byte, 64*64), tile(16, 16)...), "inconsistent header"},
		"tiff: strip counts beyond the file":   {greyTIFF(4, 4, 1, make([]byte, 16), tag(279, 4, []uint32{1 << 31})), "too large"},
		"tiff: strip offset beyond the file":   {greyTIFF(4, 4, 1, make([]byte, 16), tag(273, 4, []uint32{1 << 31})), "EOF"},
		"tiff: no rows in a strip, no counts":  {greyTIFF(4, 4, 1, make([]byte, 16), tag(279, 4, nil)), "inconsistent header"},
		"tiff: directory longer than the file": {longDirectory, "EOF"},
		"tiff: directory beyond the file":      {farDirectory, "EOF"},
		"tiff: samples of 4 billion bits":      {greyTIFF(4, 4, 1, make([]byte, 16), tag(258, 4, []uint32{1<<32 - 1})), "BitsPerSample"},
		"webp: chunk longer than the file":     {lyingVP8, "the header declares 16777224 bytes, but the file has"},
		"webp: canvas and image differ": {RIFF("VP8X\x00\x00\x00\x00\x06\x00\x00\x04\x00\x00",
			"VP8L"+string(webPFile(16000, 6000, 1, 2, 3)[20:])), "invalid format"},
		"webp: canvas beyond the bound": {RIFF("VP8X\x10\x00\x00\x00\xff\xff\x00\xff\x3f\x00", "ALPH\x00"), "pixels, above the limit of 100 million"},
		"webp: alpha without its bytes": {RIFF("VP8X\x10\x00\x00\x00\x06\x00\x00\x04\x00\x00", "ALPH\x00"), "ends early"},
		"webp: alpha of two chunks":     {RIFF("VP8X\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00", "ALPH\x00\x01", "ALPH\x00\x01", "VP8 "+vp8), "invalid format"},
		"pnm: more than the file holds": {[]byte("P6 10000 10000 65535\n"), "pixels, too many for the"},
		"pnm: numbers that are missing": {[]byte("P3 10000 10000 255\n1 2 3"), "pixels, too many for the"},
		"webp: animated":                {RIFF("VP8X\x02\x00\x00\x00\x06\x00\x00\x04\x00\x00", "ANIM\x00\x00\x00\x00\x00\x00"), "animated WebP"},
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), "x"), test.content)
		var err error
		used := testkit.Allocated(func() { _, err = Decode(path) })
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one with %q and the file", name, err, test.want)
		}
		if used > 4<<20+2*uint64(len(test.content)) {
			t.Errorf("%s: %d bytes of memory for a file of %d", name, used, len(test.content))
		}
	}
}

// Long harmless files are read: many frames, comments, empty chunks, directories after the first.
func TestLongImages(t *testing.T) {
	var frames gif.GIF
	for range 500 {
		frames.Image = append(frames.Image, image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.White, color.Black}))
		frames.Delay = append(frames.Delay, 1)
	}
	var many bytes.Buffer
	if err := gif.EncodeAll(&many, &frames); err != nil {
		t.Fatal(err)
	}
	loop := greyTIFF(4, 4, 1, make([]byte, 16))
	entries := binary.LittleEndian.Uint16(loop[8:])
	binary.LittleEndian.PutUint32(loop[10+12*int(entries):], 8) // the next directory is this one
	for name, content := range map[string][]byte{
		"gif of 500 frames":        many.Bytes(),
		"pgm with comments":        []byte("P5 " + strings.Repeat("#\n", 1<<19) + "1 1 255\n\x01"),
		"png with empty chunks":    RawPNG(1, 1, 8, 0, 0, []byte{0, 1}, strings.Split(strings.Repeat("teSt ", 10000), " ")[:10000]...),
		"tiff in a circle":         loop,
		"jpeg with 20 scans":       ProgressiveJPEG(64, 64, 20),
		"jpeg with empty segments": slices.Concat([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xfe\x00\x02"), 1<<18), (Encoded(t, EncodeJPEG, Sample())[2:])),
	} {
		if _, err := DecodeBytes(content); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A panic in a decoder is an error that names the file.
func TestDecoderPanic(t *testing.T) {
	kinds := formats
	t.Cleanup(func() { formats = kinds })
	path := writeFile(t, filepath.Join(t.TempDir(), "x.odd"), []byte("ODD image"))
	size := func(io.Reader) (image.Config, error) { return image.Config{Width: 1, Height: 1}, nil }
	for _, kind := range []format{
		{"odd", []string{"ODD"}, size, func(b []byte) (image.Image, error) { return nil, errors.New(string(b[99:])) }, 0},
		{"odd", []string{"ODD"}, func(io.Reader) (image.Config, error) { panic("in a header") }, nil, 0},
	} {
		formats = append(kinds[:len(kinds):len(kinds)], kind)
		if _, err := Decode(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("error %v", err)
		}
	}
}
