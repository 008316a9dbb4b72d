package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Inputs is what an experiment works on.
type Inputs struct {
	// Set is where the samples come from.
	Set *datasets.Set
	// Features is what was made of them, with the size that the images got.
	Features Features
	// X is n×m, a sample a row, dense or sparse.
	X mat.Matrix
	// Height and Width are the size of the images that the rows of X hold, or
	// 0 where they are none.
	Height, Width int
	// Channels is 1 where they are grey, 3 where they are a red, a green and a
	// blue image one after the other, and 0 where they are no images.
	Channels int
	// Rows holds, for each row of X, which sample of Set it is.
	Rows []int
	// Skipped holds an error for each sample that was left out.
	Skipped []error
}

// Prepare reads the data of an experiment and makes its features. It calls
// progress, which may be nil, as images are read.
func Prepare(ctx context.Context, data Data, f Features, seed Seed, progress func(done, total int)) (*Inputs, error) {
	set, err := data.open(ctx, seed)
	if err != nil {
		return nil, err
	}
	m, err := f.extract(ctx, set, progress)
	if err != nil {
		return nil, err
	}
	f.Height, f.Width, f.Colour = m.Height, m.Width, m.Channels == 3
	return &Inputs{Set: set, Features: f, X: m.X, Height: m.Height, Width: m.Width, Channels: m.Channels, Rows: m.Rows, Skipped: m.Skipped}, nil
}

// imageHeight returns the height of the images that samples are to a method: the
// planes of a colour image lie one below the other.
func (in *Inputs) imageHeight() int { return in.Channels * in.Height }

// Labels returns the class of each row of X, or -1.
func (in *Inputs) Labels() []int {
	out := make([]int, len(in.Rows))
	for i, r := range in.Rows {
		out[i] = in.Set.Labels[r]
	}
	return out
}

// nameRow makes an error that speaks of a row of X name the sample.
func (in *Inputs) nameRow(err error) error { return in.nameRows(err, nil) }

// nameRows is nameRow for some rows of X.
func (in *Inputs) nameRows(err error, rows []int) error {
	var bad *factor.SampleError
	if !errors.As(err, &bad) {
		return err
	}
	row := bad.Sample
	if rows != nil {
		row = rows[row]
	}
	return fmt.Errorf("%s: %s: %s", in.Set.Name, in.Set.Names[in.Rows[row]], bad.Problem)
}

// firstNegative returns the first negative value and its place in X.
func (in *Inputs) firstNegative() (row, column int, value float64, found bool) {
	n, m := in.X.Dims()
	for i := range n {
		if s, ok := in.X.(*sparse.CSR); ok {
			cols, vals := s.Row(i)
			for p, v := range vals {
				if v < 0 {
					return i, cols[p], v, true
				}
			}
			continue
		}
		for j := range m {
			if v := in.X.At(i, j); v < 0 {
				return i, j, v, true
			}
		}
	}
	return 0, 0, 0, false
}

// checkSigns refuses data with negative values for methods that do not take
// them, with the value and the column, from 1, of the data.
func (in *Inputs) checkSigns(methods []Method) error {
	row, column, value, found := in.firstNegative()
	if !found {
		return nil
	}
	if v := in.Set.Vectors; v != nil {
		if _, m := v.Dims(); column < m && v.At(in.Rows[row], column) < 0 {
			value = v.At(in.Rows[row], column)
		}
	}
	for _, m := range methods {
		if info, ok := factor.Lookup(m.Name); ok && !info.Signed {
			return fmt.Errorf("%s: %s, column %d: value %v is negative, and %s needs values of 0 or more",
				in.Set.Name, in.Set.Names[in.Rows[row]], column+1, value, m.Label())
		}
	}
	return nil
}

// fingerprint tells inputs apart by their values and classes.
func (in *Inputs) fingerprint() string {
	h := sha256.New()
	var buf [8]byte
	put := func(x uint64) {
		binary.LittleEndian.PutUint64(buf[:], x)
		h.Write(buf[:])
	}
	n, m := in.X.Dims()
	put(uint64(n))
	put(uint64(m))
	for i := range n {
		switch x := in.X.(type) {
		case *sparse.CSR:
			cols, vals := x.Row(i)
			for p, j := range cols {
				put(uint64(j))
				put(math.Float64bits(vals[p]))
			}
		case *mat.Dense:
			for _, v := range x.RawRowView(i) {
				put(math.Float64bits(v))
			}
		}
	}
	for _, c := range in.Labels() {
		put(uint64(c))
	}
	for _, c := range in.Set.Classes {
		fmt.Fprintf(h, "%q", c)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// selectRows returns some rows of x.
func selectRows(x mat.Matrix, rows []int) mat.Matrix {
	if s, ok := x.(*sparse.CSR); ok {
		return s.SelectRows(rows)
	}
	_, m := x.Dims()
	out := mat.NewDense(len(rows), m, nil)
	for to, from := range rows {
		mat.Row(out.RawRowView(to), from, x)
	}
	return out
}
