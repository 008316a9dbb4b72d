package factor

import (
	"slices"
	"sync"
)

// Shared keeps what several fits of the same samples have in common, so that it is found once:
// the products of the samples and their principal directions, which [PCA], [LDA], [MFA] and
// [SDA] learn from. Give [Options] of all fits of one x the same Shared, and those of another x
// another one. The zero value is ready, and several goroutines may use it at once. Results are
// the same with and without.
type Shared struct {
	mu    sync.Mutex
	found []shared
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

// SharedMemory returns about how many bytes a [Shared] holds after fits of all of the samples.
func SharedMemory(s Size) int64 {
	n, m := float64(s.Samples), float64(s.Features)
	r := min(n, m)
	return byteCount(8*n*m + 8*r*(6*r+float64(m)) + 8*r*r)
}
