package vocab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// checkNearer compares rows with their own word, drawn at random, and with the
// words of some groups.
func checkNearer(t *testing.T, random *rand.Rand, v *Vocabulary, rows []uint8) {
	p := v.points()
	l := p.newLookup()
	for x := range slices.Chunk(rows, p.dim) {
		own := random.IntN(p.n)
		bounds := make([]float32, p.groups())
		l.groups = l.groups[:0]
		for g := range bounds {
			bounds[g] = float32(math.Inf(1))
			if random.IntN(2) == 0 {
				l.groups = append(l.groups, g)
			}
		}
		compared := func(word int) bool { return word == own || slices.Contains(l.groups, word/p.group) }
		all := bruteForce(v, x, p.n)
		want := all[slices.IndexFunc(all, func(a neighbour) bool { return compared(int(a.word)) })]
		got := p.nearer(l, x, square(x), neighbour{int32(own), p.distance(x, own)}, bounds)
		if got.word != want.word || math.Abs(got.distance-want.distance) > 1e-9*want.distance {
			t.Fatalf("the nearest is %v, want %v", got, want)
		}
		exact := slices.Repeat([]float64{math.Inf(1)}, len(bounds))
		for _, a := range all {
			if a.word != got.word && compared(int(a.word)) {
				g := int(a.word) / p.group
				exact[g] = min(exact[g], math.Sqrt(a.distance))
			}
		}
		for g, bound := range bounds {
			if b := float64(bound); b > exact[g] || b < exact[g]*0.99 {
				t.Errorf("group %d: bound %v of %v", g, b, exact[g])
			}
		}
	}
}

func TestNearer(t *testing.T) {
	random := rng.New(1, "nearer")
	for _, size := range []struct{ words, dim int }{{9, 3}, {100, 128}, {500, 40}} {
		rows := randomRows(random, size.words+100, size.dim, 20)
		checkNearer(t, random, wordsOf(rows[:size.words*size.dim], size.dim), rows[size.words*size.dim:])
	}
}

func TestNearerOfClose(t *testing.T) {
	random := rng.New(1, "close")
	const dim = 128
	checkNearer(t, random, closeWords(random, 100, dim), randomRows(random, 100, dim, 3))
}
