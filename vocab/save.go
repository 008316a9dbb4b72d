package vocab

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/npz"
)

// savedWords is the array of a saved vocabulary. NumPy reads the file with
// numpy.load.
const savedWords = "words"

// Save writes the vocabulary as a NumPy .npz file with the array words,
// words×dim.
func (v *Vocabulary) Save(w io.Writer) error {
	if err := v.checkWords(); err != nil {
		return fmt.Errorf("saving a vocabulary: %w", err)
	}
	z := npz.NewWriter(w)
	z.Compress = true
	v.SaveTo(z)
	if err := z.Close(); err != nil {
		return fmt.Errorf("saving a vocabulary: %w", err)
	}
	return nil
}

// SaveTo writes the words among other arrays, of which none is called words.
func (v *Vocabulary) SaveTo(z *npz.Writer) {
	z.Floats(savedWords, []int{v.Len(), v.Dim()}, v.Words.RawRowView)
}

// Load reads what Save wrote, size bytes long, or a file of NumPy's with such
// an array. It is an error if the file is damaged, if it does not hold numbers
// from 0 to 255, or if the array would take more than 16 MiB, and 100 bytes for each
// of the file's that it is packed in.
// An array that the memory budget of the context has no room for is an error too.
func Load(ctx context.Context, r io.ReaderAt, size int64) (*Vocabulary, error) {
	v, err := load(ctx, r, size)
	if err != nil {
		return nil, fmt.Errorf("loading a vocabulary: %w", err)
	}
	return v, nil
}

func load(ctx context.Context, r io.ReaderAt, size int64) (*Vocabulary, error) {
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, err
	}
	values, shape, err := z.Floats(savedWords, 2, func(shape []int) error {
		words, dim := shape[0], shape[1]
		if err := checkSize(words, dim); err != nil {
			return err
		}
		return memory.FromContext(ctx).Check(8*int64(words)*int64(dim), fmt.Sprintf("%d words of %d numbers", words, dim))
	})
	if err != nil {
		return nil, err
	}
	v := &Vocabulary{mat.NewDense(shape[0], shape[1], values)}
	return v, v.checkWords()
}
