package vocab

import "math"

// means are the means of each word's descriptors, as sums of whole numbers
// that do not depend on their order.
type means struct {
	sums   []int64 // words×dim
	counts []int
}

func newMeans(words *points) *means {
	return &means{make([]int64, len(words.values)), make([]int, words.n)}
}

// of returns the sums of word j.
func (m *means) of(j, dim int) []int64 { return m.sums[j*dim : (j+1)*dim] }

// add gives a descriptor to word j.
func (m *means) add(j int32, x []uint8) {
	sums := m.of(int(j), len(x))
	for f, v := range x {
		sums[f] += int64(v)
	}
	m.counts[j]++
}

// remove takes a descriptor from word j.
func (m *means) remove(j int32, x []uint8) {
	sums := m.of(int(j), len(x))
	for f, v := range x {
		sums[f] -= int64(v)
	}
	m.counts[j]--
}

// move moves word j, which has descriptors, by a step, of 1 to its mean, and
// returns how far it went.
func (m *means) move(words *points, j int, step float64) float64 {
	count := float64(m.counts[j])
	word := words.at(j)
	sums := m.of(j, words.dim)
	var square float64
	for f, old := range word {
		mean := float64(sums[f]) / count
		word[f] = mean
		if step != 1 {
			word[f] = old + step*(mean-old)
		}
		square += (word[f] - old) * (word[f] - old)
	}
	words.ready(j)
	return math.Sqrt(square)
}
