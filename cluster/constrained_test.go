package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// someLabels returns the truth of every nth sample, and −1 for the others.
func someLabels(truth []int, one int, seed uint64) []int {
	random := rng.New(seed, "labels")
	labels := make([]int, len(truth))
	for i, c := range truth {
		labels[i] = -1
		if random.IntN(one) == 0 {
			labels[i] = c
		}
	}
	return labels
}

// plainSeeded is the seeded or constrained k-means of the paper, for labels of all k clusters. It returns nil if a
// cluster loses all its samples, a case that the paper leaves open.
func plainSeeded(d Distance, x *mat.Dense, k int, labels []int, keep bool) []int {
	n, m := x.Dims()
	means := func(of []int) [][]float64 {
		centres := make([][]float64, k)
		for j := range centres {
			centres[j] = make([]float64, m)
		}
		for i, j := range of {
			if j < 0 {
				continue
			}
			length := 1.0
			if d == DistanceCosine {
				length = mat.Norm(x.RowView(i), 2)
			}
			for f, v := range x.RawRowView(i) {
				centres[j][f] += v / length
			}
		}
		for j := range k {
			size := 0.0
			for _, c := range of {
				if c == j {
					size++
				}
			}
			for f := range centres[j] {
				centres[j][f] /= size
			}
		}
		return centres
	}
	centres := means(labels)
	var assigned []int
	for {
		before := assigned
		assigned = make([]int, n)
		for i := range n {
			if keep && labels[i] >= 0 {
				assigned[i] = labels[i]
				continue
			}
			for j := range k {
				if plainCost(d, x.RawRowView(i), centres[j]) < plainCost(d, x.RawRowView(i), centres[assigned[i]]) {
					assigned[i] = j
				}
			}
		}
		if slices.Equal(before, assigned) {
			return assigned
		}
		for j := range k {
			if !slices.Contains(assigned, j) {
				return nil
			}
		}
		centres = means(assigned)
	}
}

func TestSeededKMeansMatchesPlain(t *testing.T) {
	compared, moved := 0, false
	for seed := range uint64(20) {
		d := Distance(seed % 2)
		x, truth := blobs(150, 4, 5, 0.25, seed)
		labels := someLabels(truth, 4, seed)
		k := KMeans{K: 5, Distance: d, Seed: seed}
		for _, keep := range []bool{false, true} {
			want := plainSeeded(d, x, 5, labels, keep)
			if want == nil {
				continue
			}
			compared++
			for _, data := range []mat.Matrix{x, toSparse(x)} {
				fit := SeededKMeans{k}.Fit
				if keep {
					fit = ConstrainedKMeans{k}.Fit
				}
				got, err := fit(context.Background(), data, Known{Labels: labels})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Labels); diff != "" {
					t.Errorf("seed %d, %v, labels kept %v, %T: (-want +got)\n%s", seed, d, keep, data, diff)
				}
				checkWhole(t, got, 150, 5)
			}
			for i, c := range labels {
				if c >= 0 && want[i] != c {
					moved = true
				}
			}
		}
	}
	if compared < 30 || !moved {
		t.Errorf("%d of 40 answers compared, a labelled sample wants another cluster: %v", compared, moved)
	}
}

