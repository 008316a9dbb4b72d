package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	err = guard.Wrap(guard.Try(func() { m = readModel(ctx, r, size) }), "not a usable model")
	return m, err
}

func readModel(ctx context.Context, r io.ReaderAt, size int64) *Model {
	z := guard.Must(npz.Open(r, size))
	switch {
	case z.Has(modelVersion):
	case z.Has("kind"):
		guard.Fail("it lacks a description of its features, as models of partwise run and of earlier versions do: use partwise fit or cluster")
	default:
		guard.Fail("the file has no array %q", modelVersion)
	}
	version := 0
	guard.Check(z.Get(modelVersion, &version, math.MaxInt32))
	guard.FailIf(version < 1, "the array %q is %d; expected 1 or more", modelVersion, version)
	guard.FailIf(version > formatVersion, "format version %d is newer than the supported version %d; update partwise", version, formatVersion)
	var doc modelDocument
	guard.Check(guard.Wrap(output.Unmarshal(guard.Must(z.Text(modelText)), &doc), "the array %q", modelText))
	m := &Model{
		Program: doc.Program, Data: doc.Data, Features: guard.Must(spec.ReadFeatures(doc.Features)),
		Method: doc.Method, Columns: doc.Columns, source: doc.Source, digests: doc.Networks,
	}
	m.readWords(ctx, z, r, size)
	m.readPropagated(z)
	if model, err := factor.LoadModel(r, size); !errors.Is(err, factor.ErrNoModel) {
		guard.Check(err)
		m.Result = &factor.Result{Model: model, Basis: model.Vectors()}
	}
	if doc.Groups != nil {
		m.readGroups(z, doc.Groups)
	}
	m.validate()
	return m
}

func (m *Model) readWords(ctx context.Context, z *npz.Archive, r io.ReaderAt, size int64) {
	one, ok := lists.Find(m.Features.Each(), func(f *spec.Features) bool { return f.OfWords() })
	if !ok {
		return
	}
	v := guard.Must(vocab.Load(ctx, r, size))
	if dim := one.ExtractorOrPixels().(features.DescriptorExtractor).Dim(); v.Dim() != dim {
		guard.Fail("words of length %d, but descriptors have %d", v.Dim(), dim)
	}
	var weights []float64
	if one.Words.IDF {
		guard.Check(z.Get(modelWeights, &weights, 0, one.Words.GridOrDefault().Len()*v.Len()))
		checkPositive(modelWeights, weights)
	}
	guard.Check(m.setWords(v, weights))
}

func (m *Model) readPropagated(z *npz.Archive) {
	f := &m.Features
	if !f.Transductive() {
		return
	}
	p := &cluster.Propagated{Share: f.Propagate}
	if f.Propagated = p; f.Whiten > 0 {
		guard.Check(z.Get(modelMean, &p.Mean, 0))
		guard.Check(z.Get(modelMultiplier, &p.Multiplier, 0, len(p.Mean), m.Columns))
	}
	if p.Share > 0 {
		guard.Check(z.Get(modelDegrees, &p.Degrees, math.MaxInt32))
		guard.Check(z.Get(modelPoints, &p.Points, 0, len(p.Degrees), m.Columns))
		guard.Check(z.Get(modelAverages, &p.Averages, 0, len(p.Degrees), m.Columns))
		guard.Check(z.Get(modelNeighbours, &p.Neighbours, int64(len(p.Degrees))))
		p.Neighbours = max(p.Neighbours, 1)
	}
}

func (m *Model) readGroups(z *npz.Archive, doc *groupsDocument) {
	was := doc.Opened
	g := &ModelGroups{Centres: &cluster.Centres{}, Names: doc.Names, By: doc.By, ByDay: doc.ByDay, Opened: spec.Data{OpenOptions: datasets.OpenOptions{
		From: was.From, Pattern: was.Pattern, Truth: was.Truth, NoClasses: was.NoClasses, Pool: was.Pool, Missing: was.Missing, Weights: was.Weights, Mask: was.Mask,
	}}}
	g.Method = guard.Must(spec.ReadMethod(doc.Method))
	guard.Check(g.Centres.Distance.UnmarshalText([]byte(doc.Distance)))
	k, columns := len(g.Names), m.Columns
	if m.Represents() {
		_, columns = coefficientsOf(m.Result.Model)
	}
	guard.Check(z.Get(modelCentres, &g.Centres.Points, 0, k, columns))
	guard.Check(z.Get(modelSpread, &g.Spread, 0, k, cluster.SpreadLevels))
	guard.Check(z.Get(modelSizes, &g.Centres.Sizes, math.MaxInt32, k))
	if z.Has(modelColumns) {
		guard.Check(z.Get(modelColumns, &g.Columns, int64(k), columns))
		for j := range g.Columns {
			g.Columns[j]--
		}
	}
	if z.Has(modelContents) {
		guard.Check(z.Get(modelContents, &g.Samples, math.MaxInt64))
		guard.Check(z.Get(modelGroups, &g.Groups, int64(k), len(g.Samples)))
	}
	checkPositive(modelSpread, g.Spread.RawMatrix().Data)
	empty := func(group int) bool { return group >= k || group >= 0 && g.Centres.Sizes[group] == 0 }
	guard.FailIf(slices.Max(g.Centres.Sizes) == 0, "all groups are empty")
	guard.FailIf(g.Columns != nil && !m.Represents(), "the array %q needs a model with coefficients", modelColumns)
	guard.FailIf(slices.ContainsFunc(g.Columns, empty), "the array %q names an empty group", modelColumns)
	if i := slices.IndexFunc(g.Groups, empty); i >= 0 {
		guard.Fail("sample %d is in group %d, which is empty", i+1, g.Groups[i]+1)
	}
	m.Groups = g
}

func checkPositive(name string, values []float64) {
	least := slices.Min(values)
	guard.FailIf(least < 0, "the array %q has value %v; expected 0 or more", name, least)
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

func (m *Model) validate() {
	s, n := m.source, len(m.Features.Each())
	guard.FailIf(len(m.digests) != n, "%d features, but network digests of %d", n, len(m.digests))
	guard.FailIf(m.Columns < 1, "%d features; expected 1 or more", m.Columns)
	guard.FailIf(s.Columns < 0 || s.Height < 0 || s.Width < 0 || s.Files && s.Columns > 0,
		"invalid shape of samples: %d values, %d×%d pixels", s.Columns, s.Height, s.Width)
	noScale := func(w spec.Weighted) bool { return w.Scale == 0 }
	guard.FailIf(slices.ContainsFunc(m.Features.Joined, noScale), "the joined features lack their scales")
	if m.Represents() {
		columns, _ := coefficientsOf(m.Result.Model)
		guard.FailIf(columns != m.Columns, "factors of %d features, but the model has %d", columns, m.Columns)
	}
}
