// Package passes learns from sets that are spread over machines, in passes over their shards. [State.Pass] adds up a shard,
// [Add] adds sums and [State.Update] learns from the sums of all shards. They are pure functions, so that any scheduler can
// run them, in any order and again after a failure: the same shards give the same bytes.
package passes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Run is what a state remembers beside its vectors.
type Run struct {
	Version  int              `json:"version"`
	Method   json.RawMessage  `json:"method"` // as by spec.Method.Document
	Rank     int              `json:"rank"`   // the number of basis vectors, clusters, words or directions
	Distance cluster.Distance `json:"-"`
	By       string           `json:"distance"` // the name of Distance
	Words    bool             `json:"words"`    // the clusters are visual words
	Seed     uint64           `json:"seed"`
	Shards   []string         `json:"shards"`  // the digest of each shard, "" before its first pass
	Classes  []string         `json:"classes"` // of the shards, for a method with labels
	// Step counts the passes that find the start of a method, and is then Learning; Passes counts those after the start.
	Step   int `json:"step"`
	Passes int `json:"passes"`
	// Objective is the objective before each pass. A decrease by less than Tolerance of it stops the method.
	Objective []float64 `json:"objective"`
	Tolerance float64   `json:"tolerance"`
	Constant  float64   `json:"constant"` // a part of the objective that does not depend on the vectors
	Samples   int       `json:"samples"`
	Done      bool      `json:"done"` // converged
}

// Learning is Run.Step after the start.
const Learning = -1

// State is a method between two passes. Its file is a model, which apply and assign use, with further arrays.
type State struct {
	Run
	Model   *models.Model
	Vectors *mat.Dense // what the next pass compares samples with, such as the basis, m×k, or the centres, k×m
	Fixed   *mat.Dense // weighted samples that belong to no shard, or nil
	Digest  string     // of the file

	rule
}

// Rows are the samples of a shard.
type Rows struct {
	factor.Blocks
	Part
	Labels  []int
	Classes []string
}

// Sums are the sums of some shards at a state. Numbers are added; of the Drawn samples, those with the Keep smallest keys
// stay.
type Sums struct {
	Model   string    `json:"model"` // the digest of the state
	Parts   []Part    `json:"parts"`
	Samples int       `json:"samples"`
	Keep    int       `json:"keep"`
	Values  []float64 `json:"-"`
	Keys    []float64 `json:"-"`
	Drawn   []float64 `json:"-"` // the values of each drawn sample
}

// Part is a shard with the digest of its content.
type Part struct {
	Shard  vectorfile.Shard `json:"shard"`
	Digest string           `json:"digest"`
}

// Pass returns the sums of a shard.
func (s *State) Pass(ctx context.Context, x Rows) (_ *Sums, err error) {
	defer guard.Catch(&err)
	guard.FailIf(x.Shard.Of != len(s.Shards), "shard %s: the model learns from %d shards", x.Shard, len(s.Shards))
	was := s.Shards[x.Shard.Index]
	guard.FailIf(was != "" && was != x.Digest, "shard %s has changed since the first pass", x.Shard)
	n, m := x.Dims()
	guard.FailIf(m != s.Model.Columns, "shard %s has %d features, but the model has %d", x.Shard, m, s.Model.Columns)
	sums := &Sums{Model: s.Digest, Parts: []Part{x.Part}, Samples: n}
	return sums, s.sum(ctx, s, x, sums)
}

// Add returns the sum of sums, which it adds in their order.
func Add(some ...*Sums) (*Sums, error) {
	all := *some[0]
	all.Values, all.Keys, all.Drawn = slices.Clone(all.Values), slices.Clone(all.Keys), slices.Clone(all.Drawn)
	for _, s := range some[1:] {
		if len(s.Values) != len(all.Values) || s.Keep != all.Keep || s.Model != all.Model {
			return nil, fmt.Errorf("shards %s and %s have sums of different models or passes", all.Parts[0].Shard, s.Parts[0].Shard)
		}
		all.Parts = append(slices.Clip(all.Parts), s.Parts...)
		floats.Add(all.Values, s.Values)
		all.Samples += s.Samples
		all.Keys, all.Drawn = append(all.Keys, s.Keys...), append(all.Drawn, s.Drawn...)
		all.prune()
	}
	return &all, nil
}