// TestConstrainedKMeansKeepsLabels checks that constrained k-means keeps any labels, also if there are more clusters
// than labels.
func TestConstrainedKMeansKeepsLabels(t *testing.T) {
	for seed := range uint64(60) {
		random := rng.New(seed, "constrained")
		x := grid(random, 25, 3)
		labels := make([]int, 25)
		for i := range labels {
			labels[i] = random.IntN(7) - 3
			labels[i] = max(labels[i], -1)
		}
		k := KMeans{K: 4 + random.IntN(4), Distance: Distance(seed % 2), Init: Init(seed / 2 % 2), Restarts: 3, Seed: seed}
		got, err := ConstrainedKMeans{k}.Fit(context.Background(), x, Known{Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range labels {
			if c >= 0 && got.Labels[i] != c {
				t.Errorf("seed %d: sample %d of label %d is in cluster %d", seed, i, c, got.Labels[i])
			}
		}
		checkWhole(t, got, 25, k.K)
		again, err := ConstrainedKMeans{k}.Fit(context.Background(), x, Known{Labels: labels})
		if err != nil || !slices.Equal(again.Labels, got.Labels) {
			t.Errorf("seed %d: done again, %v, %v", seed, again.Labels, err)
		}
	}
	// All samples are labelled, and equal samples have different labels.
	x := mat.NewDense(4, 1, []float64{1, 1, 1, 1})
	got, err := ConstrainedKMeans{KMeans{K: 2}}.Fit(context.Background(), x, Known{Labels: []int{0, 1, 1, 0}})
	if err != nil || !slices.Equal(got.Labels, []int{0, 1, 1, 0}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConstrainedKMeansNeverRises(t *testing.T) {
	for seed := range uint64(6) {
		x, truth := blobs(300, 5, 6, 1, seed)
		labels := someLabels(truth, 10, seed)
		last := math.Inf(1)
		for iterations := 1; ; iterations++ {
			k := KMeans{K: 6, Distance: Distance(seed % 2), Restarts: 1, MaxIterations: iterations}
			got, err := ConstrainedKMeans{k}.Fit(context.Background(), x, Known{Labels: labels})
			if err != nil {
				t.Fatal(err)
			}
			if got.Objective > last*(1+1e-12) {
				t.Fatalf("the objective rose from %v to %v in iteration %d", last, got.Objective, iterations)
			}
			last = got.Objective
			if got.Iterations < iterations {
				break
			}
		}
	}
}

// TestSeededKMeansRuns checks that k-means runs once if labels give all centres, and that the result without labels is
// a result of k-means.
func TestSeededKMeansRuns(t *testing.T) {
	x, truth := blobs(90, 3, 3, 0.1, 1)
	k := KMeans{K: 3, Restarts: 4}
	none := slices.Repeat([]int{-1}, 90)
	for want, labels := range map[int][]int{1: someLabels(truth, 2, 1), 4: none} {
		l := k.lloyd(x)
		if err := l.seed(labels, false); err != nil || l.runs != want {
			t.Errorf("%d runs, want %d; %v", l.runs, want, err)
		}
	}
	for _, init := range []Init{InitSample, InitPlusPlus} {
		k.Init = init
		got, err := SeededKMeans{k}.Fit(context.Background(), x, Known{Labels: none})
		if err != nil {
			t.Fatal(err)
		}
		want, err := k.Fit(context.Background(), x)
		if err != nil || !near(got.Objective, want.Objective, 1e-9) {
			t.Errorf("%v: objective %v without labels, want %v as by k-means; error %v", init, got.Objective, want.Objective, err)
		}
	}
}

func TestSeededKMeansErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{1, 2, 3, 4})
	for _, test := range []struct {
		k      KMeans
		labels []int
		want   string
	}{
		{KMeans{K: 2}, []int{0, 1}, "2 labels for 4 samples"},
		{KMeans{K: 2}, []int{0, 1, 2, -1}, "sample 3 has label 2; expected less than 2"},
		{KMeans{K: 2}, []int{0, -2, 1, -1}, "sample 2 has label -2"},
		{KMeans{K: 4}, []int{0, 0, 1, -1}, "2 clusters have no labelled sample, but only 1 samples are unlabelled"},
		{KMeans{K: 5}, []int{0, 0, 1, -1}, "number of clusters 5; expected 1 to the number of samples, 4"},
	} {
		for name, fit := range map[string]func(context.Context, mat.Matrix, Known) (*Result, error){
			"seeded": SeededKMeans{test.k}.Fit, "constrained": ConstrainedKMeans{test.k}.Fit,
		} {
			_, err := fit(context.Background(), x, Known{Labels: test.labels})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), name+" k-means: ") {
				t.Errorf("got error %v, want one of %s with %q", err, name, test.want)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, init := range []Init{InitSample, InitPlusPlus} {
		if _, err := (SeededKMeans{KMeans{K: 2, Init: init}}).Fit(ctx, x, Known{Labels: []int{0, -1, -1, -1}}); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want the error of the context", err)
		}
	}
}

func ExampleConstrainedKMeans() {
	x := mat.NewDense(5, 1, []float64{0, 1, 2, 8, 9})
	// The third sample must link with the last one.
	result, err := ConstrainedKMeans{KMeans{K: 2}}.Fit(context.Background(), x, Known{Labels: []int{0, -1, 1, -1, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Labels)
	// Output:
	// [0 0 1 1 1]
}

// TestFitLinked checks that labels and links hold, that no free sample and no unit has a cheaper cluster that its
// links allow, and that the result is reproducible.
func TestFitLinked(t *testing.T) {
	for seed := range uint64(60) {
		random := rng.New(seed, "linked")
		k := 2 + random.IntN(4)
		x, truth := blobs(50, 4, k, 2, seed)
		known := Known{}
		known.MustLink, known.CannotLink = randomLinks(truth, 5+random.IntN(40), seed)
		if seed%2 == 0 {
			known.Labels = someLabels(truth, 10, seed)
		}
		settings := ConstrainedKMeans{KMeans{K: k, Distance: Distance(seed / 2 % 2), Restarts: 2, Seed: seed}}
		got, err := settings.Fit(t.Context(), x, known)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkHolds(t, seed, known, got.Labels)
		again, err := settings.Fit(t.Context(), x, known)
		if err != nil || !slices.Equal(again.Labels, got.Labels) {
			t.Errorf("seed %d: %v and then %v, %v", seed, got.Labels, again.Labels, err)
		}
		u, _ := newUnits(50, k, known)
		cost := func(at, j int) (sum float64) {
			for _, i := range u.members[at] {
				sum += plainCost(settings.Distance, x.RawRowView(i), got.Centres.RawRowView(j))
			}
			return sum
		}
		placed := make([]int, len(u.members))
		for at, members := range u.members {
			placed[at] = got.Labels[members[0]]
		}
		for at, own := range placed {
			for j := range k {
				if u.fixed[at] < 0 && !u.conflicts(placed, at, j, -1) && cost(at, j) < cost(at, own)-1e-9*(1+cost(at, own)) {
					t.Errorf("seed %d: samples %v cost %v in cluster %d, and %v in %d", seed, u.members[at], cost(at, own), own, cost(at, j), j)
				}
			}
		}
		// A run from the result changes nothing.
		if slices.Contains(sizes(got.Labels, k), 0) {
			continue
		}
		if resumed, err := settings.fitLinked(t.Context(), x, known, got.Labels, nil); err != nil || !slices.Equal(resumed.Labels, got.Labels) {
			t.Errorf("seed %d: resumed from its own answer %v gives %v, %v", seed, got.Labels, resumed, err)
		}
	}
}

// sizes returns the number of samples in each cluster.
func sizes(labels []int, k int) []int {
	out := make([]int, k)
	for _, c := range labels {
		out[c]++
	}
	return out
}

// checkHolds reports violated labels and links.
func checkHolds(t *testing.T, seed uint64, known Known, clusters []int) {
	t.Helper()
	for _, p := range known.MustLink {
		if clusters[p[0]] != clusters[p[1]] {
			t.Errorf("seed %d: %v must link, and are in clusters %d and %d", seed, p, clusters[p[0]], clusters[p[1]])
		}
	}
	for _, p := range known.CannotLink {
		if clusters[p[0]] == clusters[p[1]] {
			t.Errorf("seed %d: %v cannot link, and are both in cluster %d", seed, p, clusters[p[0]])
		}
	}
	for i, c := range known.Labels {
		if c >= 0 && clusters[i] != c {
			t.Errorf("seed %d: sample %d has label %d and is in cluster %d", seed, i, c, clusters[i])
		}
	}
}

// TestLinkedDeadEnds checks that the search leaves the dead ends of greedy placement, and that unsatisfiable links and
// an exhausted search give different errors.
func TestLinkedDeadEnds(t *testing.T) {
	// A crown graph: sample i of one side cannot link with any sample of the other side except its counterpart. Two
	// clusters suffice, but placing pair after pair greedily needs more.
	var crown [][2]int
	const side = 6
	for i := range side {
		for j := range side {
			if i != j {
				crown = append(crown, [2]int{2 * i, 2*j + 1})
			}
		}
	}
	x := mat.NewDense(2*side, 1, nil)
	for i := range 2 * side {
		x.Set(i, 0, float64(i/2))
	}
	known := Known{CannotLink: crown}
	got, err := ConstrainedKMeans{KMeans{K: 2, Seed: 1}}.Fit(t.Context(), x, known)
	if err != nil {
		t.Fatal(err)
	}
	checkHolds(t, 0, known, got.Labels)

	clique := Known{CannotLink: [][2]int{{0, 1}, {1, 2}, {0, 2}}}
	for name, test := range map[string]struct {
		k     int
		known Known
		want  string
	}{
		"three in two":      {2, clique, "the cannot-links need more than 2 clusters:"},
		"of one label":      {3, Known{Labels: []int{0, 0, -1, -1}, CannotLink: [][2]int{{1, 0}}}, "contradicts must-links"},
		"through a label":   {2, Known{Labels: []int{0, 1, -1, -1}, CannotLink: [][2]int{{0, 2}, {2, 1}}}, "the cannot-links need more than 2 clusters:"},
		"a label beyond":    {2, Known{Labels: []int{0, 2, -1, -1}, MustLink: [][2]int{{2, 3}}}, "has label 2; expected less than 2"},
		"a row beyond":      {2, Known{MustLink: [][2]int{{2, 4}}}, "): expected samples from 0 to less than 4"},
		"labels for others": {2, Known{Labels: []int{0}, MustLink: [][2]int{{2, 3}}}, "1 labels for 4 samples"},
	} {
		err := CheckLinks(4, test.k, test.known)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if strings.Contains(test.want, "need more") != errors.Is(err, ErrDeadEnd) {
			t.Errorf("%s: %v is a dead end: %v", name, err, errors.Is(err, ErrDeadEnd))
		}
		if _, err := (ConstrainedKMeans{KMeans{K: test.k}}).Fit(t.Context(), mat.NewDense(4, 1, []float64{1, 2, 3, 4}), test.known); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, fitted: got %v, want %q", name, err, test.want)
		}
	}
	if err := CheckLinks(4, 3, clique); err != nil {
		t.Error(err)
	}
}

// TestBind checks that the clusters of any algorithm obey labels and links, and that other samples stay.
func TestBind(t *testing.T) {
	for seed := range uint64(100) {
		random := rng.New(seed, "bind")
		const n, k = 30, 4
		truth, groups := make([]int, n), make([]int, n)
		for i := range n {
			truth[i], groups[i] = random.IntN(k), random.IntN(k)
		}
		known := Known{Labels: someLabels(truth, 8, seed)}
		known.MustLink, known.CannotLink = randomLinks(truth, random.IntN(25), seed)
		before := slices.Clone(groups)
		if err := Bind(groups, k, known, func(i, j int) float64 { return float64((i*7 + j*3) % 5) }); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkHolds(t, seed, known, groups)
		linked := make([]bool, n)
		for _, p := range append(slices.Clone(known.MustLink), known.CannotLink...) {
			linked[p[0]], linked[p[1]] = true, true
		}
		for i := range n {
			if !linked[i] && known.Labels[i] < 0 && groups[i] != before[i] {
				t.Errorf("seed %d: unconstrained sample %d moved from %d to %d", seed, i, before[i], groups[i])
			}
		}
	}
	// The cheapest change is made: the third of three must-linked samples joins the two in cluster 0, and of two
	// cannot-linked samples the cheaper one moves.
	groups := []int{0, 0, 1, 1, 1}
	known := Known{MustLink: [][2]int{{0, 1}, {1, 2}}, CannotLink: [][2]int{{3, 4}}}
	cost := func(i, j int) float64 {
		if i == 4 && j == 2 {
			return 0
		}
		return 1
	}
	if err := Bind(groups, 3, known, cost); err != nil || !slices.Equal(groups, []int{0, 0, 0, 1, 2}) {
		t.Errorf("bound to %v, %v", groups, err)
	}
}

// turned returns n samples of 3 classes, and their classes. The classes differ along few of 12 directions; the noise
// along the others is the same in all classes.
func turned(n int, seed uint64) (x *mat.Dense, truth []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	x = mat.NewDense(n, 12, nil)
	for i := range n {
		truth = append(truth, i%3)
		for j := range 12 {
			x.Set(i, j, 3+0.3*r.NormFloat64())
		}
		x.Set(i, i%3, x.At(i, i%3)+2)
		shared := 3 * r.NormFloat64()
		x.Set(i, 10, x.At(i, 10)+shared)
		x.Set(i, 11, x.At(i, 11)-shared)
	}
	return x, truth
}

func agreement(got, truth []int) float64 {
	same := 0
	for i := range got {
		if got[i] == truth[i] {
			same++
		}
	}
	return float64(same) / float64(len(got))
}

// TestGuidedKMeans checks that labels are kept, that the objective never rises, that permuted samples give permuted
// clusters, and that the classifier finds classes that distances hide.
func TestGuidedKMeans(t *testing.T) {
	for seed := range uint64(10) {
		x, truth := turned(90, seed)
		labels := make([]int, 90)
		for i := range labels {
			labels[i] = -1
			if i < 18 {
				labels[i] = truth[i]
			}
		}
		fit := func(x mat.Matrix, labels []int, most int) *Result {
			t.Helper()
			r, err := GuidedKMeans{KMeans: KMeans{K: 3, MaxIterations: most}}.Fit(t.Context(), x, Known{Labels: labels})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		last := math.Inf(1)
		for most := 1; most < 6; most++ {
			r := fit(x, labels, most)
			if r.Objective > last*(1+1e-12) {
				t.Errorf("seed %d: objective %v after %d iterations, %v before", seed, r.Objective, most, last)
			}
			last = r.Objective
		}
		got := fit(x, labels, 0)
		for i, c := range labels {
			if c >= 0 && got.Labels[i] != c {
				t.Fatalf("seed %d: sample %d of label %d is in cluster %d", seed, i, c, got.Labels[i])
			}
		}
		plain, err := ConstrainedKMeans{KMeans{K: 3, Distance: DistanceCosine}}.Fit(t.Context(), x, Known{Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		if ours, theirs := agreement(got.Labels, truth), agreement(plain.Labels, truth); ours < theirs+0.05 {
			t.Errorf("seed %d: %.2f are right, and %.2f of constrained k-means", seed, ours, theirs)
		}
		order := rand.New(rand.NewPCG(seed, 2)).Perm(90)
		moved, movedLabels, want := mat.NewDense(90, 12, nil), make([]int, 90), make([]int, 90)
		for i, from := range order {
			moved.SetRow(i, x.RawRowView(from))
			movedLabels[i], want[i] = labels[from], got.Labels[from]
		}
		if other := fit(moved, movedLabels, 0); !slices.Equal(other.Labels, want) {
			t.Errorf("seed %d: permuted samples have other clusters", seed)
		}
		var scaled mat.Dense
		scaled.Scale(1e90, x)
		if other := fit(&scaled, labels, 0); !slices.Equal(other.Labels, got.Labels) {
			t.Errorf("seed %d: scaled samples have other clusters", seed)
		}
	}
}

// TestGuidedKMeansEdges has rows of zeros, labels of all samples, and clusters without a label.
func TestGuidedKMeansEdges(t *testing.T) {
	for name, x := range map[string]*mat.Dense{
		"zeros": mat.NewDense(5, 2, nil),
		"equal": mat.NewDense(5, 2, []float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}),
		"few":   mat.NewDense(5, 2, []float64{1, 2, 0, 0, 1, 2, 3, 1, 1, 2}),
	} {
		for _, labels := range [][]int{{0, 1, -1, -1, -1}, {0, 1, 1, 0, 1}, {0, -1, -1, -1, -1}} {
			r, err := GuidedKMeans{KMeans: KMeans{K: 2}}.Fit(t.Context(), x, Known{Labels: labels})
			if err != nil {
				t.Errorf("%s, %v: %v", name, labels, err)
				continue
			}
			if math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
				t.Errorf("%s, %v: objective %v", name, labels, r.Objective)
			}
			for i, c := range labels {
				if c >= 0 && r.Labels[i] != c {
					t.Errorf("%s, %v: got %v", name, labels, r.Labels)
				}
			}
		}
	}
	x, truth := turned(30, 1)
	labels := slices.Repeat([]int{-1}, 30)
	labels[0] = truth[0]
	got, err := GuidedKMeans{KMeans: KMeans{K: 3}}.Fit(t.Context(), x, Known{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	want, err := ConstrainedKMeans{KMeans{K: 3, Distance: DistanceCosine}}.Fit(t.Context(), x, Known{Labels: labels})
	if err != nil || !slices.Equal(got.Labels, want.Labels) {
		t.Errorf("got %v, want %v, %v", got.Labels, want, err)
	}
	if _, err := (GuidedKMeans{KMeans: KMeans{K: 3}}).Fit(t.Context(), x, Known{Labels: labels[:4]}); err == nil {
		t.Error("four labels of 30 samples are accepted")
	}
}
