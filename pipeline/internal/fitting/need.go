package fitting

import (
	"cmp"
	"math"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Problem is the size of what a method is given.
type Problem struct {
	// n samples are represented and tested ones classified, by their m features,
	// of which stored values of each sample, on average, are kept where they are sparse.
	N, Tested, M int
	Sparse       bool
	Stored       float64
	Classes      int
	Labelled     int
	Links        int
	Ordered      float64 // bytes of the order in which links are drawn
	Signed       bool
	Rank         int
	Auto         *spec.AutoRank // how the rank is chosen, or nil
	Groups       int            // into which samples are put
	Counted      bool           // whether their number is chosen
}

// Input is the size of the features themselves.
func (s Problem) Input() float64 {
	if s.Sparse {
		return 16 * s.Stored * float64(s.N+s.Tested)
	}
	return 8 * float64(s.M) * float64(s.N+s.Tested)
}

// Need returns about how many bytes it takes to represent, cluster or classify,
// and score by a method, with the features of the draw.
func (m *Method) Need(s Problem, task spec.Task, by spec.Classifier) int64 {
	total := s.Input() + s.Ordered + 16*float64(s.Links)
	columns, isSparse := s.M, s.Sparse
	if m.Factoriser != nil {
		size := factor.Size{Samples: s.N, Features: s.M, Rank: s.Rank, Labelled: s.Labelled, Links: s.Links, Signed: s.Signed, Init: m.Init}
		if s.Sparse {
			size.Stored = int(min(max(s.Stored*float64(s.N), 1), math.MaxInt/2))
		}
		total += float64(factor.Memory(m.Factoriser, size))
		columns, isSparse = s.Rank, false
	}
	if s.Auto != nil && m.Factoriser != nil {
		total += float64(RankMemory(*s.Auto, s))
	}
	n, k := float64(s.N), float64(s.Classes)
	scoring := 48*k*k + 100*n
	if task == spec.Classification {
		// The representation of the test samples, and the distances of a panel.
		total += 24*float64(s.Rank)*float64(s.Tested) + 16*n
		if by.Linear() {
			// The standardised samples, scores, and the weights with the 15 steps that L-BFGS remembers.
			m := float64(columns)
			total += 8 * ((n+float64(s.Tested))*(m+2*k) + 40*k*(m+1))
		}
	} else {
		if m.Cluster.By == spec.Largest {
			total += 8 * n
		} else {
			by, _ := cluster.Lookup(cmp.Or(m.Cluster.By, spec.KMeans))
			total += float64(by.Memory(cluster.Size{N: s.N, M: columns, K: s.Groups, Links: s.Links, Sparse: isSparse}))
		}
		if s.Counted {
			n := float64(min(s.N, CountSamples)) // the graph of neighbours, and what finds its eigenvalues
			total += 8*4*n*n + 3*8*n*float64(s.M)
		}
	}
	return int64(min(total+scoring, math.MaxInt64/2))
}
