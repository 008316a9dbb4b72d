package vocab

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func TestForestRecall(t *testing.T) {
	const words, dim, queries = 2000, 16, 150
	random := rng.New(1, "recall")
	rows := randomRows(random, words+queries, dim, 5000)
	v := wordsOf(rows[:words*dim], dim)
	f := plant(t, v.points())
	w := f.newSearchBuffers()
	for _, test := range []struct {
		checks, m int
		recall    float64
	}{{32, 1, 0.55}, {128, 1, 0.8}, {128, 5, 0.66}, {512, 1, 0.96}, {512, 5, 0.93}, {words, 1, 1}, {words, 5, 1}} {
		found := 0
		for x := range slices.Chunk(rows[words*dim:], dim) {
			near := slices.Clone(f.nearest(w, x, test.m, test.checks))
			if len(near) != test.m || !slices.IsSortedFunc(near, neighbour.compare) {
				t.Fatalf("%d checks: %v are not the %d nearest in order", test.checks, near, test.m)
			}
			for _, a := range bruteForce(v, x, test.m) {
				if slices.ContainsFunc(near, func(b neighbour) bool { return b.word == a.word }) {
					found++
				}
			}
		}
		if recall := float64(found) / float64(queries*test.m); recall < test.recall {
			t.Errorf("%d checks find %.3f of the %d nearest, want %v", test.checks, recall, test.m, test.recall)
		}
	}
}

// Building a tree must end, also for equal words.
func TestForestOfTies(t *testing.T) {
	const dim = 4
	rows := make([]uint8, 300*dim)
	for i := range 100 {
		rows[i*dim] = 255
	}
	f := plant(t, wordsOf(rows, dim).points())
	if len(f.nodes) != 3*trees {
		t.Errorf("%d nodes of trees that split once", len(f.nodes))
	}
	w := f.newSearchBuffers()
	for want, x := range map[int32][]uint8{0: {200, 0, 0, 0}, 100: {50, 0, 0, 0}} {
		if near := f.nearest(w, x, 1, 300)[0]; near.word != want {
			t.Errorf("nearest to %v is word %d, want %d", x, near.word, want)
		}
	}
}

func TestForestOfMany(t *testing.T) {
	const words, dim = 400, 8
	random := rng.New(1, "ties")
	rows := randomRows(random, 20, dim, 20)
	for len(rows) < words*dim {
		i := random.IntN(20)
		rows = append(rows, rows[i*dim:(i+1)*dim]...)
	}
	v := wordsOf(rows, dim)
	f := plant(t, v.points())
	w := f.newSearchBuffers()
	for x := range slices.Chunk(randomRows(random, 50, dim, 20), dim) {
		for _, m := range []int{1, 5, 200} {
			// Equal words are in one leaf, or are checked like one.
			if diff := cmp.Diff(bruteForce(v, x, m), f.nearest(w, x, m, words), cmp.AllowUnexported(neighbour{})); diff != "" {
				t.Fatalf("%d nearest: -want +got\n%s", m, diff)
			}
			different := map[int32]bool{}
			for _, a := range f.nearest(f.newSearchBuffers(), x, m, 1) {
				different[a.word] = true
			}
			if len(different) != m {
				t.Errorf("%d words were found, want %d", len(different), m)
			}
		}
	}
}

func TestForestIsRepeatable(t *testing.T) {
	const words, dim = 1000, 16
	random := rng.New(1, "repeatable")
	v := wordsOf(randomRows(random, words, dim, 50), dim)
	a, b := plant(t, v.points()), plant(t, v.points())
	wa, wb := a.newSearchBuffers(), b.newSearchBuffers()
	for x := range slices.Chunk(randomRows(random, 100, dim, 50), dim) {
		if diff := cmp.Diff(a.nearest(wa, x, 3, 50), b.nearest(wb, x, 3, 50), cmp.AllowUnexported(neighbour{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

// The largest sensible number of words is learned and found.
func TestHundredThousandWords(t *testing.T) {
	testkit.Slow(t)
	const words, dim, queries = 100_000, 8, 100
	rows := randomRows(rng.New(1, "many words"), words+queries, dim, 2000)
	v := train(t, Training{Words: words, MaxIterations: 1, Checks: 32}, rows, dim)
	if v.Len() != words {
		t.Fatalf("%d words", v.Len())
	}
	a := assigner(t, v, Assignment{})
	if a.finder.forest == nil {
		t.Error("descriptors are compared with all words")
	}
	var got Assigned
	d := descriptors(rows[:queries*dim], dim)
	if err := a.Assign(&got, d); err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, word := range got.Words {
		if bruteForce(v, d.Vector(i), 1)[0].word == word {
			found++
		}
	}
	if found < queries*9/10 {
		t.Errorf("%d nearest words were found of %d", found, queries)
	}
}

// plant returns a forest over words.
func plant(t *testing.T, p *points) *forest {
	t.Helper()
	f, err := newForest(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Cancelling does not wait until the trees of all words are built.
func TestForestIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	v := wordsOf(randomRows(rng.New(1, "cancelled"), 40, 8, 40), 8)
	if _, err := NewAssigner(ctx, v, Assignment{Checks: 10}); !errors.Is(err, reason) {
		t.Errorf("got error %v, want %v", err, reason)
	}
}
