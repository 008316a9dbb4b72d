package factor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// classProblem draws samples of some classes about means of their own, more or
// fewer than features, five labelled ones in each class at least, some without
// a label, in any order.
func classProblem(seed uint64) problem {
	src := rand.New(rand.NewPCG(seed, 13))
	classes, m := 2+src.IntN(4), 2+src.IntN(25)
	means := mat.NewDense(classes, m, nil)
	means.Apply(func(int, int, float64) float64 { return 2 * src.NormFloat64() }, means)
	var labels, truth []int
	for c := range classes {
		for i := range 6 + src.IntN(10) {
			label := c
			if i >= 5 && src.Float64() < 0.4 {
				label = -1
			}
			labels, truth = append(labels, label), append(truth, c)
		}
	}
	src.Shuffle(len(labels), func(i, j int) {
		labels[i], labels[j] = labels[j], labels[i]
		truth[i], truth[j] = truth[j], truth[i]
	})
	n := len(labels)
	x := mat.NewDense(n, m, nil)
	for i, c := range truth {
		for j := range m {
			x.Set(i, j, 1+means.At(c, j)+(0.3+float64(j%5))*src.NormFloat64())
		}
	}
	return problem{x, Known{Labels: labels}, Options{Rank: 1 + src.IntN(n), Seed: seed}, Image{}}
}

// embeddings are the linear ones.
func embeddings() map[string]Method {
	return map[string]Method{
		"pca": PCA{}, "pca-variance": PCA{Variance: 0.8},
		"lda": LDA{}, "lda-all": LDA{Variance: 1},
		"mfa": MFA{K1: 3, K2: 20}, "mfa-all": MFA{K1: 3, K2: 20, Variance: 1}, "mfa-complete": MFA{},
		"sda": SDA{}, "sda-heat": SDA{Alpha: 2, Ridge: 0.01, Neighbourhood: Neighbourhood{Neighbours: 3, Edges: EdgesHeat}},
	}
}

// eachEmbedding fits all embeddings to many problems.
func eachEmbedding(t *testing.T, count uint64, check func(what string, m Method, p problem, res *Result)) {
	t.Helper()
	for seed := range count {
		for name, m := range embeddings() {
			p := classProblem(seed)
			res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%s %v: %v", name, p, err)
			}
			check(name+" "+p.String(), m, p, res)
		}
	}
}

// fullScatter is a scatter over the features from its definition,
// Σ_ij s_ij·(x_i − x_j)(x_i − x_j)ᵀ/2.
func fullScatter(x *mat.Dense, s func(i, j int) float64) *mat.Dense {
	n, m := x.Dims()
	out := mat.NewDense(m, m, nil)
	for i := range n {
		for j := range n {
			w := s(i, j) / 2
			if i == j || w == 0 {
				continue
			}
			for a := range m {
				for b := range m {
					out.Set(a, b, out.At(a, b)+w*(x.At(i, a)-x.At(j, a))*(x.At(i, b)-x.At(j, b)))
				}
			}
		}
	}
	return out
}

// pairOf returns the two scatters over the features that m sets against each
// other, from their definitions, and nil where it sets none.
func pairOf(t *testing.T, m Method, p problem) (a, r *mat.Dense) {
	t.Helper()
	labels := p.known.Labels
	size, labelled := map[int]float64{}, 0.0
	for _, c := range labels {
		size[c]++
		if c >= 0 {
			labelled++
		}
	}
	same := func(i, j int) float64 {
		if labels[i] < 0 || labels[i] != labels[j] {
			return 0
		}
		return 1 / size[labels[i]]
	}
	all := func(i, j int) float64 {
		if labels[i] < 0 || labels[j] < 0 {
			return 0
		}
		return 1 / labelled
	}
	within, total := fullScatter(p.x, same), fullScatter(p.x, all)
	var between mat.Dense
	between.Sub(total, within)
	switch m := m.(type) {
	case LDA:
		return &between, within
	case SDA:
		s, err := m.Graph(context.Background(), p.x)
		if err != nil {
			t.Fatal(err)
		}
		against := fullScatter(p.x, s.At)
		against.Scale(orDefault(m.Alpha, 0.1), against)
		against.Add(against, total)
		_, features := p.x.Dims()
		for j := range features {
			against.Set(j, j, against.At(j, j)+orDefault(m.Ridge, 0.1))
		}
		return &between, against
	case MFA:
		inside, across := marginalGraphs(p, m)
		return fullScatter(p.x, across.At), fullScatter(p.x, inside.At)
	}
	return nil, nil
}

