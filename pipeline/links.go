package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
)

// firstShuffled returns the first count of the numbers below n in the order of rand.Rand.Perm. It takes
// memory for count numbers, not for n.
//
// Step i of the shuffle, from n−1 down to 1, swaps place i with a drawn place ≤ i. The steps are undone
// from the last to the first, and the first count places followed: each began at the place of its number.
// The stream of draws is read twice, the second time in blocks from the last to the first.
func firstShuffled(n, count int, src *rand.ChaCha8) []int {
	const block = 1 << 16
	stream := rand.New(src)
	if count > n/16 {
		return stream.Perm(n)[:count]
	}
	var states []rand.ChaCha8 // before the highest step of each block
	for i := n - 1; i > 0; i-- {
		if i == n-1 || i%block == block-1 {
			states = append(states, *src)
		}
		stream.Uint64N(uint64(i) + 1)
	}
	first := make([]int, count)
	followed := make(map[int]int, count) // which of the first places is at a place
	for i := range first {
		followed[i] = i
	}
	drawn := make([]int, block)
	for at, state := range slices.Backward(states) {
		*src = state
		from := (len(states) - 1 - at) * block
		to := min(from+block, n)
		for i := to - 1; i >= max(from, 1); i-- {
			drawn[i-from] = int(stream.Uint64N(uint64(i) + 1))
		}
		for i := max(from, 1); i < to; i++ {
			j := drawn[i-from]
			a, atI := followed[i]
			b, atJ := followed[j]
			if !atI && !atJ {
				continue
			}
			delete(followed, i)
			delete(followed, j)
			if atI {
				followed[j] = a
			}
			if atJ {
				followed[i] = b
			}
		}
	}
	for number, place := range followed {
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
