package passes_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// rows returns n samples of m features near 4 centres, of which every third has a label.
func rows(n, m int) *datasets.Set {
	random := rand.New(rand.NewPCG(1, 2))
	centres := mat.NewDense(4, m, nil)
	centres.Apply(func(int, int, float64) float64 { return 10 * random.Float64() }, centres)
	x := mat.NewDense(n, m, nil)
	s := &datasets.Set{Name: "rows", Classes: []string{"a", "b", "c", "d"}, Vectors: x}
	for i := range n {
		for j := range m {
			x.Set(i, j, centres.At(i%4, j)*(0.8+0.4*random.Float64()))
		}
		s.Names, s.Labels = append(s.Names, fmt.Sprintf("sample %d", i)), append(s.Labels, -1)
		if i%3 == 0 {
			s.Labels[i] = i % 4
		}
	}
	return s
}

// write writes the set in shards and returns their paths.
func write(t testing.TB, set *datasets.Set, shards int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range shards {
		shard := vectorfile.Shard{Index: i, Of: shards}
		part, err := set.Shard(shard)
		if err == nil {
			paths = append(paths, filepath.Join(dir, shard.File("rows", ".npz")))
			err = vectorfile.Write(t.Context(), paths[i], part.Content())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func start(t testing.TB, method string, run passes.Run, paths []string) *passes.State {
	t.Helper()
	sample, err := passes.Draw(t.Context(), passes.Sampled(paths), spec.Features{Normalise: features.NormNone}, 200)
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	s, err := passes.Start(t.Context(), spec.Method{Name: method}, run, sample, len(paths))
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, s)
}

func reread(t testing.TB, s *passes.State) *passes.State {
	t.Helper()
	var text, again bytes.Buffer
	if err := s.Save(&text); err != nil {
		t.Fatal(err)
	}
	s, err := passes.Read(t.Context(), text.Bytes())
	if err == nil {
		err = s.Save(&again)
	}
	if err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Fatalf("the state is not the one that was saved: %v", err)
	}
	return s
}

// pass runs a pass over the shards in an order, and merges.
func pass(t testing.TB, s *passes.State, paths []string, order []int) *passes.State {
	t.Helper()
	dir := t.TempDir()
	for _, i := range order {
		if err := passes.PassFile(t.Context(), s, paths[i], dir); err != nil {
			t.Fatal(err)
		}
	}
	next, err := passes.Merge(t.Context(), s, dir)
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, next)
}

var rules = map[string]passes.Run{
	"nmf": {Rank: 4}, "nmf-kl": {Rank: 4}, "cnmf": {Rank: 4}, "cnmf-kl": {Rank: 4}, "pca": {Rank: 4}, "kmeans": {Rank: 4, Distance: cluster.DistanceCosine},
}

// The order of the shards does not change a byte, and their number changes the objective by rounding errors only.
func TestShardsAgree(t *testing.T) {
	set := rows(1000, 12)
	one, five := write(t, set, 1), write(t, set, 5)
	for method, run := range rules {
		t.Run(method, func(t *testing.T) {
			whole, parts := start(t, method, run, one), start(t, method, run, five)
			if method == "kmeans" { // its draws depend on the shards
				for whole.Step != passes.Learning {
					whole, parts = pass(t, whole, one, []int{0}), pass(t, parts, five, []int{0, 1, 2, 3, 4})
				}
			}
			whole.Vectors, parts.Vectors = mat.DenseCopyOf(whole.Vectors), mat.DenseCopyOf(whole.Vectors) // of different samples
			whole.Constant, parts.Constant = 0, 0
			whole, parts = reread(t, whole), reread(t, parts)
			for i := 0; i < 4 && !whole.Done; i++ {
				whole = pass(t, whole, one, []int{0})
				other := pass(t, parts, five, []int{3, 1, 4, 0, 2})
				if parts = pass(t, parts, five, []int{0, 1, 2, 3, 4}); parts.Digest != other.Digest {
					t.Fatalf("pass %d: the order of the shards changes the model", i+1)
				}
			}
			if len(whole.Objective) == 0 || len(whole.Objective) != len(parts.Objective) {
				t.Fatalf("objectives %v and %v", whole.Objective, parts.Objective)
			}
			for i, a := range whole.Objective {
				if b := parts.Objective[i]; math.Abs(a-b) > 1e-12*a || i > 0 && a > whole.Objective[i-1]*(1+1e-9) {
					t.Errorf("objective %d: %v in one shard, %v in five; before it %v", i, a, b, whole.Objective[max(0, i-1)])
				}
			}
			if len(parts.Objective) == 0 || parts.Samples != 1000 {
				t.Errorf("%d samples", parts.Samples)
			}
		})
	}
}

