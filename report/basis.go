package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Basis is what a method learned from images: Vectors is m×k, a basis vector
// a column, each an upright image of Height × Width = m pixels, row by row.
type Basis struct {
	Method string
	// Title says what is shown, where the method's name is not enough.
	Title         string
	Vectors       mat.Matrix
	Height, Width int
}

// writeBases writes a montage for each basis.
func writeBases(dir string, bases []Basis) ([]basisView, error) {
	names := make([]string, len(bases))
	for i, b := range bases {
		names[i] = b.Method
	}
	var views []basisView
	for i, name := range safeNames(names) {
		b := bases[i]
		img, err := Montage(b.Vectors, b.Height, b.Width, MontageOptions{})
		if err != nil {
			return nil, fmt.Errorf("basis of %s: %w", b.Method, err)
		}
		_, k := b.Vectors.Dims()
		alt := fmt.Sprintf("%s learned by %s, each drawn as a picture of %d by %d pixels; white is large.",
			count(k, "part", "parts"), strings.TrimSpace(b.Method+" "+b.Title), b.Width, b.Height)
		v := basisView{b.Method, b.Title, picture{"bases/" + name + ".png", alt, img.Rect.Dx(), img.Rect.Dy()}}
		if err := writePNG(dir, v.Picture.Path, img); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}
