package pipeline

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// problem returns how large the problems of the plan are, at most, by number of classes and rank.
func (p *Plan) problem(k, rank int) fitting.Problem {
	_, m := p.Inputs.Dims()
	s := fitting.Problem{M: m, Classes: k, Groups: k, Rank: rank, Auto: p.auto()}
	if s.Auto != nil {
		s.Rank = s.Auto.Most()
	}
	s.Sparse, s.Stored = p.Inputs.Density()
	s.Signed = p.Inputs.HasNegative()
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
		pairs := float64(s.N) * float64(s.N) / 2 // which are put in a random order
		s.Links += int(share * pairs)
		if s.Ordered = 4 * pairs; pairs > math.MaxUint32 {
			s.Ordered = 8 * pairs
		}
	}
	return s
}

// checkMemory refuses a plan with a trial that the budget of the context has no room for, before any is run.
func (p *Plan) checkMemory(budget *memory.Budget) error {
	e := p.Experiment
	for _, k := range p.ks {
		for _, rank := range e.Rank.List() {
			s := p.problem(k, rank.Of(k))
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

// shared is about how many bytes the trials of a plan share or leave behind: the features of the last draws
// where each has its own, the directions of the direct methods, and what the log holds of each trial.
func (p *Plan) shared() int64 {
	e := p.Experiment
	s := p.problem(p.most(), 1)
	total := 4000 * float64(len(p.trials))
	if e.Task == spec.Classification {
		total += 8 * float64(s.Classes) * float64(s.Classes) * float64(len(p.trials))
	}
	atOnce := float64(max(4, runtime.GOMAXPROCS(0)))
	if p.Inputs.X == nil {
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
