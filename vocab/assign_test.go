package vocab

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

func assigner(t testing.TB, v *Vocabulary, as Assignment) *Assigner {
	t.Helper()
	a, err := NewAssigner(v, as)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAssignHard(t *testing.T) {
	v := wordsOf([]uint8{0, 0, 100, 0, 0, 100, 100, 0}, 2) // word 3 is word 1 again
	d := descriptors([]uint8{10, 20, 90, 10, 50, 0, 255, 255, 0, 51}, 2)
	var got Assigned
	if err := assigner(t, v, Assignment{}).Assign(&got, d); err != nil {
		t.Fatal(err)
	}
	// (50, 0) is equally far from the words 0, 1 and 3; (255, 255) from the words 1, 2 and 3.
	if want := []int32{0, 1, 0, 1, 2}; !slices.Equal(got.Words, want) {
		t.Errorf("words %v, want %v", got.Words, want)
	}
	if want := []float64{1, 1, 1, 1, 1}; !slices.Equal(got.Weights, want) || got.Nearest != 1 {
		t.Errorf("weights %v of %d words, want %v of 1", got.Weights, got.Nearest, want)
	}
}

func TestAssignSoft(t *testing.T) {
	v := wordsOf([]uint8{0, 10, 30, 250}, 1)
	d := descriptors([]uint8{10, 20, 0}, 1)
	var got Assigned
	if err := assigner(t, v, Assignment{Nearest: 2, Sigma: 10}).Assign(&got, d); err != nil {
		t.Fatal(err)
	}
	if want := []int32{1, 0, 1, 2, 0, 1}; !slices.Equal(got.Words, want) {
		t.Errorf("words %v, want %v", got.Words, want)
	}
	far := math.Exp(-0.5) // of a word at a distance of σ
	near := 1 / (1 + far)
	for i, want := range []float64{near, far * near, 0.5, 0.5, near, far * near} {
		if math.Abs(got.Weights[i]-want) > 1e-15 {
			t.Errorf("weights %v: number %d should be %v", got.Weights, i, want)
		}
	}

	// Weights stay finite if all words are many σ away.
	if err := assigner(t, v, Assignment{Nearest: 4, Sigma: 1e-3}).Assign(&got, descriptors([]uint8{150}, 1)); err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 0, 0, 0}; !slices.Equal(got.Weights, want) || got.Words[0] != 3 {
		t.Errorf("weights %v of words %v", got.Weights, got.Words)
	}
}

// The words are the nearest ones, for any number of descriptors and concurrent callers.
func TestAssignMany(t *testing.T) {
	const words, dim = 150, 20
	random := rng.New(1, "many")
	v := wordsOf(randomRows(random, words, dim, 60), dim)
	for _, as := range []Assignment{{}, {Nearest: 3}} {
		a := assigner(t, v, as)
		var group sync.WaitGroup
		for _, p := range []int{1000, 1, 0, 255, 256, 257, 700} {
			d := descriptors(randomRows(random, p, dim, 60), dim)
			group.Go(func() {
				var got Assigned
				for range 2 {
					if err := a.Assign(&got, d); err != nil {
						t.Error(err)
						return
					}
				}
				if len(got.Words) != p*a.as.Nearest || len(got.Weights) != p*a.as.Nearest {
					t.Errorf("%d descriptors have %d words and %d weights", p, len(got.Words), len(got.Weights))
					return
				}
				for i := range min(p, 150) {
					for r, want := range bruteForce(v, d.Vectors[i*dim:(i+1)*dim], a.as.Nearest) {
						if got.Words[i*a.as.Nearest+r] != want.word {
							t.Errorf("%d descriptors: number %d has words %v, want %d", p, i, got.Words[i*a.as.Nearest:(i+1)*a.as.Nearest], want.word)
							return
						}
					}
				}
			})
		}
		group.Wait()
	}
}

func TestAssignMakesNoGarbage(t *testing.T) {
	const words, dim = 100, 16
	random := rng.New(1, "garbage")
	v := wordsOf(randomRows(random, words, dim, 20), dim)
	d := descriptors(randomRows(random, 1000, dim, 20), dim)
	for _, as := range []Assignment{{}, {Nearest: 3}} {
		a := assigner(t, v, as)
		var room Assigned
		// A product needs few allocations for all rows.
		if n := testing.AllocsPerRun(5, func() {
			if err := a.Assign(&room, d); err != nil {
				t.Fatal(err)
			}
		}); n > 100 {
			t.Errorf("%+v: %v allocations for 1000 descriptors", as, n)
		}
	}
}

func TestAssignErrors(t *testing.T) {
	v := wordsOf([]uint8{1, 2, 3, 4}, 2)
	for _, test := range []struct {
		v    *Vocabulary
		as   Assignment
		want string
	}{
		{nil, Assignment{}, "no words"},
		{&Vocabulary{}, Assignment{}, "no words"},
		{&Vocabulary{mat.NewDense(1, 2, []float64{1, math.NaN()})}, Assignment{}, "word 0: number 1 is NaN; expected 0 to 255"},
		{&Vocabulary{mat.NewDense(2, 1, []float64{1, 256})}, Assignment{}, "word 1: number 0 is 256; expected 0 to 255"},
		{v, Assignment{Nearest: 3}, "nearest 3; expected 1 to the number of words, 2"},
		{v, Assignment{Nearest: -1}, "nearest -1; expected 1 to the number of words,"},
		{v, Assignment{Sigma: -1}, "sigma -1; expected more than 0"},
		{v, Assignment{Sigma: math.NaN()}, "sigma NaN; expected more than 0"},
	} {
		if _, err := NewAssigner(test.v, test.as); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
	for want, d := range map[string]*features.Descriptors{
		"descriptors of 3 numbers; expected 2":        descriptors(make([]uint8, 9), 3),
		"9 bytes are not 2 descriptors of 4 numbers":  {Dim: 4, Vectors: make([]uint8, 9), X: make([]float32, 2)},
		"12 bytes are not 2 descriptors of 0 numbers": {Vectors: make([]uint8, 12), X: make([]float32, 2)},
		"0 bytes are not 2 descriptors of 2 numbers":  {Dim: 2, X: make([]float32, 2)},
		"2 bytes are not 0 descriptors of 2 numbers":  {Dim: 2, Vectors: make([]uint8, 2)},
		"0 bytes are not 1 descriptors of -2 numbers": {Dim: -2, X: make([]float32, 1)},
	} {
		if err := assigner(t, v, Assignment{}).Assign(new(Assigned), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}
