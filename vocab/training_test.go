package vocab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

var ctx = context.Background()

func train(t *testing.T, training Training, vectors []uint8, dim int) *Vocabulary {
	t.Helper()
	v, err := training.Train(ctx, vectors, dim)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// objective returns the mean squared distance of rows to their nearest words.
func objective(v *Vocabulary, rows []uint8) float64 {
	var sum float64
	for x := range slices.Chunk(rows, v.Dim()) {
		sum += bruteForce(v, x, 1)[0].distance
	}
	return sum / float64(len(rows)/v.Dim())
}

// Three far groups have one word each, their means.
func TestTrainFindsTheWords(t *testing.T) {
	rows := []uint8{
		10, 10, 12, 10, 10, 13, 12, 11, // 11, 11
		200, 0, 202, 0, 204, 6, 202, 2, // 202, 2
		0, 250, 1, 250, // ½, 250
	}
	for _, m := range []Method{MethodLloyd, MethodMiniBatch} {
		v := train(t, Training{Words: 3, Method: m, MaxIterations: 20}, rows, 2)
		got := slices.SortedFunc(slices.Values([][]float64{v.Words.RawRowView(0), v.Words.RawRowView(1), v.Words.RawRowView(2)}), slices.Compare)
		for j, want := range [][]float64{{0.5, 250}, {11, 11}, {202, 2}} {
			// The mean of a mini-batch word includes its initial row.
			within := 1e-12
			if m == MethodMiniBatch {
				within = 1.5
			}
			if math.Abs(got[j][0]-want[0]) > within || math.Abs(got[j][1]-want[1]) > within {
				t.Errorf("%v: word %v, want %v", m, got[j], want)
			}
		}
	}
}

func TestTrainIsRepeatable(t *testing.T) {
	testkit.Slow(t)
	rows := randomRows(rng.New(1, "repeatable"), 3000, 16, 100)
	for _, training := range []Training{
		{Words: 50},
		{Words: 50, Method: MethodMiniBatch},
	} {
		training.Seed = 7
		want := train(t, training, rows, 16)
		for _, cores := range []int{1, 3, 5} {
			restore := parallel.SetCores(cores)
			if got := train(t, training, rows, 16); !mat.Equal(got.Words, want.Words) {
				t.Errorf("%v: %d cores give other words", training.Method, cores)
			}
			restore()
		}
		training.Seed = 8
		if got := train(t, training, rows, 16); mat.Equal(got.Words, want.Words) {
			t.Errorf("%v: another seed gives the same words", training.Method)
		}
	}
}

// The words are equal in all builds, with any implementation of products.
func TestTrainIsTheSameEverywhere(t *testing.T) {
	const n, dim, centres = 4000, 32, 60
	random := rng.New(1, "everywhere")
	centre := make([]int, centres*dim)
	for i := range centre {
		centre[i] = random.IntN(200)
	}
	var rows []uint8
	for range n {
		c := random.IntN(centres)
		for f := range dim {
			rows = append(rows, uint8(centre[c*dim+f]+random.IntN(50)))
		}
	}
	for m, want := range map[Method]string{MethodLloyd: "47ea047fb814d576", MethodMiniBatch: "f329458624c0ffcf"} {
		v := train(t, Training{Words: 100, Method: m}, rows, dim)
		digest := sha256.New()
		for j := range v.Len() {
			for _, value := range v.Words.RawRowView(j) {
				fmt.Fprintln(digest, value)
			}
		}
		if got := fmt.Sprintf("%x", digest.Sum(nil)[:8]); got != want {
			t.Errorf("%v: the words' digest is %s, want %s", m, got, want)
		}
	}
}

// The objective must not rise within a part of the descriptors.
func TestTrainDescends(t *testing.T) {
	testkit.Slow(t)
	rows := randomRows(rng.New(1, "descends"), 2000, 16, 100)
	for _, training := range []Training{{Words: 60}, {Words: 60, Method: MethodMiniBatch}, {Words: 200}} {
		parts := map[int][]float64{}
		last := 0
		training.Tolerance = 1e-12
		training.traced = func(iteration, descriptors int, mean float64) {
			if iteration != last+1 {
				t.Errorf("iteration %d after %d", iteration, last)
			}
			last = iteration
			parts[descriptors] = append(parts[descriptors], mean)
		}
		v := train(t, training, rows, 16)
		for n, means := range parts {
			for i, mean := range means[1:] {
				if mean > means[i]*(1+1e-13) {
					t.Errorf("%+v, %d descriptors: iteration %d raises the objective from %v to %v", training, n, i+2, means[i], mean)
				}
			}
		}
		if (len(parts) > 1) != (training.Words == 60) {
			t.Errorf("%d words: %d parts of the descriptors were read", training.Words, len(parts))
		}
		// With limited checks, a descriptor may be nearer to another word than to its own.
		means := parts[2000]
		reported := means[len(means)-1]
		if got := objective(v, rows); got > reported*(1+1e-9) || got < reported*0.98 || got < reported*(1-1e-9) {
			t.Errorf("%+v: objective %v, %v reported", training, got, reported)
		}
	}
}

// TestTrainReports checks that the second iteration reports the objective of the words after the first.
func TestTrainReports(t *testing.T) {
	rows := randomRows(rng.New(1, "reports"), 1000, 16, 50)
	var reported []float64
	training := Training{Words: 50, MaxIterations: 2, traced: func(_, descriptors int, mean float64) {
		if descriptors != 1000 {
			t.Errorf("%d descriptors were read", descriptors)
		}
		reported = append(reported, mean)
	}}
	train(t, training, rows, 16)
	training.MaxIterations, training.traced = 1, nil
	if want := objective(train(t, training, rows, 16), rows); math.Abs(reported[1]-want) > 1e-12*want {
		t.Errorf("%v is reported, want %v", reported, want)
	}
}

func TestWaysToTrainAgree(t *testing.T) {
	testkit.Slow(t)
	rows := randomRows(rng.New(1, "agree"), 3000, 32, 2000)
	exact := objective(train(t, Training{Words: 150}, rows, 32), rows)
	for _, test := range []struct {
		training Training
		within   float64
	}{
		{Training{Words: 150, Method: MethodMiniBatch}, 1.03},
	} {
		if got := objective(train(t, test.training, rows, 32), rows); got > test.within*exact {
			t.Errorf("%v: objective %v, Lloyd's is %v", test.training.Method, got, exact)
		}
	}
}

func TestFillEmpty(t *testing.T) {
	rows := []uint8{0, 1, 2, 3, 100, 104, 200}
	training := Training{Words: 5}.withDefaults(rows, 1)
	words := newPoints(5, 1)
	for j, v := range []float64{1, 250, 99, 251, 190} {
		words.word(j)[0] = v
		words.prepare(j)
	}
	k := newKMeans(training, &sample{rows, 1, []int{0, 1, 2, 3, 4, 5, 6}}, words)
	if err := k.assign(ctx, len(rows)); err != nil {
		t.Fatal(err)
	}
	for i, to := range k.next {
		k.relabel(i, to)
	}
	// 200 is 10 from its word, but is the only one there. 104 is 5 from its word and 3 is 2 from its word: they fill
	// the empty words.
	if filled := k.fillEmpty(len(rows)); !slices.Equal(filled, []int{1, 3}) {
		t.Errorf("words %v were filled, want 1 and 3", filled)
	}
	if want := []int32{0, 0, 0, 3, 2, 1, 4}; !slices.Equal(k.labels, want) {
		t.Errorf("labels %v, want %v", k.labels, want)
	}
	if want := []int64{3, 104, 100, 3, 200}; !slices.Equal(k.sums, want) {
		t.Errorf("sums %v, want %v", k.sums, want)
	}
}

// Few rows differ: the first subset of training must contain them.
func TestTrainOfFewDifferentRows(t *testing.T) {
	const n, different = 5000, 30
	rows := make([]uint8, n)
	for i := range different {
		rows[i*n/different] = uint8(i)
	}
	for _, training := range []Training{{}, {Method: MethodMiniBatch}} {
		training.Words = different
		if got := objective(train(t, training, rows, 1), rows); got != 0 {
			t.Errorf("%+v: objective %v", training, got)
		}
	}
}

// k-means++ selects a row of each of a few distant groups.
func TestPlusPlus(t *testing.T) {
	const groups, each, dim = 8, 300, 40
	random := rng.New(1, "groups")
	var rows []uint8
	for g := range groups {
		for range each {
			for f := range dim {
				rows = append(rows, uint8(random.IntN(5)+200*(g>>(f%3)&1)))
			}
		}
	}
	s := &sample{rows, dim, random.Perm(groups * each)}
	taken, err := plusPlus(ctx, s, s.len(), groups, random)
	if err != nil {
		t.Fatal(err)
	}
	var seen [groups]bool
	for _, i := range taken {
		seen[s.order[i]/each] = true
	}
	if slices.Contains(seen[:], false) {
		t.Errorf("groups that were met: %v", seen)
	}
}

func TestTrainErrors(t *testing.T) {
	two := []uint8{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 1, 2}
	for _, test := range []struct {
		training Training
		vectors  []uint8
		dim      int
		want     string
	}{
		{Training{}, nil, 2, "no descriptors"},
		{Training{}, two, 2, "200 words cannot be learned from 6 descriptors"},
		{Training{Words: 3}, two, 2, "3 words cannot be learned from 6 descriptors, only 2 of them distinct"},
		{Training{Words: 2}, two, 5, "12 bytes are not descriptors of length 5"},
		{Training{Words: 2}, two, 0, "2 words of 0 numbers; expected 1 to"},
		{Training{Words: -2}, two, 2, "-2 words"},
		{Training{Words: math.MaxInt}, two, 2, "words of 2 numbers; expected 1 to"},
		{Training{Words: 1 << 20}, two, 4096, "numbers in all"},
		{Training{Words: 2, Method: 5}, two, 2, "unknown method(5)"},
		{Training{Words: 2, MaxIterations: -1}, two, 2, "maximum of -1 iterations; expected 0 or more"},
		{Training{Words: 2, Tolerance: math.NaN()}, two, 2, "tolerance NaN; expected 0 or more"},
	} {
		if _, err := test.training.Train(ctx, test.vectors, test.dim); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
	if _, err := (Training{}).Train(ctx, nil, 2); !errors.Is(err, features.ErrNoDescriptors) {
		t.Errorf("got error %v, want ErrNoDescriptors", err)
	}
	// If the number of words equals the number of different descriptors, the words are these descriptors.
	v := train(t, Training{Words: 2}, two, 2)
	if got := objective(v, two); got != 0 {
		t.Errorf("objective %v of two words for two descriptors", got)
	}
}

func TestTrainStops(t *testing.T) {
	rows := randomRows(rng.New(1, "stops"), 3000, 8, 20)
	for _, m := range []Method{MethodLloyd, MethodMiniBatch} {
		ctx, cancel := context.WithCancel(ctx)
		_, err := Training{Words: 20, Method: m, Tolerance: 1e-300, Progress: func(int, int) { cancel() }}.Train(ctx, rows, 8)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v: got error %v, want %v", m, err, context.Canceled)
		}
	}
	iterations := 0
	train(t, Training{Words: 200, MaxIterations: 2, Progress: func(int, int) { iterations++ }}, rows, 8)
	if iterations != 2 {
		t.Errorf("%d iterations of at most 2", iterations)
	}
}

func TestMethodNames(t *testing.T) {
	var got Method
	for _, m := range []Method{MethodLloyd, MethodMiniBatch} {
		if err := got.UnmarshalText([]byte(m.String())); err != nil || got != m {
			t.Errorf("%v is read as %v, %v", m, got, err)
		}
	}
	if err := got.UnmarshalText([]byte("k")); err == nil {
		t.Error("a method that is none was read")
	}
}

// These rows are equal in single precision, but the words must be distinct rows.
func TestPlusPlusOfLongRows(t *testing.T) {
	const n, dim = 100, 301
	rows := bytes.Repeat([]uint8{255}, n*dim)
	for i := range n {
		rows[i*dim+i]--
	}
	for _, m := range []Method{MethodLloyd, MethodMiniBatch} {
		v := train(t, Training{Words: n, Method: m}, rows, dim)
		if got := objective(v, rows); got != 0 {
			t.Errorf("%v: objective %v of a word for each row", m, got)
		}
	}
}
