package factor

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/principal"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// A fixture holds exact factors after some iterations, in the papers'
// orientation: X is m×n, a sample a column.
type fixture struct {
	Method string
	Kind   string
	Inputs struct {
		X          [][]float64
		K          int         `json:"k"`
		Kernel     [][]float64 `json:"K"` // or "k" would take it
		Labels     []int
		S          [][]float64
		Lambda     float64
		P          int
		Weight     string
		T          float64
		Gamma      []float64
		Similarity [][]float64
		F          [][]float64
		W0         [][]float64
		C          json.RawMessage // a matrix, or a number of parts
		Beta, Mu   float64
		Must       json.RawMessage // a weight, or pairs
		Cannot     json.RawMessage
		Height     int
		Width      int
		Energy     float64 // share of variance
		K1, K2     int
		Alpha      float64
		Ridge      float64
		B          [][]float64
		Power      float64
		At         [][]float64
		Y          [][]float64
	}
	Init             map[string]json.RawMessage
	ObjectiveHistory []float64 `json:"objective_history"`
	After            map[string]map[string]json.RawMessage
	Result           map[string]json.RawMessage
	Tolerance        float64
}

// A checker runs the method of a fixture.
type checker func(t *testing.T, f *fixture)

// checkers holds a checker for each method's name in the fixtures.
var checkers = map[string]checker{
	"nmf_f":    factors(NMF{}),
	"nmf_kl":   factors(NMFKL{}),
	"nmf_ncw":  checkNormalisedCut,
	"cnmf":     factors(CNMF{}),
	"cnmf_kl":  factors(CNMFKL{}),
	"cf":       factors(CF{}),
	"ccf":      factors(CCF{}),
	"gnmf":     checkGraphMethod,
	"semignmf": checkGraphMethod,
	"graph":    checkGraph,
	"project":  checkProject,
	"lccf":     checkLCCF,
	"cf_ogl":   checkLearnedGraph,
	"ntf":      checkNTF,
	"l2_snmf":  checkLinks,
	"d_snmf":   checkLinks,
}

// TestFixtures runs a subtest for every fixture of a method of this package.
func TestFixtures(t *testing.T) {
	testkit.Fixtures(t, checkers, func(t *testing.T, check checker, text []byte) {
		f := &fixture{}
		if err := json.Unmarshal(text, f); err != nil {
			t.Fatal(err)
		}
		check(t, f)
	})
}

// columns transposes a matrix of the papers.
func columns(x [][]float64) *mat.Dense { return mat.DenseCopyOf(rows(x).T()) }

var rows, near = testkit.Rows, testkit.Near

func matrixOf(t *testing.T, raw json.RawMessage) *mat.Dense {
	t.Helper()
	var x [][]float64
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatal(err)
	}
	return rows(x)
}

// tied expands Z to V = A·Z. The fixtures number the classes first and then
// the unlabelled samples.
func tied(z *mat.Dense, labels []int) *mat.Dense {
	_, k := z.Dims()
	next := slices.Max(labels) + 1
	v := mat.NewDense(len(labels), k, nil)
	for i, c := range labels {
		if c < 0 {
			c, next = next, next+1
		}
		v.SetRow(i, z.RawRowView(c))
	}
	return v
}

func nearNumber(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	near(t, what, mat.NewDense(1, 1, []float64{got}), mat.NewDense(1, 1, []float64{want}), tolerance)
}

// factors checks a method whose factors are named U or W, and V or Z.
func factors(m Method) checker {
	return func(t *testing.T, f *fixture) { checkFactors(t, f, m, nil) }
}

