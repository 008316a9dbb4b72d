// Package models saves, reads and applies models. A [Model] represents new samples in the same way as its training
// samples, and assigns them to groups. [Illustrate] shows parts on photos.
package models

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

// VersionOf returns the version of the module of a build, or "unversioned". It is the Program of a model.
func VersionOf(info *debug.BuildInfo) string {
	if info == nil {
		return "unversioned"
	}
	return cmp.Or(strings.TrimSuffix(info.Main.Version, "(devel)"), "unversioned")
}

// Model represents new samples in the same way as a method's training samples, and assigns them to its groups.
type Model struct {
	Program  string        // the version of the program that made the model
	Data     string        // the name of the data
	Features spec.Features // the settings of the features, with learned words, weights and scales
	Columns  int           // m, the number of features
	Method   string        // the name of the method
	// Result is the method's result, nil if the features themselves were clustered. ReadModel sets its Model and Basis
	// only.
	Result *factor.Result
	Groups *ModelGroups // the groups, or nil
	// Names are the names of the samples. ReadModel does not set them.
	Names []string

	source  modelSource
	digests []string // of each feature's network, "" for others
}

// ModelGroups are the k groups of a model.
type ModelGroups struct {
	// Centres are the centres of the groups, in the space of the coefficients, or of the features if the method cannot
	// represent new samples.
	Centres *cluster.Centres
	Spread  *mat.Dense // as cluster.Centres.Spread returns it
	Names   []string   // the class of each labelled group, or ""
	// Method is the method with its settings, and By the clustering algorithm.
	Method spec.Method
	By     string
	Opened spec.Data // From, Pattern, Truth, NoClasses, Pool, Missing, Weights and Mask of the data
	ByDay  bool      // the photos of each day were grouped by themselves
	// Columns holds the group of each coefficient, or −1, if samples are grouped by their largest coefficient; else it
	// is nil.
	Columns         []int
	Samples, Groups []int // for each training sample, a digest of its content, and its group
}

type modelSource struct {
	// Files is true for image files. Columns is the length of vectors, which may hold images of Height and Width with
	// values from Black to White.
	Files   bool    `json:"files"`
	Columns int     `json:"columns,omitempty"`
	Height  int     `json:"height,omitempty"`
	Width   int     `json:"width,omitempty"`
	Black   float64 `json:"black,omitempty"`
	White   float64 `json:"white,omitempty"`
}

func sourceOf(set *datasets.Set) modelSource {
	s := modelSource{Files: set.Files != nil, Height: set.Height, Width: set.Width}
	if set.Vectors != nil {
		_, s.Columns = set.Vectors.Dims()
		if set.Height > 0 {
			s.Black, s.White = set.ValueRange()
		}
	}
	return s
}

// NewModel returns the model of a method's result on all of the inputs. res is nil for features without a method.
func NewModel(ctx context.Context, in *input.Inputs, method string, res *factor.Result) (*Model, error) {
	return ModelOfRows(ctx, in, nil, in.Learned, method, res)
}

// ModelOfRows is NewModel for some rows of the inputs, nil for all, with the learned parts of their features.
func ModelOfRows(ctx context.Context, in *input.Inputs, rows []int, learned input.Learned, method string, res *factor.Result) (*Model, error) {
	_, columns := in.Dims()
	m := &Model{
		Data: in.Set.Name, Features: in.Features, Columns: columns, Method: method, Result: res, source: sourceOf(in.Set), Names: in.Set.Names,
	}
	if rows != nil {
		m.Names = matrix.Take(m.Names, matrix.Take(in.Rows, rows))
	} else if len(in.Rows) < len(m.Names) {
		m.Names = matrix.Take(m.Names, in.Rows)
	}
	m.Features.SkipBad = false
	if m.Features.Propagated = learned.Propagated; learned.Propagated != nil {
		_, m.Columns = learned.Propagated.Columns()
	}
	m.Features.Joined = slices.Clone(in.Features.Joined)
	for i := range m.Features.Joined {
		m.Features.Joined[i] = spec.Weighted{Features: in.Features.Joined[i].Features, Scale: learned.Scales[i].Scale}
	}
	err := m.setWords(learned.Vocabulary, learned.WordWeights)
	if err == nil {
		m.digests, err = m.networks(ctx)
	}
	return m, err
}

