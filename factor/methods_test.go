package factor

import (
	"cmp"
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
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// classProblem draws samples of some classes around class means, more or fewer than features, in any order. At least
// five samples of each class are labelled; others may not be.
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

// embeddings returns the linear embeddings.
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

// fullScatter computes a scatter over the features from its definition, Σ_ij s_ij·(x_i − x_j)(x_i − x_j)ᵀ/2.
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

// pairOf returns the two scatters over the features that m compares, computed from their definitions, or nil if it
// compares none.
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

// marginalGraphs returns the graphs of MFA, computed from their definition.
func marginalGraphs(p problem, m MFA) (inside, across *mat.Dense) {
	n, _ := p.x.Dims()
	labels := p.known.Labels
	type pair struct {
		i, j int
		d    float64
	}
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
	slices.SortFunc(pairs, func(p, q pair) int { return cmp.Or(cmp.Compare(p.d, q.d), p.i-q.i, p.j-q.j) })
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

// TestEmbeddingConditions checks that PᵀRP = I, that PᵀAP is diagonal and decreasing, and that A·P = R·P·Λ if no
// directions were dropped before.
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

// TestEmbeddingDirections checks the number of directions.
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

// TestEmbeddingTransform checks that the representation of a sample is the same for training and new samples, and does
// not depend on other samples.
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
		if _, err := res.Model.Transform(context.Background(), mat.NewDense(1, features+1, slices.Repeat([]float64{1}, features+1))); err == nil || !strings.Contains(err.Error(), "as in the projection") {
			t.Errorf("%s: a sample of another size: %v", what, err)
		}
	})
}

// TestEmbeddingPermutingSamples permutes the samples and renames the classes.
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

// TestEmbeddingScaling checks that λ and the normalisation follow the formulas for values of any scale. The ridge of
// SDA is left out.
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

// TestEmbeddingDegenerate checks that results are finite for data that leaves the optimum undefined.
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
		"pca share":            {p.x, PCA{Variance: 1.5}, p.known, 1, "variance 1.5: expected a fraction above 0 and at most 1"},
		"pca share 0":          {p.x, PCA{Variance: WeightNone}, p.known, 1, "variance 0: expected a fraction above 0 and at most 1"},
		"pca share NaN":        {p.x, PCA{Variance: math.NaN()}, p.known, 1, "variance NaN: expected a fraction above 0 and at most 1"},
		"pca constant":         {constant, PCA{}, p.known, 1, fmt.Sprintf("all %d training samples are identical", n)},
		"pca one sample":       {p.x.Slice(0, 1, 0, features), PCA{}, Known{}, 1, "all 1 training samples"},
		"pca too large":        {huge, PCA{}, Known{}, 1, "needs 53 TB of memory, but the limit is"},
		"pca NaN":              {mat.NewDense(1, 2, []float64{1, math.NaN()}), PCA{}, Known{}, 1, "sample 1: column 2: value NaN"},
		"lda no labels":        {p.x, LDA{}, Known{}, 1, "discriminant directions need labelled samples; none are given"},
		"lda none known":       {p.x, LDA{}, all(-1), 1, "discriminant directions need labelled samples; none are given"},
		"lda one class":        {p.x, LDA{}, all(3), 1, fmt.Sprintf("all %d are of one class", n)},
		"lda single samples":   {p.x, LDA{}, single, 1, "each of the 3 classes has one labelled sample; the scatter within classes needs two in one of them"},
		"lda constant":         {constant, LDA{}, p.known, 1, "are identical"},
		"lda one mean":         {mirrored, LDA{}, Known{Labels: []int{0, 0, 1, 1}}, 1, "the 2 classes have the same mean: no direction separates them"},
		"lda labels of others": {p.x, LDA{}, Known{Labels: []int{0, 1}}, 1, "2 labels for"},
		"mfa no labels":        {p.x, MFA{}, Known{}, 1, "discriminant directions need labelled samples; none are given"},
		"mfa single samples":   {p.x, MFA{}, single, 1, "one labelled sample"},
		"mfa k1":               {p.x, MFA{K1: -1}, p.known, 1, "expected 1 or more"},
		"mfa copies":           {mirrored, MFA{K1: 1, K2: 1}, Known{Labels: []int{0, 0, 1, 1}}, 5, "rank 5"},
		"mfa share":            {p.x, MFA{Variance: 2}, p.known, 1, "variance 2: expected a fraction above 0 and at most 1"},
		"sda no labels":        {p.x, SDA{}, Known{}, 1, "discriminant directions need labelled samples; none are given"},
		"sda one class":        {p.x, SDA{}, all(0), 1, "of one"},
		"sda alpha":            {p.x, SDA{Alpha: -2}, p.known, 1, "alpha is -2"},
		"sda ridge":            {p.x, SDA{Ridge: math.Inf(1)}, p.known, 1, "the ridge is +Inf"},
		"sda neighbours":       {p.x, SDA{Neighbourhood: Neighbourhood{Neighbours: -1}}, p.known, 1, "neighbours -1: expected 1 or more"},
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

