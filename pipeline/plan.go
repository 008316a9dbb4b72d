// Package pipeline runs experiments, which compare methods over repeated random draws of samples. [input.Prepare]
// computes the inputs of a [spec.Experiment], [NewPlan] lists its trials, and [Plan.Run] runs them on all cores and
// puts each record into a [Sink]. [spec.Load] reads an experiment file, and package results is the sink that logs
// trials in a folder.
//
// Each random choice of a trial has its own stream, seeded with the experiment's seed and the trial's coordinates. So
// results do not depend on the order of trials, the number of workers or the other methods, and all methods of a draw
// see the same classes, labels and initial coefficients.
package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Plan is the list of an experiment's trials on its inputs.
type Plan struct {
	Experiment *spec.Experiment
	Inputs     *input.Inputs

	set          *datasets.Set
	rows         []int // the sample of each row of X
	methods      []*fitting.Method
	results      []map[drawID]result // by method, nil for a method that runs
	labels       []int               // of the rows
	classes      []class
	ks           []int    // numbers of classes
	must, cannot [][2]int // links from files, by row of X
	data         string   // a digest of the inputs
	fixed        []byte   // the JSON of links and seed
	trials       []trial
	share        bool // whether direct methods share features and principal directions
	// modelled makes the draw whose models are saved. The plan keeps it, because its trials may run again once the best
	// ranks are known, and models and tables need its visual words.
	modelled func() *sharedDraw
	// best is the rank with the best mean score of each saved method. It is nil until all trials are done, and if there
	// is only one rank.
	best []int
}

// trial is one method on one draw of classes and labels.
type trial struct {
	drawID
	id           string
	rank, method int // rank is 0 until it is chosen
}

// CheckSet returns an error if the experiment cannot run on a set, before features are computed. NewPlan repeats the
// checks on the usable samples.
func CheckSet(ctx context.Context, e *spec.Experiment, set *datasets.Set) (err error) {
	defer guard.Catch(&err)
	checkedPlan(e, set, matrix.Range(set.Len())).findResults(ctx)
	return nil
}

// NewPlan checks that the experiment can run on the inputs, and lists its trials by number of classes, repeat, rank and
// method. The inputs must be prepared for the experiment's data, features and links.
func NewPlan(ctx context.Context, e *spec.Experiment, in *input.Inputs) (_ *Plan, err error) {
	defer guard.Catch(&err)
	p := checkedPlan(e, in.Set, in.Rows)
	p.Inputs = in
	p.must, p.cannot = in.LinksOfRows()
	guard.Check(fitting.CheckValues(in, slices.Concat(p.methods, p.variants())))
	if p.autoRank() != nil {
		guard.Check(in.CheckRank())
	}
	p.data = in.Fingerprint()
	if e.Split != "" {
		p.data += " " + in.Parts()
	}
	p.fixed = guard.Must(json.Marshal([]any{p.must, p.cannot, e.Seed}))
	p.findResults(ctx)
	for d := range p.eachDraw {
		for _, rank := range e.Rank.List() {
			for m := range e.Methods {
				t := trial{drawID: d, method: m}
				if rank.Auto == nil {
					t.rank = rank.Of(d.k)
				}
				t.id = p.trialID(t)
				p.trials = append(p.trials, t)
			}
		}
	}
	return p, nil
}

