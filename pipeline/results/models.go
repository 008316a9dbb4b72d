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

const (
	// ModelDir is the folder of the saved models: for each method that of the first repeat with the most
	// classes and with the rank of the best mean score.
	ModelDir = "models"
	// WordsFile is the file there of the visual words.
	WordsFile = "words.npz"
	// ScalesFile is the file there of the scales of several features.
	ScalesFile = "features.csv"
)

// Scales returns the text of a ScalesFile: the name of each feature, the number of its columns, in this
// order, and the factor of its values, as for the setting scale.
func Scales(scales []pipeline.Scale) []byte {
	var text bytes.Buffer
	text.WriteString("feature,columns,scale\n")
	for _, s := range scales {
		fmt.Fprintf(&text, "%s,%d,%s\n", s.Name, s.Columns, strconv.FormatFloat(s.Factor, 'g', -1, 64))
	}
	return text.Bytes()
}

// Models reads the methods' saved models, in their order. A missing model is nil, an unreadable one an error.
func Models(dir string, s *pipeline.Summary) ([]factor.Model, []error) {
	return eachModel(dir, s, factor.LoadModel)
}

// Coefficients reads the coefficients of the methods' saved models, n×k, in their order. Missing ones are
// nil; those that cannot be read, or are not of the listed samples, are errors.
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

// eachModel reads each method's file of the summary. A missing one, or one without a model of this kind,
// is the zero value.
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

func loadFile[T any](path string, load func(io.ReaderAt, int64) (T, error)) (out T, err error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return out, err
	}
	return load(bytes.NewReader(text), int64(len(text)))
}