func (m *Model) setWords(v *vocab.Vocabulary, weights []float64) error {
	for _, f := range m.Features.Each() {
		if !f.OfWords() {
			continue
		}
		var text bytes.Buffer
		if err := v.Save(&text); err != nil {
			return err
		}
		f.Words.From = ""
		f.Words.Learned = &spec.LearnedWords{Vocabulary: v, Key: cache.NewKey("words of a file", text.Bytes()), Weights: weights}
	}
	return nil
}

// networks returns the digest of each feature's network, "" for others.
func (m *Model) networks(ctx context.Context) (digests []string, err error) {
	for _, f := range m.Features.Each() {
		digest := ""
		if n, ok := f.ExtractorOrPixels().(features.Network); ok {
			if digest, err = n.Digest(ctx); err != nil {
				return nil, err
			}
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// GroupsOf returns the group of each row of the inputs, which must hold the model's training samples, or some of them,
// with the same content and order.
func (m *Model) GroupsOf(in *input.Inputs, some []int) ([]int, error) {
	if m.Groups == nil || m.Groups.Samples == nil {
		return nil, errors.New("the model has no list of its grouped samples")
	}
	contents, samples, groups := ContentsOf(in), m.Groups.Samples, slices.Clone(m.Groups.Groups)
	if some != nil && some[len(some)-1] < len(samples) {
		samples, groups = matrix.Take(samples, some), matrix.Take(groups, some)
	}
	if len(contents) != len(samples) {
		return nil, fmt.Errorf("%d samples were grouped, but %s now has %d: run partwise cluster again", len(samples), in.Set.Name, len(in.Rows))
	}
	for i, content := range contents {
		if content != samples[i] {
			return nil, fmt.Errorf("%s changed since it was grouped: run partwise cluster again", in.Set.Names[in.Rows[i]])
		}
	}
	return groups, nil
}

// Represents reports whether the model represents new samples by coefficients.
func (m *Model) Represents() bool { return m.Result != nil && m.Result.Model != nil }

// ContentsOf returns a 62-bit digest of each row's sample, nil if the samples are on disk.
func ContentsOf(in *input.Inputs) []int {
	if _, stored := in.Set.Vectors.(*vectorfile.Stored); stored {
		return nil
	}
	out := make([]int, len(in.Rows))
	number := func(sum [sha256.Size]byte) int { return int(binary.LittleEndian.Uint64(sum[:]) >> 2) }
	if in.Set.Files == nil {
		// The content of a vector is its non-zero values with their columns, so that sparse and dense rows agree.
		var content []byte
		matrix.EachRow(in.Set.Vectors, in.Rows, func(i int, columns []int, values []float64) {
			content = content[:0]
			for j, v := range values {
				if v == 0 {
					continue
				}
				if columns != nil {
					j = columns[j]
				}
				content = binary.LittleEndian.AppendUint64(content, uint64(j))
				content = binary.LittleEndian.AppendUint64(content, math.Float64bits(v))
			}
			out[i] = number(sha256.Sum256(content))
		})
		return out
	}
	for i, row := range in.Rows {
		sum, err := input.ContentOf(in.Images, row)
		if err != nil {
			return nil // the file is gone
		}
		out[i] = number(sum)
	}
	return out
}

// Check returns an error for a set whose samples the model cannot represent, or if the program has another network than
// the model. It reads no image.
func (m *Model) Check(ctx context.Context, set *datasets.Set) (err error) {
	defer guard.Catch(&err)
	was, is := m.source, sourceOf(set)
	kind := func(s modelSource) string {
		switch {
		case s.Files:
			return "image files"
		case s.Height > 0:
			return fmt.Sprintf("images of %d×%d pixels in vectors", s.Height, s.Width)
		}
		return fmt.Sprintf("vectors of %d values", s.Columns)
	}
	switch pixels, _ := m.Features.ExtractorOrPixels().(features.Pixels); {
	case was.Files != is.Files, was.Columns != is.Columns, was.Height != is.Height, was.Width != is.Width:
		return fmt.Errorf("the samples of %s are %s, but the model needs %s", set.Name, kind(is), kind(was))
	case m.Features.Joined == nil && pixels.Size == (features.Size{Height: is.Height, Width: is.Width}):
	case was.Black != is.Black || was.White != is.White:
		return fmt.Errorf("the values of %s range from %v to %v, but the model needs values from %v to %v", set.Name, is.Black, is.White, was.Black, was.White)
	}
	digests := guard.Must(m.networks(ctx))
	for i, f := range m.Features.Each() {
		guard.Must(f.Crop.Cropper())
		if digests[i] != m.digests[i] {
			return fmt.Errorf("%s: not the network of the model: SHA-256 is %.16s, expected %.16s", f.ExtractorOrPixels().Label(), digests[i], m.digests[i])
		}
	}
	return nil
}

// Represent returns the coefficients of the inputs, or the features if the method cannot represent new samples. The
// inputs must have the features of the model.
func (m *Model) Represent(ctx context.Context, in *input.Inputs) (mat.Matrix, error) {
	if _, columns := in.Dims(); columns != m.Columns {
		return nil, fmt.Errorf("the samples have %d features, but the model needs %d", columns, m.Columns)
	}
	if !m.Represents() {
		return in.X, nil
	}
	v, err := factor.Represent(ctx, m.Result.Model, in.X)
	return v, in.NameRows(err, nil)
}

// Assigned is the group of a new sample.
type Assigned struct {
	cluster.Membership
	// None is true for a rejected sample; Group is then its nearest group.
	None  bool
	Known bool // true for a training sample, which keeps its group
}

// Assignment is a line of a list of assigned samples.
type Assignment struct {
	File       string
	Group      int      // from 1; 0 for none
	Name       string   `json:",omitempty"`
	Confidence *float64 `json:",omitempty"`
}

// List lists the groups of the inputs that Assign returned.
func (m *Model) List(in *input.Inputs, found []Assigned) []Assignment {
	all := make([]Assignment, len(found))
	for i, a := range found {
		all[i] = Assignment{in.Set.Names[in.Rows[i]], a.Group + 1, m.Groups.Names[a.Group], &found[i].Confidence}
		if a.None {
			all[i].Group, all[i].Name, all[i].Confidence = 0, "none of these", new(0.)
		}
	}
	return all
}

// AssignmentsCSV returns the list as CSV, in the format of a grouping's list.
func AssignmentsCSV(all []Assignment) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"file", "group", "name", "confidence"}) // a buffer does not fail
	for _, a := range all {
		_ = w.Write([]string{spreadsheet.Cell(a.File), strconv.Itoa(a.Group), spreadsheet.Cell(a.Name), strconv.FormatFloat(*a.Confidence, 'f', 2, 64)})
	}
	w.Flush()
	return text.Bytes()
}

