package report

import (
	"cmp"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Basis is what a method learned from images: Vectors is m×k, a basis vector
// a column, each an upright image of Height × Width pixels, row by row. In
// colour it is three of them, its red, its green and its blue.
type Basis struct {
	Method string
	// Title says what is shown, where the method's name is not enough.
	Title         string
	Vectors       mat.Matrix
	Height, Width int
	// Channels is 3 for colour, so that m = 3·Height·Width. 1 and 0 are grey.
	Channels int
}

// writeBases writes a montage for each basis.
func writeBases(to folder, bases []Basis) ([]basisView, error) {
	names := make([]string, len(bases))
	for i, b := range bases {
		names[i] = b.Method
	}
	var views []basisView
	for i, name := range safeNames(names) {
		b := bases[i]
		img, err := Montage(b.Vectors, b.Height, b.Width, cmp.Or(b.Channels, 1), MontageOptions{})
		if err != nil {
			return nil, fmt.Errorf("basis of %s: %w", b.Method, err)
		}
		_, k := b.Vectors.Dims()
		kind, large := "", "white"
		if b.Channels == 3 {
			kind, large = "colour ", "bright"
		}
		alt := fmt.Sprintf("%s learned by %s, each drawn as a %spicture of %d by %d pixels; %s is large.",
			count(k, "part", "parts"), strings.TrimSpace(b.Method+" "+b.Title), kind, b.Width, b.Height, large)
		size := img.Bounds().Size()
		v := basisView{b.Method, b.Title, b.Channels == 3, picture{"bases/" + name + ".png", alt, size.X, size.Y}}
		if err := to.png(v.Picture.Path, img); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}