// Passes find what the methods in one process find.
func TestPassesFitWell(t *testing.T) {
	set := rows(600, 12)
	paths := write(t, set, 3)
	learn := func(method string, run passes.Run, most int) *passes.State {
		s := start(t, method, run, paths)
		for !s.Done && s.Passes < most {
			s = pass(t, s, paths, []int{0, 1, 2})
		}
		return s
	}
	last := func(s *passes.State) float64 { return s.Objective[len(s.Objective)-1] }
	pca, err := factor.PCA{}.Fit(t.Context(), set.Vectors, factor.Known{}, factor.Options{Rank: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := learn("pca", passes.Run{Rank: 3}, 1).Model.Result.Basis; !mat.EqualApprox(got, pca.Basis, 1e-9) {
		t.Errorf("PCA: directions\n%v\nexpected\n%v", mat.Formatted(got), mat.Formatted(pca.Basis))
	}
	for method, m := range map[string]factor.Method{"nmf": factor.NMF{}, "nmf-kl": factor.NMFKL{}, "cnmf": factor.CNMF{}, "cnmf-kl": factor.CNMFKL{}} {
		known := factor.Known{}
		if strings.HasPrefix(method, "cnmf") {
			known.Labels = set.Labels
		}
		want, err := m.Fit(t.Context(), set.Vectors, known, factor.Options{Rank: 4, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got, best := last(learn(method, passes.Run{Rank: 4}, 40)), want.Objective[len(want.Objective)-1]; got > 1.03*best {
			t.Errorf("%s: objective %v, in one process %v", method, got, best)
		}
	}
	found := learn("kmeans", passes.Run{Rank: 4}, 20)
	of, err := cluster.KMeans{K: 4, Restarts: 10}.Fit(t.Context(), set.Vectors)
	if err != nil || last(found) > 1.001*of.Objective {
		t.Errorf("k-means: objective %v, in one process %v (%v)", last(found), of.Objective, err)
	}
	if g := found.Model.Groups; g == nil || g.Spread.At(0, 50) < 0.5*math.Sqrt(of.Objective/600) || g.Centres.Sizes[0] != 150 {
		t.Errorf("k-means: groups %+v", g)
	}
}

func TestMergeRefuses(t *testing.T) {
	paths := write(t, rows(60, 5), 3)
	s := start(t, "nmf", passes.Run{Rank: 2}, paths)
	dir := t.TempDir()
	fill := func() {
		for _, path := range paths {
			if err := passes.PassFile(t.Context(), s, path, dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := func(i int) string { return passes.SumsFile(dir, vectorfile.Shard{Index: i, Of: 3}) }
	refuses := func(want string) {
		t.Helper()
		if _, err := passes.Merge(t.Context(), s, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, expected %q", err, want)
		}
	}
	fill()
	before, err := os.Stat(file(1))
	if err != nil {
		t.Fatal(err)
	}
	fill()
	if after, err := os.Stat(file(1)); err != nil || !os.SameFile(before, after) {
		t.Errorf("sums that are there were written again (%v)", err)
	}
	text, err := os.ReadFile(file(0))
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int, text []byte) {
		if err := os.WriteFile(file(i), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(1, text)
	refuses("sums-00001-of-00003.npz: not a file of sums: its shards")
	put(1, text[:len(text)/2])
	refuses("sums-00001-of-00003.npz: not a file of sums")
	if err := os.Remove(file(1)); err != nil {
		t.Fatal(err)
	}
	refuses("sums-00001-of-00003.npz")
	fill()
	first := s
	s = pass(t, s, paths, []int{2, 1, 0})
	refuses("of another pass")
	s = first
	s = pass(t, first, paths, []int{0, 1, 2})
	if err := os.Rename(write(t, rows(50, 5), 3)[1], paths[1]); err != nil {
		t.Fatal(err)
	}
	if err := passes.PassFile(t.Context(), s, paths[1], dir); err == nil || !strings.Contains(err.Error(), "has changed since the first pass") {
		t.Errorf("a changed shard: got error %v", err)
	}
	for method, want := range map[string]string{"gnmf": "or their graph", "ccf": "its basis consists of samples", "sym-nmf": "pairs of samples", "lda": "sums over samples", "lccf": "its basis consists", "tri-nmf": "suffice"} {
		m := spec.Method{Name: method}
		if _, err := passes.Start(context.Background(), m, passes.Run{Rank: 2}, passes.Sample{}, 2); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "partwise assign") {
			t.Errorf("%s: got error %v, expected %q", method, err, want)
		}
	}
}
