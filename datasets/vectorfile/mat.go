package vectorfile

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// MAT reads a set of vectors from a MATLAB file (see readMATFile): the n×m matrix
// "fea", a sample a row, and where there is one the vector "gnd" of n labels,
// or the variables that opt names. A class is named by its number. What Write
// puts beside the two is read as well.
//
// MATLAB stores an image column by column. Where opt or the file gives the size
// of the images, or neither does and m is the square of a number from 16 to 256,
// every vector is taken for such an image and turned so that it stands upright,
// row by row. Sparse vectors hold no images.
func MAT(path string, opt Options) (*Content, error) {
	room := opt.room()
	vars, err := readMATFile(path, room)
	if err != nil {
		return nil, err
	}
	return matSet(path, vars, opt, room)
}

func matSet(path string, vars []variable, opt Options, room *room) (*Content, error) {
	height, width, given := imageSize(vars)
	if opt.Height == 0 && opt.Width == 0 {
		opt.Height, opt.Width = height, width
	}
	s, err := arraySet(path, vars, []string{"fea"}, []string{"gnd"}, opt, room)
	if err != nil {
		return nil, err
	}
	_, m := s.Vectors.Dims()
	if s.Height == 0 && !given {
		if side := int(math.Round(math.Sqrt(float64(m)))); side*side == m && 16 <= side && side <= 256 {
			s.Height, s.Width = side, side
		}
	}
	switch x := s.Vectors.(type) {
	case *Bytes:
		turnImages(len(s.Names), s.Height, s.Width, x.Row)
	case *mat.Dense:
		turnImages(len(s.Names), s.Height, s.Width, x.RawRowView)
	default:
		s.Height, s.Width = 0, 0
	}
	return s, nil
}

// turnImages rewrites the n images of h×w pixels, which row returns, from
// column by column to row by row.
func turnImages[T any](n, h, w int, row func(i int) []T) {
	upright := make([]T, h*w)
	for i := range n {
		image := row(i)
		for r := range h {
			for c := range w {
				upright[r*w+c] = image[c*h+r]
			}
		}
		copy(image, upright)
	}
}