// Two classes overlap in each feature, but one direction separates them, also for a new sample.
func ExampleLDA() {
	x := mat.NewDense(6, 2, []float64{
		1, 2,
		2, 3,
		3, 4.5,
		2, 1,
		3, 2,
		4, 3.5,
	})
	res, err := LDA{Variance: 1}.Fit(context.Background(), x, Known{Labels: []int{0, 0, 0, 1, 1, 1}}, Options{Rank: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", res.Coefficients.RawMatrix().Data)
	one, err := res.Model.Transform(context.Background(), mat.NewDense(1, 2, []float64{2, 3.5}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", one.At(0, 0))
	// Output:
	// [-4.23 -3.33 -4.16 3.59 4.48 3.65]
	// -5.06
}

// TestPCA checks that the directions are orthonormal, that the singular values beyond the d-th give the residual of d
// directions, and that a share of the variance selects the fewest directions.
func TestPCA(t *testing.T) {
	for seed := range uint64(60) {
		p := randomProblem(seed, true)
		n, m := p.x.Dims()
		if n == 1 {
			continue
		}
		var svd mat.SVD
		about := mat.DenseCopyOf(p.x)
		for j := range m {
			mean := mat.Sum(p.x.ColView(j)) / float64(n)
			for i := range n {
				about.Set(i, j, about.At(i, j)-mean)
			}
		}
		if !svd.Factorize(about, mat.SVDNone) {
			t.Fatal("no decomposition")
		}
		sigma := svd.Values(nil)
		share := []float64{0.3, 0.8, 0.99, 1}[seed%4]
		for name, pca := range map[string]PCA{"rank": {}, "share": {Variance: share}} {
			res, err := pca.Fit(context.Background(), p.x, Known{}, p.opt)
			if err != nil {
				if sigma[0] <= 1e-12*mat.Norm(p.x, 2) && strings.Contains(err.Error(), "identical") {
					continue
				}
				t.Fatalf("%v: %v", p, err)
			}
			_, d := res.Basis.Dims()
			var inner mat.Dense
			inner.Mul(res.Basis.T(), res.Basis)
			near(t, p.String()+" PᵀP", &inner, eye(d), 1e-12)

			var rest mat.Dense
			rest.Mul(res.Coefficients, res.Basis.T())
			rest.Sub(about, &rest)
			var tail, total float64
			for r, s := range sigma {
				total += s * s
				if r >= d {
					tail += s * s
				}
			}
			left := mat.Norm(&rest, 2)
			if math.Abs(left*left-tail) > 1e-12*total {
				t.Errorf("%v: %d directions leave out %v, want %v", p, d, left*left, tail)
			}
			if name == "share" {
				if total-tail < (share-1e-9)*total || d > 1 && total-tail-sigma[d-1]*sigma[d-1] >= share*total {
					t.Errorf("%v: %d directions keep %v of the variance; asked for %v", p, d, 1-tail/total, share)
				}
			}
		}
	}
}

// TestPCAOfWideData checks that few samples of 1024 features give as many directions as the samples span, also if the
// rank is higher.
func TestPCAOfWideData(t *testing.T) {
	x := mat.NewDense(9, 1024, nil)
	x.Apply(func(i, j int, _ float64) float64 { return 1 + math.Sin(float64(i*j+i)) }, x)
	x.SetRow(8, x.RawRowView(0))
	res, err := PCA{}.Fit(context.Background(), x, Known{}, Options{Rank: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, d := res.Basis.Dims(); d != 7 {
		t.Errorf("%d directions from 8 samples and a copy, want 7", d)
	}
}

// TestSparseCodingNeverRises checks that the objective never rises, that no atom is longer than 1, and that the codes
// belong to the last dictionary.
func TestSparseCodingNeverRises(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProblem(seed, seed%2 == 0)
		p.opt.Iterations = 15
		lambda := randomLambda(seed)
		if lambda > 0 {
			lambda = min(lambda, 1) * mat.Norm(p.x, math.Inf(1))
		}
		if seed%3 == 0 {
			src := rand.New(rand.NewPCG(seed, 23))
			_, m := p.x.Dims()
			start := mat.NewDense(m, p.opt.Rank, nil)
			start.Apply(func(int, int, float64) float64 { return 3 * src.NormFloat64() }, start)
			p.opt.Start = &Start{Basis: start}
		}
		res, err := SparseCoding{Lambda: lambda}.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		size := view.SumSquares(view.Dense{X: p.x})
		for i := 1; i < len(res.Objective); i++ {
			if before, now := res.Objective[i-1], res.Objective[i]; now > before+1e-9*before+1e-13*size {
				t.Fatalf("%v λ=%v: objective rises from %v to %v at iteration %d", p, lambda, before, now, i)
			}
		}
		for r := range p.opt.Rank {
			if l := mat.Norm(res.Basis.ColView(r), 2); !(l <= 1+1e-12) {
				t.Errorf("%v: an atom of length %v", p, l)
			}
		}
		if !algebra.Finite(res.Basis) || !algebra.Finite(res.Coefficients) {
			t.Errorf("%v: values that are no numbers", p)
		}
		codes, err := res.Model.Transform(context.Background(), p.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, p.String()+" codes", res.Coefficients, codes, 0)
	}
}

func TestSparseCodingPermutingSamples(t *testing.T) {
	for seed := range uint64(20) {
		p := classProblem(seed)
		n, m := p.x.Dims()
		p.opt.Rank = min(p.opt.Rank, m)
		src := rand.New(rand.NewPCG(seed, 3))
		order := src.Perm(n)
		x := algebra.Like(p.x)
		for to, from := range order {
			x.SetRow(to, p.x.RawRowView(from))
		}
		start := mat.NewDense(m, p.opt.Rank, nil)
		start.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, start)
		p.opt.Start, p.opt.Iterations = &Start{Basis: start}, 5
		want, err := SparseCoding{Lambda: 1}.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]mat.Matrix{"dense": x, "sparse": toSparse(x)} {
			got, err := SparseCoding{Lambda: 1}.Fit(context.Background(), data, Known{}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+p.String()+" atoms", got.Basis, want.Basis, 1e-7)
			back := algebra.Like(want.Coefficients)
			for to, from := range order {
				back.SetRow(from, got.Coefficients.RawRowView(to))
			}
			near(t, name+" "+p.String()+" codes", back, want.Coefficients, 1e-6)
		}
	}
}

func TestSparseCodingStarts(t *testing.T) {
	p := randomProblem(9, false)
	p.opt.Rank, p.opt.Iterations = 3, 2
	for _, init := range []Init{InitRandom, InitNNDSVDa, InitNMF} {
		p.opt.Init = init
		var fits [3]*Result
		for i := range fits {
			opt := p.opt
			opt.Seed += uint64(i / 2)
			var err error
			if fits[i], err = (SparseCoding{}).Fit(context.Background(), p.x, Known{}, opt); err != nil {
				t.Fatalf("%s: %v", init, err)
			}
		}
		near(t, "the same once more", fits[1].Basis, fits[0].Basis, 0)
		if same := mat.Equal(fits[2].Basis, fits[0].Basis); same != (init == InitNNDSVDa) {
			t.Errorf("%s: another seed gives the same: %v", init, same)
		}
	}
	// The code of a sample orthogonal to all atoms stays 0, and an unused atom does not change.
	atom := mat.NewDense(2, 1, []float64{0, 2})
	res, err := SparseCoding{}.Fit(context.Background(), mat.NewDense(1, 2, []float64{1, 0}), Known{}, Options{Rank: 1, Start: &Start{Basis: atom}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "atom", res.Basis, mat.NewDense(2, 1, []float64{0, 1}), 0)
	near(t, "code", res.Coefficients, mat.NewDense(1, 1, nil), 0)
}

func TestSparseCodingBadInput(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, -6})
	for want, c := range map[string]struct {
		m   SparseCoding
		opt Options
	}{
		"lambda is -2":                  {SparseCoding{Lambda: -2}, Options{Rank: 1}},
		"lambda is NaN":                 {SparseCoding{Lambda: math.NaN()}, Options{Rank: 1}},
		"rank 4 is above":               {SparseCoding{}, Options{Rank: 4}},
		"initial atoms are 1×1":         {SparseCoding{}, Options{Rank: 1, Start: &Start{Basis: mat.NewDense(1, 1, nil)}}},
		"initial atoms: value NaN":      {SparseCoding{}, Options{Rank: 1, Start: &Start{Basis: mat.NewDense(2, 1, []float64{1, math.NaN()})}}},
		`unknown init "zeros"`:          {SparseCoding{}, Options{Rank: 1, Init: "zeros"}},
		"initialisation by NMF: sample": {SparseCoding{}, Options{Rank: 1, Init: InitNMF}},
	} {
		if _, err := c.m.Fit(context.Background(), x, Known{}, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := SparseCoding{}.Fit(ctx, x, Known{}, Options{Rank: 1, OnIteration: func(i int, _ float64) {
		if i == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "iteration 4") {
		t.Errorf("cancelled after iteration 3: %v", err)
	}
}

// TestSparseCodingOfLikeSamples has nearly equal samples, and so nearly equal atoms. The equations of the codes are
// ill-conditioned, but the objective must not rise.
func TestSparseCodingOfLikeSamples(t *testing.T) {
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 1))
		n, m := 12, 10+src.IntN(20)
		opt := Options{Rank: 2 + src.IntN(11), Iterations: 10, Seed: seed}
		offset := math.Pow(10, 4+2*src.Float64())
		x := mat.NewDense(n, m, nil)
		x.Apply(func(int, int, float64) float64 { return offset + src.NormFloat64() }, x)
		r := rule{method: SparseCoding{Lambda: WeightNone}, descends: true}
		res, err := r.method.Fit(context.Background(), x, Known{}, opt)
		if err == nil {
			err = r.check(x, problem{x: x, opt: opt}, res)
		}
		if err != nil {
			t.Errorf("seed %d, samples about %v: %v", seed, offset, err)
		}
	}
}

// TestLasso checks the conditions of a minimum: 2·b_jᵀ(x − B·s) is λ·sign(s_j) if s_j ≠ 0, and between −λ and λ
// otherwise. The dictionaries have fewer or more atoms than features, copies, near copies and zeros.
func TestLasso(t *testing.T) {
	var used, unused int
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 17))
		m, k := 1+src.IntN(20), 1+src.IntN(30)
		scale := math.Pow(10, 6*src.Float64()-3)
		b := mat.NewDense(m, k, nil)
		b.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, b)
		for j := 1; j < k; j++ {
			col := b.ColView(j).(*mat.VecDense)
			switch src.IntN(6) {
			case 0:
				col.CopyVec(b.ColView(j - 1))
			case 1:
				col.AddScaledVec(b.ColView(j-1), 1e-3, col)
			case 2:
				if src.IntN(3) == 0 {
					col.Zero()
				}
			}
		}
		x := mat.NewDense(3, m, nil)
		x.Apply(func(int, int, float64) float64 { return scale * src.NormFloat64() }, x)
		lambda := scale * math.Pow(10, 4*src.Float64()-3)
		s, err := (&SparseCode{b, lambda}).Transform(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		var rest, slope mat.Dense
		rest.Mul(s, b.T())
		rest.Sub(x, &rest)
		slope.Mul(&rest, b)
		slope.Scale(2, &slope)
		for i := range 3 {
			size := 1e-10 * (lambda + mat.Norm(x.RowView(i), 2)*mat.Norm(b, 2))
			for j := range k {
				want := math.Copysign(lambda, s.At(i, j))
				switch got := slope.At(i, j); {
				case s.At(i, j) != 0 && math.Abs(got-want) > size:
					t.Errorf("seed %d: slope %v along an atom with the value %v, λ is %v", seed, got, s.At(i, j), lambda)
				case math.Abs(got) > lambda+size:
					t.Errorf("seed %d: slope %v along an atom that is not used, λ is %v", seed, got, lambda)
				}
				if s.At(i, j) != 0 {
					used++
				} else {
					unused++
				}
			}
		}
	}
	if used < 500 || unused < 500 {
		t.Errorf("%d values are 0 and %d are not; want many of both", unused, used)
	}
}