// marginalGraphs are those of MFA from their definition.
func marginalGraphs(p problem, m MFA) (inside, across *mat.Dense) {
	n, _ := p.x.Dims()
	labels := p.known.Labels
	var pairs []pair
	size := map[int]int{}
	for i := range n {
		size[labels[i]]++
		for j := range n {
			if i != j && labels[i] >= 0 && labels[j] >= 0 {
				var d mat.VecDense
				d.SubVec(p.x.RowView(i), p.x.RowView(j))
				pairs = append(pairs, pair{i, j, mat.Dot(&d, &d)})
			}
		}
	}
	slices.SortFunc(pairs, pair.compare)
	inside, across = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	k1, k2 := m.K1, m.K2
	if k1 == 0 {
		k1 = 5
	}
	joined, parted := map[int]int{}, map[int]int{}
	for _, q := range pairs {
		c := labels[q.i]
		limit := k2
		if limit == 0 {
			limit = 40 * size[c]
		}
		switch {
		case c == labels[q.j] && joined[q.i] < k1:
			joined[q.i]++
			inside.Set(q.i, q.j, 1)
			inside.Set(q.j, q.i, 1)
		case c != labels[q.j] && parted[c] < limit:
			parted[c]++
			across.Set(q.i, q.j, 1)
			across.Set(q.j, q.i, 1)
		}
	}
	return inside, across
}

// TestEmbeddingConditions: PᵀRP = I, PᵀAP is diagonal and falls, and where
// nothing was left out before, A·P = R·P·Λ.
func TestEmbeddingConditions(t *testing.T) {
	equations := 0
	eachEmbedding(t, 40, func(what string, m Method, p problem, res *Result) {
		a, r := pairOf(t, m, p)
		if a == nil {
			return
		}
		w := res.Basis
		var aw, rw, waw, wrw mat.Dense
		aw.Mul(a, w)
		rw.Mul(r, w)
		waw.Mul(w.T(), &aw)
		wrw.Mul(w.T(), &rw)
		_, d := w.Dims()
		near(t, what+" PᵀRP", &wrw, eye(d), 1e-8)
		lambda := mat.NewDense(d, d, nil)
		for c := range d {
			lambda.Set(c, c, waw.At(c, c))
			if c > 0 && lambda.At(c, c) > lambda.At(c-1, c-1)*(1+1e-9) {
				t.Errorf("%s: λ %v after %v", what, lambda.At(c, c), lambda.At(c-1, c-1))
			}
		}
		top := lambda.At(0, 0)
		near(t, what+" PᵀAP", &waw, lambda, 1e-8*max(1, top))

		labelled := 0
		for _, c := range p.known.Labels {
			if c >= 0 {
				labelled++
			}
		}
		_, features := p.x.Dims()
		_, isSDA := m.(SDA)
		whole := strings.HasPrefix(what, "lda-all") || strings.HasPrefix(what, "mfa-all")
		if isSDA || whole && labelled > features+5 {
			equations++
			var right mat.Dense
			right.Mul(&rw, lambda)
			near(t, what+" A·P = R·P·Λ", &aw, &right, 1e-8*mat.Norm(a, 1))
		}
	})
	if equations < 50 {
		t.Errorf("the equation was checked %d times only", equations)
	}
}

