package datasets

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// writeNumPy writes a set as Write says for NumPy. Nothing in it is compressed:
// numpy.savez does not either.
func writeNumPy(w *bufio.Writer, s *Set) error {
	z := &npzWriter{zip: zip.NewWriter(w)}
	n, m := s.Vectors.Dims()
	switch x := s.Vectors.(type) {
	case *sparse.CSR:
		if n >= math.MaxInt32 || m > math.MaxInt32 || x.NNZ() > math.MaxInt32 {
			return fmt.Errorf("%d×%d matrix of %d values is more than can be written", n, m, x.NNZ())
		}
		z.array("data", "<f8", shapeOf(x.NNZ()), func(w *bufio.Writer) { putFloats(w, x.Values) })
		z.array("indices", "<i4", shapeOf(x.NNZ()), func(w *bufio.Writer) { putInts(w, x.Columns) })
		z.array("indptr", "<i4", shapeOf(n+1), func(w *bufio.Writer) { putInts(w, x.RowStart) })
		z.array("format", "|S3", "()", func(w *bufio.Writer) { w.WriteString("csr") })
		z.array("shape", "<i4", shapeOf(2), func(w *bufio.Writer) { putInts(w, []int{n, m}) })
	case *Bytes:
		z.array("fea", "|u1", shapeOf(n, m), func(w *bufio.Writer) {
			for i := range n {
				if _, err := w.Write(x.Row(i)); err != nil {
					return
				}
			}
		})
	default:
		z.array("fea", "<f8", shapeOf(n, m), func(w *bufio.Writer) {
			row := rowsOf(x)
			for i := range n {
				if putFloats(w, row(i)) != nil {
					return
				}
			}
		})
	}
	if s.allLabelled() {
		z.array("gnd", "<i4", shapeOf(n), func(w *bufio.Writer) {
			for _, l := range s.Labels {
				putInts(w, []int{l + 1})
			}
		})
	} else {
		z.array("gnd", "<f8", shapeOf(n), func(w *bufio.Writer) { putFloats(w, s.labelNumbers()) })
	}
	z.words(namesVariable, s.Names)
	if len(s.Classes) > 0 {
		z.words(classesVariable, s.Classes)
	}
	z.array(sizeVariable, "<i4", shapeOf(2), func(w *bufio.Writer) { putInts(w, []int{s.Height, s.Width}) })
	if z.err != nil {
		return z.err
	}
	return z.zip.Close()
}

// npzWriter writes the arrays of a NumPy archive, up to the first error.
type npzWriter struct {
	zip *zip.Writer
	err error
}

// array writes an array in C order, whose values write gives, up to the first error
// of its writer. The format is
// described in NumPy's numpy.lib.format, version 1.0.
func (z *npzWriter) array(name, descr, shape string, write func(*bufio.Writer)) {
	if z.err != nil {
		return
	}
	file, err := z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		z.err = err
		return
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	const magic = "\x93NUMPY\x01\x00"
	// The values begin at a multiple of 64 bytes.
	header += strings.Repeat(" ", 63-(len(magic)+2+len(header))%64) + "\n"
	w := bufio.NewWriterSize(file, 1<<16)
	w.WriteString(magic)
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	w.WriteString(header)
	write(w)
	z.err = w.Flush()
}

// words writes a list of words, each filled up to the longest one.
func (z *npzWriter) words(name string, words []string) {
	longest := 0
	for _, word := range words {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	z.array(name, fmt.Sprintf("<U%d", longest), shapeOf(len(words)), func(w *bufio.Writer) {
		for _, word := range words {
			runes := make([]int, 0, longest)
			for _, r := range word {
				runes = append(runes, int(r))
			}
			putInts(w, runes[:longest])
		}
	})
}

// shapeOf writes a shape as Python does.
func shapeOf(dims ...int) string {
	if len(dims) == 1 {
		return fmt.Sprintf("(%d,)", dims[0])
	}
	return "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ", "), "[]") + ")"
}
