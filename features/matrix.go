package features

import (
	"gonum.org/v1/gonum/mat"
)

// Matrix holds the features of n samples.
type Matrix struct {
	// X is n×m, a sample a row: a *mat.Dense, or a *sparse.CSR where the set's
	// vectors are sparse.
	X mat.Matrix
	// Height and Width are the size of the images that the rows of X hold,
	// row by row and upright, or 0 where they are no images.
	Height, Width int
	// Channels is 1 where the images are grey and 3 where they are in colour,
	// a red, a green and a blue image one after the other, so that m is
	// Channels·Height·Width. It is 0 where the rows are no images.
	Channels int
	// Places is the grid of places whose values a row of X holds one after another, and
	// Crop the part of each image that it covers; Places is zero where a row holds none.
	Places Cells
	Crop   Crop
	// Rows holds, for each row of X, which sample of the set it is.
	Rows []int
	// Skipped holds one error for each sample that was left out, in the order
	// of the set.
	Skipped []error
}
