package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Plan is the list of an experiment's trials on its inputs.
type Plan struct {
	Experiment *Experiment
	Inputs     *Inputs

	labels  []int
	members [][]int // rows of X by class
	ks      []int   // numbers of classes
	// Links of files, by row of X.
	must, cannot [][2]int
	trials       []trial
	// What does not depend on the rank is done once for several.
	direct   latest[fitID, *factor.Result]
	unranked latest[fitID, *Record]
	// best is the rank of each method whose models are saved, where there are
	// several ranks and all trials are done, and nil before.
	best []int
}

// trial is one method on one draw of classes and labels.
type trial struct {
	id              string
	k, rank, repeat int
	method          int
}

// CheckSet reports what keeps the experiment from being run on a set, before any
// features are made. NewPlan checks the same of the samples that can be used.
func (e *Experiment) CheckSet(ctx context.Context, set *datasets.Set) error {
	in := &Inputs{Set: set, Rows: make([]int, set.Len())}
	for i := range in.Rows {
		in.Rows[i] = i
	}
	_, err := check(ctx, e, in)
	return err
}

// NewPlan checks that the experiment can be run on the inputs and lists its
// trials, by number of classes, repeat, rank and method.
func NewPlan(ctx context.Context, e *Experiment, in *Inputs) (*Plan, error) {
	p, err := check(ctx, e, in)
	if err != nil {
		return nil, err
	}
	if err := in.checkSigns(e.Methods); err != nil {
		return nil, err
	}
	data := in.fingerprint()
	for _, k := range p.ks {
		for r := range e.repeats() {
			for _, rank := range e.Rank.list() {
				for m := range e.Methods {
					t := trial{k: k, rank: rank.Of(k), repeat: r, method: m}
					t.id = p.identify(t, data)
					p.trials = append(p.trials, t)
				}
			}
		}
	}
	return p, nil
}

// check checks the experiment on inputs of which the features need not be there,
// and returns a plan without trials.
func check(ctx context.Context, e *Experiment, in *Inputs) (*Plan, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	p := &Plan{Experiment: e, Inputs: in, labels: in.Labels(), ks: e.Classes}
	p.direct.each, p.unranked.each = len(e.Methods), len(e.Methods)
	if err := p.findClasses(); err != nil {
		return nil, err
	}
	if len(p.ks) == 0 {
		p.ks = []int{len(p.members)}
	}
	if k := p.ks[len(p.ks)-1]; k > len(p.members) {
		return nil, fmt.Errorf("classes: %d are asked for, and %s has %d", k, in.Set.Name, len(p.members))
	}
	if err := p.checkRanks(); err != nil {
		return nil, err
	}
	if err := p.checkLabels(); err != nil {
		return nil, err
	}
	var err error
	if p.must, p.cannot, err = e.Links.read(ctx, in); err != nil {
		return nil, err
	}
	if trials := len(p.ks) * len(e.Rank.list()) * e.repeats(); trials > maxCount/len(e.Methods) {
		return nil, fmt.Errorf("%d methods in %d draws are more than %d trials", len(e.Methods), trials, maxCount)
	}
	return p, nil
}

// findClasses gathers the samples of each class.
func (p *Plan) findClasses() error {
	set := p.Inputs.Set
	if len(set.Classes) == 0 {
		return fmt.Errorf("%s has no classes, and an experiment draws and scores classes; partwise cluster works without", p.Experiment.Data.Set)
	}
	p.members = make([][]int, len(set.Classes))
	for row, c := range p.labels {
		if c < 0 {
			return fmt.Errorf("%s: the class of %s is not known, and an experiment needs all of them", p.Experiment.Data.Set, set.Names[p.Inputs.Rows[row]])
		}
		p.members[c] = append(p.members[c], row)
	}
	for c, rows := range p.members {
		if len(rows) < 2 {
			has := "no sample"
			if len(rows) == 1 {
				has = "1 sample"
			}
			return fmt.Errorf("%s: class %q has %s, and an experiment needs 2 or more in each", p.Experiment.Data.Set, set.Classes[c], has)
		}
		if _, _, _, err := p.parts(len(rows)); err != nil {
			return fmt.Errorf("%s: class %q: %w", set.Name, set.Classes[c], err)
		}
	}
	return nil
}

// parts returns how many of a class's samples a method sees, how many of these
// have their label told, and how many more are classified.
func (p *Plan) parts(size int) (seen, told, tested int, err error) {
	e := p.Experiment
	if e.Task == Clustering {
		told, err = e.Labels.of(size)
		if err != nil {
			err = fmt.Errorf("labels: %w", err)
		}
		return size, told, 0, err
	}
	if seen, err = e.Train.of(size); err != nil {
		return 0, 0, 0, fmt.Errorf("train: %w", err)
	}
	tested = size - seen
	if !e.Test.Rest {
		if tested, err = e.Test.of(size); err != nil {
			return 0, 0, 0, fmt.Errorf("test: %w", err)
		}
	}
	if tested < 1 || seen+tested > size {
		return 0, 0, 0, fmt.Errorf("%d samples to train and %d to test are asked for, and it has %d", seen, tested, size)
	}
	return seen, seen, tested, nil
}

