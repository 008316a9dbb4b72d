package results

import (
	"bytes"
	"io"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// ModelDir is the folder, in that of an experiment, of the saved models: for
// each method that of the first repeat with the most classes and, where there are
// several ranks, with the one that has the best mean score.
const ModelDir = "models"

// WordsFile is the file among them of the visual words that they are of.
const WordsFile = "words.npz"

// Models reads the methods' saved models, in their order; those that make none, are
// not done yet, or are damaged, are nil.
func Models(dir string, s *pipeline.Summary) []factor.Model {
	return eachModel(dir, s, factor.LoadModel)
}

// Coefficients reads the coefficients of the methods' saved models, n×k, in their
// order; those of methods that make none, are not done yet, are damaged, or are not
// of the samples listed, are nil.
func Coefficients(dir string, s *pipeline.Summary) []*mat.Dense {
	all := eachModel(dir, s, factor.LoadCoefficients)
	for i, v := range all {
		if v != nil && v.RawMatrix().Rows != len(s.Samples) {
			all[i] = nil
		}
	}
	return all
}

// eachModel reads each method's file of the summary; what cannot be read is the zero
// value.
func eachModel[T any](dir string, s *pipeline.Summary, load func(io.ReaderAt, int64) (T, error)) []T {
	out := make([]T, len(s.Methods))
	for i, name := range s.Models {
		if name == "" || name != filepath.Base(name) {
			continue
		}
		if v, err := loadFile(filepath.Join(dir, ModelDir, name), load); err == nil {
			out[i] = v
		}
	}
	return out
}

func loadModel(path string) (factor.Model, error) { return loadFile(path, factor.LoadModel) }

func loadFile[T any](path string, load func(io.ReaderAt, int64) (T, error)) (T, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		var none T
		return none, err
	}
	return load(bytes.NewReader(text), int64(len(text)))
}