// TestLassoWithoutPenalty compares λ = 0 with least squares.
func TestLassoWithoutPenalty(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 19))
	b, x := mat.NewDense(9, 4, nil), mat.NewDense(2, 9, nil)
	for _, a := range []*mat.Dense{b, x} {
		a.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, a)
	}
	var want mat.Dense
	if err := want.Solve(b, x.T()); err != nil {
		t.Fatal(err)
	}
	got, err := (&SparseCode{Dictionary: b}).Transform(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "values", got.T(), &want, 1e-12)
}

func TestSparseCodeBadInput(t *testing.T) {
	b := mat.NewDense(2, 1, []float64{1, 0})
	for want, c := range map[string]struct {
		s SparseCode
		x *mat.Dense
	}{
		"3 features; expected 2, as in the atoms": {SparseCode{b, 1}, mat.NewDense(1, 3, []float64{1, 1, 1})},
		"lambda is -1":  {SparseCode{b, -1}, mat.NewDense(1, 2, []float64{1, 1})},
		"lambda is NaN": {SparseCode{b, math.NaN()}, mat.NewDense(1, 2, []float64{1, 1})},
		"value +Inf":    {SparseCode{b, 1}, mat.NewDense(1, 2, []float64{1, math.Inf(1)})},
	} {
		if _, err := c.s.Transform(context.Background(), c.x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func ExampleSparseCode() {
	s := &SparseCode{
		Dictionary: mat.NewDense(3, 2, []float64{
			1, 0,
			0, 1,
			0, 0,
		}),
		Lambda: 1,
	}
	codes, err := s.Transform(context.Background(), mat.NewDense(1, 3, []float64{2, 0.4, 7}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(codes.RawRowView(0))
	// Output: [1.5 0]
}

// TestLassoCopies has atoms and codes that become 0 together, because all samples are multiples of one.
func TestLassoCopies(t *testing.T) {
	for seed := range uint64(300) {
		src := rand.New(rand.NewPCG(seed, 47))
		n, m := 2+src.IntN(20), 1+src.IntN(10)
		x := mat.NewDense(n, m, nil)
		for j := range m {
			x.Set(0, j, 10*src.NormFloat64())
		}
		for i := 1; i < n; i++ {
			x.SetRow(i, x.RawRowView(0))
			algebra.ScaleRow(x, i, 1+src.Float64())
		}
		res, err := SparseCoding{Lambda: WeightNone}.Fit(context.Background(), x, Known{}, Options{Rank: n, Seed: seed, Iterations: 10})
		if err != nil {
			t.Fatal(err)
		}
		size := algebra.Inner(x, x)
		if last := res.Objective[10]; !(last < 1e-12*size) {
			t.Errorf("seed %d: one atom is enough, and %v of %v is left", seed, last, size)
		}
	}
}

// TestSSNMFNeverRises checks that the objective with the damped step never rises. With the paper's step it may rise,
// but stays finite.
func TestSSNMFNeverRises(t *testing.T) {
	rises := 0
	for seed := range uint64(200) {
		for _, rule := range []SimilarityRule{SimilarityRuleDamped, SimilarityRulePrinted} {
			p := randomProblem(seed, false)
			n, _ := p.x.Dims()
			m := SSNMF{Rule: rule}
			res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
			if seed%4 == 0 { // the samples stand in a ring
				ring := mat.NewDense(n, n, nil)
				for i := range n {
					ring.Set(i, (i+1)%n, 1)
					ring.Set((i+1)%n, i, 1)
				}
				res = m.fit(context.Background(), ring, randomFactor(p.opt, "coefficients", n), p.opt)
			}
			if err != nil {
				t.Fatalf("%v %v: %v", rule, p, err)
			}
			if !algebra.Finite(res.Coefficients) || !algebra.Finite(res.Association) || mat.Min(res.Coefficients) < 0 || mat.Min(res.Association) < 0 {
				t.Fatalf("%v %v: a factor has negative or no values", rule, p)
			}
			if res.Basis != nil || res.Model != nil {
				t.Fatal("similarities have no basis over features")
			}
			first := res.Objective[0]
			for i := 1; i < len(res.Objective); i++ {
				before, now := res.Objective[i-1], res.Objective[i]
				if now <= before+1e-9*before+1e-13*first {
					continue
				}
				if rises++; rule == SimilarityRuleDamped {
					t.Fatalf("%v: objective rises from %v to %v at iteration %d", p, before, now, i)
				}
			}
		}
	}
	if rises == 0 {
		t.Error("the objective never rises with the printed step either: is it the same?")
	}
}

// TestSSNMFObjective checks that the objective is the one of the returned factors.
func TestSSNMFObjective(t *testing.T) {
	p := randomProblem(4, false)
	p.opt.Rank = 3
	res, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	var a, rest mat.Dense
	a.Mul(p.x, p.x.T())
	largest, smallest := mat.Max(&a), mat.Min(&a)
	for i, c := range p.known.Labels {
		for j, b := range p.known.Labels {
			switch {
			case i == j || c < 0 || b < 0:
			case c == b:
				a.Set(i, j, largest)
			default:
				a.Set(i, j, smallest)
			}
		}
	}
	rest.Mul(res.Coefficients, res.Association)
	var fit mat.Dense
	fit.Mul(&rest, res.Coefficients.T())
	fit.Sub(&a, &fit)
	want := mat.Norm(&fit, 2)
	nearNumber(t, "objective", math.Sqrt(res.Objective[len(res.Objective)-1]), want, 1e-12)
}

// TestSSNMFLinks checks that labels have the same result as the links that they imply.
func TestSSNMFLinks(t *testing.T) {
	p := randomProblem(8, false)
	var links Known
	for i, c := range p.known.Labels {
		for j := range i {
			switch {
			case c < 0 || p.known.Labels[j] < 0:
			case c == p.known.Labels[j]:
				links.MustLink = append(links.MustLink, [2]int{i, j})
			default:
				links.CannotLink = append(links.CannotLink, [2]int{j, i})
			}
		}
	}
	links.MustLink = append(links.MustLink, [2]int{1, 1})
	want, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := SSNMF{}.Fit(context.Background(), p.x, links, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "G", got.Coefficients, want.Coefficients, 0)
	none, err := SSNMF{}.Fit(context.Background(), p.x, Known{}, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	if mat.Equal(none.Coefficients, want.Coefficients) {
		t.Error("labels have no effect")
	}
}

func TestSSNMFPermutingSamples(t *testing.T) {
	for seed := range uint64(20) {
		p := randomProblem(seed, false)
		p.opt.Iterations = 10
		n, _ := p.x.Dims()
		order := rand.New(rand.NewPCG(seed, 3)).Perm(n)
		same := make([]int, n)
		x, labels := algebra.Like(p.x), make([]int, n)
		for to, from := range order {
			same[to] = to
			x.SetRow(to, p.x.RawRowView(from))
			labels[to] = p.known.Labels[from]
		}
		p.opt.Start = &Start{Coefficients: randomStart(p, same).Coefficients}
		want, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		p.opt.Start = &Start{Coefficients: randomStart(p, order).Coefficients}
		got, err := SSNMF{}.Fit(context.Background(), toSparse(x), Known{Labels: labels}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		back := algebra.Like(want.Coefficients)
		for to, from := range order {
			back.SetRow(from, got.Coefficients.RawRowView(to))
		}
		near(t, p.String()+" G", back, want.Coefficients, 1e-9)
		near(t, p.String()+" S", got.Association, want.Association, 1e-9*max(1, mat.Max(want.Association)))
	}
}

// TestSSNMFGroups checks that blocks of similar samples become groups.
func TestSSNMFGroups(t *testing.T) {
	x := mat.NewDense(9, 3, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		if i%3 == j {
			return 1
		}
		return 0.05
	}, x)
	res, err := SSNMF{}.Fit(context.Background(), x, Known{}, Options{Rank: 3, Seed: 1, Iterations: 1000})
	if err != nil {
		t.Fatal(err)
	}
	group := func(i int) int {
		row := res.Coefficients.RawRowView(i)
		return slices.Index(row, slices.Max(row))
	}
	for i := range 9 {
		for j := range 9 {
			if (group(i) == group(j)) != (i%3 == j%3) {
				t.Errorf("samples %d and %d are in the groups %d and %d", i, j, group(i), group(j))
			}
		}
	}
}

func TestSSNMFBadInput(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	for want, c := range map[string]struct {
		x     *mat.Dense
		m     SSNMF
		known Known
		opt   Options
	}{
		"the largest similarity is 1e+100; expected": {mat.NewDense(1, 1, []float64{1e50}), SSNMF{}, Known{}, Options{Rank: 1}},
		"its inner product with sample 2 is":         {mat.NewDense(2, 1, []float64{1, -1}), SSNMF{}, Known{}, Options{Rank: 1}},
		"rank 4":                                     {x, SSNMF{}, Known{}, Options{Rank: 4}},
		"contradicts must-links":                     {x, SSNMF{}, Known{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{1, 0}}}, Options{Rank: 1}},
		"2 labels for 3 samples":                     {x, SSNMF{}, Known{Labels: []int{0, 1}}, Options{Rank: 1}},
		`unknown init "zeros"`:                       {x, SSNMF{}, Known{}, Options{Rank: 1, Init: "zeros"}},
		"initial coefficients are":                   {x, SSNMF{}, Known{}, Options{Rank: 1, Start: &Start{Coefficients: x}}},
	} {
		if _, err := c.m.Fit(context.Background(), c.x, c.known, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
