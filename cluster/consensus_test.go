package cluster

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestConsensusAsSciPy compares clusters and stability with SciPy's average linkage (testdata/consensus/record.py).
func TestConsensusAsSciPy(t *testing.T) {
	var file struct {
		Cases []struct {
			K                      int
			Runs                   [][]int
			Cut                    []int
			Groups                 map[string]float64
			Cophenetic, Dispersion float64
		}
	}
	text, err := os.ReadFile("testdata/consensus/consensus.json")
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || len(file.Cases) == 0 {
		t.Fatal(err, len(file.Cases))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-10 }
	for i, c := range file.Cases {
		labels, s := Consensus(c.Runs, c.K)
		means := MeanConsensus(c.Runs, labels)
		if !near(s.Cophenetic, c.Cophenetic) || !near(s.Dispersion, c.Dispersion) {
			t.Errorf("case %d: cophenetic %v and dispersion %v, want %v and %v", i, s.Cophenetic, s.Dispersion, c.Cophenetic, c.Dispersion)
		}
		for a, g := range labels {
			for b, h := range labels {
				if (g == h) != (c.Cut[a] == c.Cut[b]) {
					t.Fatalf("case %d: clusters %v, want %v", i, labels, c.Cut)
				}
			}
			if want := c.Groups[strconv.Itoa(c.Cut[a])]; !near(means[g], want) {
				t.Errorf("case %d: mean consensus of cluster %d %v, want %v", i, g, means[g], want)
			}
		}
	}
}

// TestConsensusPlain compares with a plain computation: average linkage by means over all pairs, and the correlation of
// the cophenetic distances.
func TestConsensusPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 100 {
		n, k := 2+random.IntN(7), 2+random.IntN(3)
		runs := make([][]int, 30+random.IntN(70))
		for r := range runs {
			for range n {
				runs[r] = append(runs[r], random.IntN(k+1)-1)
			}
		}
		distance := func(i, j int) (d float64) {
			for _, of := range runs {
				if of[i] != of[j] || of[i] < 0 {
					d++
				}
			}
			return d
		}
		clusters, joined := make([][]int, n), make([][]float64, n)
		for i := range n {
			clusters[i], joined[i] = []int{i}, make([]float64, n)
		}
		ties := false
		for len(clusters) > 1 {
			least, a, b := math.Inf(1), 0, 0
			for i := range clusters {
				for j := range i {
					sum := 0.0
					for _, x := range clusters[i] {
						for _, y := range clusters[j] {
							sum += distance(x, y)
						}
					}
					mean := sum / float64(len(clusters[i])*len(clusters[j]))
					ties = ties || mean == least
					if mean < least {
						least, a, b = mean, j, i
					}
				}
			}
			for _, x := range clusters[a] {
				for _, y := range clusters[b] {
					joined[x][y] = least
				}
			}
			clusters[a] = append(clusters[a], clusters[b]...)
			clusters = slices.Delete(clusters, b, b+1)
		}
		var pairs, sd, sc, dd, cc, dc float64
		for i := range n {
			for j := range i {
				d, c := distance(i, j), joined[i][j]+joined[j][i]
				pairs, sd, sc, dd, cc, dc = pairs+1, sd+d, sc+c, dd+d*d, cc+c*c, dc+d*c
			}
		}
		want := (dc - sd*sc/pairs) / math.Sqrt((dd-sd*sd/pairs)*(cc-sc*sc/pairs))
		if ties || math.IsNaN(want) {
			continue // another tree may be as good
		}
		compared++
		if _, s := Consensus(runs, min(k, n)); math.Abs(s.Cophenetic-want) > 1e-9 {
			t.Errorf("%d samples, %d clusterings: cophenetic correlation %v, want %v", n, len(runs), s.Cophenetic, want)
		}
	}
	if compared < 10 {
		t.Errorf("only %d comparisons", compared)
	}
}

// TestConsensusExtremes: clusterings without any difference, a single sample, and samples without a cluster.
func TestConsensusExtremes(t *testing.T) {
	for name, c := range map[string]struct {
		runs [][]int
		k    int
		want []int
	}{
		"one sample":    {[][]int{{0}, {0}}, 1, []int{0}},
		"one cluster":   {[][]int{{0, 0, 0}, {1, 1, 1}}, 1, []int{0, 0, 0}},
		"all apart":     {[][]int{{0, 1, 2}, {2, 1, 0}}, 3, []int{0, 1, 2}},
		"no cluster":    {[][]int{{-1, -1}, {-1, -1}}, 2, []int{0, 1}},
		"many clusters": {[][]int{{0, 1}}, 9, []int{0, 1}},
		"labels differ": {[][]int{{5, 5, 2}, {0, 0, 1}}, 2, []int{0, 0, 1}},
	} {
		labels, s := Consensus(c.runs, c.k)
		if !slices.Equal(labels, c.want) || s.Cophenetic != 1 || !(s.Dispersion >= 0 && s.Dispersion <= 1) {
			t.Errorf("%s: %v, %+v", name, labels, s)
		}
	}
	if got := MeanConsensus([][]int{{0, 0, 1}, {0, 1, 1}}, []int{0, 0, -1}); !slices.Equal(got, []float64{0.5}) {
		t.Errorf("mean consensus %v, want 0.5", got)
	}
}