func eye(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

// TestEmbeddingDirections: how many there are.
func TestEmbeddingDirections(t *testing.T) {
	eachEmbedding(t, 40, func(what string, m Method, p problem, res *Result) {
		classes := map[int]bool{}
		labelled := 0
		for _, c := range p.known.Labels {
			if c >= 0 {
				classes[c] = true
				labelled++
			}
		}
		n, features := p.x.Dims()
		want := -1
		switch m := m.(type) {
		case LDA:
			if m.Variance == 1 {
				want = min(p.opt.Rank, len(classes)-1, features, labelled-len(classes))
			}
		case SDA:
			want = min(p.opt.Rank, len(classes)-1, features)
		case PCA:
			if m.Variance == 0 {
				want = min(p.opt.Rank, features, n-1)
			}
		}
		r, d := res.Basis.Dims()
		if rows, cols := res.Coefficients.Dims(); rows != n || cols != d || r != features || d < 1 || d > max(p.opt.Rank, 1) && what[:4] != "pca-" || want >= 0 && d != want {
			t.Errorf("%s: the projection is %d×%d and the coefficients %d×%d; want %d directions", what, r, d, rows, cols, want)
		}
		if res.Iterations() != 0 || res.Stop != "" {
			t.Errorf("%s: %d iterations, stopped by %q", what, res.Iterations(), res.Stop)
		}
	})
}

// TestEmbeddingTransform: a sample is represented the same whether it was
// there to learn from or is new, in whatever company.
func TestEmbeddingTransform(t *testing.T) {
	eachEmbedding(t, 10, func(what string, _ Method, p problem, res *Result) {
		n, features := p.x.Dims()
		got, err := res.Model.Transform(context.Background(), p.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what, got, res.Coefficients, 1e-12)
		_, d := got.Dims()
		one, err := res.Model.Transform(context.Background(), p.x.Slice(n-1, n, 0, features))
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+" alone", one, res.Coefficients.Slice(n-1, n, 0, d), 1e-10)
		if _, err := res.Model.Transform(context.Background(), mat.NewDense(1, features+1, slices.Repeat([]float64{1}, features+1))); err == nil || !strings.Contains(err.Error(), "features, the projection") {
			t.Errorf("%s: a sample of another size: %v", what, err)
		}
	})
}

