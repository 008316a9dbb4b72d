package vocab

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// savedWords is the array of a saved vocabulary. NumPy reads the file with
// numpy.load.
const savedWords = "words"

// Save writes the vocabulary as a NumPy .npz file with the array words,
// words×dim.
func (v *Vocabulary) Save(w io.Writer) error {
	if err := v.check(); err != nil {
		return fmt.Errorf("saving a vocabulary: %w", err)
	}
	z := npz.NewWriter(w)
	if err := errors.Join(z.Write(savedWords, v.Words), z.Close()); err != nil {
		return fmt.Errorf("saving a vocabulary: %w", err)
	}
	return nil
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
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Name != savedWords && f.Name != savedWords+".npy" {
			continue
		}
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("array %q: packed in %d bytes of a file of %d", f.Name, f.CompressedSize64, size)
		}
		array, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer array.Close()
		words, err := readWords(ctx, bufio.NewReaderSize(array, 1<<15), f.CompressedSize64)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", f.Name, err)
		}
		v := &Vocabulary{words}
		return v, v.check()
	}
	return nil, fmt.Errorf("the file holds no array %q", savedWords)
}

// An array takes at most freeBytes of memory, and perByte for each byte that it is
// packed in.
const (
	freeBytes = 16 << 20
	perByte   = 100
)

// wordsHeader is what describes the array, in the form that NumPy writes.
var wordsHeader = regexp.MustCompile(`^\{'descr': '<f8', 'fortran_order': False, 'shape': \(([0-9]{1,9}), ?([0-9]{1,9}),?\), \} *\n$`)

// readWords reads the array. The npy package takes a header at its word: it
// panics where one is damaged, asks for all memory at once and gives zeros
// where a file ends early. So the array is read here, a row at a time. It is packed in
// so many bytes.
func readWords(ctx context.Context, r *bufio.Reader, packed uint64) (*mat.Dense, error) {
	var opening struct {
		Magic        [6]byte
		Major, Minor uint8
		Length       uint16
	}
	if err := binary.Read(r, binary.LittleEndian, &opening); err != nil {
		return nil, err
	}
	if opening.Magic != npy.Magic {
		return nil, errors.New("not a NumPy array")
	}
	if opening.Major == 2 {
		// The length has two bytes more, which are 0 in any header this short.
		if _, err := r.Discard(2); err != nil {
			return nil, err
		}
	}
	header := make([]byte, opening.Length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	shape := wordsHeader.FindSubmatch(header)
	if shape == nil {
		return nil, fmt.Errorf("header %q: want words×numbers of type <f8 in C order", header)
	}
	words, err := strconv.Atoi(string(shape[1]))
	if err != nil {
		return nil, err
	}
	dim, err := strconv.Atoi(string(shape[2]))
	if err != nil {
		return nil, err
	}
	if err := checkSize(words, dim); err != nil {
		return nil, err
	}
	if need := 8 * uint64(words) * uint64(dim); need > freeBytes && need/perByte > packed {
		return nil, fmt.Errorf("%d words of %d numbers are too many for the %d bytes that they are packed in", words, dim, packed)
	}
	if err := memory.FromContext(ctx).Check(8*int64(words)*int64(dim), fmt.Sprintf("%d words of %d numbers", words, dim)); err != nil {
		return nil, err
	}
	row := make([]byte, 8*dim)
	values := make([]float64, 0, words*dim)
	for j := range words {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, fmt.Errorf("word %d of %d: %w", j, words, err)
		}
		for f := range dim {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(row[8*f:])))
		}
	}
	// Reading on to the end compares the check sum.
	switch _, err := r.ReadByte(); {
	case err == nil:
		return nil, fmt.Errorf("more bytes follow than %d words of %d numbers need", words, dim)
	case err != io.EOF:
		return nil, err
	}
	return mat.NewDense(words, dim, values), nil
}