// prune drops the drawn samples beyond the Keep smallest keys.
func (s *Sums) prune() {
	if len(s.Keys) <= s.Keep {
		return
	}
	m := len(s.Drawn) / len(s.Keys)
	order := matrix.Range(len(s.Keys))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Keys[a], s.Keys[b]) })
	keys, drawn := []float64(nil), []float64(nil)
	for _, i := range order[:s.Keep] {
		keys, drawn = append(keys, s.Keys[i]), append(drawn, s.Drawn[i*m:(i+1)*m]...)
	}
	s.Keys, s.Drawn = keys, drawn
}

// FanIn is the number of neighbouring sums that Total adds at once.
const FanIn = 16

// Total returns the sum of the sums of n shards, which read returns by number, in a fixed tree: sums of FanIn neighbours are
// added, then sums of FanIn neighbours of these.
func Total(n int, read func(i int) (*Sums, error)) (*Sums, error) {
	var node func(i, width int) (*Sums, error)
	node = func(i, width int) (*Sums, error) {
		if width == 1 {
			return read(i)
		}
		var some []*Sums
		for at := i; at < min(i+width, n); at += width / FanIn {
			sums, err := node(at, width/FanIn)
			if err != nil {
				return nil, err
			}
			some = append(some, sums)
		}
		return Add(some...)
	}
	width := 1
	for width < n {
		width *= FanIn
	}
	return node(0, width)
}

// Update returns the state after a pass, given the sum of the sums of all shards.
func (s *State) Update(ctx context.Context, total *Sums) (_ *State, err error) {
	defer guard.Catch(&err)
	next := *s
	next.Shards, next.Objective = make([]string, len(s.Shards)), slices.Clone(s.Objective)
	guard.FailIf(total.Model != s.Digest, "the sums are of another model, or of another pass: run the pass again")
	seen := map[string]vectorfile.Shard{}
	for i, part := range total.Parts {
		want := vectorfile.Shard{Index: i, Of: len(s.Shards)}
		other, twice := seen[part.Digest]
		guard.FailIf(part.Shard != want, "sums of shard %s instead of shard %s", part.Shard, want)
		guard.FailIf(s.Shards[i] != "" && s.Shards[i] != part.Digest, "shard %s has changed since the first pass", want)
		guard.FailIf(twice, "shards %s and %s have the same content", other, want)
		next.Shards[i], seen[part.Digest] = part.Digest, want
	}
	if n := len(total.Parts); n < len(s.Shards) {
		return nil, fmt.Errorf("no sums of shard %d/%d", n, len(s.Shards))
	}
	next.Samples = total.Samples
	objective := guard.Must(s.update(ctx, &next, total))
	if s.Step == Learning {
		next.Passes++
		if n := len(s.Objective); n > 0 {
			next.Done = next.Done || s.Objective[n-1]-objective <= s.Tolerance*math.Abs(s.Objective[n-1])
		}
		next.Objective = append(next.Objective, objective)
	}
	next.setModel()
	return &next, nil
}

// setModel sets the result or the groups of the model.
func (s *State) setModel() {
	m := *s.Model
	m.Result, m.Groups = nil, nil
	if s.Model = &m; s.Step == Learning {
		s.result(s)
	}
}

// Sample is a sample of the rows of a set, with the inputs of its first shard.
type Sample struct {
	*input.Inputs
	X *mat.Dense
}

