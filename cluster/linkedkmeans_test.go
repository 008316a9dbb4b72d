package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestFitLinked: what is known holds, no free sample and no unit has a cheaper cluster that
// its links allow, and the same is found again.
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
		got, err := settings.FitLinked(t.Context(), x, known)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkHolds(t, seed, known, got.Labels)
		again, err := settings.FitLinked(t.Context(), x, known)
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
				if u.fixed[at] < 0 && !u.holds(placed, at, j, -1) && cost(at, j) < cost(at, own)-1e-9*(1+cost(at, own)) {
					t.Errorf("seed %d: samples %v cost %v in cluster %d, and %v in %d", seed, u.members[at], cost(at, own), own, cost(at, j), j)
				}
			}
		}
		// From there nothing moves.
		if slices.Contains(sizes(got.Labels, k), 0) {
			continue
		}
		if resumed, err := settings.linked(t.Context(), x, known, got.Labels, nil); err != nil || !slices.Equal(resumed.Labels, got.Labels) {
			t.Errorf("seed %d: resumed from its own answer %v gives %v, %v", seed, got.Labels, resumed, err)
		}
	}
}

// sizes returns how many samples each cluster has.
func sizes(labels []int, k int) []int {
	out := make([]int, k)
	for _, c := range labels {
		out[c]++
	}
	return out
}

// checkHolds reports what is known and does not hold in clusters.
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

// TestLinkedDeadEnds: a greedy placement would end in dead ends that a search leaves, and
// what cannot be is told from what is not found.
func TestLinkedDeadEnds(t *testing.T) {
	// A crown: i of one side is parted from all of the other but its own. Two clusters do,
	// and who places the pairs one after the other needs more.
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
	got, err := ConstrainedKMeans{KMeans{K: 2, Seed: 1}}.FitLinked(t.Context(), x, known)
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
		"three in two":      {2, clique, "samples that cannot link need more than 2 clusters"},
		"of one label":      {3, Known{Labels: []int{0, 0, -1, -1}, CannotLink: [][2]int{{1, 0}}}, "contradicts must-link"},
		"through a label":   {2, Known{Labels: []int{0, 1, -1, -1}, CannotLink: [][2]int{{0, 2}, {2, 1}}}, "samples that cannot link need more than 2 clusters"},
		"a label beyond":    {2, Known{Labels: []int{0, 2, -1, -1}, MustLink: [][2]int{{2, 3}}}, "label 2 of 2 clusters"},
		"a row beyond":      {2, Known{MustLink: [][2]int{{2, 4}}}, "among 4 samples"},
		"labels for others": {2, Known{Labels: []int{0}, MustLink: [][2]int{{2, 3}}}, "1 labels for 4 samples"},
	} {
		err := CheckLinks(4, test.k, test.known)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if strings.Contains(test.want, "need more") != errors.Is(err, ErrDeadEnd) {
			t.Errorf("%s: %v is a dead end: %v", name, err, errors.Is(err, ErrDeadEnd))
		}
		if _, err := (ConstrainedKMeans{KMeans{K: test.k}}).FitLinked(t.Context(), mat.NewDense(4, 1, []float64{1, 2, 3, 4}), test.known); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, fitted: %v, want %q", name, err, test.want)
		}
	}
	if err := CheckLinks(4, 3, clique); err != nil {
		t.Error(err)
	}
}

// TestBind: clusters of any kind hold to what is known, and samples that it does not hold
// stay.
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
		told := make([]bool, n)
		for _, p := range append(slices.Clone(known.MustLink), known.CannotLink...) {
			told[p[0]], told[p[1]] = true, true
		}
		for i := range n {
			if !told[i] && known.Labels[i] < 0 && groups[i] != before[i] {
				t.Errorf("seed %d: sample %d moved from %d to %d, and nothing holds it", seed, i, before[i], groups[i])
			}
		}
	}
	// Most stay: of three that must link, two are in cluster 0, and of two that cannot, the one
	// moves for which it costs less.
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