// checkRanks: the rank must be at most the number of samples of any draw.
func (p *Plan) checkRanks() error {
	var sizes []int
	for _, rows := range p.members {
		seen, _, _, err := p.parts(len(rows))
		if err != nil {
			return err
		}
		sizes = append(sizes, seen)
	}
	slices.Sort(sizes)
	for _, k := range p.ks {
		n := 0
		for _, s := range sizes[:k] {
			n += s
		}
		for _, r := range p.Experiment.Rank.list() {
			rank := r.Of(k)
			if rank < 1 {
				return fmt.Errorf("rank: %s is %d for %d classes; it must be 1 or more", r, rank, k)
			}
			if rank > n {
				return fmt.Errorf("rank: %s is %d for %d classes, above the %d samples that they may have", r, rank, k, n)
			}
		}
	}
	return nil
}

// checkLabels reports a method that cannot learn from the labels of any draw.
func (p *Plan) checkLabels() error {
	var sizes []int
	for _, rows := range p.members {
		_, told, _, err := p.parts(len(rows))
		if err != nil {
			return err
		}
		if told > 0 {
			sizes = append(sizes, told)
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	for _, k := range p.ks {
		for _, m := range p.Experiment.Methods {
			if err := m.checkClasses(sizes[:min(k, len(sizes))]); err != nil {
				return fmt.Errorf("classes: %d: %w", k, err)
			}
		}
	}
	return nil
}

// identify digests all that a trial's result depends on.
func (p *Plan) identify(t trial, data string) string {
	e := p.Experiment
	m := e.Methods[t.method]
	if recode := m.recodes(); e.Task == Classification && recode {
		m.Recode = &recode
	} else {
		m.Recode = nil // one trial, said or not
	}
	all := []any{data, e.Task, t.k, t.rank, t.repeat, m.Label(), m,
		e.Labels, e.Cluster, e.Train, e.Test, e.Neighbours, e.Links}
	if len(e.Scores) > 0 {
		all = append(all, slices.Sorted(slices.Values(e.Scores)))
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // numbers and names only
	}
	h := sha256.New()
	h.Write(text[:len(text)-1]) // the list goes on
	digestPairs(h, p.must)
	digestPairs(h, p.cannot)
	fmt.Fprintf(h, ",%d]", e.Seed)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// digestPairs writes a comma and pairs as JSON has them, of which there may be too
// many for a text in memory.
func digestPairs(h hash.Hash, pairs [][2]int) {
	if len(pairs) == 0 {
		io.WriteString(h, ",null")
		return
	}
	var piece []byte
	between := byte('[')
	h.Write([]byte{','})
	for _, p := range pairs {
		piece = append(strconv.AppendInt(append(piece, between, '['), int64(p[0]), 10), ',')
		piece = append(strconv.AppendInt(piece, int64(p[1]), 10), ']')
		between = ','
		if len(piece) > 1<<12 {
			h.Write(piece)
			piece = piece[:0]
		}
	}
	h.Write(append(piece, ']'))
}

// drawID tells draws apart.
type drawID struct{ k, repeat int }

// draw is what the methods of one repeat see.
type draw struct {
	id     drawID
	rows   []int // of X
	truth  []int // class of each, from 0
	labels []int // the same, or -1 where it is not told
	// Links beside what the labels say.
	must, cannot [][2]int
	// The samples that are to be classified, with their classes.
	testRows, testTruth []int
}

// draw draws k classes, the samples in them, and which of these are labelled.
func (p *Plan) draw(k, repeat int) draw {
	e := p.Experiment
	classes := rng.New(uint64(e.Seed), "classes", k, repeat).Perm(len(p.members))[:k]
	slices.Sort(classes)
	number := make(map[int]int, k)
	told := map[int]bool{}
	d := draw{id: drawID{k, repeat}}
	for at, c := range classes {
		number[c] = at
		members := p.members[c]
		seen, labelled, tested, err := p.parts(len(members))
		if err != nil {
			panic(err) // the plan was checked
		}
		order := rng.New(uint64(e.Seed), "labels", k, repeat, c).Perm(len(members))
		for i, m := range order {
			switch {
			case i < seen:
				d.rows = append(d.rows, members[m])
			case i < seen+tested:
				d.testRows = append(d.testRows, members[m])
			}
			if i < labelled {
				told[members[m]] = true
			}
		}
	}
	slices.Sort(d.rows)
	slices.Sort(d.testRows)
	for _, row := range d.rows {
		c := number[p.labels[row]]
		d.truth = append(d.truth, c)
		if !told[row] {
			c = -1
		}
		d.labels = append(d.labels, c)
	}
	d.must, d.cannot = e.Links.draw(d.truth, rng.New(uint64(e.Seed), "links", k, repeat))
	at := make(map[int]int, len(d.rows))
	for i, row := range d.rows {
		at[row] = i
	}
	for to, from := range map[*[][2]int][][2]int{&d.must: p.must, &d.cannot: p.cannot} {
		for _, pair := range from {
			a, hasA := at[pair[0]]
			b, hasB := at[pair[1]]
			if hasA && hasB {
				*to = append(*to, [2]int{a, b})
			}
		}
	}
	for _, row := range d.testRows {
		d.testTruth = append(d.testTruth, number[p.labels[row]])
	}
	return d
}

// known returns what is known of the samples of the draw.
func (d draw) known() factor.Known {
	return factor.Known{Labels: d.labels, MustLink: d.must, CannotLink: d.cannot}
}

// Len returns the number of trials.
func (p *Plan) Len() int { return len(p.trials) }
