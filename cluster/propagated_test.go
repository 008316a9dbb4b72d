package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// parallelRings returns samples of classes on parallel rings, which k-means divides by angle: 40 samples of each class.
func parallelRings(classes, m int) (*mat.Dense, []int) {
	src := rand.New(rand.NewPCG(1, 2))
	x, labels := mat.NewDense(40*classes, m, nil), make([]int, 40*classes)
	for i := range labels {
		labels[i] = i % classes
		sin, cos := math.Sincos(2 * math.Pi * float64(i/classes) / 40)
		x.Set(i, 0, 1.5*cos)
		x.Set(i, 1, 1.5*sin)
		x.Set(i, 2+labels[i], 1)
		for j := range m {
			x.Set(i, j, x.At(i, j)+0.02*src.NormFloat64())
		}
	}
	return x, labels
}

// purity returns the share of samples whose cluster holds mostly samples of their class.
func purity(labels, found []int) float64 {
	counts := map[[2]int]int{}
	most := map[int]int{}
	for i, c := range found {
		counts[[2]int{c, labels[i]}]++
		most[c] = max(most[c], counts[[2]int{c, labels[i]}])
	}
	sum := 0
	for _, n := range most {
		sum += n
	}
	return float64(sum) / float64(len(labels))
}

// TestPropagatedRings checks that clusters of any shape are found, in any order of the samples.
func TestPropagatedRings(t *testing.T) {
	x, labels := parallelRings(4, 12)
	plain, err := KMeans{K: 4, Distance: DistanceCosine, Init: InitPlusPlus}.Fit(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if p := purity(labels, plain.Labels); p > 0.9 {
		t.Errorf("k-means: got a purity of %v, want less than 0.9", p)
	}
	for seed := range uint64(5) {
		found, err := PropagatedKMeans{}.Cluster(t.Context(), x, 4, Known{}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if p := purity(labels, found.Labels); p != 1 {
			t.Errorf("seed %d: got a purity of %v, want 1", seed, p)
		}
	}
	order := rand.New(rand.NewPCG(3, 4)).Perm(len(labels))
	permuted, ofPermuted := mat.NewDense(len(order), 12, nil), make([]int, len(order))
	for at, i := range order {
		permuted.SetRow(at, x.RawRowView(i))
		ofPermuted[at] = labels[i]
	}
	found, err := PropagatedKMeans{}.Cluster(t.Context(), permuted, 4, Known{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := purity(ofPermuted, found.Labels); p != 1 {
		t.Errorf("permuted: got a purity of %v, want 1", p)
	}
}

// TestWhitened compares cosines of whitened rows with Z·(C + r·I)⁻¹·Zᵀ, for few and for many samples.
func TestWhitened(t *testing.T) {
	for _, n := range []int{7, 40} {
		x, _ := parallelRings(2, 12)
		s, err := readSamples(x.Slice(0, n, 0, 12), DistanceCosine)
		if err != nil {
			t.Fatal(err)
		}
		z := s.centred()
		leading := principalOf(t.Context(), z)
		v := leading.whitened(whitenedRidge)
		var c, inverse, half, want mat.Dense
		c.Mul(z.T(), z)
		ridge := 3 * mat.Trace(&c) / float64(min(n, 12))
		for j := range 12 {
			c.Set(j, j, c.At(j, j)+ridge)
		}
		if err := inverse.Inverse(&c); err != nil {
			t.Fatal(err)
		}
		half.Mul(z, &inverse)
		want.Mul(&half, z.T())
		for i := range n {
			for j := range n {
				cosine := want.At(i, j) / math.Sqrt(want.At(i, i)*want.At(j, j))
				if got := mat.Dot(v.RowView(i), v.RowView(j)); math.Abs(got-cosine) > 1e-9 {
					t.Fatalf("%d samples: the cosine of rows %d and %d is %v, want %v", n, i, j, got, cosine)
				}
			}
		}
	}
}

// TestPropagate compares the averages with a dense solution and checks the graph.
func TestPropagate(t *testing.T) {
	x, _ := parallelRings(2, 12)
	n, m := x.Dims()
	g := nearestGraph(t.Context(), x, 4)
	before := exactNeighbours
	exactNeighbours = 0
	approximate := nearestGraph(t.Context(), x, 4)
	if exactNeighbours = before; !slices.EqualFunc(approximate, g, slices.Equal) {
		t.Errorf("approximate neighbours %v, want %v", approximate, g)
	}
	s := mat.NewDense(n, n, nil)
	for i, list := range g {
		if len(list) < 4 || !slices.IsSorted(list) || slices.Contains(list, i) {
			t.Fatalf("sample %d has the neighbours %v", i, list)
		}
		for _, j := range list {
			if !slices.Contains(g[j], i) {
				t.Fatalf("%d is a neighbour of %d, but not the reverse", j, i)
			}
			s.Set(i, j, 0.9/math.Sqrt(float64(len(list)*len(g[j]))))
		}
	}
	got := g.propagate(t.Context(), x, propagatedShare)
	want := mat.DenseCopyOf(x)
	for range 30 {
		var next mat.Dense
		next.Mul(s, want)
		for i := range n {
			for j := range m {
				want.Set(i, j, next.At(i, j)+0.1*x.At(i, j))
			}
		}
	}
	for i := range n {
		if !floats.EqualApprox(got.RawRowView(i), want.RawRowView(i), 1e-12) {
			t.Fatalf("row %d is %v, want %v", i, got.RawRowView(i), want.RawRowView(i))
		}
	}
	path, halves := graph{{1}, {0, 2}, {1, 3}, {2}}, []int{0, 0, 1, 1}
	if cut := path.meanCut(halves, 2); math.Abs(cut-1./3) > 1e-15 {
		t.Errorf("the mean cut of a path of four is %v, want 1/3", cut)
	}
	if q := path.modularity(halves, 2); math.Abs(q-1./6) > 1e-15 {
		t.Errorf("the modularity of a path of four is %v, want 1/6", q)
	}
}

// TestPropagatedEqual checks equal samples, samples of zeros and few samples.
func TestPropagatedEqual(t *testing.T) {
	equal := mat.NewDense(6, 3, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for rows, clusters := range map[int]int{2: 2, 3: 1, 6: 2} {
		found, err := PropagatedKMeans{}.Cluster(t.Context(), equal.Slice(0, rows, 0, 3), clusters, Known{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Labels) != rows || slices.Max(found.Labels) >= clusters || mat.Sum(found.Centres) != mat.Sum(found.Centres) {
			t.Errorf("%d rows: clusters %v, centres %v", rows, found.Labels, mat.Formatted(found.Centres))
		}
	}
}

// TestPropagatedKnown checks that labels and links hold and move their neighbours.
func TestPropagatedKnown(t *testing.T) {
	x, labels := parallelRings(3, 12)
	known := Known{Labels: slices.Repeat([]int{-1}, len(labels)), MustLink: [][2]int{{3, 6}}, CannotLink: [][2]int{{4, 6}}}
	for c := range 3 {
		known.Labels[c] = (c + 1) % 3
	}
	found, err := PropagatedKMeans{}.Cluster(t.Context(), x, 3, known, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range found.Labels {
		if c != (labels[i]+1)%3 {
			t.Fatalf("sample %d is in cluster %d, want %d", i, c, (labels[i]+1)%3)
		}
	}
}
