package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

// formatVersion changes if earlier programs would misread new files.
const formatVersion = 1

// The arrays that a saved model adds to the arrays of factor.Result.Save and vocab.Vocabulary.Save; see
// docs/reference/model-files.md.
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

	modelMean       = "whitening_mean"
	modelMultiplier = "whitening_multiplier"
	modelPoints     = "graph_points"
	modelAverages   = "graph_averages"
	modelDegrees    = "graph_degrees"
	modelNeighbours = "graph_neighbours"
)

// modelDocument is the JSON text of a model.
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
	ByDay    bool            `json:"by_day,omitempty"`
}

// openedDocument is ModelGroups.Opened.
type openedDocument struct {
	From      string `json:"from,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	Truth     string `json:"truth,omitempty"`
	NoClasses bool   `json:"no_classes,omitempty"`
	Pool      bool   `json:"pool,omitempty"`
}

// Save writes the model as a NumPy .npz file: see docs/reference/model-files.md. The same model gives the same bytes.
func (m *Model) Save(w io.Writer) error {
	doc := modelDocument{Program: m.Program, Data: m.Data, Method: m.Method, Columns: m.Columns, Networks: m.digests, Source: m.source}
	var err error
	if doc.Features, err = json.Marshal(m.Features.Document()); err != nil {
		return err
	}
	if g := m.Groups; g != nil {
		doc.Groups = &groupsDocument{
			Distance: g.Centres.Distance.String(), Names: g.Names, By: g.By, ByDay: g.ByDay,
			Opened: openedDocument{g.Opened.From, g.Opened.Pattern, g.Opened.Truth, g.Opened.NoClasses, g.Opened.Pool},
		}
		if doc.Groups.Method, err = json.Marshal(g.Method.Document()); err != nil {
			return err
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return cmp.Or(m.Result, &factor.Result{}).SaveWith(w, func(z *npz.Writer) {
		z.Integers(modelVersion, formatVersion)
		z.Text(modelText, text)
		z.Words(modelNames, m.Names)
		for _, f := range m.Features.Each() { // one of them has words
			if learned := f.Words.Learned; learned != nil {
				learned.SaveTo(z)
				if learned.Weights != nil {
					z.List(modelWeights, learned.Weights)
				}
			}
		}
		if p := m.Features.Propagated; p != nil {
			if p.Multiplier != nil {
				z.List(modelMean, p.Mean)
				saveRows(z, modelMultiplier, p.Multiplier)
			}
			if p.Share > 0 {
				saveRows(z, modelPoints, p.Points)
				saveRows(z, modelAverages, p.Averages)
				z.Integers(modelDegrees, p.Degrees...)
				z.Integers(modelNeighbours, p.Neighbours)
			}
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
		if m.Groups.Samples != nil {
			z.Integers(modelContents, m.Groups.Samples...)
			z.Integers(modelGroups, m.Groups.Groups...)
		}
	})
}

func saveRows(z *npz.Writer, name string, x *mat.Dense) {
	n, m := x.Dims()
	z.Floats(name, []int{n, m}, x.RawRowView)
}

// ReadModel reads a model of size bytes that Save wrote, and checks that its parts fit together. It allocates no more
// memory than the file's size justifies.
func ReadModel(ctx context.Context, r io.ReaderAt, size int64) (m *Model, err error) {
	defer func() {
		if err != nil {
			m, err = nil, fmt.Errorf("not a usable model: %w", err)
		}
	}()
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, err
	}
	if !z.Has(modelVersion) {
		if z.Has("kind") {
			return nil, errors.New("it lacks a description of its features, as models of partwise run and of earlier versions do: use partwise fit or cluster")
		}
		return nil, fmt.Errorf("the file has no array %q", modelVersion)
	}
	version, err := z.Integers(modelVersion, math.MaxInt32)
	switch {
	case err != nil:
		return nil, err
	case len(version) != 1 || version[0] < 1:
		return nil, fmt.Errorf("the array %q is %v; expected one version", modelVersion, version)
	case version[0] > formatVersion:
		return nil, fmt.Errorf("format version %d is newer than the supported version %d; update partwise", version[0], formatVersion)
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
	m = &Model{Program: doc.Program, Data: doc.Data, Method: doc.Method, Columns: doc.Columns, source: doc.Source, digests: doc.Networks}
	if m.Features, err = spec.ReadFeatures(doc.Features); err != nil {
		return nil, err
	}
	if err := m.readWords(ctx, z, r, size); err != nil {
		return nil, err
	}
	if err := m.readPropagated(z); err != nil {
		return nil, err
	}
	model, err := factor.LoadModel(r, size)
	if err == nil {
		m.Result = &factor.Result{Model: model, Basis: model.Vectors()}
	} else if !errors.Is(err, factor.ErrNoModel) {
		return nil, err
	}
	if doc.Groups != nil {
		if err := m.readGroups(z, doc.Groups); err != nil {
			return nil, err
		}
	}
	return m, m.validate()
}

func (m *Model) readWords(ctx context.Context, z *npz.Archive, r io.ReaderAt, size int64) error {
	one := m.Features
	for _, f := range m.Features.Each() {
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
	if dim := one.ExtractorOrPixels().(features.DescriptorExtractor).Dim(); v.Dim() != dim {
		return fmt.Errorf("words of length %d, but descriptors have %d", v.Dim(), dim)
	}
	var weights []float64
	if one.Words.IDF {
		if weights, _, err = z.Floats(modelWeights, 1, nil); err != nil {
			return err
		}
		if want := one.Words.GridOrDefault().Len() * v.Len(); len(weights) != want || !allAtLeast(weights, 0) {
			return fmt.Errorf("the array %q has %d values; expected %d weights", modelWeights, len(weights), want)
		}
	}
	return m.setWords(v, weights)
}

func (m *Model) readPropagated(z *npz.Archive) (err error) {
	f := &m.Features
	if !f.Transductive() {
		return nil
	}
	p := &cluster.Propagated{Share: f.Propagate}
	if f.Whiten > 0 {
		if p.Mean, _, err = z.Floats(modelMean, 1, nil); err != nil {
			return err
		}
		if p.Multiplier, err = readRows(z, modelMultiplier, len(p.Mean), m.Columns, math.Inf(-1)); err != nil {
			return err
		}
		if !allAtLeast(p.Mean, math.Inf(-1)) {
			return fmt.Errorf("the array %q has invalid values", modelMean)
		}
	}
	if p.Share > 0 {
		if p.Degrees, err = z.Integers(modelDegrees, math.MaxInt32); err != nil {
			return err
		}
		n := len(p.Degrees)
		if p.Points, err = readRows(z, modelPoints, n, m.Columns, math.Inf(-1)); err != nil {
			return err
		}
		if p.Averages, err = readRows(z, modelAverages, n, m.Columns, math.Inf(-1)); err != nil {
			return err
		}
		number, err := readIntegers(z, modelNeighbours, 1, int64(n))
		if err != nil {
			return err
		}
		p.Neighbours = max(number[0], 1)
	}
	f.Propagated = p
	return nil
}

func (m *Model) readGroups(z *npz.Archive, doc *groupsDocument) (err error) {
	was := doc.Opened
	g := &ModelGroups{Centres: &cluster.Centres{}, Names: doc.Names, By: doc.By, ByDay: doc.ByDay, Opened: spec.Data{OpenOptions: datasets.OpenOptions{
		From: was.From, Pattern: was.Pattern, Truth: was.Truth, NoClasses: was.NoClasses, Pool: was.Pool,
	}}}
	if err := g.Centres.Distance.UnmarshalText([]byte(doc.Distance)); err != nil {
		return err
	}
	if g.Method, err = spec.ReadMethod(doc.Method); err != nil {
		return err
	}
	k, columns := len(g.Names), m.Columns
	if m.Represents() {
		_, columns = coefficientsOf(m.Result.Model)
	}
	if g.Centres.Points, err = readRows(z, modelCentres, k, columns, math.Inf(-1)); err != nil {
		return err
	}
	if g.Spread, err = readRows(z, modelSpread, k, cluster.SpreadLevels, 0); err != nil {
		return err
	}
	if g.Centres.Sizes, err = readIntegers(z, modelSizes, k, math.MaxInt32); err != nil {
		return err
	}
	if !slices.ContainsFunc(g.Centres.Sizes, func(size int) bool { return size > 0 }) {
		return errors.New("all groups are empty")
	}
	empty := func(group int) bool { return group >= k || group >= 0 && g.Centres.Sizes[group] == 0 }
	if z.Has(modelColumns) {
		if !m.Represents() {
			return fmt.Errorf("the array %q needs a model with coefficients", modelColumns)
		}
		if g.Columns, err = readIntegers(z, modelColumns, columns, int64(k)); err != nil {
			return err
		}
		for j := range g.Columns {
			g.Columns[j]--
		}
		if slices.ContainsFunc(g.Columns, empty) {
			return fmt.Errorf("the array %q names an empty group", modelColumns)
		}
	}
	if z.Has(modelContents) {
		if g.Samples, err = z.Integers(modelContents, math.MaxInt64); err != nil {
			return err
		}
		if g.Groups, err = readIntegers(z, modelGroups, len(g.Samples), int64(k)); err != nil {
			return err
		}
		if i := slices.IndexFunc(g.Groups, empty); i >= 0 {
			return fmt.Errorf("sample %d is in group %d, which is empty", i+1, g.Groups[i]+1)
		}
	}
	m.Groups = g
	return nil
}

// readIntegers reads n integers from 0 to most.
func readIntegers(z *npz.Archive, name string, n int, most int64) ([]int, error) {
	values, err := z.Integers(name, most)
	if err == nil && len(values) != n {
		err = fmt.Errorf("the array %q has %d values; expected %d", name, len(values), n)
	}
	return values, err
}

// readRows reads an n×m matrix of finite values that are not below least.
func readRows(z *npz.Archive, name string, n, m int, least float64) (*mat.Dense, error) {
	values, shape, err := z.Floats(name, 2, nil)
	switch {
	case err != nil:
		return nil, err
	case len(values) == 0 || shape[0] != n || shape[1] != m:
		return nil, fmt.Errorf("the array %q has shape %v; expected %d×%d", name, shape, n, m)
	case !allAtLeast(values, least):
		return nil, fmt.Errorf("the array %q has invalid values", name)
	}
	return mat.NewDense(n, m, values), nil
}

// allAtLeast reports whether all values are finite and not below least.
func allAtLeast(values []float64, least float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !(v >= least) || math.IsInf(v, 0) })
}

// coefficientsOf returns the number of features, −1 if unknown, and of coefficients of a model.
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

// validate returns an error for parts of a model that do not fit together.
func (m *Model) validate() error {
	s := m.source
	switch {
	case len(m.digests) != len(m.Features.Each()):
		return fmt.Errorf("%d features, but network digests of %d", len(m.Features.Each()), len(m.digests))
	case m.Columns < 1:
		return fmt.Errorf("%d features; expected 1 or more", m.Columns)
	case s.Columns < 0 || s.Height < 0 || s.Width < 0 || s.Files && s.Columns > 0:
		return fmt.Errorf("invalid shape of samples: %d values, %d×%d pixels", s.Columns, s.Height, s.Width)
	}
	for _, w := range m.Features.Joined {
		if w.Scale == 0 {
			return errors.New("the joined features lack their scales")
		}
	}
	if m.Represents() {
		if columns, _ := coefficientsOf(m.Result.Model); columns != m.Columns {
			return fmt.Errorf("factors of %d features, but the model has %d", columns, m.Columns)
		}
	}
	return nil
}
