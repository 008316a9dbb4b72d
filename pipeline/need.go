package pipeline

import (
	"math"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
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
	auto         *spec.AutoRank // how the rank is chosen, or nil
	groups       int            // into which samples are put
	counted      bool           // whether their number is chosen
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
func (m *method) need(s problem, task spec.Task, by spec.Classifier) int64 {
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
	if task == spec.Classification {
		// The representation of the test samples, and the distances of a panel.
		total += 24*float64(s.rank)*float64(s.tested) + 16*n
		if by.Linear() {
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
