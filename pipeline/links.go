package pipeline

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// firstShuffled returns the first count of the numbers below n in the order of
// rand.Rand.Perm. It takes memory for count numbers, where Perm takes it for n.
//
// Step i of the shuffle, from n−1 down to 1, swaps place i with a drawn place ≤ i. The
// steps are undone from the last to the first, and the first count places followed:
// the place where one stood before all steps is its number. For this the stream is
// gone through twice, the second time in blocks from the last to the first, whose
// states were kept.
func firstShuffled(n, count int, src *rand.ChaCha8) []int {
	const block = 1 << 16
	stream := rand.New(src)
	var states []rand.ChaCha8 // before the highest step of each block
	for i := n - 1; i > 0; i-- {
		if i == n-1 || i%block == block-1 {
			states = append(states, *src)
		}
		stream.Uint64N(uint64(i) + 1)
	}
	// Which place is followed at each place, −1 for none: below count, and above.
	low, high := make([]int, count), make(map[int]int, count)
	for i := range low {
		low[i] = i
	}
	// A place that is in high has its bit set, and so have few others.
	set := make([]uint64, 1<<bits.Len(uint(min(count, n/64))))
	word := func(i int) *uint64 { return &set[i/64&(len(set)-1)] }
	drawn := make([]int, block)
	from := 0
	for _, state := range slices.Backward(states) {
		*src = state
		to := min(from+block, n)
		for i := to - 1; i >= max(from, 1); i-- {
			drawn[i-from] = int(stream.Uint64N(uint64(i) + 1))
		}
		for i := max(from, 1); i < to; i++ {
			j, followed := drawn[i-from], -1
			switch {
			case i < count:
				low[i], low[j] = low[j], low[i]
			case j < count:
				followed, low[j] = low[j], -1
			case *word(j)>>(j%64)&1 == 1:
				if at, ok := high[j]; ok {
					followed = at
					delete(high, j)
				}
			}
			if followed >= 0 {
				high[i] = followed
				*word(i) |= 1 << (i % 64)
			}
		}
		from = to
	}
	first := make([]int, count)
	for number, place := range low {
		if place >= 0 {
			first[place] = number
		}
	}
	for number, place := range high {
		first[place] = number
	}
	return first
}

// drawLinks draws the share of the pairs of samples of these classes.
func drawLinks(l Links, truth []int, src *rand.ChaCha8) (must, cannot [][2]int) {
	if l.Share == 0 {
		return nil, nil
	}
	n := len(truth)
	all := n * (n - 1) / 2
	for _, at := range firstShuffled(all, int(math.Round(l.Share*float64(all))), src) {
		// Pair number at of (1,0), (2,0), (2,1), (3,0), …
		i := int((1 + math.Sqrt(float64(1+8*at))) / 2)
		for i*(i-1)/2 > at {
			i--
		}
		for i*(i+1)/2 <= at {
			i++
		}
		pair := [2]int{at - i*(i-1)/2, i}
		if truth[pair[0]] == truth[pair[1]] {
			must = append(must, pair)
		} else {
			cannot = append(cannot, pair)
		}
	}
	return must, cannot
}
