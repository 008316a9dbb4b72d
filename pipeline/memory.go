package pipeline

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// problem returns how large the problems of the plan are, at most, by number of
// classes and rank.
func (p *Plan) problem(k, rank int) problem {
	_, m := p.Inputs.Dims()
	s := problem{m: m, classes: k, groups: k, rank: rank, auto: p.auto()}
	if s.auto != nil {
		s.rank = s.auto.Most()
	}
	s.sparse, s.stored = p.Inputs.Source().Density()
	s.signed = p.Inputs.HasNegative()
	classes := slices.Clone(p.classes)
	slices.SortFunc(classes, func(a, b class) int { return len(b.rows) - len(a.rows) })
	for _, c := range classes[:k] {
		s.n += c.seen
		s.labelled += c.labelled
		s.tested += c.tested
	}
	if of := p.Experiment.Cluster.K; of != (spec.GroupCount{}) {
		_, s.groups = of.Within(s.n, k, !p.Experiment.Labels.None())
		s.counted = of.Auto
	}
	s.links = len(p.must) + len(p.cannot)
	if share := p.Experiment.Links.Share; share > 0 {
		pairs := float64(s.n) * float64(s.n) / 2 // which are put in a random order
		s.links += int(share * pairs)
		if s.ordered = 4 * pairs; pairs > math.MaxUint32 {
			s.ordered = 8 * pairs
		}
	}
	return s
}

// checkMemory refuses a plan with a trial that the budget of the context has no
// room for, before any is run.
func (p *Plan) checkMemory(budget *memory.Budget) error {
	e := p.Experiment
	for _, k := range p.ks {
		for _, rank := range e.Rank.List() {
			s := p.problem(k, rank.Of(k))
			for _, m := range p.methods {
				what := fmt.Sprintf("%s with %d classes, rank %d, of up to %d samples of %d features", m.Label(), k, s.rank, s.n, s.m)
				if m.factoriser == nil {
					what = fmt.Sprintf("%s with %d classes of up to %d samples of %d features", m.Label(), k, s.n, s.m)
				}
				if err := budget.Check(m.need(s, e.Task, e.Classifier), what); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// acquire waits for the share of the memory budget of a trial.
func (p *Plan) acquire(ctx context.Context, t trial, d draw) (release func(), err error) {
	s := p.problem(t.k, t.rank)
	s.n, s.tested, s.links = len(d.rows), len(d.testRows), len(d.must)+len(d.cannot)
	return memory.FromContext(ctx).Acquire(ctx, p.methods[t.method].need(s, p.Experiment.Task, p.Experiment.Classifier), "a trial")
}

// shared is about how many bytes the trials of a plan share or leave behind: the
// features of the last draws where each has its own, the directions of the
// direct methods, and what the log holds of each trial.
func (p *Plan) shared() int64 {
	e := p.Experiment
	s := p.problem(p.most(), 1)
	total := 4000 * float64(len(p.trials))
	if e.Task == spec.Classification {
		total += 8 * float64(s.classes) * float64(s.classes) * float64(len(p.trials))
	}
	atOnce := float64(max(4, runtime.GOMAXPROCS(0)))
	if p.Inputs.X == nil {
		total += (atOnce + 1) * s.input()
	}
	if len(e.Rank) > 1 {
		most := e.Rank[len(e.Rank)-1].Of(s.classes)
		for _, m := range p.methods {
			if m.needs.Direct {
				total += (atOnce + 1) * 8 * float64(most) * float64(2*(s.n+s.m)+s.tested)
			}
		}
	}
	return int64(min(total, math.MaxInt64/2))
}
