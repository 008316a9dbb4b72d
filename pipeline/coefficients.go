package pipeline

import (
	"bytes"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/output"
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
		text, err := output.ReadFile(filepath.Join(dir, ModelDir, name))
		if err != nil {
			continue
		}
		v, err := factor.LoadCoefficients(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			continue
		}
		if n, _ := v.Dims(); n == len(s.Samples) {
			out[i] = v
		}
	}
	return out
}
