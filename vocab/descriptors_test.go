package vocab

import "github.com/seed4492f2cd/partwise/features"

// descriptors returns rows of dim bytes as the descriptors of an image, all of
// them at its upper left pixel.
func descriptors(rows []uint8, dim int) *features.Descriptors {
	places := make([]float32, 2*len(rows)/dim)
	half := len(places) / 2
	return &features.Descriptors{Vectors: rows, Dim: dim, X: places[:half:half], Y: places[half:], Width: 1, Height: 1}
}
