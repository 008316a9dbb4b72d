package pipeline

import (
	"context"
	"image"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
)

// illustrates tells whether what is learned of the features can be shown on photographs.
func illustrates(in *Inputs) bool { return in.bag != nil || in.places != features.Cells{} }

// illustratePlaces is illustrate where rows hold the values of places.
func illustratePlaces(ctx context.Context, in *Inputs, seen *view, rows, class []int, models []learned) (*Illustrations, error) {
	chosen := ofEachClass(class, shownOfClass)
	out := &Illustrations{}
	parts := make([]image.Rectangle, len(chosen))
	for at, i := range chosen {
		sample := in.Rows[rows[i]]
		out.Photographs = append(out.Photographs, Photograph{in.Set.Names[sample], func() (image.Image, error) { return in.images.Open(ctx, sample) }})
		if err := in.images.With(ctx, sample, imagefile.Use{Least: 1, Do: func(_ image.Image, whole image.Point) error {
			parts[at], _ = features.Part(in.crop, whole)
			return nil
		}}); err != nil {
			return nil, err
		}
	}
	x := selectRows(seen.x(), chosen)
	for _, l := range models {
		additive, ok := l.model.(*factor.Additive)
		if !ok {
			continue // its vectors are not made of values of places
		}
		coefficients, err := additive.Transform(ctx, x)
		if err != nil {
			return nil, in.nameRows(err, take(rows, chosen))
		}
		shown := PartsShown{Method: l.method, Coefficients: coefficients, Patches: make([][]Patch, len(chosen))}
		for at, part := range parts {
			shown.Patches[at] = partsAt(in.places, part, mat.Row(nil, at, x), additive.Basis, coefficients.RawRowView(at))
		}
		out.Parts = append(out.Parts, shown)
	}
	return out, nil
}

// partsAt returns the places of a photograph that basis vectors account for. Of the values
// x_j of a place the vector r, with the coefficient v_r, has v_r·Σ_j U_jr·x_j, which is large
// where both have the same of them; the vector with a large share of that of all is shown.
// Places that have less than half as much as on average hold little of anything, and are left
// out.
func partsAt(grid features.Cells, part image.Rectangle, x []float64, basis *mat.Dense, coefficients []float64) []Patch {
	m, k := basis.Dims()
	places := grid.Rows * grid.Columns
	held := mat.NewDense(places, k, nil)
	for j, v := range x {
		floats.AddScaled(held.RawRowView(j/(m/places)), v, basis.RawRowView(j))
	}
	held.Apply(func(_, r int, v float64) float64 { return max(v*coefficients[r], 0) }, held)
	average := mat.Sum(held) / float64(places)
	if part.Empty() || average == 0 {
		return nil
	}
	height, width := float64(part.Dy())/float64(grid.Rows), float64(part.Dx())/float64(grid.Columns)
	var out []Patch
	for p := range places {
		if mat.Sum(held.RowView(p)) < average/2 {
			continue
		}
		if r, share, ok := largestShare(held.RawRowView(p)); ok {
			out = append(out, Patch{
				X:    float32(float64(part.Min.X) + (float64(p%grid.Columns)+0.5)*width - 0.5),
				Y:    float32(float64(part.Min.Y) + (float64(p/grid.Columns)+0.5)*height - 0.5),
				Side: float32(min(height, width)), Part: r, Share: share,
			})
		}
	}
	return out
}
