package pipeline

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// problem is the size of what a method is given.
type problem struct {
	// n samples are represented and tested ones classified, by their m features,
	// of which stored values of each sample, on average, are kept where they are sparse.
	n, tested, m int
	sparse       bool
	stored       float64
	classes      int
	labelled     int
	links        int
	ordered      float64 // bytes of the order in which links are drawn
	signed       bool
	rank         int
	auto         *AutoRank // how the rank is chosen, or nil
	groups       int       // into which samples are put
	counted      bool      // whether their number is chosen
}

// input is the size of the features themselves.
func (s problem) input() float64 {
	if s.sparse {
		return 16 * s.stored * float64(s.n+s.tested)
	}
	return 8 * float64(s.m) * float64(s.n+s.tested)
}

// need returns about how many bytes it takes to represent, cluster or classify,
// and score by a method, with the features of the draw.
func (m *method) need(s problem, task Task, by Classifier) int64 {
	total := s.input() + s.ordered + 16*float64(s.links)
	columns, isSparse := s.m, s.sparse
	if m.factoriser != nil {
		size := factor.Size{Samples: s.n, Features: s.m, Rank: s.rank, Labelled: s.labelled, Links: s.links, Signed: s.signed, Init: m.Init}
		if s.sparse {
			size.Stored = int(min(max(s.stored*float64(s.n), 1), math.MaxInt/2))
		}
		total += float64(factor.Memory(m.factoriser, size))
		columns, isSparse = s.rank, false
	}
	if s.auto != nil && m.factoriser != nil {
		total += float64(rankMemory(*s.auto, s))
	}
	n, k := float64(s.n), float64(s.classes)
	scoring := 48*k*k + 100*n
	if task == Classification {
		// The representation of the test samples, and the distances of a panel.
		total += 24*float64(s.rank)*float64(s.tested) + 16*n
		if by.linear() {
			total += linearMemory(by, n, float64(s.tested), float64(columns), k)
		}
	} else {
		total += clusterMemory(m.cluster, cluster.Size{N: s.n, M: columns, K: s.groups, Links: s.links, Sparse: isSparse})
		if s.counted {
			n := float64(min(s.n, countSamples)) // the graph of neighbours, and what finds its eigenvalues
			total += 8*4*n*n + 3*8*n*float64(s.m)
		}
	}
	return int64(min(total+scoring, math.MaxInt64/2))
}

// problem returns how large the problems of the plan are, at most, by number of
// classes and rank.
func (p *Plan) problem(k, rank int) problem {
	_, m := p.Inputs.Dims()
	s := problem{m: m, classes: k, groups: k, rank: rank, auto: p.auto()}
	if s.auto != nil {
		s.rank = s.auto.most()
	}
	s.sparse, s.stored = p.Inputs.source().density()
	s.signed = p.Inputs.HasNegative()
	classes := slices.Clone(p.classes)
	slices.SortFunc(classes, func(a, b class) int { return len(b.rows) - len(a.rows) })
	for _, c := range classes[:k] {
		s.n += c.seen
		s.labelled += c.labelled
		s.tested += c.tested
	}
	if of := p.Experiment.Cluster.K; of != (GroupCount{}) {
		_, s.groups = of.within(s.n, k, !p.Experiment.Labels.None())
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
		for _, rank := range e.Rank.list() {
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

// acquire takes the share of the memory budget of putting the inputs into k groups.
func (g Groups) acquire(ctx context.Context, in *Inputs, m *method, k int) (release func(), err error) {
	n, columns := in.Dims()
	s := problem{n: n, m: columns, classes: k, groups: k, rank: g.rank(k, n), signed: in.HasNegative()}
	s.sparse, s.stored = in.source().density()
	s.links = len(g.Links.Must) + len(g.Links.Cannot)
	if g.UseLabels {
		for _, c := range in.Labels() {
			if c >= 0 {
				s.labelled++
			}
		}
	}
	what := fmt.Sprintf("%s with %d groups of %d samples of %d features", m.Label(), k, n, columns)
	if m.factoriser != nil {
		what = fmt.Sprintf("%s of rank %d with %d groups of %d samples of %d features", m.Label(), s.rank, k, n, columns)
	}
	budget, need := memory.FromContext(ctx), m.need(s, Clustering, Classifier{})
	if in.Blocks != nil {
		// The images of a block take their shares beside it.
		return budget.Keep(need-int64(s.input()), what)
	}
	return budget.Acquire(ctx, need, what)
}

// shared is about how many bytes the trials of a plan share or leave behind: the
// features of the last draws where each has its own, the directions of the
// direct methods, and what the log holds of each trial.
func (p *Plan) shared() int64 {
	e := p.Experiment
	s := p.problem(p.most(), 1)
	total := 4000 * float64(len(p.trials))
	if e.Task == Classification {
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
