package features

import "math"

// Descriptors holds the p local descriptors of one image.
type Descriptors struct {
	// Vectors is p×Dim, row after row.
	Vectors []uint8
	// Dim is the length of a descriptor, 128 for SIFT.
	Dim int
	// X and Y are the centres of the p patches in pixels, x to the right and y
	// down; (0, 0) is the middle of the image's upper left pixel. Scale is the
	// side of a bin in pixels: a SIFT patch has 4×4 bins. That of a key point is
	// turned and may reach out of the image.
	X, Y, Scale []float32
	// Width and Height are the size of the image in pixels.
	Width, Height int
}

// Len returns p, the number of descriptors.
func (d *Descriptors) Len() int { return len(d.X) }

// Vector returns descriptor i, which is no copy.
func (d *Descriptors) Vector(i int) []uint8 {
	return d.Vectors[i*d.Dim : (i+1)*d.Dim : (i+1)*d.Dim]
}

// enlarge moves what was found in a reduced image to where it is in the whole
// one, which is sx times as wide and sy times as high.
func (d *Descriptors) enlarge(sx, sy float64) {
	for i := range d.X {
		d.X[i] = float32((float64(d.X[i])+0.5)*sx - 0.5)
		d.Y[i] = float32((float64(d.Y[i])+0.5)*sy - 0.5)
		d.Scale[i] = float32(float64(d.Scale[i]) * math.Sqrt(sx*sy))
	}
}