// DefaultReject is the default of reject in Assign.
const DefaultReject = 0.99

// Assign assigns the inputs to the groups of the model, by the nearest centre, or by the largest coefficient if the
// groups were formed by it. Training samples keep their groups. The inputs must have the features of the model. A
// sample is rejected if it is farther from the centre than the fraction reject of the group's own samples, each
// measured from the centre of the others; 0 rejects none.
func (m *Model) Assign(ctx context.Context, in *input.Inputs, reject float64) (_ []Assigned, err error) {
	defer guard.Catch(&err)
	of := m.Groups
	guard.FailIf(of == nil, "the model has no groups")
	guard.FailIf(!(reject >= 0 && reject <= 1), "reject %v: expected a fraction from 0 to 1", reject)
	points := guard.Must(m.Represent(ctx, in))
	found := guard.Must(of.Centres.Memberships(ctx, points, nil))
	known := make(map[int]int, len(of.Samples))
	for i, content := range of.Samples {
		if _, twice := known[content]; !twice {
			known[content] = of.Groups[i]
		}
	}
	contents := ContentsOf(in)
	out, groups, moved := make([]Assigned, len(found)), make([]int, len(found)), false
	for i, f := range found {
		groups[i] = f.Group
		if of.Columns != nil {
			if g := of.Columns[floats.MaxIdx(points.(*mat.Dense).RawRowView(i))]; g >= 0 {
				groups[i] = g
			}
		}
		if contents != nil {
			if g, ok := known[contents[i]]; ok {
				groups[i], out[i].Known = g, true
			}
		}
		moved = moved || groups[i] != f.Group
	}
	if moved {
		found = guard.Must(of.Centres.Memberships(ctx, points, groups))
	}
	for i, f := range found {
		out[i].Membership = f
		levels := of.Spread.RawRowView(f.Group)
		at := reject * float64(len(levels)-1)
		low := min(int(at), len(levels)-1)
		high := min(low+1, len(levels)-1)
		limit := levels[low] + (at-float64(low))*(levels[high]-levels[low]) // the distance within which this fraction of the samples lies
		out[i].None = reject > 0 && !out[i].Known && f.Distance > limit
	}
	return out, nil
}
