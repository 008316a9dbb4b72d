package factor

import (
	"slices"
	"sync"
)

// Shared keeps what several fits of the same samples have in common, so that it is found once:
// the products of the samples and their principal directions, which [PCA], [LDA], [MFA] and
// [SDA] learn from, and the factors of NMF, which [InitNMF] starts from. Give [Options] of all
// fits of one x the same Shared, and those of another x another one; [SharingOf] says which fits
// have something in common. The zero value is ready, and several goroutines may use it at once.
// Results are the same with and without.
type Shared struct {
	mu    sync.Mutex
	found []shared
	nmf   map[nmfFit]*Result
}

// shared is of the samples that are kept, at the mean of those that are counted.
type shared struct {
	kept, counted []bool
	*principal
}

// get returns what find finds for the samples, which are looked for among those asked for
// before. A nil Shared keeps nothing.
func (s *Shared) get(kept, counted []bool, find func() (*principal, error)) (*principal, error) {
	if s == nil {
		return find()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.found {
		if slices.Equal(f.kept, kept) && slices.Equal(f.counted, counted) {
			return f.principal, nil
		}
	}
	p, err := find()
	if err == nil {
		s.found = append(s.found, shared{kept, counted, p})
	}
	return p, err
}

// Sharing says what a fit can have in common with others of the same samples: fits of the same
// Sharing, but for the zero value, find it once by a [Shared].
type Sharing struct {
	directions bool
	nmf        nmfFit
}

// SharingOf returns that of a fit of the method by the options.
func SharingOf(m Method, o Options) (s Sharing) {
	if s.directions = NeedsOf(m).Direct; s.directions {
		return s
	}
	if o.Init == InitNMF {
		s.nmf = Parts{}.nmfFit(o.ofInitNMF())
	} else if c, ok := m.(Composition); ok {
		s.nmf = c.AsParts().nmfFit(o)
	}
	return s
}

// Memory returns about how many bytes a [Shared] holds after so many fits.
func (s Sharing) Memory(size Size, fits int) int64 {
	if !s.directions {
		return byteCount(size.factors() + 8*float64(s.nmf.iterations))
	}
	n, m := float64(size.Samples), float64(size.Features)
	r := min(n, m)
	kinds := 1.0
	if size.Labelled < size.Samples {
		kinds = float64(min(fits, 3)) // of all samples, of those with labels, and at the mean of these
	}
	return byteCount(kinds * (8*n*m + 8*r*(6*r+m) + 8*r*r))
}
