// Package vocab implements bags of visual words: it learns a vocabulary from local descriptors and computes histograms of
// words for images. The package example shows the whole pipeline:
//
//	descriptors ─► Sampler ─► Training ─► Vocabulary
//	descriptors ─► Assigner ─► Grid.Count ─► Matrix ─► Weighting ─► n×m, sparse
//
// Descriptors are [features.Descriptors], rows of bytes, p×dim. The nearest words are found exactly; ties
// go to the lower word.
package vocab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/npz"
)

// Vocabulary holds visual words.
type Vocabulary struct {
	Words *mat.Dense // words×dim, with values from 0 to 255
}

// Len returns the number of words, and Dim the dimension of words and descriptors.
func (v *Vocabulary) Len() int { return v.Words.RawMatrix().Rows }
func (v *Vocabulary) Dim() int { return v.Words.RawMatrix().Cols }

// Limits that reject damaged files and mistyped settings.
const mostWords, mostDim, mostValues = 1 << 20, 1 << 12, 1 << 27

func (v *Vocabulary) checkWords() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(v == nil || v.Words == nil || v.Words.IsEmpty(), "no words")
	guard.Check(checkSize(v.Len(), v.Dim()))
	for j := range v.Len() {
		for f, value := range v.Words.RawRowView(j) {
			if math.IsNaN(value) || value < 0 || value > math.MaxUint8 {
				return fmt.Errorf("word %d: number %d is %v; expected 0 to 255", j, f, value)
			}
		}
	}
	return nil
}

// wrap prefixes an error with a name.
func wrap(err *error, name string) {
	*err = guard.Wrap(*err, "%s", name)
}

func checkSize(words, dim int) error {
	if words < 1 || words > mostWords || dim < 1 || dim > mostDim || words > mostValues/dim {
		return fmt.Errorf("%d words of %d numbers; expected 1 to %d words of 1 to %d numbers, and at most %d numbers in all", words, dim, mostWords, mostDim, mostValues)
	}
	return nil
}

func (v *Vocabulary) points() *points {
	p := newPoints(v.Len(), v.Dim())
	for j := range p.n {
		copy(p.word(j), v.Words.RawRowView(j))
		p.prepare(j)
	}
	return p
}

// savedWords is the name of the array in a saved vocabulary.
const savedWords = "words"

// Save writes the vocabulary as a NumPy .npz file with one array, words, words×dim.
func (v *Vocabulary) Save(w io.Writer) (err error) {
	defer wrap(&err, "saving a vocabulary")
	if err := v.checkWords(); err != nil {
		return err
	}
	z := npz.NewWriter(w)
	z.Compress = true
	v.SaveTo(z)
	return z.Close()
}

// SaveTo writes the array words to z, which must have no other array of this name.
func (v *Vocabulary) SaveTo(z *npz.Writer) {
	z.Floats(savedWords, []int{v.Len(), v.Dim()}, v.Words.RawRowView)
}

// Load reads a vocabulary from a file of size bytes in the format of Save. It returns an error for a damaged file,
// for values outside 0 to 255 and if the words exceed the memory budget of ctx.
func Load(ctx context.Context, r io.ReaderAt, size int64) (_ *Vocabulary, err error) {
	defer wrap(&err, "loading a vocabulary")
	defer guard.Catch(&err)
	z := guard.Must(npz.Open(r, size))
	values, shape, err := z.Floats(savedWords, 2, func(shape []int) error {
		words, dim := shape[0], shape[1]
		need := 8 * int64(words) * int64(dim)
		return cmp.Or(checkSize(words, dim), memory.FromContext(ctx).Check(need, fmt.Sprintf("%d words of %d numbers", words, dim)))
	})
	guard.Check(err)
	v := &Vocabulary{mat.NewDense(shape[0], shape[1], values)}
	return v, v.checkWords()
}

// checkDescriptors returns an error if d is inconsistent, or if its dimension is not dim; 0 allows any dimension.
func checkDescriptors(d *features.Descriptors, dim int) error {
	switch n := d.Len(); {
	case n == 0 && len(d.Vectors) == 0:
		return nil
	case d.Dim < 1 || len(d.Vectors) != n*d.Dim:
		return fmt.Errorf("%d bytes are not %d descriptors of %d numbers", len(d.Vectors), n, d.Dim)
	case dim > 0 && d.Dim != dim:
		return fmt.Errorf("descriptors of %d numbers; expected %d", d.Dim, dim)
	}
	return nil
}