// checkedPlan checks the experiment on samples of a set, and returns a plan without inputs and trials. It and the functions
// below call guard.Fail.
func checkedPlan(e *spec.Experiment, set *datasets.Set, rows []int) *Plan {
	guard.Check(e.Check())
	p := &Plan{Experiment: e, set: set, rows: rows, labels: matrix.Take(set.Labels, rows), ks: drawnCounts(e, set)}
	for _, m := range e.Methods {
		p.methods = append(p.methods, guard.Must(fitting.Resolve(m, e.Task, e.Cluster)))
	}
	p.findClasses()
	k := p.mostClasses()
	p.modelled = sync.OnceValue(func() *sharedDraw { return newSharedDraw(p, drawID{k, 0}) })
	guard.FailIf(k > len(p.classes), "classes: %d requested, but %s has %d", k, set.Name, len(p.classes))
	guard.FailIf(e.Task == spec.Classification && k > eval.MostConfused,
		"classes: %d requested, but a classification supports at most %d", k, eval.MostConfused)
	p.checkDraws()
	for _, m := range p.methods {
		for _, rank := range e.Rank.List() {
			guard.FailIf(m.Needs.Memberships && (rank.Auto != nil || rank.Of(k) < k),
				"rank: %s needs a basis vector for each of %d classes; set rank: k", m.Label(), k)
			if parts, ok := m.Factoriser.(factor.Parts); ok && parts.Fixed != nil {
				_, fixed := parts.Fixed.Dims()
				guard.FailIf(rank.Auto != nil, "%w", spec.ErrFixed)
				guard.FailIf(rank.Of(p.ks[0]) < fixed,
					"rank: %s has %d fixed basis vectors; set a rank of at least %[2]d", m.Label(), fixed)
			}
		}
	}
	trials := len(p.ks) * len(e.Rank.List()) * e.RepeatCount()
	guard.FailIf(trials > spec.MaxTrials/len(e.Methods),
		"%d methods in %d draws exceed the limit of %d trials", len(e.Methods), trials, spec.MaxTrials)
	return p
}

type class struct {
	rows []int // of X
	// seen is the number of samples that a method sees, labelled the number of labelled ones among them, and tested the
	// number of further samples to classify.
	seen, labelled, tested int
}

func (p *Plan) findClasses() {
	set, name := p.set, p.Experiment.Data.Set
	if len(set.Classes) == 0 {
		how := "partwise cluster needs none"
		if set.TimeFolders != nil {
			how = fmt.Sprintf("its subfolders look like dates or camera folders (%s); set pool: true to read them as classes", phrase.Some(set.TimeFolders))
		}
		guard.Fail("%s has no classes, which an experiment needs; %s", name, how)
	}
	guard.FailIf(p.Experiment.Split != "" && set.Test == nil,
		"split: %s has neither folders train and test with all images, nor IDX files of both parts", name)
	p.classes = make([]class, len(set.Classes))
	for row, c := range p.labels {
		if c < 0 {
			guard.Fail("%s: the class of %s is unknown; an experiment needs the class of each sample", name, set.Names[p.rows[row]])
		}
		p.classes[c].rows = append(p.classes[c].rows, row)
	}
	for i := range p.classes {
		c := &p.classes[i]
		guard.FailIf(len(c.rows) < 2, "%s: class %q has %s; an experiment needs 2 or more in each class",
			name, set.Classes[i], phrase.Count(len(c.rows), "sample", "samples"))
		guard.Within(func() { p.countSamples(c) }, "%s: class %q", set.Name, set.Classes[i])
	}
}

func (p *Plan) isTest(row int) bool { return p.set.Test[p.rows[row]] }

func (p *Plan) countSamples(c *class) {
	e, size := p.Experiment, len(c.rows)
	count := func(setting string, of spec.Portion) int {
		n, err := of.CountOf(size)
		guard.Check(guard.Wrap(err, "%s", setting))
		return n
	}
	switch {
	case e.Split != "":
		c.tested = len(lists.Indices(c.rows, p.isTest))
		c.seen = size - c.tested
		c.labelled = c.seen
		guard.FailIf(c.seen == 0 || c.tested == 0,
			"split: the class has %d training and %d test samples; expected 1 or more of both", c.seen, c.tested)
	case e.Task == spec.Clustering:
		c.seen, c.labelled = size, count("labels", e.Labels)
	default:
		c.seen = count("train", e.Train)
		if c.labelled, c.tested = c.seen, size-c.seen; !e.Test.Rest {
			c.tested = count("test", e.Test)
		}
		guard.FailIf(c.tested < 1 || c.seen+c.tested > size,
			"%d training and %d test samples requested, but the class has %d", c.seen, c.tested, size)
	}
}

// checkDraws refuses a rank above the number of samples of a draw, and a method that cannot learn from the labels of a
// draw.
func (p *Plan) checkDraws() {
	e := p.Experiment
	var seen, labelled []int // for each class
	for _, c := range p.classes {
		seen = append(seen, c.seen)
		if c.labelled > 0 {
			labelled = append(labelled, c.labelled)
		}
	}
	slices.Sort(seen)
	slices.Sort(labelled)
	slices.Reverse(labelled)
	for _, k := range p.ks {
		n := 0
		for _, s := range seen[:k] {
			n += s
		}
		if e.Cluster.K != (spec.GroupCount{}) {
			guard.Check(e.Cluster.K.Check(n, k, !e.Labels.None()))
		}
		for _, r := range e.Rank.List() {
			guard.Check(r.Check(k, n, "classes"))
		}
		for _, m := range p.variants() {
			guard.Check(guard.Wrap(m.Needs.CheckClasses(m.Label(), labelled[:min(k, len(labelled))]), "classes: %d", k))
		}
		guard.Within(func() { p.checkFolds(k, labelled) }, "classes: %d", k)
	}
}

