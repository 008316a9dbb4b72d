package cluster

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// broken returns a violated link.
func broken(labels []int, must, cannot [][2]int) (pair [2]int, found bool) {
	for _, p := range must {
		if labels[p[0]] != labels[p[1]] {
			return p, true
		}
	}
	for _, p := range cannot {
		if labels[p[0]] == labels[p[1]] {
			return p, true
		}
	}
	return pair, false
}

// randomLinks returns some of the links that hold in the groups.
func randomLinks(truth []int, count int, seed uint64) (must, cannot [][2]int) {
	random := rng.New(seed, "links")
	for range count {
		p := [2]int{random.IntN(len(truth)), random.IntN(len(truth))}
		switch {
		case p[0] == p[1]:
		case truth[p[0]] == truth[p[1]]:
			must = append(must, p)
		default:
			cannot = append(cannot, p)
		}
	}
	return must, cannot
}

func TestCOPKMeansKeepsLinks(t *testing.T) {
	var solved int
	for seed := range uint64(60) {
		x, truth := blobs(60, 3, 4, 0.4, seed)
		must, cannot := randomLinks(truth, 40, seed)
		k := COPKMeans{KMeans{K: 4, Distance: Distance(seed % 2), Restarts: 3, Seed: seed}}
		got, err := k.Fit(context.Background(), x, Known{MustLink: must, CannotLink: cannot})
		if errors.Is(err, ErrDeadEnd) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		solved++
		if p, found := broken(got.Labels, must, cannot); found {
			t.Errorf("seed %d: link %v does not hold", seed, p)
		}
	}
	if solved < 30 {
		t.Errorf("%d of 60 sets of links solved", solved)
	}
}

