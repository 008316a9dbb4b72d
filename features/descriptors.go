package features

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Descriptors holds the p local descriptors of one image.
type Descriptors struct {
	Vectors []uint8 // p×Dim, row after row
	Dim     int     // the length of a descriptor, 128 for SIFT
	// X and Y are the centres of the p patches in pixels, x to the right and y down; (0, 0) is the middle of
	// the image's upper left pixel. Scale is the side of a bin in pixels: a SIFT patch has 4×4 bins. That of a
	// key point is turned and may reach out of the image.
	X, Y, Scale   []float32
	Width, Height int // of the image in pixels
}

func (d *Descriptors) Len() int { return len(d.X) }

// Vector returns descriptor i, which is no copy.
func (d *Descriptors) Vector(i int) []uint8 {
	return d.Vectors[i*d.Dim : (i+1)*d.Dim : (i+1)*d.Dim]
}

// enlarge moves what was found in a reduced image to the whole one, sx times as wide and sy times as high.
func (d *Descriptors) enlarge(sx, sy float64) {
	for i := range d.X {
		d.X[i] = float32((float64(d.X[i])+0.5)*sx - 0.5)
		d.Y[i] = float32((float64(d.Y[i])+0.5)*sy - 0.5)
		d.Scale[i] = float32(float64(d.Scale[i]) * math.Sqrt(sx*sy))
	}
}

// binaryHead is the length of what stands before the arrays of descriptors: p, Dim, Width and Height, four
// bytes each.
const binaryHead = 16

// binaryPlace is the length of a descriptor's X, Y and Scale as bytes.
const binaryPlace = 12

// AppendBinary appends the descriptors as bytes, the numbers with their low byte first.
func (d *Descriptors) AppendBinary(b []byte) ([]byte, error) {
	if n := max(d.Len(), d.Dim, d.Width, d.Height); n > math.MaxInt32 {
		return b, fmt.Errorf("descriptors: %d is more than can be written", n)
	}
	var err error
	for _, part := range []any{[]uint32{uint32(d.Len()), uint32(d.Dim), uint32(d.Width), uint32(d.Height)}, d.Vectors, d.X, d.Y, d.Scale} {
		if b, err = binary.Append(b, binary.LittleEndian, part); err != nil {
			return b, err
		}
	}
	return b, nil
}

// UnmarshalBinary reads what AppendBinary wrote, of which it keeps the bytes of Vectors; beside them it takes
// at most 2 bytes of memory for each one of these.
func (d *Descriptors) UnmarshalBinary(b []byte) error {
	if len(b) < binaryHead {
		return fmt.Errorf("descriptors: %d bytes are too few", len(b))
	}
	n := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	p, dim := n(0), n(4)
	if p > len(b) || p > 0 && dim > len(b) || len(b) != binaryHead+p*(dim+binaryPlace) {
		return fmt.Errorf("descriptors: %d bytes hold no %d descriptors of length %d", len(b), p, dim)
	}
	if p > 0 && (n(8) == 0 || n(12) == 0) {
		return fmt.Errorf("descriptors: %d of an image of %d×%d pixels", p, n(8), n(12))
	}
	*d = Descriptors{Dim: dim, Width: n(8), Height: n(12), Vectors: b[binaryHead:][: p*dim : p*dim]}
	b = b[binaryHead+p*dim:]
	for _, list := range []*[]float32{&d.X, &d.Y, &d.Scale} {
		*list = make([]float32, p)
		if _, err := binary.Decode(b, binary.LittleEndian, *list); err != nil {
			return fmt.Errorf("descriptors: %w", err)
		}
		for i, v := range *list {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("descriptors: place %d is %v", i, v)
			}
		}
		b = b[4*p:]
	}
	return nil
}
