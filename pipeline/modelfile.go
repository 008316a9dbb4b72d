package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/vocab"
)

// ModelVersion is the version of the format of models, which changes where an earlier
// program could not read a file rightly.
const ModelVersion = 1

// The arrays of a saved model beside those of factor.Result.Save and vocab.Vocabulary.Save,
// see docs/models.md.
const (
	modelVersion  = "format_version"
	modelText     = "model"
	modelNames    = "names"
	modelWeights  = "word_weights"
	modelCentres  = "group_centres"
	modelSizes    = "group_sizes"
	modelSpread   = "group_spread"
	modelColumns  = "group_columns"
	modelContents = "sample_contents"
	modelGroups   = "sample_groups"
)

// modelDocument is the text of a model, JSON.
type modelDocument struct {
	Program  string          `json:"program"`
	Data     string          `json:"data"`
	Method   string          `json:"method"`
	Features json.RawMessage `json:"features"`
	Columns  int             `json:"columns"`
	Networks []string        `json:"networks"`
	Source   modelSource     `json:"source"`
	Groups   *groupsDocument `json:"groups,omitempty"`
}

type groupsDocument struct {
	Distance string          `json:"distance"`
	Names    []string        `json:"names"`
	Method   json.RawMessage `json:"method"`
	By       string          `json:"by,omitempty"`
	Opened   openedDocument  `json:"opened,omitzero"`
}