// checkFactors runs m for every number of iterations in f. vScale holds the factors that
// convert the samples' coefficients to the fixture's, or is nil.
func checkFactors(t *testing.T, f *fixture, m Method, vScale []float64) {
	x := columns(f.Inputs.X)
	known := Known{Labels: f.Inputs.Labels}
	coefficients := func(set map[string]json.RawMessage) *mat.Dense {
		var v *mat.Dense
		if z, ok := set["Z"]; ok {
			v = tied(matrixOf(t, z), f.Inputs.Labels)
		} else {
			v = matrixOf(t, set["V"])
		}
		for i, s := range vScale {
			row := v.RawRowView(i)
			for r := range row {
				row[r] /= s
			}
		}
		return v
	}
	// The papers use U both for the basis and for its weights.
	basis, weights := "U", "W"
	if strings.HasPrefix(f.Method, "cf_ogl") {
		basis, weights = "", "U"
	}
	start := &Start{Coefficients: coefficients(f.Init)}
	if u, ok := f.Init[basis]; ok {
		start.Basis = matrixOf(t, u)
	} else {
		start.Weights = matrixOf(t, f.Init[weights])
	}
	compare := func(t *testing.T, res *Result, set map[string]json.RawMessage) {
		t.Helper()
		if u, ok := set[basis]; ok {
			near(t, "U", res.Basis, matrixOf(t, u), f.Tolerance)
		} else {
			near(t, "W", res.Weights, matrixOf(t, set[weights]), f.Tolerance)
		}
		near(t, "V", res.Coefficients, coefficients(set), f.Tolerance)
	}
	if len(f.After) == 0 {
		t.Fatal("the fixture has no factors after any iteration")
	}
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Rank: f.Inputs.K, Iterations: n, Start: start, KeepScale: true}
		if w, ok := m.(withKnown); ok && Serves(Multiplicative{}, w.Method) == nil || Serves(Multiplicative{}, m) == nil {
			opt.Solver = Multiplicative{}
		}
		res, err := m.Fit(context.Background(), x, known, opt)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, res, want)
		for i, j := range res.Objective {
			nearNumber(t, "objective", j, f.ObjectiveHistory[i], f.Tolerance)
		}
		if raw, ok := want["normalised"]; ok {
			var set map[string]json.RawMessage
			if err := json.Unmarshal(raw, &set); err != nil {
				t.Fatal(err)
			}
			opt.KeepScale = false
			if res, err = m.Fit(context.Background(), x, known, opt); err != nil {
				t.Fatal(err)
			}
			compare(t, res, set)
		}
	}
}

// checkNormalisedCut compares the fixture's V, the coefficients of the weighted samples.
func checkNormalisedCut(t *testing.T, f *fixture) {
	scale := make([]float64, len(f.Inputs.Gamma))
	for i, g := range f.Inputs.Gamma {
		scale[i] = math.Sqrt(g)
	}
	checkFactors(t, f, NMFNCW{}, scale)
}

func neighbourhood(f *fixture) Neighbourhood {
	h := Neighbourhood{Neighbours: f.Inputs.P, Width: f.Inputs.T}
	switch {
	case strings.HasPrefix(f.Inputs.Weight, "heat") || strings.Contains(f.Method, "heat"):
		h.Edges = EdgesHeat
	case strings.HasPrefix(f.Inputs.Weight, "cosine") || strings.Contains(f.Method, "cosine"):
		h.Edges = EdgesCosine
	}
	return h
}

// Graph returns the graph over the samples x.
func (h Neighbourhood) Graph(ctx context.Context, x mat.Matrix) (_ *CSR, err error) {
	defer guard.Catch(&err)
	return h.graph(ctx, guard.Must(view.New(x))), nil
}

func checkGraph(t *testing.T, f *fixture) {
	s, err := neighbourhood(f).Graph(context.Background(), columns(f.Inputs.X))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "S", s, matrixOf(t, f.Result["S"]), f.Tolerance)
}

func checkGraphMethod(t *testing.T, f *fixture) {
	h := neighbourhood(f)
	s, err := h.Graph(context.Background(), columns(f.Inputs.X))
	if err != nil {
		t.Fatal(err)
	}
	lambda := f.Inputs.Lambda
	if lambda == 0 {
		lambda = WeightNone
	}
	if strings.HasPrefix(f.Method, "semi") {
		near(t, "S", labelEdges(s, f.Inputs.Labels), rows(f.Inputs.S), f.Tolerance)
		checkFactors(t, f, SemiGNMF{Lambda: lambda, Neighbourhood: h}, nil)
		return
	}
	near(t, "S", s, rows(f.Inputs.S), f.Tolerance)
	checkFactors(t, f, GNMF{Lambda: lambda, Neighbourhood: h}, nil)
}

// checkLCCF: the fixture gives the graph.
func checkLCCF(t *testing.T, f *fixture) {
	lambda := f.Inputs.Lambda
	if lambda == 0 {
		lambda = WeightNone
	}
	checkFactors(t, f, Parts{Basis: BasisConcept, Penalties: []Penalty{givenPenalty{newLaplacian(toSparse(rows(f.Inputs.S)), orDefault(lambda, 0))}}}, nil)
}