// TestCOPKMeansLabelled gives all links among some labelled samples of as many classes as clusters. There are no dead
// ends then, and each class has its own cluster.
func TestCOPKMeansLabelled(t *testing.T) {
	x, truth := blobs(100, 4, 5, 3, 1)
	var must, cannot [][2]int
	for i := range 40 {
		for j := range i {
			if truth[i] == truth[j] {
				must = append(must, [2]int{i, j})
			} else {
				cannot = append(cannot, [2]int{i, j})
			}
		}
	}
	got, err := COPKMeans{KMeans{K: 5}}.Fit(context.Background(), x, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if p, found := broken(got.Labels, must, cannot); found {
		t.Errorf("link %v does not hold", p)
	}
}

func TestCOPKMeansWithoutLinks(t *testing.T) {
	x, _ := blobs(120, 3, 6, 0.5, 1)
	k := KMeans{K: 6, Seed: 3}
	want, err := k.Fit(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := COPKMeans{k}.Fit(context.Background(), x, Known{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *mat.Dense) bool { return mat.Equal(a, b) })); diff != "" {
		t.Errorf("k-means and cop-k-means without links differ:\n%s", diff)
	}
}

// copFrom runs COP-k-means once, with these rows as the initial centres.
func copFrom(k KMeans, x mat.Matrix, known Known, rows ...int) (*Result, error) {
	return k.fit(context.Background(), "cop-k-means", x, func(l *run) (err error) {
		labels := slices.Repeat([]int{-1}, l.n)
		for j, i := range rows {
			labels[i] = j
		}
		if l.placing, err = newPlacing(l.n, l.K, known); err != nil {
			return err
		}
		return l.seed(labels, false)
	})
}

func TestCOPKMeansDeadEnds(t *testing.T) {
	// Rows 0 and 1 choose different clusters, so that row 2 finds none.
	x := mat.NewDense(4, 1, []float64{0, 10, 5, 4})
	cannot := [][2]int{{0, 2}, {1, 2}}
	_, err := copFrom(KMeans{K: 2}, x, Known{CannotLink: cannot}, 0, 1)
	if !errors.Is(err, ErrDeadEnd) || !strings.Contains(err.Error(), "sample 3") {
		t.Errorf("got error %v, want a dead end at sample 3", err)
	}
	// Another start finds the clusters {0, 1} and {2, 3}.
	got, err := copFrom(KMeans{K: 2}, x, Known{MustLink: [][2]int{{0, 1}}, CannotLink: cannot}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got.Labels[0] != got.Labels[1] || got.Labels[0] == got.Labels[2] {
		t.Errorf("labels %v break links", got.Labels)
	}
	// Three samples that cannot link pairwise do not fit into two clusters.
	_, err = COPKMeans{KMeans{K: 2, Restarts: 2}}.Fit(context.Background(), x, Known{CannotLink: [][2]int{{0, 1}, {1, 2}, {0, 2}}})
	if !errors.Is(err, ErrDeadEnd) || !strings.Contains(err.Error(), "none of 20 starts satisfies the links:") {
		t.Errorf("got error %v, want a dead end of 20 starts", err)
	}
	// Because of the must-links through row 3, row 0 avoids the cluster that row 1 cannot join.
	must := [][2]int{{0, 3}, {3, 2}}
	got, err = copFrom(KMeans{K: 2}, x, Known{MustLink: must, CannotLink: [][2]int{{2, 1}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 0, 0}, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestCOPKMeansErrors(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	k := COPKMeans{KMeans{K: 2}}
	for _, test := range []struct {
		must, cannot [][2]int
		want         string
	}{
		{[][2]int{{0, 3}}, nil, "must-link (0, 3): expected samples from 0 to less than 3"},
		{[][2]int{{0, 1}, {1, 2}}, [][2]int{{0, 2}}, "contradicts must-links"},
	} {
		_, err := k.Fit(context.Background(), x, Known{MustLink: test.must, CannotLink: test.cannot})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "cop-k-means: ") {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.Fit(ctx, x, Known{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}

// TestCOPKMeansEmptyCluster checks that filling a cluster breaks no link.
func TestCOPKMeansEmptyCluster(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{1, 1, 1, 1, 9})
	must := [][2]int{{3, 4}}
	got, err := copFrom(KMeans{K: 3}, x, Known{MustLink: must}, 0, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, got, 5, 3)
	if got.Labels[3] != got.Labels[4] {
		t.Errorf("labels %v break the link", got.Labels)
	}
	// With all samples linked, some clusters remain empty.
	got, err = COPKMeans{KMeans{K: 2}}.Fit(context.Background(), x, Known{MustLink: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	if c := slices.Compact(slices.Clone(got.Labels)); len(c) != 1 {
		t.Errorf("labels %v break links", got.Labels)
	}
}

// pairsOf replaces labels by the links that they imply.
func pairsOf(known Known) Known {
	pairs := Known{MustLink: known.MustLink, CannotLink: known.CannotLink}
	for i, c := range known.Labels {
		for j := range i {
			switch other := known.Labels[j]; {
			case c < 0 || other < 0:
			case c == other:
				pairs.MustLink = append(pairs.MustLink, [2]int{j, i})
			default:
				pairs.CannotLink = append(pairs.CannotLink, [2]int{j, i})
			}
		}
	}
	return pairs
}

// TestLabelsAreTheirPairs checks that labels give the same bits as links between all pairs of labelled samples.
func TestLabelsAreTheirPairs(t *testing.T) {
	for seed := range uint64(120) {
		random := rng.New(seed, "known")
		k := 2 + random.IntN(4)
		x, truth := blobs(40, 3, k, 1, seed)
		known := Known{Labels: someLabels(truth, 1+random.IntN(8), seed)}
		if seed%3 == 0 {
			known.MustLink, known.CannotLink = randomLinks(truth, 12, seed)
		}
		for _, a := range Algorithms() {
			if !a.TakesLinks || slices.Contains([]string{"constrained-kmeans", "guided-kmeans", "propagated-kmeans"}, a.Name) { // which start at labels
				continue
			}
			want, wantErr := registered(t, a, map[string]any{"restarts": 3}).Cluster(t.Context(), x, k, pairsOf(known), seed)
			got, err := registered(t, a, map[string]any{"restarts": 3}).Cluster(t.Context(), x, k, known, seed)
			if (err == nil) != (wantErr == nil) || errors.Is(err, ErrDeadEnd) != errors.Is(wantErr, ErrDeadEnd) {
				t.Fatalf("seed %d, %s: labels give the error %v, their pairs %v", seed, a.Name, err, wantErr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %s: labels give %v, their pairs %v", seed, a.Name, got, want)
			}
		}
	}
}

// TestManyLabels checks that labels of all samples of a large set need no memory for their 5·10⁹ pairs.
func TestManyLabels(t *testing.T) {
	const n = 100_000
	x, labels := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range n {
		labels[i] = i % 10
		x.Set(i, 0, float64(i%7))
	}
	got, err := COPKMeans{KMeans{K: 10, Restarts: 1, MaxIterations: 1}}.Fit(t.Context(), x, Known{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Labels {
		if c != got.Labels[i%10] {
			t.Fatalf("sample %d of label %d is in cluster %d, and sample %d in %d", i, i%10, c, i%10, got.Labels[i%10])
		}
	}
}

// TestOutOfRange: an enumeration out of range is an error.
func TestOutOfRange(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	for _, k := range []KMeans{{K: 1, Distance: -1}, {K: 1, Distance: 2}, {K: 1, Init: -1}, {K: 1, Init: 2}} {
		if _, err := k.Fit(t.Context(), x); err == nil {
			t.Errorf("distance %d and start %d are no error", int(k.Distance), int(k.Init))
		}
	}
	if _, err := Nearest(t.Context(), 2, x, x, 1); err == nil {
		t.Error("distance 2 is no error")
	}
}
