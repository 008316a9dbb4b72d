package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
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
	Missing   string `json:"missing,omitempty"`
	Weights   string `json:"weights,omitempty"`
	Mask      string `json:"mask,omitempty"`
}

// Save writes the model as a NumPy .npz file: see docs/reference/model-files.md. The same model gives the same bytes.
func (m *Model) Save(w io.Writer) error { return m.SaveWith(w, func(*npz.Writer) {}) }

// SaveWith is Save with additional arrays, whose names must differ from the names that Save writes.
func (m *Model) SaveWith(w io.Writer, more func(*npz.Writer)) (err error) {
	defer guard.Catch(&err)
	doc := modelDocument{Program: m.Program, Data: m.Data, Method: m.Method, Columns: m.Columns, Networks: m.digests, Source: m.source}
	doc.Features = guard.Must(json.Marshal(m.Features.Document()))
	if g := m.Groups; g != nil {
		doc.Groups = &groupsDocument{
			Distance: g.Centres.Distance.String(), Names: g.Names, By: g.By, ByDay: g.ByDay,
			Opened: openedDocument{g.Opened.From, g.Opened.Pattern, g.Opened.Truth, g.Opened.NoClasses, g.Opened.Pool, g.Opened.Missing, g.Opened.Weights, g.Opened.Mask},
		}
		doc.Groups.Method = guard.Must(json.Marshal(g.Method.Document()))
	}
	text := guard.Must(json.Marshal(doc))
	return cmp.Or(m.Result, &factor.Result{}).SaveWith(w, func(z *npz.Writer) {
		z.Integers(modelVersion, formatVersion)
		z.Text(modelText, text)
		z.Words(modelNames, m.Names)
		more(z)
		for _, f := range m.Features.Each() { // one of them has words
			if learned := f.Words.Learned; learned != nil {
				learned.SaveTo(z)
				z.Put(modelWeights, &learned.Weights)
			}
		}
		if p := m.Features.Propagated; p != nil {
			if p.Multiplier != nil {
				z.Put(modelMean, &p.Mean)
				z.Put(modelMultiplier, &p.Multiplier)
			}
			if p.Share > 0 {
				z.Put(modelPoints, &p.Points)
				z.Put(modelAverages, &p.Averages)
				z.Put(modelDegrees, &p.Degrees)
				z.Put(modelNeighbours, &p.Neighbours)
			}
		}
		if m.Groups == nil {
			return
		}
		z.Put(modelCentres, &m.Groups.Centres.Points)
		z.Put(modelSizes, &m.Groups.Centres.Sizes)
		z.Put(modelSpread, &m.Groups.Spread)
		columns := slices.Clone(m.Groups.Columns)
		for j := range columns {
			columns[j]++
		}
		z.Put(modelColumns, &columns)
		if m.Groups.Samples != nil {
			z.Put(modelContents, &m.Groups.Samples)
			z.Put(modelGroups, &m.Groups.Groups)
		}
	})
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
	version := 0
	switch err := z.Get(modelVersion, &version, math.MaxInt32); {
	case err != nil:
		return nil, err
	case version < 1:
		return nil, fmt.Errorf("the array %q is %d; expected 1 or more", modelVersion, version)
	case version > formatVersion:
		return nil, fmt.Errorf("format version %d is newer than the supported version %d; update partwise", version, formatVersion)
	}
	text, err := z.Text(modelText)
	if err != nil {
		return nil, err
	}
	var doc modelDocument
	if err := output.Unmarshal(text, &doc); err != nil {
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
	one, ok := lists.Find(m.Features.Each(), func(f *spec.Features) bool { return f.OfWords() })
	if !ok {
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
		if err = z.Get(modelWeights, &weights, 0, one.Words.GridOrDefault().Len()*v.Len()); err == nil {
			err = checkPositive(modelWeights, weights)
		}
	}
	return cmp.Or(err, m.setWords(v, weights))
}

// arrays reads arrays of a file, up to the first error.
type arrays struct {
	*npz.Archive
	err error
}

// get is [npz.Archive.Get], unless an earlier array has an error.
func (a *arrays) get(name string, value any, most int64, shape ...int) {
	if a.err == nil {
		a.err = a.Get(name, value, most, shape...)
	}
}

func (m *Model) readPropagated(z *npz.Archive) error {
	f := &m.Features
	if !f.Transductive() {
		return nil
	}
	p, in := &cluster.Propagated{Share: f.Propagate}, arrays{Archive: z}
	if f.Whiten > 0 {
		in.get(modelMean, &p.Mean, 0)
		in.get(modelMultiplier, &p.Multiplier, 0, len(p.Mean), m.Columns)
	}
	if p.Share > 0 {
		in.get(modelDegrees, &p.Degrees, math.MaxInt32)
		in.get(modelPoints, &p.Points, 0, len(p.Degrees), m.Columns)
		in.get(modelAverages, &p.Averages, 0, len(p.Degrees), m.Columns)
		in.get(modelNeighbours, &p.Neighbours, int64(len(p.Degrees)))
		p.Neighbours = max(p.Neighbours, 1)
	}
	f.Propagated = p
	return in.err
}

func (m *Model) readGroups(z *npz.Archive, doc *groupsDocument) (err error) {
	defer guard.Catch(&err)
	was := doc.Opened
	g := &ModelGroups{Centres: &cluster.Centres{}, Names: doc.Names, By: doc.By, ByDay: doc.ByDay, Opened: spec.Data{OpenOptions: datasets.OpenOptions{
		From: was.From, Pattern: was.Pattern, Truth: was.Truth, NoClasses: was.NoClasses, Pool: was.Pool, Missing: was.Missing, Weights: was.Weights, Mask: was.Mask,
	}}}
	guard.Check(g.Centres.Distance.UnmarshalText([]byte(doc.Distance)))
	g.Method = guard.Must(spec.ReadMethod(doc.Method))
	k, columns, in := len(g.Names), m.Columns, arrays{Archive: z}
	if m.Represents() {
		_, columns = coefficientsOf(m.Result.Model)
	}
	in.get(modelCentres, &g.Centres.Points, 0, k, columns)
	in.get(modelSpread, &g.Spread, 0, k, cluster.SpreadLevels)
	in.get(modelSizes, &g.Centres.Sizes, math.MaxInt32, k)
	if z.Has(modelColumns) {
		in.get(modelColumns, &g.Columns, int64(k), columns)
		for j := range g.Columns {
			g.Columns[j]--
		}
	}
	if z.Has(modelContents) {
		in.get(modelContents, &g.Samples, math.MaxInt64)
		in.get(modelGroups, &g.Groups, int64(k), len(g.Samples))
	}
	if in.err != nil {
		return in.err
	}
	guard.Check(checkPositive(modelSpread, g.Spread.RawMatrix().Data))
	empty := func(group int) bool { return group >= k || group >= 0 && g.Centres.Sizes[group] == 0 }
	switch i := slices.IndexFunc(g.Groups, empty); {
	case slices.Max(g.Centres.Sizes) == 0:
		return errors.New("all groups are empty")
	case g.Columns != nil && !m.Represents():
		return fmt.Errorf("the array %q needs a model with coefficients", modelColumns)
	case slices.ContainsFunc(g.Columns, empty):
		return fmt.Errorf("the array %q names an empty group", modelColumns)
	case i >= 0:
		return fmt.Errorf("sample %d is in group %d, which is empty", i+1, g.Groups[i]+1)
	}
	m.Groups = g
	return nil
}

func checkPositive(name string, values []float64) error {
	if least := slices.Min(values); least < 0 {
		return fmt.Errorf("the array %q has value %v; expected 0 or more", name, least)
	}
	return nil
}

// coefficientsOf returns the numbers of features and of coefficients of a model.
func coefficientsOf(m factor.Model) (columns, k int) {
	if of, ok := m.(*factor.KernelModel); ok {
		_, k = of.Weights.Dims()
		_, columns = of.Samples.Dims()
		return columns, k
	}
	return m.Vectors().Dims()
}

func (m *Model) validate() error {
	s := m.source
	switch {
	case len(m.digests) != len(m.Features.Each()):
		return fmt.Errorf("%d features, but network digests of %d", len(m.Features.Each()), len(m.digests))
	case m.Columns < 1:
		return fmt.Errorf("%d features; expected 1 or more", m.Columns)
	case s.Columns < 0 || s.Height < 0 || s.Width < 0 || s.Files && s.Columns > 0:
		return fmt.Errorf("invalid shape of samples: %d values, %d×%d pixels", s.Columns, s.Height, s.Width)
	case slices.ContainsFunc(m.Features.Joined, func(w spec.Weighted) bool { return w.Scale == 0 }):
		return errors.New("the joined features lack their scales")
	}
	if m.Represents() {
		if columns, _ := coefficientsOf(m.Result.Model); columns != m.Columns {
			return fmt.Errorf("factors of %d features, but the model has %d", columns, m.Columns)
		}
	}
	return nil
}