// givenPenalty is a penalty of a given graph.
type givenPenalty struct{ BoundPenalty }

func (givenPenalty) OnBasis() bool { return false }

func (g givenPenalty) Bind(ctx context.Context, _ Problem) (BoundPenalty, error) {
	if learned, ok := g.BoundPenalty.(*boundLearnedGraph); ok {
		again := *learned
		return again.from(ctx, learned.initial), nil
	}
	return g.BoundPenalty, nil
}

func checkLearnedGraph(t *testing.T, f *fixture) {
	g := &boundLearnedGraph{lambda: f.Inputs.Lambda, beta: f.Inputs.Beta, initial: rows(f.Inputs.W0)}
	if err := json.Unmarshal(f.Inputs.C, &g.parts); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(f.Method, "printed") {
		g.rule = GraphRulePrinted
	}
	p := Parts{Basis: BasisConcept, FitWeight: f.Inputs.Mu, Penalties: []Penalty{givenPenalty{g}}}
	checkFactors(t, f, p, nil)

	// The neighbourhood's graph with rows that sum to 1 is the usual W₀, and the
	// graph learned is the fixture's.
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Rank: f.Inputs.K, Iterations: n, Start: &Start{Weights: matrixOf(t, f.Init["U"]), Coefficients: matrixOf(t, f.Init["V"])}}
		run, err := p.start(context.Background(), columns(f.Inputs.X), Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.iterate(context.Background(), opt); err != nil {
			t.Fatal(err)
		}
		near(t, "Q", run.onCoefficients[0].(*boundLearnedGraph).q, matrixOf(t, want["Q"]), f.Tolerance)
	}
}

// checkNTF: the fixture's images stand column by column.
func checkNTF(t *testing.T, f *fixture) {
	h, w := f.Inputs.Height, f.Inputs.Width
	upright := make([][]float64, h*w)
	for i := range h {
		for j := range w {
			upright[i*w+j] = f.Inputs.X[i+h*j]
		}
	}
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		res, err := NTF{Image{Height: h, Width: w}}.Fit(context.Background(), columns(upright), Known{}, Options{
			Rank: f.Inputs.K, Iterations: n, KeepScale: true,
			Start: &Start{Rows: matrixOf(t, f.Init["A"]), Columns: matrixOf(t, f.Init["B"]), Coefficients: matrixOf(t, f.Init["V"])},
		})
		if err != nil {
			t.Fatal(err)
		}
		a, b := matrixOf(t, want["A"]), matrixOf(t, want["B"])
		u := mat.NewDense(h*w, f.Inputs.K, nil)
		u.Apply(func(p, r int, _ float64) float64 { return a.At(p/w, r) * b.At(p%w, r) }, u)
		near(t, "U", res.Basis, u, f.Tolerance)
		near(t, "V", res.Coefficients, matrixOf(t, want["V"]), f.Tolerance)
		for i, j := range res.Objective {
			nearNumber(t, "objective", j, f.ObjectiveHistory[i], f.Tolerance)
		}
	}
}

// checkLinks: the fixtures call the factors F and G, and C_ij of a must-link is
// negative. The links come as labels, and once more as pairs.
func checkLinks(t *testing.T, f *fixture) {
	var must, cannot float64
	if json.Unmarshal(f.Inputs.Must, &must) != nil || json.Unmarshal(f.Inputs.Cannot, &cannot) != nil {
		t.Fatalf("must %s, cannot %s", f.Inputs.Must, f.Inputs.Cannot)
	}
	for _, set := range append([]map[string]json.RawMessage{f.Init}, slices.Collect(maps.Values(f.After))...) {
		set["U"], set["V"] = set["F"], set["G"]
	}
	weight := func(w float64) float64 {
		if w == 0 {
			return WeightNone
		}
		return w
	}
	var m Method = L2SNMF{Must: weight(-must), Cannot: weight(cannot)}
	if strings.HasPrefix(f.Method, "d_") {
		m = DSNMF{Must: weight(-must), Cannot: weight(cannot)}
	}
	checkFactors(t, f, m, nil)

	labels := f.Inputs.Labels
	f.Inputs.Labels = nil
	var known Known
	for i, c := range labels {
		for j := range i {
			switch {
			case c < 0 || labels[j] < 0:
			case c == labels[j]:
				known.MustLink = append(known.MustLink, [2]int{i, j})
			default:
				known.CannotLink = append(known.CannotLink, [2]int{i, j})
			}
		}
	}
	checkFactors(t, f, withKnown{m, known}, nil)
}

