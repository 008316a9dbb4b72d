package datasets

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// progressiveJPEG returns a grey progressive JPEG of one colour: a first scan of
// a bit for each block, and then scans in which a few bytes stand for all blocks.
func progressiveJPEG(width, height, scans int) []byte {
	order := binary.BigEndian
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, data ...byte) {
		out = order.AppendUint16(append(out, 0xff, marker), uint16(len(data)+2))
		out = append(out, data...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	size := order.AppendUint16(order.AppendUint16(nil, uint16(height)), uint16(width))
	segment(0xc2, append(append([]byte{8}, size...), 1, 1, 0x11, 0)...)
	oneCode := func(class, symbol byte) {
		segment(0xc4, append(append([]byte{class, 1}, make([]byte, 15)...), symbol)...)
	}
	oneCode(0x00, 0x00)
	oneCode(0x10, 0xe0) // 2^14 blocks that end
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	segment(0xda, 1, 1, 0, 0, 0, 0)
	out = append(out, make([]byte, blocks/8+2)...)
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 1, 63, 0x10)
		out = append(out, make([]byte, blocks/(1<<14)*15/8+4)...)
	}
	return append(out, 0xff, 0xd9)
}

// tiffEntry is one entry of a TIFF file's directory.
type tiffEntry struct {
	tag, kind uint16
	values    []uint32
}

// tiffFile returns a TIFF file of one directory, which the data follow at the
// offset 1024.
func tiffFile(order binary.AppendByteOrder, data []byte, entries ...tiffEntry) []byte {
	out := []byte("II*\x00")
	if order.String() == "BigEndian" {
		out = []byte("MM\x00*")
	}
	out = order.AppendUint16(order.AppendUint32(out, 8), uint16(len(entries)))
	beyond := 8 + 2 + 12*len(entries) + 4
	var more []byte
	for _, e := range entries {
		var values []byte
		for _, v := range e.values {
			switch e.kind {
			case 1:
				values = append(values, byte(v))
			case 3:
				values = order.AppendUint16(values, uint16(v))
			default:
				values = order.AppendUint32(values, v)
			}
		}
		out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, e.tag), e.kind), uint32(len(e.values)))
		if len(values) > 4 {
			out = order.AppendUint32(out, uint32(beyond+len(more)))
			more = append(more, values...)
		} else {
			out = append(out, append(values, make([]byte, 4-len(values))...)...)
		}
	}
	out = append(append(out, 0, 0, 0, 0), more...)
	out = append(out, make([]byte, max(0, 1024-len(out)))...)
	return append(out, data...)
}

// greyTIFF returns a grey TIFF file of a size, a form of compression and one
// strip, and with the entries given, which go before those of the same tags.
func greyTIFF(width, height, compression uint32, data []byte, entries ...tiffEntry) []byte {
	all := map[uint16]tiffEntry{
		256: {256, 4, []uint32{width}}, 257: {257, 4, []uint32{height}}, 258: {258, 3, []uint32{8}},
		259: {259, 3, []uint32{compression}}, 262: {262, 3, []uint32{1}},
		273: {273, 4, []uint32{1024}}, 278: {278, 4, []uint32{height}}, 279: {279, 4, []uint32{uint32(len(data))}},
	}
	for _, e := range entries {
		all[e.tag] = e
	}
	var sorted []tiffEntry
	for tag := range uint16(400) {
		if e, ok := all[tag]; ok {
			sorted = append(sorted, e)
		}
	}
	return tiffFile(binary.LittleEndian, data, sorted...)
}

// rawPNG returns a PNG file with this header and the packed rows.
func rawPNG(width, height uint32, depth, colour, interlaced byte, rows []byte, chunks ...string) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		whole := append([]byte(kind), data...)
		out = binary.BigEndian.AppendUint32(append(out, whole...), crc32.ChecksumIEEE(whole))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(header, depth, colour, 0, 0, interlaced))
	for _, c := range chunks {
		chunk(c[:4], []byte(c[4:]))
	}
	chunk("IDAT", deflated(rows))
	chunk("IEND", nil)
	return out
}

