package vocab

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Vocabulary holds visual words.
type Vocabulary struct {
	// Words is words×dim, a word a row: a mean of descriptors, so its values
	// are from 0 to 255.
	Words *mat.Dense
}

// Len returns the number of words.
func (v *Vocabulary) Len() int {
	n, _ := v.Words.Dims()
	return n
}

// Dim returns the length of the descriptors that the words are made of.
func (v *Vocabulary) Dim() int {
	_, dim := v.Words.Dims()
	return dim
}

// Sizes beyond these come from damaged files and mistyped settings.
const (
	mostWords  = 1 << 20
	mostDim    = 1 << 12
	mostValues = 1 << 27
)

// checkWords reports what no vocabulary holds.
func (v *Vocabulary) checkWords() error {
	if v == nil || v.Words == nil || v.Words.IsEmpty() {
		return errors.New("no words")
	}
	if err := checkSize(v.Len(), v.Dim()); err != nil {
		return err
	}
	for j := range v.Len() {
		for f, value := range v.Words.RawRowView(j) {
			if math.IsNaN(value) || value < 0 || value > math.MaxUint8 {
				return fmt.Errorf("word %d: number %d is %v, not within 0 and 255", j, f, value)
			}
		}
	}
	return nil
}

// checkSize reports sizes that no vocabulary has.
func checkSize(words, dim int) error {
	if words < 1 || words > mostWords || dim < 1 || dim > mostDim {
		return fmt.Errorf("%d words of %d numbers: want 1 to %d words of 1 to %d", words, dim, mostWords, mostDim)
	}
	if words > mostValues/dim {
		return fmt.Errorf("%d words of %d numbers: want at most %d numbers in all", words, dim, mostValues)
	}
	return nil
}

// points returns the words for comparing descriptors with.
func (v *Vocabulary) points() *points {
	p := newPoints(v.Len(), v.Dim())
	for j := range p.n {
		copy(p.word(j), v.Words.RawRowView(j))
		p.ready(j)
	}
	return p
}