// withKnown is a method with extra labels and links.
type withKnown struct {
	Method
	known Known
}

func (w withKnown) Fit(ctx context.Context, x mat.Matrix, _ Known, opt Options) (*Result, error) {
	return w.Method.Fit(ctx, x, w.known, opt)
}

// checkProject checks the coefficients for a fixed basis.
func checkProject(t *testing.T, f *fixture) {
	cost := CostFrobenius
	if strings.HasPrefix(f.Method, "project_kl") {
		cost = CostKL
	}
	d, err := view.New(columns(f.Inputs.X))
	if err != nil {
		t.Fatal(err)
	}
	u := mat.DenseCopyOf(rows(f.Inputs.F).T())
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		v := mat.DenseCopyOf(matrixOf(t, f.Init["G"]).T())
		c := costs[cost].of(d, u, v)
		next := func() Block {
			c.moved(true)
			return c.coefficientBlock()
		}
		solve(context.Background(), v, false, n, next)
		near(t, "G", v.T(), matrixOf(t, want["G"]), f.Tolerance)
	}
}

// toSparse returns x as a sparse matrix.
func toSparse(x *mat.Dense) *CSR {
	n, m := x.Dims()
	var entries []sparse.Entry
	for i := range n {
		for j, v := range x.RawRowView(i) {
			entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
		}
	}
	return sparse.FromEntries(n, m, entries)
}

func init() {
	maps.Copy(checkers, map[string]checker{
		"projection_pca": checkPCA,
		"projection_lda": checkLDA,
		"projection_mfa": checkMFA,
		"projection_sda": checkSDA,
		"sparse_coding":  checkSparseCoding,
		"lasso":          checkLasso,
		"ss_nmf":         checkSSNMF,
		"simplex":        checkSimplex,
	})
}

// orNone returns a weight of a fixture; 0 becomes WeightNone.
func orNone(x float64) float64 {
	if x == 0 {
		return WeightNone
	}
	return x
}

// checkProjection compares a projection and its mean with the fixture's, up to the signs of columns. It requests the
// fixture's number of directions, and sometimes more than exist.
func checkProjection(t *testing.T, f *fixture, m Method, ranks ...int) {
	t.Helper()
	x := columns(f.Inputs.X)
	want := matrixOf(t, f.Result["P"])
	var mean []float64
	if err := json.Unmarshal(f.Result["mean"], &mean); err != nil {
		t.Fatal(err)
	}
	_, d := want.Dims()
	for _, rank := range append(ranks, d) {
		res, err := m.Fit(context.Background(), x, Known{Labels: f.Inputs.Labels}, Options{Rank: rank})
		if err != nil {
			t.Fatal(err)
		}
		p := res.Model.(*Linear)
		near(t, "mean", mat.NewVecDense(len(p.Mean), p.Mean), mat.NewVecDense(len(mean), mean), f.Tolerance)
		sameUpToSigns(t, "P", res.Basis, want, f.Tolerance)
		if p.Projection != res.Basis {
			t.Error("the model's projection is not the basis")
		}
		var about mat.Dense
		about.Apply(func(_, j int, v float64) float64 { return v - mean[j] }, x)
		sameUpToSigns(t, "coefficients", res.Coefficients, algebra.Times(&about, want), f.Tolerance)
	}
}

// sameUpToSigns compares matrices whose columns may have either sign.
func sameUpToSigns(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	turned := mat.DenseCopyOf(want)
	if _, d := got.Dims(); d == turned.RawMatrix().Cols {
		for c := range d {
			if mat.Dot(got.ColView(c), want.ColView(c)) < 0 {
				col := turned.ColView(c).(*mat.VecDense)
				col.ScaleVec(-1, col)
			}
		}
	}
	near(t, what, got, turned, tolerance)
}

func checkPCA(t *testing.T, f *fixture) {
	if f.Inputs.Energy > 0 {
		checkProjection(t, f, PCA{Variance: f.Inputs.Energy}, 1)
		return
	}
	checkProjection(t, f, PCA{})
}

func checkLDA(t *testing.T, f *fixture) {
	checkProjection(t, f, LDA{Variance: f.Inputs.Energy}, len(f.Inputs.Labels))
}