func deflated(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

// riff returns a WebP file of these chunks, a name of four letters and data each.
func riff(chunks ...string) []byte {
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, c := range chunks {
		out = binary.LittleEndian.AppendUint32(append(out, c[:4]...), uint32(len(c)-4))
		out = append(out, c[4:]...)
		if len(c)%2 == 1 {
			out = append(out, 0)
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// manyImages returns images of every kind, and of the forms of each that take
// memory in other ways.
func manyImages(t testing.TB) map[string][]byte {
	box := image.Rect(0, 0, 203, 107)
	grey, colour, deep, paletted := image.NewGray(box), image.NewNRGBA(box), image.NewNRGBA64(box), image.NewPaletted(box, color.Palette{color.Black, color.White})
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i * i >> 7)
		paletted.Pix[i] = uint8(i >> 5 & 1)
	}
	for i := range colour.Pix {
		colour.Pix[i] = uint8(i>>3 | 3)
	}
	for i := range deep.Pix {
		deep.Pix[i] = uint8(i>>4 | 5)
	}
	deflate := func(w io.Writer, img image.Image) error {
		return tiff.Encode(w, img, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
	}
	packBits := []byte{}
	for range 64 {
		packBits = append(packBits, 0xc1, 9) // 64 bytes of 9
	}
	var tiled bytes.Buffer
	z := lzw.NewWriter(&tiled, lzw.MSB, 8) // short enough to be the same in a TIFF file
	z.Write(bytes.Repeat([]byte{7}, 64))
	z.Close()
	interlaced := []byte{}
	for _, pass := range [][2]int{{1, 1}, {1, 1}, {2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}} { // of an 8×8 image
		for range pass[1] {
			interlaced = append(interlaced, make([]byte, 1+pass[0])...)
		}
	}
	files := map[string][]byte{
		"png grey": encoded(t, png.Encode, grey), "png colour": encoded(t, png.Encode, colour),
		"png deep": encoded(t, png.Encode, deep), "png paletted": encoded(t, png.Encode, paletted),
		"png interlaced":       rawPNG(8, 8, 8, 0, 1, interlaced),
		"png transparent grey": rawPNG(4, 1, 8, 0, 0, []byte{0, 1, 2, 3, 4}, "tRNS\x00\x02"),
		"png palette index":    rawPNG(4, 1, 8, 3, 0, []byte{0, 0, 1, 200, 255}, "PLTE\x01\x02\x03\x04\x05\x06"),
		"jpeg grey":            encoded(t, encodeJPEG, grey), "jpeg colour": encoded(t, encodeJPEG, colour),
		"jpeg progressive": progressiveJPEG(203, 107, 20), "jpeg upright": withOrientation(t, grey, 6),
		"gif": encoded(t, encodeGIF, grey), "bmp grey": encoded(t, bmp.Encode, grey), "bmp colour": encoded(t, bmp.Encode, colour),
		"tiff grey": encoded(t, encodeTIFF, grey), "tiff colour": encoded(t, encodeTIFF, colour), "tiff deep": encoded(t, encodeTIFF, deep),
		"tiff deflate": encoded(t, deflate, colour), "tiff deflate deep": encoded(t, deflate, deep),
		"tiff packbits": greyTIFF(64, 64, 32773, packBits),
		"tiff lzw":      greyTIFF(8, 8, 5, tiled.Bytes()),
		"tiff tiles": greyTIFF(12, 12, 1, make([]byte, 256), tiffEntry{322, 3, []uint32{16}}, tiffEntry{323, 3, []uint32{16}},
			tiffEntry{324, 4, []uint32{1024}}, tiffEntry{325, 4, []uint32{256}}),
		"pgm": encoded(t, encodePGM, grey), "ppm": append([]byte("P6 40 30 255\n"), make([]byte, 3600)...),
		"webp":          webpFile(203, 107, 1, 2, 3),
		"webp extended": riff("VP8X\x00\x00\x00\x00\xca\x00\x00\x6a\x00\x00", "VP8L"+string(webpFile(203, 107, 1, 2, 3)[20:])),
	}
	return files
}

// What decoding allocates stays within what ReadImageHeader says.
func TestImageMemory(t *testing.T) {
	for name, content := range manyImages(t) {
		header, err := ReadImageHeader(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		used := memory(func() {
			var img image.Image
			if img, err = DecodeImageBytes(content); err != nil {
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

// A large image takes no more than it is said to, and not much less either.
func TestLargeImageMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("the memory of the race detector counts too")
	}
	const side = 2000
	for name, content := range map[string][]byte{
		"png deep":         rawPNG(side, side, 16, 6, 0, make([]byte, side*(1+8*side))),
		"jpeg progressive": progressiveJPEG(side, side, 3),
		"webp":             webpFile(side, side, 1, 2, 3),
		"tiff deflate":     greyTIFF(side, side, 8, deflated(make([]byte, side*side))),
		"pgm":              append([]byte("P5 2000 2000 255\n"), make([]byte, side*side)...),
	} {
		header, err := ReadImageHeader(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		used := int64(memory(func() {
			if _, err := DecodeImageBytes(content); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}))
		if used > header.Memory || used < header.Memory/10 {
			t.Errorf("%s: %d bytes of memory, and the header says %d", name, used, header.Memory)
		}
	}
}

func TestHostileImages(t *testing.T) {
	huge := tiffEntry{324, 4, []uint32{1024}}
	tile := func(w, h uint32) []tiffEntry {
		return []tiffEntry{{322, 4, []uint32{w}}, {323, 4, []uint32{h}}, huge, {325, 4, []uint32{64}}}
	}
	hugeBMP := func(width, height int32) []byte {
		file := encoded(t, bmp.Encode, sample())
		binary.LittleEndian.PutUint32(file[18:], uint32(width))
		binary.LittleEndian.PutUint32(file[22:], uint32(height))
		return file
	}
	hugeJPEG := encoded(t, encodeJPEG, sample())
	copy(hugeJPEG[bytes.Index(hugeJPEG, []byte{0xff, 0xc0})+5:], "\x27\x10\x27\x10")
	frame := func(left, top, width, height uint16) []byte {
		file := encoded(t, encodeGIF, sample())
		at := bytes.IndexByte(file[13+3*256:], 0x2c) + 13 + 3*256
		for i, v := range []uint16{left, top, width, height} {
			binary.LittleEndian.PutUint16(file[at+1+2*i:], v)
		}
		return file
	}
	wideGIF := frame(0, 0, 9999, 9999)
	copy(wideGIF[6:], "\x0f\x27\x0f\x27")
	vp8 := "\x10\x00\x00\x9d\x01\x2a\x07\x00\x05\x00"
	lyingVP8 := riff("VP8 " + vp8)
	binary.LittleEndian.PutUint32(lyingVP8[4:], 1<<24)
	binary.LittleEndian.PutUint32(lyingVP8[16:], 1<<23)
	longDirectory := greyTIFF(4, 4, 1, make([]byte, 16))
	binary.LittleEndian.PutUint16(longDirectory[8:], 0xffff)
	farDirectory := greyTIFF(4, 4, 1, make([]byte, 16))
	binary.LittleEndian.PutUint32(farDirectory[4:], 0xfffffff0)

	// Blocks of a TIFF file that share their bytes, or unpack to far more than lies
	// within the image.
	shared := func(n int, count uint32) []uint32 { return slices.Repeat([]uint32{count}, n) }
	tallTIFF := greyTIFF(1, 1<<20, 8, deflated(make([]byte, 1<<20)), tiffEntry{322, 4, []uint32{1024}}, tiffEntry{323, 4, []uint32{1024}},
		tiffEntry{324, 4, shared(1024, 1024)}, tiffEntry{325, 4, shared(1024, 1040)})
	stripsTIFF := greyTIFF(8, 16384, 8, bytes.Repeat([]byte{0}, 150_000), tiffEntry{278, 4, []uint32{1}},
		tiffEntry{273, 4, shared(16384, 1024)}, tiffEntry{279, 4, shared(16384, 150_000)})

	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"tiff: tiles far beyond the image":      {tallTIFF, "1024 blocks of 1024×1024 pixels"},
		"tiff: strips of the same bytes":        {stripsTIFF, "16384 blocks of 8×1 pixels, of 2457600000 bytes"},
		"png: no pixels behind the header":      {pngHeader(10000, 10000), "PNG file ends early"},
		"png: deflate cannot hold so much":      {rawPNG(10000, 10000, 1, 0, 0, make([]byte, 1000)), "cannot hold"},
		"jpeg: no blocks behind the header":     {hugeJPEG, "cannot hold"},
		"jpeg: 129 scans":                       {progressiveJPEG(16, 16, 129), "129 scans, where 128"},
		"jpeg: 21 scans of 100 million pixels":  {progressiveJPEG(10000, 10000, 21), "21 scans, where 20"},
		"jpeg: 5000 scans":                      {progressiveJPEG(8, 8, 5000), "5000 scans"},
		"gif: frame beyond the canvas":          {frame(3, 0, 7, 5), "frame bounds larger"},
		"gif: frame larger than its bytes":      {wideGIF, "cannot hold"},
		"gif: no frame":                         {encoded(t, encodeGIF, sample())[:13+3*256], "ends early"},
		"bmp: huge height":                      {hugeBMP(7, 10_000_000), "cannot hold"},
		"bmp: huge negative height":             {hugeBMP(7, -10_000_000), "cannot hold"},
		"bmp: least height":                     {hugeBMP(7, -1<<31), "more than 100 million"},
		"bmp: negative width":                   {hugeBMP(-7, 5), "unsupported"},
		"tiff: more than the file holds":        {greyTIFF(10000, 10000, 1, make([]byte, 64)), "cannot hold"},
		"tiff: packbits cannot hold so much":    {greyTIFF(10000, 10000, 32773, make([]byte, 64)), "cannot hold"},
		"tiff: strip unpacks to too much":       {greyTIFF(8, 8, 32773, bytes.Repeat([]byte{0x81, 0}, 500)), "too large"},
		"tiff: deflate cannot hold so much":     {greyTIFF(10000, 10000, 8, deflated(make([]byte, 64))), "cannot hold"},
		"tiff: tile of no height":               {greyTIFF(8, 8, 1, make([]byte, 64), tile(16, 0)...), "too small"},
		"tiff: tile of one row":                 {greyTIFF(8, 8, 1, make([]byte, 64), tile(16, 1)...), "too small"},
		"tiff: tiles larger than the image":     {greyTIFF(8, 8, 8, deflated(make([]byte, 64)), tile(8, 10_000_000)...), "tiles of 8×10000000"},
		"tiff: tile area overflows":             {greyTIFF(8, 8, 1, make([]byte, 64), tile(1<<31, 1<<31)...), "tiles of 2147483648×2147483648"},
		"tiff: too few tiles":                   {greyTIFF(64, 64, 1, make([]byte, 64*64), tile(16, 16)...), "inconsistent header"},
		"tiff: strip counts beyond the file":    {greyTIFF(4, 4, 1, make([]byte, 16), tiffEntry{279, 4, []uint32{1 << 31}}), "too large"},
		"tiff: strip offset beyond the file":    {greyTIFF(4, 4, 1, make([]byte, 16), tiffEntry{273, 4, []uint32{1 << 31}}), "EOF"},
		"tiff: no rows in a strip, no counts":   {greyTIFF(4, 4, 1, make([]byte, 16), tiffEntry{279, 4, nil}), "inconsistent header"},
		"tiff: directory longer than the file":  {longDirectory, "EOF"},
		"tiff: directory beyond the file":       {farDirectory, "EOF"},
		"tiff: samples of 4 billion bits":       {greyTIFF(4, 4, 1, make([]byte, 16), tiffEntry{258, 4, []uint32{1<<32 - 1}}), "BitsPerSample"},
		"tiff: CCITT with fewer bits than rows": {greyTIFF(10, 1_000_000, 4, make([]byte, 64), tiffEntry{258, 3, []uint32{1}}), "cannot hold"},
		"webp: chunk longer than the file":      {lyingVP8, "16777224 bytes are promised"},
		"webp: canvas and image differ": {riff("VP8X\x00\x00\x00\x00\x06\x00\x00\x04\x00\x00",
			"VP8L"+string(webpFile(16000, 6000, 1, 2, 3)[20:])), "invalid format"},
		"webp: canvas beyond the bound": {riff("VP8X\x10\x00\x00\x00\xff\xff\x00\xff\x3f\x00", "ALPH\x00"), "more than 100 million"},
		"webp: alpha without its bytes": {riff("VP8X\x10\x00\x00\x00\x06\x00\x00\x04\x00\x00", "ALPH\x00"), "ends early"},
		"webp: alpha of two chunks":     {riff("VP8X\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00", "ALPH\x00\x01", "ALPH\x00\x01", "VP8 "+vp8), "invalid format"},
		"pnm: more than the file holds": {[]byte("P6 10000 10000 65535\n"), "600000000 bytes are promised"},
		"pnm: numbers that are missing": {[]byte("P3 10000 10000 255\n1 2 3"), "599999999 bytes are promised"},
		"webp: animated":                {riff("VP8X\x02\x00\x00\x00\x06\x00\x00\x04\x00\x00", "ANIM\x00\x00\x00\x00\x00\x00"), "animated WebP"},
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), "x"), test.content)
		var err error
		used := memory(func() { _, err = DecodeImage(path) })
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one with %q and the file", name, err, test.want)
		}
		if used > 4<<20+2*uint64(len(test.content)) {
			t.Errorf("%s: %d bytes of memory for a file of %d", name, used, len(test.content))
		}
	}
}

// What is long and harmless is read: many frames, comments, empty chunks,
// directories that follow the first.
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
		"png with empty chunks":    rawPNG(1, 1, 8, 0, 0, []byte{0, 1}, strings.Split(strings.Repeat("teSt ", 10000), " ")[:10000]...),
		"tiff in a circle":         loop,
		"jpeg with 20 scans":       progressiveJPEG(64, 64, 20),
		"jpeg with empty segments": slicesOf("\xff\xd8", strings.Repeat("\xff\xfe\x00\x02", 1<<18), string(encoded(t, encodeJPEG, sample())[2:])),
	} {
		if _, err := DecodeImageBytes(content); err != nil {
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
		if _, err := DecodeImage(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("error %v", err)
		}
	}
}