// variants returns the methods, and instead of one with a choice of settings its candidates.
func (p *Plan) variants() (all []*fitting.Method) {
	for _, m := range p.methods {
		if m.Tune == nil {
			all = append(all, m)
		}
		all = append(all, m.Candidates...)
	}
	return all
}

// checkFolds refuses methods that are tuned by labelled samples, if k classes with these numbers of them, the largest first,
// have too few for a cross-validation.
func (p *Plan) checkFolds(k int, labelled []int) {
	for _, m := range p.methods {
		if m.Tune == nil || m.Tune.By != spec.TuneLabelled {
			continue
		}
		if len(labelled) < len(p.classes) || labelled[len(labelled)-1] < 2 {
			guard.Fail("%s: tune by %s needs 2 or more labelled samples of each class", m.Label(), m.Tune.By)
		}
		folds, rest := min(spec.Folds, labelled[len(labelled)-1]), slices.Clone(labelled[:k])
		for i, size := range rest {
			rest[i] -= (size + folds - 1) / folds
		}
		for _, c := range m.Candidates {
			guard.Check(guard.Wrap(c.Needs.CheckClasses(c.Label(), rest), "a fold of tune"))
		}
	}
}

// trialID digests everything that a trial's result depends on.
func (p *Plan) trialID(t trial) string {
	e := p.Experiment
	m := p.methods[t.method].Method
	if !p.methods[t.method].Recodes {
		m.Recode = nil // an explicit default must not change the identity
	}
	all := []any{p.data, e.Task, t.k, t.rank, t.repeat, m.Label(), m,
		e.Labels, e.Cluster, e.Train, e.Test, e.Neighbours, e.Links}
	if e.Classifier.Linear() {
		all = append(all, e.Classifier)
	}
	if fixed := p.methods[t.method].Fixed; fixed != "" {
		all = append(all, fixed)
	}
	if auto := p.autoRank(); auto != nil {
		all = append(all, auto)
	}
	if len(e.Scores) > 0 {
		all = append(all, slices.Sorted(slices.Values(e.Scores)))
	}
	if results := p.results[t.method]; results != nil {
		all = append(all, results[t.drawID].sum)
	}
	return p.digest(all)
}

// digest digests values that JSON can hold, with the links and the seed.
func (p *Plan) digest(all []any) string {
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // cannot fail: numbers and names only
	}
	h := sha256.New()
	h.Write(append(text[:len(text)-1], ',')) // the fixed part continues the list
	h.Write(p.fixed[1:])
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// autoRank returns the choice of ranks, nil if ranks are given.
func (p *Plan) autoRank() *spec.AutoRank {
	if len(p.Experiment.Rank) == 0 {
		return nil
	}
	return p.Experiment.Rank[0].Auto
}

type drawID struct{ k, repeat int }

// draw is the samples, labels and links of one repeat.
type draw struct {
	id                  drawID
	rows                []int    // of X
	truth               []int    // an index of the drawn classes
	labels              []int    // as truth, or −1 if unlabelled
	must, cannot        [][2]int // the links that labels do not imply
	testRows, testTruth []int    // the samples to classify, and their classes
}

