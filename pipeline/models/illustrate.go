package models

import (
	"context"
	"image"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Illustrations show visual words, or places in a layer of a network, on photographs.
type Illustrations struct {
	Photographs []Photograph // some of the samples, class by class
	Parts       []PartsShown // for saved models whose basis vectors are sums of parts
	// Words are visual words, the most frequent first. TotalWords is the number of all words, and Counted the number of
	// patches with a word. Features with places have no words.
	Words               []WordShown
	TotalWords, Counted int
}

// Photograph is a sample with its image.
type Photograph struct {
	Name string
	With func(do func(img image.Image) error) error // passes its image to do, with memory for it
}

// PartsShown are the patches of the basis vectors of a method.
type PartsShown struct {
	Method       string
	Coefficients *mat.Dense // n×k: the weight of each basis vector in each photograph
	Patches      [][]Patch  // of each photograph
}

// Patch is a square part of a photograph in pixels. X, Y is its centre; (0, 0) is the centre of the upper left pixel.
type Patch struct {
	X, Y, Side float32
	// Part is the basis vector with the largest share of the patch's word at its place, and Share that share. A patch
	// is shown if Share is at least ⅓ and more than an equal share.
	Part  int
	Share float64
}

// WordShown is a visual word with some of its patches.
type WordShown struct {
	Word     int       // an index of the vocabulary
	Count    int       // the number of its patches
	Examples []Example // some of its patches
}

// Example is a patch of a photo; Photograph is an index of Illustrations.Photographs.
type Example struct {
	Photograph int
	X, Y, Side float32
}

const (
	shownOfClass = 20
	shownWords   = 500
	shownPatches = 12
)

// Illustrates reports whether the features can be shown on photos.
func Illustrates(in *input.Inputs) bool {
	return in.Features.Whiten == 0 && (in.Bag != nil || in.Places != features.Cells{})
}

// Learned is a fitted method.
type Learned struct {
	Method string
	Model  factor.Model
}

// Illustrate shows visual words or places, and the models, on some photos of each class. rows are rows of the inputs,
// and class their classes.
func Illustrate(ctx context.Context, in *input.Inputs, seen *input.View, rows, class []int, models []Learned) (*Illustrations, error) {
	var chosen []int // class by class
	for c := range slices.Max(class) + 1 {
		n := 0
		for at, of := range class {
			if of == c && n < shownOfClass {
				chosen = append(chosen, at)
				n++
			}
		}
	}
	samples := matrix.Take(in.Rows, matrix.Take(rows, chosen))
	out := &Illustrations{}
	for _, sample := range samples {
		out.Photographs = append(out.Photographs, Photograph{in.Set.Names[sample], func(do func(image.Image) error) error {
			return in.Images.With(ctx, sample, imagefile.Use{Do: func(img image.Image, _ image.Point) error { return do(img) }})
		}})
	}
	x := matrix.SelectRows(seen.X(), chosen)
	var bases []*mat.Dense
	for _, l := range models {
		additive, ok := l.Model.(*factor.Additive)
		if !ok {
			continue // its basis vectors are not sums of parts
		}
		coefficients, err := additive.Transform(ctx, x)
		if err != nil {
			return nil, in.NameRows(err, matrix.Take(rows, chosen))
		}
		out.Parts = append(out.Parts, PartsShown{Method: l.Method, Coefficients: coefficients, Patches: make([][]Patch, len(chosen))})
		bases = append(bases, additive.Basis)
	}
	if in.Bag != nil {
		return out, illustrateWords(ctx, in, out, seen.Vocabulary, samples, bases)
	}
	for at, sample := range samples {
		var part image.Rectangle
		if err := in.Images.With(ctx, sample, imagefile.Use{Least: 1, Do: func(_ image.Image, whole image.Point) error {
			part, _ = features.Part(in.Crop, whole)
			return nil
		}}); err != nil {
			return nil, err
		}
		for p, basis := range bases {
			shown := &out.Parts[p]
			shown.Patches[at] = partsAt(in.Places, part, mat.Row(nil, at, x), basis, shown.Coefficients.RawRowView(at))
		}
	}
	return out, nil
}

// illustrateWords adds the patches of the samples. It describes a few photographs at a time, and keeps only the places
// and words of their patches.
func illustrateWords(ctx context.Context, in *input.Inputs, out *Illustrations, v *vocab.Vocabulary, samples []int, bases []*mat.Dense) (err error) {
	defer guard.Catch(&err)
	grid := in.Bag.Words.GridOrDefault()
	assigner := guard.Must(vocab.NewAssigner(v, vocab.Assignment{}))
	random := rng.New(0, "words shown")
	out.TotalWords, out.Words = v.Len(), make([]WordShown, v.Len())
	for w := range out.Words {
		out.Words[w].Word = w
	}
	few := 4 * runtime.GOMAXPROCS(0)
	for from := 0; from < len(samples); from += few {
		some := samples[from:min(from+few, len(samples))]
		described := make([]*features.Descriptors, len(some))
		words := make([]vocab.Assigned, len(some))
		guard.Check(in.Bag.Each(ctx, some, nil, func(at int, d *features.Descriptors) error {
			if err := assigner.Assign(&words[at], d); err != nil {
				return err
			}
			places := *d
			places.Vectors = nil
			described[at] = &places
			for p, basis := range bases {
				_, k := basis.Dims()
				ofWords := basis.Slice(in.Words, in.Words+grid.Len()*v.Len(), 0, k).(*mat.Dense)
				out.Parts[p].Patches[from+at] = partsOf(grid, v.Len(), ofWords, d, &words[at])
			}
			return nil
		}))
		for at, d := range described {
			out.Counted += d.Len()
			for i := range d.Len() { // a random selection of each word's patches
				e := Example{from + at, d.X[i], d.Y[i], 4 * d.Scale[i]}
				s := &out.Words[words[at].Words[i*words[at].Nearest]]
				s.Count++
				if len(s.Examples) < shownPatches {
					s.Examples = append(s.Examples, e)
				} else if place := random.IntN(s.Count); place < shownPatches {
					s.Examples[place] = e
				}
			}
		}
	}
	slices.SortStableFunc(out.Words, func(a, b WordShown) int { return b.Count - a.Count })
	out.Words = out.Words[:min(len(out.Words), shownWords)]
	return nil
}

// partsOf returns the patches of a photograph whose words a basis vector holds: vector r has the share U_jr/Σ_s U_js of
// word j in the patch's cell.
func partsOf(grid vocab.Grid, words int, basis *mat.Dense, d *features.Descriptors, w *vocab.Assigned) []Patch {
	_, k := basis.Dims()
	var out []Patch
	var cells []int
	held := make([]float64, k)
	for i := range d.Len() {
		clear(held)
		cells = grid.AppendCells(cells[:0], d.X[i], d.Y[i], d.Width, d.Height)
		for _, c := range cells {
			floats.Add(held, basis.RawRowView(c*words+int(w.Words[i*w.Nearest])))
		}
		if r, share, ok := largestShare(held); ok {
			out = append(out, Patch{X: d.X[i], Y: d.Y[i], Side: 4 * d.Scale[i], Part: r, Share: share})
		}
	}
	return out
}

// largestShare returns the basis vector with the largest share; ok reports whether the share is large enough to be shown.
func largestShare(held []float64) (r int, share float64, ok bool) {
	k := len(held)
	r = floats.MaxIdx(held)
	share = held[r] / elementary.Sum(held)
	return r, share, share >= max(1./3, 1.2/float64(k)) || k == 1 && share > 0
}

// partsAt returns the places of a photograph for which a basis vector accounts. Vector r, with the coefficient v_r,
// accounts for v_r·Σ_j U_jr·x_j of the values x_j of a place. Places with less than half of the average are left out.
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
