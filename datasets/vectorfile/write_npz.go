package vectorfile

import (
	"bufio"
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// writeNumPy writes a set as Write says for NumPy. Nothing in it is compressed:
// numpy.savez does not either.
func writeNumPy(w *bufio.Writer, s *Content) error {
	z := npz.NewWriter(w)
	n, m := s.Vectors.Dims()
	switch x := s.Vectors.(type) {
	case *sparse.CSR:
		if n >= math.MaxInt32 || m > math.MaxInt32 || x.NNZ() > math.MaxInt32 {
			return fmt.Errorf("%d×%d matrix of %d values is more than can be written", n, m, x.NNZ())
		}
		z.Array("data", "<f8", []int{x.NNZ()}, func(w *bufio.Writer) { putFloats(w, x.Values) })
		z.Array("indices", "<i4", []int{x.NNZ()}, func(w *bufio.Writer) { putInts(w, x.Columns) })
		z.Array("indptr", "<i4", []int{n + 1}, func(w *bufio.Writer) { putInts(w, x.RowStart) })
		z.Array("format", "|S3", nil, func(w *bufio.Writer) { w.WriteString("csr") })
		z.Array("shape", "<i4", []int{2}, func(w *bufio.Writer) { putInts(w, []int{n, m}) })
	case *Bytes:
		z.Array("fea", "|u1", []int{n, m}, func(w *bufio.Writer) {
			for i := range n {
				if _, err := w.Write(x.Row(i)); err != nil {
					return
				}
			}
		})
	default:
		z.Array("fea", "<f8", []int{n, m}, func(w *bufio.Writer) {
			row := rowsOf(x)
			for i := range n {
				if putFloats(w, row(i)) != nil {
					return
				}
			}
		})
	}
	if s.allLabelled() {
		z.Array("gnd", "<i4", []int{n}, func(w *bufio.Writer) {
			for _, l := range s.Labels {
				putInts(w, []int{l + 1})
			}
		})
	} else {
		z.Array("gnd", "<f8", []int{n}, func(w *bufio.Writer) { putFloats(w, s.labelNumbers()) })
	}
	z.Words(namesVariable, s.Names)
	if len(s.Classes) > 0 {
		z.Words(classesVariable, s.Classes)
	}
	if len(s.Features) > 0 {
		names, counts, scales := s.features()
		z.Words(featuresVariable, names)
		z.Array(columnsVariable, "<i4", []int{len(counts)}, func(w *bufio.Writer) { putInts(w, counts) })
		z.Array(scalesVariable, "<f8", []int{len(scales)}, func(w *bufio.Writer) { putFloats(w, scales) })
	}
	z.Array(sizeVariable, "<i4", []int{2}, func(w *bufio.Writer) { putInts(w, []int{s.Height, s.Width}) })
	return z.Close()
}