// openedDocument is ModelGroups.Opened.
type openedDocument struct {
	From      string `json:"from,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	Truth     string `json:"truth,omitempty"`
	NoClasses bool   `json:"no_classes,omitempty"`
	Pool      bool   `json:"pool,omitempty"`
}

// Save writes the model as a NumPy .npz file, see docs/models.md. The same model gives the
// same bytes.
func (m *Model) Save(w io.Writer) error {
	res := m.Result
	if res == nil {
		res = &factor.Result{}
	}
	doc := modelDocument{Program: m.Program, Data: m.Data, Method: m.Method, Columns: m.Columns, Networks: m.digests, Source: m.source}
	var err error
	if doc.Features, err = json.Marshal(m.Features.document()); err != nil {
		return err
	}
	if m.Groups != nil {
		doc.Groups = &groupsDocument{Distance: m.Groups.Centres.Distance.String(), Names: m.Groups.Names, By: m.Groups.By}
		was := m.Groups.Opened
		doc.Groups.Opened = openedDocument{From: was.From, Pattern: was.Pattern, Truth: was.Truth, NoClasses: was.NoClasses, Pool: was.Pool}
		if doc.Groups.Method, err = json.Marshal(m.Groups.Method.document()); err != nil {
			return err
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	words, weights := m.words()
	return res.SaveWith(w, func(z *npz.Writer) {
		z.Integers(modelVersion, ModelVersion)
		z.Text(modelText, text)
		names := make([]string, len(m.Names))
		for i, name := range m.Names {
			names[i] = strings.ToValidUTF8(name, "\ufffd")
		}
		z.Words(modelNames, names)
		if words != nil {
			words.SaveTo(z)
		}
		if weights != nil {
			z.List(modelWeights, weights)
		}
		if m.Groups == nil {
			return
		}
		saveRows(z, modelCentres, m.Groups.Centres.Points)
		z.Integers(modelSizes, m.Groups.Centres.Sizes...)
		saveRows(z, modelSpread, m.Groups.Spread)
		if m.Groups.Columns != nil {
			columns := slices.Clone(m.Groups.Columns)
			for j := range columns {
				columns[j]++
			}
			z.Integers(modelColumns, columns...)
		}
		if m.Groups.samples != nil {
			z.Integers(modelContents, m.Groups.samples...)
			z.Integers(modelGroups, m.Groups.groups...)
		}
	})
}

func saveRows(z *npz.Writer, name string, x *mat.Dense) {
	n, m := x.Dims()
	z.Floats(name, []int{n, m}, x.RawRowView)
}

// IsModel tells whether a file of arrays is a model, of whatever version.
func IsModel(r io.ReaderAt, size int64) bool {
	z, err := npz.Open(r, size)
	return err == nil && z.Has(modelVersion) && z.Has(modelText)
}

// ReadModel reads a model that Save wrote, size bytes long, and checks that its parts fit
// together. A file of a later version of the format is an error that says so. No memory is
// taken for what the file's bytes do not back.
func ReadModel(ctx context.Context, r io.ReaderAt, size int64) (*Model, error) {
	m, err := readModel(ctx, r, size)
	if err != nil {
		return nil, fmt.Errorf("not a model that can be used: %w", err)
	}
	return m, nil
}

func readModel(ctx context.Context, r io.ReaderAt, size int64) (*Model, error) {
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, err
	}
	if !z.Has(modelVersion) {
		if z.Has("kind") {
			return nil, errors.New("the factors of a run or of an earlier version of partwise alone, without what features they are of")
		}
		return nil, fmt.Errorf("the file holds no array %q", modelVersion)
	}
	version, err := z.Integers(modelVersion, math.MaxInt32)
	switch {
	case err != nil:
		return nil, err
	case len(version) != 1 || version[0] < 1:
		return nil, fmt.Errorf("the array %q holds %v; want one version", modelVersion, version)
	case version[0] > ModelVersion:
		return nil, fmt.Errorf("version %d of the format, of a later version of partwise; this one reads up to %d", version[0], ModelVersion)
	}
	text, err := z.Text(modelText)
	if err != nil {
		return nil, err
	}
	var doc modelDocument
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the array %q: %w", modelText, err)
	}
	m := &Model{Program: doc.Program, Data: doc.Data, Method: doc.Method, Columns: doc.Columns, source: doc.Source, digests: doc.Networks}
	if m.Features, err = readFeatures(doc.Features); err != nil {
		return nil, err
	}
	if err := m.readWords(ctx, z, r, size); err != nil {
		return nil, err
	}
	model, err := factor.LoadModel(r, size)
	switch {
	case errors.Is(err, factor.ErrNoModel):
	case err != nil:
		return nil, err
	default:
		m.Result = &factor.Result{Model: model, Basis: model.Vectors()}
	}
	if doc.Groups != nil {
		if err := m.readGroups(z, doc.Groups); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// readWords reads the words of the features and their weights.
func (m *Model) readWords(ctx context.Context, z *npz.Archive, r io.ReaderAt, size int64) error {
	one := m.Features
	for _, f := range m.Features.each() {
		if f.OfWords() {
			one = *f
		}
	}
	if !one.OfWords() {
		return nil
	}
	v, err := vocab.Load(ctx, r, size)
	if err != nil {
		return err
	}
	if dim := one.extractor().(features.DescriptorExtractor).Dim(); v.Dim() != dim {
		return fmt.Errorf("words of length %d, and descriptors have %d", v.Dim(), dim)
	}
	var weights []float64
	if one.Words.IDF {
		if weights, _, err = z.Floats(modelWeights, 1, nil); err != nil {
			return err
		}
		if want := one.Words.grid().Len() * v.Len(); len(weights) != want {
			return fmt.Errorf("the array %q has %d values; want %d", modelWeights, len(weights), want)
		}
		if !usable(weights, 0) {
			return fmt.Errorf("the array %q holds values that are no weights", modelWeights)
		}
	}
	return m.learn(v, weights)
}

// readGroups reads the groups.
func (m *Model) readGroups(z *npz.Archive, doc *groupsDocument) error {
	g := &ModelGroups{Centres: &cluster.Centres{}, Names: doc.Names, By: doc.By}
	was := doc.Opened
	g.Opened = Data{OpenOptions: datasets.OpenOptions{From: was.From, Pattern: was.Pattern, Truth: was.Truth, NoClasses: was.NoClasses, Pool: was.Pool}}
	if err := g.Centres.Distance.UnmarshalText([]byte(doc.Distance)); err != nil {
		return err
	}
	var err error
	if g.Method, err = readMethod(doc.Method); err != nil {
		return err
	}
	if g.Centres.Points, err = readRows(z, modelCentres, math.Inf(-1)); err != nil {
		return err
	}
	if g.Spread, err = readRows(z, modelSpread, 0); err != nil {
		return err
	}
	if g.Centres.Sizes, err = z.Integers(modelSizes, math.MaxInt32); err != nil {
		return err
	}
	k, columns := g.Centres.Points.Dims()
	of := m.Columns
	if m.represents() {
		_, of = coefficientsOf(m.Result.Model)
	}
	r, levels := g.Spread.Dims()
	switch {
	case columns != of:
		return fmt.Errorf("the array %q is of %d columns; want %d", modelCentres, columns, of)
	case r != k || levels != cluster.SpreadLevels:
		return fmt.Errorf("the array %q is %d×%d; want %d×%d", modelSpread, r, levels, k, cluster.SpreadLevels)
	case len(g.Centres.Sizes) != k || len(g.Names) != k:
		return fmt.Errorf("%d groups with the sizes of %d and the names of %d", k, len(g.Centres.Sizes), len(g.Names))
	case !slices.ContainsFunc(g.Centres.Sizes, func(size int) bool { return size > 0 }):
		return errors.New("all groups are empty")
	}
	filled := func(group int) bool { return group >= 0 && group < k && g.Centres.Sizes[group] > 0 }
	if z.Has(modelColumns) {
		if g.Columns, err = z.Integers(modelColumns, int64(k)); err != nil {
			return err
		}
		if !m.represents() || len(g.Columns) != columns {
			return fmt.Errorf("the array %q has %d values; want one for each coefficient", modelColumns, len(g.Columns))
		}
		for j := range g.Columns {
			if g.Columns[j]--; g.Columns[j] >= 0 && !filled(g.Columns[j]) {
				return fmt.Errorf("the array %q names an empty group", modelColumns)
			}
		}
	}
	if z.Has(modelContents) {
		if g.samples, err = z.Integers(modelContents, math.MaxInt64); err != nil {
			return err
		}
		if g.groups, err = z.Integers(modelGroups, int64(k)); err != nil {
			return err
		}
		if len(g.samples) != len(g.groups) {
			return fmt.Errorf("%d samples with the groups of %d", len(g.samples), len(g.groups))
		}
		for i, group := range g.groups {
			if !filled(group) {
				return fmt.Errorf("sample %d is in group %d, which is empty", i+1, group+1)
			}
		}
	}
	m.Groups = g
	return nil
}

// readRows reads a matrix of finite values of least and more.
func readRows(z *npz.Archive, name string, least float64) (*mat.Dense, error) {
	values, shape, err := z.Floats(name, 2, nil)
	switch {
	case err != nil:
		return nil, err
	case len(values) == 0:
		return nil, fmt.Errorf("the array %q is of shape %v; want one or more numbers", name, shape)
	case !usable(values, least):
		return nil, fmt.Errorf("the array %q holds values that cannot be", name)
	}
	return mat.NewDense(shape[0], shape[1], values), nil
}

// usable tells whether all values are finite and not below least.
func usable(values []float64, least float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !(v >= least) || math.IsInf(v, 0) })
}

// coefficientsOf returns the number of features of a model, −1 where it does not tell, and of
// coefficients.
func coefficientsOf(m factor.Model) (columns, k int) {
	if of, ok := m.(*factor.KernelModel); ok {
		_, k = of.Weights.Dims()
		if of.Samples == nil {
			return -1, k
		}
		_, columns = of.Samples.Dims()
		return columns, k
	}
	return m.Vectors().Dims()
}

// check reports parts of a model that do not fit together.
func (m *Model) check() error {
	s := m.source
	switch {
	case len(m.digests) != len(m.Features.each()):
		return fmt.Errorf("%d features with the networks of %d", len(m.Features.each()), len(m.digests))
	case m.Columns < 1:
		return fmt.Errorf("%d features", m.Columns)
	case s.Columns < 0 || s.Height < 0 || s.Width < 0 || s.Files && s.Columns > 0:
		return fmt.Errorf("samples of %d values, of %d×%d pixels", s.Columns, s.Height, s.Width)
	}
	for _, w := range m.Features.Joined {
		if w.Scale == 0 {
			return errors.New("several features without their scales")
		}
	}
	if m.represents() {
		if columns, _ := coefficientsOf(m.Result.Model); columns != m.Columns {
			return fmt.Errorf("factors of %d features, and the model is of %d", columns, m.Columns)
		}
	}
	return nil
}