// draw draws k classes, their samples, and which of these are labelled.
func (p *Plan) draw(k, repeat int) draw {
	e := p.Experiment
	classes := rng.New(uint64(e.Seed), "classes", k, repeat).Perm(len(p.classes))[:k]
	slices.Sort(classes)
	number := make(map[int]int, k)
	labelled := map[int]bool{}
	d := draw{id: drawID{k, repeat}}
	for at, i := range classes {
		number[i] = at
		c := &p.classes[i]
		for place, m := range rng.New(uint64(e.Seed), "labels", k, repeat, i).Perm(len(c.rows)) {
			row := c.rows[m]
			train, test, isLabelled := place < c.seen, place < c.seen+c.tested, place < c.labelled
			if e.Split != "" {
				train, test, isLabelled = !p.isTest(row), p.isTest(row), !p.isTest(row)
			}
			switch labelled[row] = isLabelled; {
			case train:
				d.rows = append(d.rows, row)
			case test:
				d.testRows = append(d.testRows, row)
			}
		}
	}
	slices.Sort(d.rows)
	slices.Sort(d.testRows)
	for _, row := range d.rows {
		c := number[p.labels[row]]
		d.truth = append(d.truth, c)
		if !labelled[row] {
			c = -1
		}
		d.labels = append(d.labels, c)
	}
	d.testTruth = lists.Map(d.testRows, func(row int) int { return number[p.labels[row]] })
	d.must, d.cannot = drawLinks(e.Links, d.truth, rng.Source(uint64(e.Seed), "links", k, repeat))
	place := input.PlacesOf(d.rows, len(p.rows))
	d.must, d.cannot = append(d.must, input.PairsAt(p.must, place)...), append(d.cannot, input.PairsAt(p.cannot, place)...)
	return d
}

// Len returns the number of trials.
func (p *Plan) Len() int { return len(p.trials) }

func (p *Plan) mostClasses() int { return p.ks[len(p.ks)-1] }

// largestProblem returns the largest size of the plan's trials, for a number of classes and a rank.
func (p *Plan) largestProblem(k, rank int) fitting.Problem {
	_, m := p.Inputs.Dims()
	s := fitting.Problem{M: m, Classes: k, Groups: k, Rank: rank, Auto: p.autoRank()}
	if s.Auto != nil {
		s.Rank = s.Auto.Most()
	}
	s.Sparse, s.Stored = p.Inputs.Density()
	s.Signed = p.Inputs.HasNegative()
	s.Weighted = p.Inputs.IsWeighted()
	classes := slices.Clone(p.classes)
	slices.SortFunc(classes, func(a, b class) int { return len(b.rows) - len(a.rows) })
	for _, c := range classes[:k] {
		s.N += c.seen
		s.Labelled += c.labelled
		s.Tested += c.tested
	}
	if of := p.Experiment.Cluster.K; of != (spec.GroupCount{}) {
		_, s.Groups = of.Within(s.N, k, !p.Experiment.Labels.None())
		s.Counted = of.Auto
	}
	s.Links = len(p.must) + len(p.cannot)
	if share := p.Experiment.Links.Share; share > 0 {
		pairs := float64(s.N) * float64(s.N) / 2 // all pairs are put in a random order
		s.Links += int(share * pairs)
		s.Ordered = 8 * pairs
	}
	return s
}

func (p *Plan) checkMemory(budget *memory.Budget) error {
	e := p.Experiment
	for _, k := range p.ks {
		for _, rank := range e.Rank.List() {
			s := p.largestProblem(k, rank.Of(k))
			for _, m := range p.methods {
				what := fmt.Sprintf("%s with %d classes, rank %d, of up to %d samples of %d features", m.Label(), k, s.Rank, s.N, s.M)
				if m.Factoriser == nil {
					what = fmt.Sprintf("%s with %d classes of up to %d samples of %d features", m.Label(), k, s.N, s.M)
				}
				if err := budget.Check(m.Need(s, e.Task, e.Classifier), what); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sharedMemory estimates the bytes that trials share or leave behind: the features of open draws that learn their own,
// the directions of direct methods, and the records of the log.
func (p *Plan) sharedMemory() int64 {
	e := p.Experiment
	s := p.largestProblem(p.mostClasses(), 1)
	total := 4000 * float64(len(p.trials))
	if e.Task == spec.Classification {
		total += 8 * float64(s.Classes) * float64(s.Classes) * float64(len(p.trials))
	}
	atOnce := float64(max(4, runtime.GOMAXPROCS(0)))
	if p.Inputs.PerDraw() {
		total += (atOnce + 1) * s.Input()
	}
	if len(e.Rank) > 1 {
		most := e.Rank[len(e.Rank)-1].Of(s.Classes)
		for _, m := range p.methods {
			if m.Needs.Direct {
				total += (atOnce + 1) * 8 * float64(most) * float64(2*(s.N+s.M)+s.Tested)
			}
		}
	}
	return int64(min(total, math.MaxInt64/2))
}
