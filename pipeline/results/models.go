package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// ModelDir is the folder, in that of an experiment, of the saved models: for
// each method that of the first repeat with the most classes and, where there are
// several ranks, with the one that has the best mean score.
const ModelDir = "models"

// WordsFile is the file among them of the visual words that they are of.
const WordsFile = "words.npz"

// ScalesFile is the file among them that says by what several features were multiplied
// before they were joined.
const ScalesFile = "features.csv"

// Scales returns the text of a ScalesFile: the name of each feature, how many of the columns
// are its own, in this order, and the factor of its values, which the setting scale takes.
func Scales(scales []pipeline.Scale) []byte {
	var text bytes.Buffer
	text.WriteString("feature,columns,scale\n")
	for _, s := range scales {
		fmt.Fprintf(&text, "%s,%d,%s\n", s.Name, s.Columns, strconv.FormatFloat(s.Factor, 'g', -1, 64))
	}
	return text.Bytes()
}

// Models reads the methods' saved models, in their order; those that make none or are
// not done yet are nil. Of those that cannot be read it returns the errors.
func Models(dir string, s *pipeline.Summary) ([]factor.Model, []error) {
	return eachModel(dir, s, factor.LoadModel)
}

// Coefficients reads the coefficients of the methods' saved models, n×k, in their
// order; those of methods that make none or are not done yet are nil. Of those that
// cannot be read, or are not of the samples listed, it returns the errors.
func Coefficients(dir string, s *pipeline.Summary) ([]*mat.Dense, []error) {
	all, errs := eachModel(dir, s, factor.LoadCoefficients)
	for i, v := range all {
		if v == nil || v.RawMatrix().Rows == len(s.Samples) {
			continue
		}
		if all[i] = nil; s.Samples != nil { // an earlier version listed none
			errs[i] = fmt.Errorf("%s holds coefficients of %d samples, and %s lists %d",
				filepath.Join(dir, ModelDir, s.Models[i]), v.RawMatrix().Rows, SamplesFile, len(s.Samples))
		}
	}
	return all, errs
}

// eachModel reads each method's file of the summary. What is not there, or is no model
// of this kind, is the zero value, and of what cannot be read there is the error.
func eachModel[T any](dir string, s *pipeline.Summary, load func(io.ReaderAt, int64) (T, error)) ([]T, []error) {
	out, errs := make([]T, len(s.Methods)), make([]error, len(s.Methods))
	for i, name := range s.Models {
		if name == "" || name != filepath.Base(name) {
			continue
		}
		path := filepath.Join(dir, ModelDir, name)
		v, err := loadFile(path, load)
		switch {
		case err == nil:
			out[i] = v
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, factor.ErrNoModel):
			errs[i] = fmt.Errorf("%s cannot be read: %w", path, err)
		}
	}
	return out, errs
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
