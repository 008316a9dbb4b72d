package features

import "math"

const (
	// siftBins is the number of bins along each side of a SIFT patch.
	siftBins = 4
	// siftDim is the length of a SIFT descriptor.
	siftDim = siftBins * siftBins * orientations
	// siftClip is the largest part that one value may have of a descriptor's
	// length (Lowe 2004, section 6.1).
	siftClip = 0.2
	// siftUnit is the byte that 1 becomes. What comes out above 255 is cut off:
	// few values of a unit vector of this length are greater than a half.
	siftUnit = 512
)

// siftVector writes the descriptor of a histogram of gradients to out and
// changes the histogram: it is made a unit vector, clipped, and a unit vector
// again. With root it is the square roots that become a unit vector (RootSIFT,
// Arandjelović and Zisserman 2012). A histogram of zeros is the vector zero.
func siftVector(out *[siftDim]uint8, hist *[siftDim]float32, root bool) {
	clip := siftClip * length(hist)
	for i, v := range hist {
		if v > clip {
			hist[i] = clip
		}
	}
	if root {
		for i, v := range hist {
			hist[i] = float32(math.Sqrt(float64(v)))
		}
	}
	size := length(hist)
	if size == 0 {
		clear(out[:])
		return
	}
	scale := siftUnit / size
	for i, v := range hist {
		out[i] = uint8(min(int(v*scale+0.5), 255))
	}
}

// length returns the Euclidean length of hist.
func length(hist *[siftDim]float32) float32 {
	// Four sums do not wait for one another.
	var a, b, c, d float32
	for i := 0; i < siftDim; i += 4 {
		a += hist[i] * hist[i]
		b += hist[i+1] * hist[i+1]
		c += hist[i+2] * hist[i+2]
		d += hist[i+3] * hist[i+3]
	}
	return float32(math.Sqrt(float64(a + b + c + d)))
}

// sum returns the sum of hist.
func sum(hist *[siftDim]float32) (s float32) {
	for _, v := range hist {
		s += v
	}
	return s
}
