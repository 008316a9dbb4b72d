package pipeline

import (
	"context"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Illustrations show on photographs what was learned of visual words, or of the places of a
// network's layer. Of these there are no words.
type Illustrations struct {
	// Photographs are some that the methods learned from, class by class.
	Photographs []Photograph
	// Parts are the basis vectors of those methods whose saved models have
	// such.
	Parts []PartsShown
	// Words are the visual words, or the more frequent ones of many, the most
	// frequent first, TotalWords is how many there are in all, and Counted is how many patches of the
	// photographs were given one.
	Words               []WordShown
	TotalWords, Counted int
}

// Photograph is a sample.
type Photograph struct {
	Name string
	Open func() (image.Image, error)
}

// PartsShown are the patches that the basis vectors of a method hold.
type PartsShown struct {
	Method string
	// Coefficients is n×k: how much each photograph uses each of them.
	Coefficients *mat.Dense
	// Patches has those of each photograph.
	Patches [][]Patch
}

// Patch is a square part of a photograph, with its middle X, Y and its side in
// pixels, (0, 0) being the middle of the upper left one.
type Patch struct {
	X, Y, Side float32
	// Part is the basis vector that has the most of its word where it lies, and
	// Share how much of it that is: a third or more, and more than each would
	// have if they had the same.
	Part  int
	Share float64
}

// WordShown is a visual word.
type WordShown struct {
	Word int
	// Count is how many patches of the photographs have it.
	Count    int
	Examples []Example
}

// Example is a patch of a photograph.
type Example struct {
	Photograph int
	X, Y, Side float32
}

// How much is shown.
const (
	shownOfClass = 20
	shownWords   = 500
	shownPatches = 12
)

// Illustrate shows the visual words and the methods' kept models, some of which may
// be nil, on some of the photographs that they were learned from. It returns nil
// where the features are neither visual words nor those of places.
func (p *Plan) Illustrate(ctx context.Context, kept []factor.Model) (*Illustrations, error) {
	if !illustrates(p.Inputs) {
		return nil, nil
	}
	d := p.draws.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	var models []learned
	for _, t := range p.trials {
		if p.keepsModel(t) && kept[t.method] != nil {
			models = append(models, learned{p.Experiment.Methods[t.method].Label(), kept[t.method]})
		}
	}
	return illustrate(ctx, p.Inputs, seen, d.rows, d.truth, models)
}

// Illustrate shows the visual words and what was learned of them on some of the
// photographs of each group. It returns nil where the features of the inputs are neither
// visual words nor those of places.
func (g *Grouping) Illustrate(ctx context.Context, in *Inputs) (*Illustrations, error) {
	if !illustrates(in) {
		return nil, nil
	}
	rows := make([]int, len(in.Rows))
	for i := range rows {
		rows[i] = i
	}
	var models []learned
	if g.Result != nil {
		models = []learned{{g.Method, g.Result.Model}}
	}
	return illustrate(ctx, in, &view{x: func() mat.Matrix { return in.X }, vocabulary: in.Vocabulary}, rows, g.Groups, models)
}

// learned is what a method learned.
type learned struct {
	method string
	model  factor.Model
}

// illustrate shows words and models on photographs of each class, of some rows of
// the inputs and what was seen of them.
func illustrate(ctx context.Context, in *Inputs, seen *view, rows, class []int, models []learned) (*Illustrations, error) {
	if in.bag == nil {
		return illustratePlaces(ctx, in, seen, rows, class, models)
	}
	b := in.bag
	assigner, err := vocab.NewAssigner(ctx, seen.vocabulary, vocab.Assignment{Checks: b.words.Assignment.Checks})
	if err != nil {
		return nil, err
	}
	chosen := ofEachClass(class, shownOfClass)
	samples := make([]int, len(chosen))
	out := &Illustrations{TotalWords: seen.vocabulary.Len()}
	for at, i := range chosen {
		sample := in.Rows[rows[i]]
		samples[at] = sample
		out.Photographs = append(out.Photographs, Photograph{b.set.Names[sample], func() (image.Image, error) { return in.images.Open(ctx, sample) }})
	}
	x := selectRows(seen.x(), chosen)
	var bases []*mat.Dense
	for _, l := range models {
		additive, ok := l.model.(*factor.Additive)
		if !ok {
			continue // its vectors are not made of words
		}
		coefficients, err := additive.Transform(ctx, x)
		if err != nil {
			return nil, in.nameRows(err, take(rows, chosen))
		}
		out.Parts = append(out.Parts, PartsShown{Method: l.method, Coefficients: coefficients, Patches: make([][]Patch, len(chosen))})
		bases = append(bases, additive.Basis.Slice(in.words, in.words+b.words.grid().Len()*out.TotalWords, 0, additive.Basis.RawMatrix().Cols).(*mat.Dense))
	}
	// Photographs are described a few at a time, and only places and words of
	// their patches are kept meanwhile.
	found := newWordsFound(out.TotalWords)
	few := 4 * runtime.GOMAXPROCS(0)
	for from := 0; from < len(samples); from += few {
		some := samples[from:min(from+few, len(samples))]
		described := make([]*features.Descriptors, len(some))
		words := make([]vocab.Assigned, len(some))
		if err := b.Each(ctx, some, nil, func(at int, d *features.Descriptors) error {
			if err := assigner.Assign(&words[at], d); err != nil {
				return err
			}
			places := *d
			places.Vectors = nil
			described[at] = &places
			for p, basis := range bases {
				out.Parts[p].Patches[from+at] = partsOf(b.words.grid(), out.TotalWords, basis, d, &words[at])
			}
			return nil
		}); err != nil {
			return nil, err
		}
		for at, d := range described {
			found.add(from+at, d, &words[at])
		}
	}
	out.Words, out.Counted = found.shown(), found.counted
	return out, nil
}

// take returns the values at some places.
func take(values, places []int) []int {
	out := make([]int, len(places))
	for at, i := range places {
		out[at] = values[i]
	}
	return out
}

// ofEachClass returns the places of the first samples of each class, class by
// class.
func ofEachClass(class []int, most int) []int {
	var chosen []int
	for c := range slices.Max(class) + 1 {
		n := 0
		for i, of := range class {
			if of == c && n < most {
				chosen = append(chosen, i)
				n++
			}
		}
	}
	return chosen
}

// partsOf returns the patches of a photograph whose words a basis vector holds: of
// the word j in the cell where the patch lies, vector r of the basis, m×k, has
// the share U_jr/Σ_s U_js.
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

// largestShare returns which of k basis vectors holds the most, and what share of all; ok
// tells whether that is enough to be shown.
func largestShare(held []float64) (r int, share float64, ok bool) {
	k := len(held)
	r = floats.MaxIdx(held)
	share = held[r] / elementary.Sum(held)
	return r, share, share >= max(1./3, 1.2/float64(k)) || k == 1 && share > 0
}

// wordsFound gathers words with some of their patches, drawn at random.
type wordsFound struct {
	words   []WordShown
	counted int // how many patches have words
	random  *rand.Rand
}

func newWordsFound(n int) *wordsFound {
	f := &wordsFound{words: make([]WordShown, n), random: rng.New(0, "words shown")}
	for w := range f.words {
		f.words[w].Word = w
	}
	return f
}

// add counts the words of a photograph.
func (f *wordsFound) add(photograph int, d *features.Descriptors, words *vocab.Assigned) {
	f.counted += d.Len()
	for i := range d.Len() {
		word := words.Words[i*words.Nearest]
		e := Example{photograph, d.X[i], d.Y[i], 4 * d.Scale[i]}
		s := &f.words[word]
		s.Count++
		if len(s.Examples) < shownPatches {
			s.Examples = append(s.Examples, e)
		} else if place := f.random.IntN(s.Count); place < shownPatches {
			s.Examples[place] = e
		}
	}
}

// shown returns the most frequent words, the most frequent first.
func (f *wordsFound) shown() []WordShown {
	slices.SortStableFunc(f.words, func(a, b WordShown) int { return b.Count - a.Count })
	return f.words[:min(len(f.words), shownWords)]
}
