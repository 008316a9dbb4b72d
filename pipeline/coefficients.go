package pipeline

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// LoadCoefficients reads the coefficients of the methods' saved models, n×k, in
// their order; those of methods that make none, are not done yet, are damaged, or
// are not of the samples listed, are nil.
func (s *Summary) LoadCoefficients(dir string) []*mat.Dense {
	out := make([]*mat.Dense, len(s.Methods))
	for i, name := range s.Models {
		if name == "" || name != filepath.Base(name) {
			continue
		}
		v, err := readCoefficients(filepath.Join(dir, ModelDir, name))
		if err != nil {
			continue
		}
		if n, _ := v.Dims(); n == len(s.Samples) {
			out[i] = v
		}
	}
	return out
}

var coefficientsHeader = regexp.MustCompile(`^\{'descr': '<f8', 'fortran_order': False, 'shape': \(([0-9]{1,9}), ([0-9]{1,9})\), \} *\n$`)

// readCoefficients reads the array "coefficients" of a saved result.
func readCoefficients(path string) (*mat.Dense, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("coefficients")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v, err := parseCoefficients(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: the coefficients %w", path, err)
	}
	return v, nil
}

// parseCoefficients reads an n×k array in NumPy's format.
func parseCoefficients(raw []byte) (*mat.Dense, error) {
	end := bytes.IndexByte(raw, '\n') + 1
	start := bytes.IndexByte(raw[:end], '{')
	if start < 0 {
		return nil, errors.New("are not in NumPy's format")
	}
	head := coefficientsHeader.FindSubmatch(raw[start:end])
	if head == nil {
		return nil, errors.New("are no n×k numbers")
	}
	n, _ := strconv.Atoi(string(head[1])) // digits, by the pattern
	k, _ := strconv.Atoi(string(head[2]))
	raw = raw[end:]
	if n < 1 || k < 1 || len(raw) != 8*n*k {
		return nil, fmt.Errorf("are to be %d×%d and have %d bytes", n, k, len(raw))
	}
	values := make([]float64, n*k)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return nil, fmt.Errorf("hold %v", values[i])
		}
	}
	return mat.NewDense(n, k, values), nil
}
