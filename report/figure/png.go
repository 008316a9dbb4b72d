package figure

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
	"math"

	"github.com/seed4492f2cd/partwise/internal/freelist"
)

// writePNG writes an opaque picture of so many dots an inch, which the file says. Each row is
// stored as its difference to the one above, which of drawings is nearly all 0: image/png tries
// five filters on each row, which takes several times as long and saves a tenth of the bytes.
// Section numbers are those of the PNG standard (ISO/IEC 15948).
func writePNG(w io.Writer, img *image.RGBA, dpi float64) error {
	size := img.Bounds().Size()
	const (
		bits, trueColour = 8, 2 // section 11.2.2
		filterUp         = 2    // section 9.2
	)
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	header = append(header, bits, trueColour, 0, 0, 0)
	perMetre := uint32(math.Round(dpi / 0.0254))
	resolution := binary.BigEndian.AppendUint32(nil, perMetre) // section 11.3.4.3
	resolution = binary.BigEndian.AppendUint32(resolution, perMetre)
	resolution = append(resolution, 1) // the unit is the metre

	var packed bytes.Buffer
	z := packers.Get()
	defer packers.Put(z)
	z.Reset(&packed)
	line, same := make([]byte, 1+3*size.X), make([]byte, 1+3*size.X)
	line[0], same[0] = filterUp, filterUp
	above := make([]byte, 4*size.X)
	for y := range size.Y {
		row, next := img.Pix[y*img.Stride:][:4*size.X], same
		if !bytes.Equal(row, above) {
			next = line
			for x := range size.X {
				p, q, to := row[4*x:4*x+3], above[4*x:4*x+3], line[1+3*x:4+3*x]
				to[0], to[1], to[2] = p[0]-q[0], p[1]-q[1], p[2]-q[2]
			}
		}
		if _, err := z.Write(next); err != nil {
			return err
		}
		above = row
	}
	if err := z.Close(); err != nil {
		return err
	}

	file := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []struct {
		name string
		data []byte
	}{{"IHDR", header}, {"pHYs", resolution}, {"IDAT", packed.Bytes()}, {"IEND", nil}} {
		file = binary.BigEndian.AppendUint32(file, uint32(len(chunk.data)))
		from := len(file)
		file = append(append(file, chunk.name...), chunk.data...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[from:]))
	}
	_, err := w.Write(file)
	return err
}

// packers are what packs the rows of pictures, fast.
var packers = freelist.List[*zlib.Writer]{New: func() *zlib.Writer {
	z, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	if err != nil {
		panic(err) // there is such a level
	}
	return z
}}