func checkMFA(t *testing.T, f *fixture) {
	checkProjection(t, f, MFA{K1: f.Inputs.K1, K2: f.Inputs.K2, Variance: f.Inputs.Energy})
}

func checkSDA(t *testing.T, f *fixture) {
	checkProjection(t, f, givenSDA{toSparse(rows(f.Inputs.S)), f.Inputs.Alpha, f.Inputs.Ridge}, len(f.Inputs.Labels))
}

// givenSDA is SDA with a given graph.
type givenSDA struct {
	graph        *CSR
	alpha, ridge float64
}

func (s givenSDA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return embed(ctx, x, known, opt, twoClasses, false, func(t *training) (*principal.Axes, *mat.Dense) {
		return t.semiSupervised(ctx, s.graph, s.alpha, s.ridge, opt.Rank)
	})
}

func checkLasso(t *testing.T, f *fixture) {
	s := &SparseCode{Dictionary: rows(f.Inputs.B), Lambda: f.Inputs.Lambda}
	got, err := s.Transform(context.Background(), columns(f.Inputs.X))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "codes", got.T(), matrixOf(t, f.Result["codes"]), f.Tolerance)
}

// afterIterations calls check for each number of iterations in f.
func afterIterations(t *testing.T, f *fixture, check func(iterations int, want map[string]json.RawMessage)) {
	t.Helper()
	if len(f.After) == 0 {
		t.Fatal("the fixture has no factors after any iteration")
	}
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		check(n, want)
	}
}

func checkHistory(t *testing.T, f *fixture, res *Result) {
	t.Helper()
	for i, o := range res.Objective {
		nearNumber(t, "objective", o, f.ObjectiveHistory[i], f.Tolerance)
	}
}

func checkSparseCoding(t *testing.T, f *fixture) {
	afterIterations(t, f, func(iterations int, want map[string]json.RawMessage) {
		opt := Options{Rank: f.Inputs.K, Iterations: iterations, Start: &Start{Basis: matrixOf(t, f.Init["B"])}, KeepScale: true}
		m := SparseCoding{Lambda: orNone(f.Inputs.Lambda)}
		res, err := m.Fit(context.Background(), columns(f.Inputs.X), Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "B", res.Basis, matrixOf(t, want["B"]), f.Tolerance)
		near(t, "V", res.Coefficients, matrixOf(t, want["V"]), f.Tolerance)
		checkHistory(t, f, res)
	})
}

func checkSSNMF(t *testing.T, f *fixture) {
	if printed := strings.HasSuffix(f.Method, "printed"); printed != (f.Inputs.Power == 1) {
		t.Fatalf("%s with the power %v", f.Method, f.Inputs.Power)
	}
	var known Known
	if json.Unmarshal(f.Inputs.Must, &known.MustLink) != nil || json.Unmarshal(f.Inputs.Cannot, &known.CannotLink) != nil {
		t.Fatalf("must %s, cannot %s", f.Inputs.Must, f.Inputs.Cannot)
	}
	linked := mat.DenseCopyOf(rows(f.Inputs.Similarity))
	setLinks(linked, known)
	near(t, "At", linked, rows(f.Inputs.At), f.Tolerance)
	afterIterations(t, f, func(iterations int, want map[string]json.RawMessage) {
		start := similarityFactors{a: view.Dense{X: linked}, g: algebra.Transpose(matrixOf(t, f.Init["G"])), s: matrixOf(t, f.Init["S"]), power: f.Inputs.Power}
		res := start.fit(context.Background(), Options{Iterations: iterations})
		near(t, "G", res.Coefficients, matrixOf(t, want["G"]), f.Tolerance)
		near(t, "S", res.Association, matrixOf(t, want["S"]), f.Tolerance)
		checkHistory(t, f, res)
	})
}

func checkSimplex(t *testing.T, f *fixture) {
	y := rows(f.Inputs.Y)
	got := algebra.Like(y)
	n, _ := y.Dims()
	for i := range n {
		projectSimplex(got.RawRowView(i), y.RawRowView(i))
	}
	near(t, "P", got, matrixOf(t, f.Result["P"]), f.Tolerance)
	if math.Abs(mat.Sum(got)-float64(n)) > 1e-12*float64(n) {
		t.Errorf("%d points of the simplex sum to %v", n, mat.Sum(got))
	}
}