// Start returns the state before the first pass over some shards. The sample starts the methods that need no passes to
// find a start.
func Start(ctx context.Context, m spec.Method, run Run, sample Sample, shards int) (_ *State, err error) {
	defer guard.Catch(&err)
	s := &State{Run: run}
	s.Version, s.Shards = formatVersion, make([]string, shards)
	s.Method = guard.Must(json.Marshal(m.Document()))
	s.rule = guard.Must(ruleOf(m))
	s.Model = guard.Must(models.NewModel(ctx, sample.Inputs, m.String(), nil))
	s.Model.Names, s.Classes = nil, sample.Set.Classes
	if s.Tolerance = m.Tolerance; s.Tolerance == 0 {
		s.Tolerance = 1e-5
	}
	s.Step = Learning
	guard.Check(s.begin(ctx, s, sample.X))
	s.setModel()
	return s, nil
}

const formatVersion = 1

// The arrays that a state adds to a model.
const runArray, vectorsArray, fixedArray, wordsArray = "passes", "passes_vectors", "passes_fixed", "words"

// Save writes the state. The same state gives the same bytes.
func (s *State) Save(w io.Writer) error {
	s.By = s.Distance.String()
	text, err := json.Marshal(s.Run)
	if err != nil {
		return err
	}
	return s.Model.SaveWith(w, func(z *npz.Writer) {
		z.Text(runArray, text)
		z.Put(vectorsArray, &s.Vectors)
		z.Put(fixedArray, &s.Fixed)
		if s.Words && s.Step == Learning {
			z.Put(wordsArray, &s.Vectors)
		}
	})
}

// DigestOf returns the digest of the file of a state.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Continues reports whether the state is of this method and run, and of this many shards.
func (s *State) Continues(m spec.Method, run Run, shards int) bool {
	method, err := json.Marshal(m.Document())
	return err == nil && bytes.Equal(method, s.Method) && len(s.Shards) == shards &&
		run.Rank == s.Rank && run.Seed == s.Seed && run.Distance == s.Distance && run.Words == s.Words
}

// String describes the passes so far.
func (s *State) String() string {
	switch n := len(s.Objective); {
	case s.Step != Learning || n == 0:
		return fmt.Sprintf("start of %s: %d samples", s.Model.Method, s.Samples)
	case s.Done:
		return fmt.Sprintf("pass %d: objective %.6g before it; converged", s.Passes, s.Objective[n-1])
	default:
		return fmt.Sprintf("pass %d: objective %.6g before it", s.Passes, s.Objective[n-1])
	}
}

// Read reads a state that Save wrote.
func Read(ctx context.Context, text []byte) (_ *State, err error) {
	defer guard.Catch(&err)
	r, size := bytes.NewReader(text), int64(len(text))
	m := guard.Must(models.ReadModel(ctx, r, size))
	z := guard.Must(npz.Open(r, size))
	guard.FailIf(!z.Has(runArray), "the model was not learned in passes; partwise fit --passes starts one")
	run := guard.Must(z.Text(runArray))
	s := &State{Model: m, Digest: DigestOf(text)}
	if err = json.Unmarshal(run, &s.Run); err == nil {
		err = s.Distance.UnmarshalText([]byte(s.By))
	}
	guard.Check(guard.Wrap(err, "the array %q", runArray))
	guard.FailIf(s.Version != formatVersion || len(s.Shards) < 1 || s.Rank < 1,
		"the array %q: version %d of %d shards and rank %d; expected version %d", runArray, s.Version, len(s.Shards), s.Rank, formatVersion)
	for name, to := range map[string]**mat.Dense{vectorsArray: &s.Vectors, fixedArray: &s.Fixed} {
		if z.Has(name) {
			guard.Check(z.Get(name, to, 0))
		}
	}
	if m.Result != nil {
		m.Result.Objective = s.Objective
	}
	method, err := spec.ReadMethod(s.Method)
	if err == nil {
		s.rule, err = ruleOf(method)
	}
	if err == nil {
		rows, columns := s.shape(s)
		if r, c := dims(s.Vectors); rows > 0 && r != rows || c != columns {
			err = fmt.Errorf("the array %q is %d×%d; expected %d×%d", vectorsArray, r, c, rows, columns)
		}
	}
	return s, err
}