// TestEmbeddingPermutingSamples: and classes under other names.
func TestEmbeddingPermutingSamples(t *testing.T) {
	eachEmbedding(t, 30, func(what string, m Method, p problem, want *Result) {
		if strings.HasPrefix(what, "mfa-complete") {
			return // all pairs are joined: many λ are one, and which vectors stand for it is open
		}
		n, _ := p.x.Dims()
		order := rand.New(rand.NewPCG(p.opt.Seed, 3)).Perm(n)
		x, labels := algebra.Like(p.x), make([]int, n)
		back := algebra.Like(want.Coefficients)
		for to, from := range order {
			x.SetRow(to, p.x.RawRowView(from))
			if labels[to] = p.known.Labels[from]; labels[to] >= 0 {
				labels[to] = 7 - labels[to]
			}
		}
		got, err := m.Fit(context.Background(), x, Known{Labels: labels}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		if r, c := got.Coefficients.Dims(); r != n || c != back.RawMatrix().Cols {
			t.Fatalf("%s: %d×%d in another order", what, r, c)
		}
		for to, from := range order {
			back.SetRow(from, got.Coefficients.RawRowView(to))
		}
		near(t, what+" projection", got.Basis, want.Basis, 1e-6)
		near(t, what+" coefficients", back, want.Coefficients, 1e-6*max(1, mat.Norm(want.Coefficients, math.Inf(1))))
	})
}

func TestEmbeddingSparseEqualsDense(t *testing.T) {
	eachEmbedding(t, 10, func(what string, m Method, p problem, want *Result) {
		got, err := m.Fit(context.Background(), toSparse(p.x), p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, what+" projection", got.Basis, want.Basis, 1e-7)
		near(t, what+" coefficients", got.Coefficients, want.Coefficients, 1e-7*max(1, mat.Norm(want.Coefficients, math.Inf(1))))
	})
}

// TestEmbeddingScaling: λ and the normalisation are as the formulas say
// whatever the size of the values; the ridge of SDA is left out.
func TestEmbeddingScaling(t *testing.T) {
	for _, by := range []float64{1e-40, 1e-3, 255, 1e40} {
		for name, m := range embeddings() {
			if sda, ok := m.(SDA); ok {
				sda.Ridge = WeightNone
				m = sda
			}
			p := classProblem(5)
			want, err := m.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			var x mat.Dense
			x.Scale(by, p.x)
			got, err := m.Fit(context.Background(), &x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := m.(PCA); ok {
				near(t, name+" projection", got.Basis, want.Basis, 1e-7)
				continue
			}
			near(t, fmt.Sprintf("%s coefficients, data times %g", name, by), got.Coefficients, want.Coefficients, 1e-6)
		}
	}
}

// TestEmbeddingDegenerate: data that leaves something undefined gives finite
// answers.
func TestEmbeddingDegenerate(t *testing.T) {
	base := func() problem {
		p := classProblem(11)
		p.opt.Rank = 3
		return p
	}
	n, features := base().x.Dims()
	change := func(f func(p *problem)) problem {
		p := base()
		f(&p)
		return p
	}
	for what, p := range map[string]problem{
		"constant features": change(func(p *problem) {
			for i := range n {
				for j := 1; j < features; j++ {
					p.x.Set(i, j, 0.1)
				}
			}
		}),
		"every sample twice": change(func(p *problem) {
			x := mat.NewDense(2*n, features, nil)
			x.Stack(p.x, p.x)
			p.x, p.known.Labels = x, slices.Concat(p.known.Labels, p.known.Labels)
		}),
		"classes of copies": change(func(p *problem) {
			first := map[int]int{}
			for i, c := range p.known.Labels {
				if at, ok := first[c]; ok {
					p.x.SetRow(i, p.x.RawRowView(at))
				} else {
					first[c] = i
				}
			}
		}),
		"one class of two": change(func(p *problem) {
			seen := map[int]int{}
			for i, c := range p.known.Labels {
				if seen[c]++; c > 0 && seen[c] > 1 || seen[c] > 2 {
					p.known.Labels[i] = -1
				}
			}
		}),
		"a feature that tells the classes": change(func(p *problem) {
			for i, c := range p.known.Labels {
				p.x.Set(i, 0, float64(10*c))
			}
		}),
		"means on a line": change(func(p *problem) {
			src := rand.New(rand.NewPCG(1, 2))
			means := map[int]*mat.VecDense{}
			for i, c := range p.known.Labels {
				for j := range features {
					p.x.Set(i, j, src.NormFloat64())
				}
				if means[c] == nil {
					means[c] = mat.NewVecDense(features, nil)
				}
				means[c].AddVec(means[c], p.x.RowView(i))
			}
			size := map[int]float64{}
			for _, c := range p.known.Labels {
				size[c]++
			}
			for i, c := range p.known.Labels {
				for j := range features {
					p.x.Set(i, j, p.x.At(i, j)-means[c].AtVec(j)/size[c]+float64(c))
				}
			}
		}),
		"two features": change(func(p *problem) { p.x = mat.DenseCopyOf(p.x.Slice(0, n, 0, 2)) }),
		"one feature":  change(func(p *problem) { p.x = mat.DenseCopyOf(p.x.Slice(0, n, 0, 1)) }),
		"large offset": change(func(p *problem) { p.x.Apply(func(_, _ int, v float64) float64 { return v + 1e6 }, p.x) }),
		"all labelled": change(func(p *problem) {
			for i, c := range p.known.Labels {
				p.known.Labels[i] = max(c, 0)
			}
		}),
	} {
		for name, m := range embeddings() {
			res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Errorf("%s, %s: %v", what, name, err)
				continue
			}
			if !algebra.Finite(res.Basis) || !algebra.Finite(res.Coefficients) {
				t.Errorf("%s, %s: values that are no numbers", what, name)
			}
			if _, d := res.Basis.Dims(); what == "means on a line" && (strings.HasPrefix(name, "lda") || strings.HasPrefix(name, "sda")) && d != 1 {
				t.Errorf("%s, %s: %d directions", what, name, d)
			}
		}
	}
}

func TestEmbeddingBadInput(t *testing.T) {
	p := classProblem(11)
	n, features := p.x.Dims()
	all := func(c int) Known { return Known{Labels: slices.Repeat([]int{c}, n)} }
	single := Known{Labels: slices.Repeat([]int{-1}, n)}
	for c := range 3 {
		single.Labels[c] = c
	}
	constant := mat.NewDense(n, features, slices.Repeat([]float64{0.1}, n*features))
	mirrored := mat.NewDense(4, 1, []float64{1, 3, 1, 3}) // two classes with one mean
	notSymmetric, err := NewCSR(n, n, append([]int{0}, slices.Repeat([]int{1}, n)...), []int{2}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	huge, err := NewCSR(2, 1<<40, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		x     mat.Matrix
		m     Method
		known Known
		rank  int
		want  string
	}{
		"pca rank 0":           {p.x, PCA{}, p.known, 0, "rank 0"},
		"pca rank":             {p.x, PCA{}, p.known, n + 1, "above the number of samples"},
		"pca share":            {p.x, PCA{Variance: 1.5}, p.known, 1, "variance is 1.5; it must be a share above 0 and at most 1"},
		"pca share 0":          {p.x, PCA{Variance: WeightNone}, p.known, 1, "variance is 0"},
		"pca share NaN":        {p.x, PCA{Variance: math.NaN()}, p.known, 1, "variance is NaN"},
		"pca constant":         {constant, PCA{}, p.known, 1, fmt.Sprintf("all %d samples to learn from are the same", n)},
		"pca one sample":       {p.x.Slice(0, 1, 0, features), PCA{}, Known{}, 1, "all 1 samples"},
		"pca too large":        {huge, PCA{}, Known{}, 1, "this needs 53 TB of memory"},
		"pca NaN":              {mat.NewDense(1, 2, []float64{1, math.NaN()}), PCA{}, Known{}, 1, "sample 1: column 2: value NaN"},
		"lda no labels":        {p.x, LDA{}, Known{}, 1, "none are known"},
		"lda none known":       {p.x, LDA{}, all(-1), 1, "none are known"},
		"lda one class":        {p.x, LDA{}, all(3), 1, fmt.Sprintf("only %d of one", n)},
		"lda single samples":   {p.x, LDA{}, single, 1, "each of the 3 classes has one labelled sample"},
		"lda constant":         {constant, LDA{}, p.known, 1, "are the same"},
		"lda one mean":         {mirrored, LDA{}, Known{Labels: []int{0, 0, 1, 1}}, 1, "the 2 classes have the same mean"},
		"lda labels of others": {p.x, LDA{}, Known{Labels: []int{0, 1}}, 1, "2 labels for"},
		"mfa no labels":        {p.x, MFA{}, Known{}, 1, "none are known"},
		"mfa single samples":   {p.x, MFA{}, single, 1, "one labelled sample"},
		"mfa k1":               {p.x, MFA{K1: -1}, p.known, 1, "k1 is -1"},
		"mfa copies":           {mirrored, MFA{K1: 1, K2: 1}, Known{Labels: []int{0, 0, 1, 1}}, 5, "rank 5"},
		"mfa share":            {p.x, MFA{Variance: 2}, p.known, 1, "variance is 2"},
		"sda no labels":        {p.x, SDA{}, Known{}, 1, "none are known"},
		"sda one class":        {p.x, SDA{}, all(0), 1, "of one"},
		"sda alpha":            {p.x, SDA{Alpha: -2}, p.known, 1, "alpha is -2"},
		"sda ridge":            {p.x, SDA{Ridge: math.Inf(1)}, p.known, 1, "the ridge is +Inf"},
		"sda graph":            {p.x, SDA{Similarity: notSymmetric}, p.known, 1, "not symmetric"},
		"sda neighbours":       {p.x, SDA{Neighbourhood: Neighbourhood{Neighbours: -1}}, p.known, 1, "a graph of -1 neighbours"},
		"sda same mean":        {mirrored, SDA{}, Known{Labels: []int{0, 0, 1, 1}}, 1, "the same mean"},
	} {
		_, err := c.m.Fit(context.Background(), c.x, c.known, Options{Rank: c.rank})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v does not say %q in one line", what, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range slices.Sorted(maps.Keys(embeddings())) {
		if _, err := embeddings()[name].Fit(ctx, p.x, p.known, p.opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled before it began: %v", name, err)
		}
	}
}
