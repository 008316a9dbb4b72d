package factor

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	other "github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func TestBadInput(t *testing.T) {
	ones := func(n, m int) *mat.Dense {
		x := mat.NewDense(n, m, nil)
		x.Apply(func(i, j int, _ float64) float64 { return float64(1 + (i+j)%3) }, x)
		return x
	}
	with := func(i, j int, v float64) *mat.Dense {
		x := ones(4, 3)
		x.Set(i, j, v)
		return x
	}
	zeroRow := ones(4, 3)
	zeroRow.SetRow(2, make([]float64, 3))
	labels := Known{Labels: []int{0, 0, 1, -1}}
	for name, c := range map[string]struct {
		x      mat.Matrix
		method Method
		known  Known
		opt    Options
		want   string
	}{
		"rank above n":        {ones(4, 3), NMF{}, Known{}, Options{Rank: 5}, "rank 5 is above the number of samples, 4"},
		"rank 0":              {ones(4, 3), NMF{}, Known{}, Options{}, "rank 0: expected 1 or more"},
		"NaN":                 {with(1, 2, math.NaN()), NMF{}, Known{}, Options{Rank: 2}, "sample 2: column 3: value NaN"},
		"infinity":            {with(3, 0, math.Inf(1)), CF{}, Known{}, Options{Rank: 2}, "sample 4: column 1: value +Inf"},
		"too large":           {with(3, 0, 1e200), CF{}, Known{}, Options{Rank: 2}, "sample 4: column 1: value 1e+200"},
		"negative":            {with(0, 1, -2), NMF{}, Known{}, Options{Rank: 2}, "sample 1: column 2: value -2 is negative"},
		"negative KL":         {with(0, 1, -2), Parts{Cost: CostKL, Basis: BasisConcept}, Known{}, Options{Rank: 2}, "is negative"},
		"negative init nmf":   {with(0, 1, -2), CF{}, Known{}, Options{Rank: 2, Init: InitNMF}, "initialisation by NMF: sample 1"},
		"zero sample":         {zeroRow, NMF{}, Known{}, Options{Rank: 2}, "sample 3: all 3 values are zero"},
		"zero sample, sparse": {toSparse(zeroRow), NMFKL{}, Known{}, Options{Rank: 2}, "sample 3: all 3 values are zero"},
		"no labels":           {ones(4, 3), CNMF{}, Known{}, Options{Rank: 2}, "none are given"},
		"no labels, graph":    {ones(4, 3), SemiGNMF{}, Known{}, Options{Rank: 2}, "none are given"},
		"labels of others":    {ones(4, 3), CNMF{}, Known{Labels: []int{0, 1}}, Options{Rank: 2}, "2 labels for 4 samples"},
		"label -2":            {ones(4, 3), CNMF{}, Known{Labels: []int{0, 1, -2, 0}}, Options{Rank: 2}, "sample 3 has label -2; expected 0 or more, or -1 for unknown"},
		"lambda":              {ones(4, 3), GNMF{Lambda: -3}, labels, Options{Rank: 2}, "lambda is -3"},
		"lambda NaN":          {ones(4, 3), GNMF{Lambda: math.NaN()}, labels, Options{Rank: 2}, "lambda is NaN"},
		"neighbours":          {ones(4, 3), GNMF{Neighbourhood: Neighbourhood{Neighbours: -1}}, labels, Options{Rank: 2}, "neighbours -1: expected 1 or more"},
		"init":                {ones(4, 3), NMF{}, labels, Options{Rank: 2, Init: "zeros"}, `unknown init "zeros"`},
		"nndsvda rank":        {ones(9, 3), NMF{}, Known{}, Options{Rank: 4, Init: InitNNDSVDa}, "nndsvda supports at most min(n, m) = 3 basis vectors, got"},
		"iterations":          {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Iterations: -1}, "iterations -1"},
		"tolerance":           {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Tolerance: math.NaN()}, "tolerance NaN: expected 0 or more"},
		"start shape":         {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Start: &Start{Basis: ones(4, 2)}}, "initial basis vectors are 4×2; expected 3×2"},
		"start negative":      {ones(4, 3), CF{}, Known{}, Options{Rank: 3, Start: &Start{Weights: with(1, 1, -1)}}, "initial weights: value -1 at row 2, column 2; expected"},
		"links contradict":    {ones(4, 3), NMF{}, Known{MustLink: [][2]int{{0, 1}, {1, 2}}, CannotLink: [][2]int{{2, 0}}}, Options{Rank: 2}, "cannot-link (2, 0) contradicts must-links"},
		"link against labels": {ones(4, 3), NMF{}, Known{Labels: []int{0, 0, 1, -1}, MustLink: [][2]int{{1, 3}, {3, 2}}}, Options{Rank: 2}, "contradicts must-links"},
		"no links":            {ones(4, 3), DSNMF{}, Known{}, Options{Rank: 2}, "none are given"},
		"link weight":         {ones(4, 3), DSNMF{Must: -2}, labels, Options{Rank: 2}, "the weight of must-links is -2"},
		"weight too large":    {ones(4, 3), GNMF{Lambda: 1e300}, labels, Options{Rank: 2}, "lambda is 1e+300; expected a number from 0 to 1e+100"},
		"start too large":     {ones(4, 3), CF{}, Known{}, Options{Rank: 3, Start: &Start{Weights: with(1, 1, 1e61)}}, "value 1e+61 at row 2, column 2; expected 0 to 1e+60"},
		"graph parts":         {ones(4, 3), CFOGL{Parts: 5}, labels, Options{Rank: 2}, "learned graph: 5 components for 4 samples"},
		"no fit":              {ones(4, 3), CFOGL{Mu: WeightNone}, labels, Options{Rank: 2}, "the weight of the fit is 0"},
		"no image":            {ones(4, 3), NTF{}, labels, Options{Rank: 2}, "not square images"},
		"another image":       {ones(4, 3), NTF{Image{Height: 2, Width: 2}}, Known{}, Options{Rank: 2}, "not 2×2 images"},
		"links":               {ones(4, 3), NMF{}, Known{MustLink: [][2]int{{0, 4}}}, Options{Rank: 2}, "must-link (0, 4): expected samples from 0 to less than 4"},
		"empty":               {&mat.Dense{}, NMF{}, Known{}, Options{Rank: 1}, "no data"},
	} {
		res, err := c.method.Fit(context.Background(), c.x, c.known, c.opt)
		if err == nil {
			t.Errorf("%s: no error, but %d iterations", name, res.Iterations())
		} else if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q does not say %q in one line", name, err, c.want)
		}
	}
}

// TestFirstOfTwoMistakes checks that the error always names the same one of two invalid weights.
func TestFirstOfTwoMistakes(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	for range 30 {
		for want, m := range map[string]Method{"must-links": DSNMF{Must: -2, Cannot: -2}, "lambda": CFOGL{Lambda: -2, Beta: -2}} {
			if _, err := m.Fit(context.Background(), x, Known{}, Options{Rank: 1}); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%v does not name %s", err, want)
			}
		}
	}
}

func TestStopping(t *testing.T) {
	p := randomProblem(3, false)
	p.opt.Rank, p.opt.Iterations = 2, 5000
	fit := func(opt Options) *Result {
		res, err := NMF{}.Fit(context.Background(), p.x, Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	opt := p.opt
	opt.Iterations = 7
	if res := fit(opt); res.Iterations() != 7 || res.Stop != StopIterations {
		t.Errorf("asked for 7 iterations: %d, stopped by %s", res.Iterations(), res.Stop)
	}
	opt = p.opt
	opt.Tolerance = 1e-3
	res := fit(opt)
	o := res.Objective
	if last := len(o) - 1; res.Stop != StopTolerance || o[last-1]-o[last] > 1e-3*o[last-1] || o[last-2]-o[last-1] <= 1e-3*o[last-2] {
		t.Errorf("tolerance: stopped by %s after %d iterations, not at the first that gains less than 0.1 %%", res.Stop, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt = p.opt
	opt.OnIteration = func(i int, _ float64) {
		if i == 5 {
			cancel()
		}
	}
	if _, err := (NMF{}).Fit(ctx, p.x, Known{}, opt); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "iteration 6") {
		t.Errorf("cancelled after iteration 5: %v", err)
	}
}

// TestTrace checks that the choice of traced objectives changes no bit of the objectives and the factors.
func TestTrace(t *testing.T) {
	third := func(i int) bool { return i%3 == 0 }
	p := randomProblem(3, false)
	p.opt.Iterations = 10
	for name, parts := range combinations(2) {
		p := p.positive(parts)
		for _, by := range []Solver{Multiplicative{}, Fast{}} {
			if by.Serves(parts) != nil {
				continue
			}
			for _, x := range []mat.Matrix{p.x, toSparse(p.x)} {
				opt := p.opt
				opt.Solver = by
				want, err := ForImages(parts, p.image).Fit(t.Context(), x, p.known, opt)
				if err != nil {
					t.Fatal(name, err)
				}
				opt.Trace = third
				got, err := ForImages(parts, p.image).Fit(t.Context(), x, p.known, opt)
				if err != nil {
					t.Fatal(name, err)
				}
				if !mat.Equal(got.Coefficients, want.Coefficients) || len(got.Objective) != len(want.Objective) {
					t.Fatalf("%s by %T of %T: other coefficients, or %d objectives for %d", name, by, x, len(got.Objective), len(want.Objective))
				}
				for i, j := range got.Objective {
					wanted := third(i) || i == opt.Iterations
					if wanted && j != want.Objective[i] || !wanted && !math.IsNaN(j) {
						t.Errorf("%s by %T of %T: objective %v after %d iterations, and %v where all are wanted", name, by, x, j, i, want.Objective[i])
					}
				}
			}
		}
	}
	opt := p.opt
	opt.Trace, opt.Tolerance = third, 1e-9
	res, err := Parts{}.Fit(t.Context(), p.x, p.known, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range res.Objective {
		if math.IsNaN(j) {
			t.Errorf("no objective after %d iterations, which a tolerance takes", i)
		}
	}
}

func TestInitialisations(t *testing.T) {
	p := randomProblem(9, false)
	p.opt.Rank, p.opt.Iterations = 3, 1
	for name, parts := range combinations(1) {
		p := p.positive(parts)
		for _, init := range []Init{InitRandom, InitNNDSVDa, InitNMF} {
			p.opt.Init = init
			a, err := ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%s from %s: %v", name, init, err)
			}
			b, err := ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "the same once more", a.Coefficients, b.Coefficients, 0)
			other := p.opt
			other.Seed++
			if b, err = ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, other); err != nil {
				t.Fatal(err)
			}
			if same := mat.Equal(a.Coefficients, b.Coefficients); same != (init == InitNNDSVDa) {
				t.Errorf("%s from %s: another seed gives the same: %v", name, init, same)
			}
		}
	}
}

// TestLeadingSVD compares the iterated triplets with the full singular value decomposition, for data of many sizes.
func TestLeadingSVD(t *testing.T) {
	for seed := range uint64(60) {
		p := randomProblem(seed, true)
		p.x.Scale([]float64{1, 1e-90, 1e-75, 1e-60, 1e60, 1e90}[seed%6], p.x)
		n, m := p.x.Dims()
		k := min(1+int(seed)%4, n, m)
		left, sigma, right, err := leadingSVD(context.Background(), view.Dense{X: p.x}, k)
		if err != nil {
			t.Fatal(err)
		}
		var full mat.SVD
		if !full.Factorize(p.x, mat.SVDThin) {
			t.Fatal("no decomposition")
		}
		want := full.Values(nil)
		for r := range k {
			nearNumber(t, "singular value", sigma[r]/want[0], want[r]/want[0], 1e-8)
		}
		// X·right = left·sigma, for any signs.
		var xr mat.Dense
		xr.Mul(right, p.x.T())
		for r := range k {
			for i := range n {
				nearNumber(t, "left vector", xr.At(r, i)/want[0], sigma[r]*left.At(r, i)/want[0], 1e-4)
			}
		}
	}
}

// TestLeadingSVDOfTinyValues checks that iteration ends although rounding keeps changing tiny singular values.
func TestLeadingSVDOfTinyValues(t *testing.T) {
	x := mat.NewDense(40, 30, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		return (2 + math.Sin(float64(i*j))) * math.Pow(10, float64(j*7%20-10))
	}, x)
	products := 0
	if _, _, _, err := leadingSVD(context.Background(), countedData{view.Dense{X: x}, &products}, 30); err != nil {
		t.Fatal(err)
	}
	if products > 20 {
		t.Errorf("%d products with data of 40×30", products)
	}
}

// countedData counts the products of the data with coefficients.
type countedData struct {
	view.Dense
	products *int
}

func (c countedData) TimesCoefficients(dst, v *mat.Dense) {
	*c.products++
	c.Dense.TimesCoefficients(dst, v)
}

// TestTransform checks that Transform represents a new sample by the nearest combination of basis vectors,
// independently of other samples.
func TestTransform(t *testing.T) {
	u := mat.NewDense(5, 2, []float64{1, 0, 2, 1, 0, 3, 1, 1, 0, 2})
	v := mat.NewDense(3, 2, []float64{1, 2, 0.5, 0, 3, 1})
	var x mat.Dense
	x.Mul(v, u.T())
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		m := &Additive{Cost: cost, Basis: u}
		got, err := m.Transform(context.Background(), &x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, cost.String(), got, v, 1e-2)
		one, err := m.Transform(context.Background(), x.Slice(1, 2, 0, 5))
		if err != nil {
			t.Fatal(err)
		}
		near(t, cost.String()+" alone", one, got.Slice(1, 2, 0, 2), 1e-12)
		if _, err := m.Transform(context.Background(), u); err == nil || !strings.Contains(err.Error(), "2 features; expected 5, as in the basis vectors") {
			t.Errorf("samples of another size: %v", err)
		}
	}
	signed := &Additive{Basis: mat.NewDense(3, 2, []float64{1, -1, -2, 1, 0.5, 3})}
	want := mat.NewDense(2, 2, []float64{2, 1, 1, 3})
	x.Reset()
	x.Mul(want, signed.Basis.T())
	got, err := signed.Transform(context.Background(), &x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "signed", got, want, 1e-2)
}

func TestSaveAndLoad(t *testing.T) {
	p := randomProblem(4, false)
	res, err := NMFKL{}.Fit(context.Background(), p.x, Known{}, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := errors.Join(res.Save(&a), res.Save(&b)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("saved twice, the files differ")
	}
	m, err := LoadModel(bytes.NewReader(a.Bytes()), int64(a.Len()))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "basis", m.Vectors(), res.Basis, 0)
	if a, ok := m.(*Additive); !ok || a.Cost != CostKL {
		t.Errorf("got %T, want an additive model under kl", m)
	}
	for cut := range a.Len() {
		if _, err := LoadModel(bytes.NewReader(a.Bytes()[:cut]), int64(cut)); err == nil {
			t.Fatalf("a file cut after %d of %d bytes was read", cut, a.Len())
		}
	}
}

func TestRegistry(t *testing.T) {
	for _, info := range Methods() {
		if info.Title == "" || info.Family == "" || info.Parts == "" || info.Objective == "" || info.Update == "" || info.Paper == "" {
			t.Errorf("%s: not fully described", info.Name)
		}
		if _, err := info.New(nil); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		for _, p := range info.Settings() {
			if p.Help == "" || p.Default == "" {
				t.Errorf("%s: setting %s is not described", info.Name, p.Name)
			}
		}
	}
	gnmf, _ := Lookup("gnmf")
	m, err := gnmf.New(map[string]any{"lambda": 10, "neighbours": uint64(3), "edges": "heat", "width": 0.5})
	if err != nil {
		t.Fatal(err)
	}
	want := GNMF{Lambda: 10, Neighbourhood: Neighbourhood{Neighbours: 3, Edges: EdgesHeat, Width: 0.5}}
	if m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
	if m, err = gnmf.New(map[string]any{"lambda": 0}); err != nil || m.(GNMF).Lambda != WeightNone {
		t.Errorf("lambda: 0 gives %+v, %v; it is not the default", m, err)
	}
	for want, params := range map[string]map[string]any{
		`gnmf: lamda: unknown key "lamda"; did you mean lambda?`:               {"lamda": 1},
		"gnmf: lambda: expected a number from 0 to 1e+100, got -1":             {"lambda": -1},
		`gnmf: lambda: expected a number from 0 to 1e+100, got "big"`:          {"lambda": "big"},
		"gnmf: neighbours: expected a whole number from 1 to 1000000, got 2.5": {"neighbours": 2.5},
		`gnmf: edges: unknown edges "thick" (choices: binary, heat, cosine)`:   {"edges": "thick"},
	} {
		_, err := gnmf.New(params)
		var e *settings.Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%v gives %q, want %q", params, err, want)
		}
	}
}

// TestParts checks that methods composed of named parts equal the named methods.
func TestParts(t *testing.T) {
	p := randomProblem(8, false)
	for name, chosen := range map[string]map[string]any{
		"nmf":       {},
		"nmf-kl":    {"cost": "kl"},
		"nmf-ncw":   {"weighting": "normalised-cut"},
		"gnmf":      {"penalty": "graph"},
		"semi-gnmf": {"penalty": "graph", "label-edges": true},
		"cnmf":      {"tie": "labels"},
		"cnmf-kl":   {"cost": "kl", "tie": "labels"},
		"cf":        {"basis": "concept"},
		"ccf":       {"basis": "concept", "tie": "labels"},
		"lccf":      {"basis": "concept", "penalty": "graph"},
		"cf-ogl":    {"basis": "concept", "penalty": "learned-graph"},
		"l2-snmf":   {"penalty": "links", "cannot": 0.005, "unit-norm": true},
		"d-snmf":    {"cost": "kl", "penalty": "links", "unit-norm": true},
	} {
		parts, _ := Lookup("parts")
		combined, err := parts.New(chosen)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := Lookup(name)
		named, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := combined.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		b, err := named.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, a.Coefficients, b.Coefficients, 0)
	}
}

// TestAnyLabels checks that the result depends only on which labels are equal. The labels reach 2^40, too large for a
// table indexed by label.
func TestAnyLabels(t *testing.T) {
	p := planted(1)
	p.opt.Iterations = 5
	names := []int{1 << 40, 7, math.MaxInt}
	other := make([]int, len(p.known.Labels))
	for _, info := range Methods() {
		if info.Needs().Memberships {
			slices.Sort(names) // its concepts are in the order of the labels
		}
		for i, c := range p.known.Labels {
			other[i] = names[c]
		}
		m, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		m = ForImages(m, p.image)
		want, err := m.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		got, err := m.Fit(context.Background(), p.x, Known{Labels: other}, p.opt)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		if !mat.Equal(got.Coefficients, want.Coefficients) {
			t.Errorf("%s: other coefficients where the labels are called %v", info.Name, names)
		}
	}
}

func TestClasses(t *testing.T) {
	class, count := links.Known{Labels: []int{5, -1, math.MaxInt, 5, 0}}.Classes(5)
	if want := []int{0, -1, 1, 0, 2}; !slices.Equal(class, want) || count != 3 {
		t.Errorf("got %v of %d classes, want %v of 3", class, count, want)
	}
}

// TestRankOneBasis compares pulled-back gradients and quadratic forms of U with their sums over pixels, for image
// sizes that are and are not multiples of vector registers.
func TestRankOneBasis(t *testing.T) {
	const k = 3
	for _, size := range []Image{{Height: 6, Width: 8}, {Height: 8, Width: 6}, {Height: 16, Width: 24}} {
		src := rand.New(rand.NewPCG(uint64(size.Width), 1))
		random := func(r, c int) *mat.Dense {
			a := mat.NewDense(r, c, nil)
			a.Apply(func(int, int, float64) float64 { return src.Float64() }, a)
			return a
		}
		g := random(k, size.Height*size.Width)
		var q mat.Dense
		half := random(k, k)
		q.Mul(half, half.T())
		b := rankOneBasis{random(k, size.Height), random(k, size.Width), mat.NewDense(k, size.Height*size.Width, nil)}
		parameters := []*mat.Dense{b.a, b.b}
		b.moved(1)
		var qu mat.Dense
		qu.Mul(&q, b.u)
		pulled := func(g *mat.Dense, parameter int) *mat.Dense {
			to := algebra.Like(parameters[parameter])
			for r := range k {
				for y := range size.Height {
					for x := range size.Width {
						at, by := y, b.b.At(r, x)
						if parameter == 1 {
							at, by = x, b.a.At(r, y)
						}
						to.Set(r, at, to.At(r, at)+by*g.At(r, y*size.Width+x))
					}
				}
			}
			return to
		}
		for i, theta := range parameters {
			got := algebra.Like(theta)
			b.pullBack(got, g, i)
			near(t, "gradient", got, pulled(g, i), 1e-12)
			got.Mul(b.pullBackQuadratic(&q, i), theta)
			near(t, "quadratic form", got, pulled(&qu, i), 1e-11)
		}
	}
}

// TestRepresent checks the Karush-Kuhn-Tucker conditions of the coefficients: the gradient is 0 for positive
// coefficients and at least 0 for the others, also with similar basis vectors. Coefficients do not depend on other
// samples.
func TestRepresent(t *testing.T) {
	random := rng.New(3, "represent")
	x, u := mat.NewDense(23, 30, nil), mat.NewDense(30, 6, nil)
	for _, a := range []*mat.Dense{x, u} {
		a.Apply(func(_, _ int, _ float64) float64 { return random.Float64() }, a)
	}
	for i := range 30 {
		u.Set(i, 5, u.At(i, 4)+0.2*u.At(i, 5))
	}
	for _, c := range []struct {
		model     Model
		tolerance float64
	}{
		{&Additive{Basis: u}, 1e-3}, {&Additive{Cost: CostKL, Basis: u}, 0.02},
		{&KernelModel{Samples: mat.DenseCopyOf(u.T()), Weights: identity(6), Products: multiplied(u.T(), u)}, 1e-3},
	} {
		v, err := Represent(t.Context(), c.model, x)
		if err != nil {
			t.Fatal(err)
		}
		cost, least := CostFrobenius, 1
		if a, ok := c.model.(*Additive); ok {
			cost = a.Cost
		}
		near := multiplied(v, u.T())
		for i := range 23 {
			for r := range 6 {
				gradient, size := 0.0, 0.0
				for j := range 30 {
					g := near.At(i, j) - x.At(i, j)
					if cost == CostKL {
						g = 1 - x.At(i, j)/near.At(i, j)
					}
					gradient += u.At(j, r) * g
					size += math.Abs(u.At(j, r) * g)
				}
				if value := v.At(i, r); value < 0 || gradient < -c.tolerance*size || value > 0.01 && gradient > c.tolerance*size {
					t.Errorf("%T, cost %v, sample %d: coefficient %d is %v, and the gradient there %v of %v", c.model, cost, i, r, value, gradient, size)
				} else if value > 0.01 {
					least = 0
				}
			}
		}
		if least == 1 {
			t.Error("all coefficients are 0")
		}
		one, err := Represent(t.Context(), c.model, x.Slice(7, 8, 0, 30))
		if err != nil {
			t.Fatal(err)
		}
		for r := range 6 {
			if math.Abs(one.At(0, r)-v.At(7, r)) > 1e-9 {
				t.Errorf("%T: alone a sample has the coefficient %v, and among others %v", c.model, one.At(0, r), v.At(7, r))
			}
		}
	}
}

func identity(k int) *mat.Dense {
	out := mat.NewDense(k, k, nil)
	for i := range k {
		out.Set(i, i, 1)
	}
	return out
}

func multiplied(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// TestMisfit checks the unexplained share of the squared length, for dense and sparse samples, with and without a
// mean.
func TestMisfit(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{3, 0, 0, 4})
	sparse, err := NewCSR(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	u, v := mat.NewDense(2, 1, []float64{1, 0}), mat.NewDense(2, 1, []float64{2, 1})
	for _, c := range []struct {
		model Model
		want  float64
	}{{&Additive{Basis: u}, (1. + 1 + 16) / 25}, {&Linear{Mean: []float64{1, 1}, Projection: u}, (0. + 1 + 4 + 9) / 25}} {
		for _, x := range []mat.Matrix{x, sparse} {
			got, err := Misfit(t.Context(), c.model, x, v)
			if err != nil || math.Abs(got-c.want) > 1e-15 {
				t.Errorf("%T: %v, %v; want %v", c.model, got, err, c.want)
			}
		}
	}
	if _, err := Misfit(t.Context(), &KernelModel{}, x, v); err == nil || !strings.Contains(err.Error(), "no basis vectors") {
		t.Errorf("error %v", err)
	}
	if _, err := Misfit(t.Context(), &Additive{Basis: u}, x, mat.NewDense(1, 1, nil)); err == nil {
		t.Error("coefficients of a wrong size are accepted")
	}
}

// TestSaveModels checks that every kind of model is equal after saving and loading, and represents new samples the
// same.
func TestSaveModels(t *testing.T) {
	p := classProblem(3)
	positive := randomProblem(3, false)
	for name, c := range map[string]struct {
		m Method
		p problem
	}{
		"additive": {CNMFKL{}, positive}, "concept": {CF{}, positive},
		"pca": {PCA{}, p}, "lda": {LDA{}, p}, "sparse": {SparseCoding{Lambda: 0.5}, p},
	} {
		res, err := c.m.Fit(context.Background(), c.p.x, c.p.known, c.p.opt)
		if err != nil {
			t.Fatal(err)
		}
		text := saved(t, res)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(m, res.Model) {
			t.Errorf("%s: another model came back", name)
		}
		want, err := res.Model.Transform(context.Background(), c.p.x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Transform(context.Background(), c.p.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, got, want, 0)
	}
	res, err := SSNMF{}.Fit(context.Background(), positive.x, positive.known, positive.opt)
	if err != nil {
		t.Fatal(err)
	}
	text := saved(t, res)
	if _, err := LoadModel(bytes.NewReader(text), int64(len(text))); !errors.Is(err, ErrNoModel) {
		t.Errorf("a factorisation of similarities: %v", err)
	}
	z, err := other.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var s mat.Dense
	if err := z.Read("association", &s); err != nil {
		t.Fatal(err)
	}
	near(t, "association", &s, res.Association, 0)
}

func saved(t testing.TB, res *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := res.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archive returns a file of arrays with the given headers and values.
func archive(t testing.TB, arrays map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range arrays {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// array is the content of an array in a file.
func array(kind, shape, values string) string {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + values
}

// TestLoadBadModels checks that a file that is not a model is an error with the reason.
func TestLoadBadModels(t *testing.T) {
	const (
		zero, one, two = "\x00\x00\x00\x00\x00\x00\x00\x00", "\x01\x00\x00\x00\x00\x00\x00\x00", "\x02\x00\x00\x00\x00\x00\x00\x00"
		half, nan      = "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf8\x7f"
	)
	basis := array("<f8", "2, 1", half+half)
	good := map[string]string{"kind": array("<i8", "1,", one), "basis": basis, "mean": array("<f8", "2,", half+half)}
	text := archive(t, good)
	if _, err := LoadModel(bytes.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]map[string]string{
		`the file has no array "kind"`:                  {"kind": ""},
		`the file has no array "basis"`:                 {"basis": ""},
		`the file has no array "mean"`:                  {"mean": ""},
		`the array "kind" has value 9; expected 0 to 4`: {"kind": array("<i8", "1,", "\x09"+zero[1:])},
		`the array "kind" has value -1`:                 {"kind": array("<i8", "1,", strings.Repeat("\xff", 8))},
		`"kind" has shape [2]`:                          {"kind": array("<i8", "2,", one+one)},
		`"kind": type <f8, Fortran order`:               {"kind": array("<f8", "1,", one)},
		`"basis": the header declares 16 bytes`:         {"basis": array("<f8", "2, 1", half)},
		`[999999999 999999999] has more values`:         {"basis": array("<f8", "999999999, 999999999", half)},
		`"basis" has shape [0 1]`:                       {"basis": array("<f8", "0, 1", "")},
		`"basis": shape [2]; expected 2`:                {"basis": array("<f8", "2,", half+half)},
		`"basis": type <f4,`:                            {"basis": array("<f4", "2, 1", half)},
		`"basis" has values that are not`:               {"basis": array("<f8", "2, 1", half+nan)},
		`"mean" has 1 values; expected 2`:               {"mean": array("<f8", "1,", half)},
		`"mean": shape [2 1]; expected 1 dimensions`:    {"mean": basis},
		`the file has no array "lambda"`:                {"kind": array("<i8", "1,", two)},
		`"lambda" has shape [2]`:                        {"kind": array("<i8", "1,", two), "lambda": array("<f8", "2,", half+half)},
		`the array "cost" has value 9; expected 0 to`:   {"kind": array("<i8", "1,", zero), "cost": array("<i8", "1,", "\x09"+zero[1:])},
		`"mean": the header has 4294967295`:             {"mean": "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr"},
		`"mean": header "\n\n" is not a NumPy header`:   {"mean": "\x93NUMPY\x01\x00\x02\x00\n\n"},
	} {
		arrays := map[string]string{}
		for _, from := range []map[string]string{good, change} {
			for name, text := range from {
				if arrays[name] = text; text == "" {
					delete(arrays, name)
				}
			}
		}
		text := archive(t, arrays)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err == nil || !strings.Contains(err.Error(), want) || m != nil {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestLoadBounds checks that an array with an impossible size, or one that unpacks to a thousand times its size, is
// rejected before memory is allocated. Files of Save are read, however well they compress.
func TestLoadBounds(t *testing.T) {
	kind := array("<i8", "1,", strings.Repeat("\x00", 8))
	for want, basis := range map[string]string{
		"but the file has 0: unexpected":          array("<f8", "1000, 1000", ""),
		"is too large for":                        array("<f8", "16000, 16000", ""),
		"is too large for \x00":                   array("<f8", "3000, 1000", strings.Repeat("\x00", 24_000_000)),
		"more values than the limit of 268435456": array("<f8", "999999999, 999999999", ""),
	} {
		text := archive(t, map[string]string{"kind": kind, "basis": basis})
		var err error
		got := testkit.Allocated(func() { _, err = LoadModel(bytes.NewReader(text), int64(len(text))) })
		if err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, " \x00")) {
			t.Errorf("%v does not say %q", err, want)
		}
		if most := memoryOf(len(text)); got > most {
			t.Errorf("%d bytes of memory for %d, want at most %d: %v", got, len(text), most, err)
		}
	}
	zeros := &Result{Coefficients: mat.NewDense(3000, 1000, nil)}
	text := saved(t, zeros)
	got, err := LoadCoefficients(bytes.NewReader(text), int64(len(text)))
	if err != nil || !mat.Equal(got, zeros.Coefficients) {
		t.Errorf("24 MB of zeros are not read again: %v", err)
	}
}

// memoryOf bounds the memory for reading a file: its directory and up to five arrays.
func memoryOf(size int) uint64 { return 1<<20 + 5*(npz.FreeBytes+npz.PerByte*uint64(size)) }

// FuzzLoadModel checks that any file gives an error, or a valid model that can be saved and read again, within the
// stated memory.
func FuzzLoadModel(f *testing.F) {
	x := mat.NewDense(4, 3, []float64{1, 0, 2, 0, 3, 1, 2, 2, 0, 1, 1, 1})
	known := Known{Labels: []int{0, 0, 1, 1}}
	for _, m := range []Method{NMF{}, CNMFKL{}, PCA{}, SparseCoding{}, CF{}, SSNMF{}} {
		res, err := m.Fit(context.Background(), x, known, Options{Rank: 2, Iterations: 2})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(saved(f, res))
	}
	f.Add(archive(f, map[string]string{"kind": array("<i8", "1,", strings.Repeat("\x00", 8)), "basis": array("<f8", "16000, 16000", "")}))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Model
		var v *mat.Dense
		var errModel, errCoefficients error
		testkit.AllocatesAtMost(t, memoryOf(len(text)), func() {
			m, errModel = LoadModel(bytes.NewReader(text), int64(len(text)))
			v, errCoefficients = LoadCoefficients(bytes.NewReader(text), int64(len(text)))
		})
		if errCoefficients == nil {
			for _, value := range v.RawMatrix().Data {
				if math.IsNaN(value) || math.IsInf(value, 0) {
					t.Fatalf("the coefficients hold %v", value)
				}
			}
		}
		if errModel != nil {
			return
		}
		res := &Result{Model: m}
		switch m := m.(type) {
		case *Additive:
			res.Basis = m.Basis
		case *Linear:
			res.Basis = m.Projection
		case *SparseCode:
			res.Basis = m.Dictionary
		case *KernelModel:
			res.Weights = m.Weights
		}
		again := saved(t, res)
		if _, err := LoadModel(bytes.NewReader(again), int64(len(again))); err != nil {
			t.Fatalf("a model that was read is not read again: %v", err)
		}
	})
}

// TestLoadCoefficients checks that saved coefficients are read unchanged, and that a file without coefficients is an
// error.
func TestLoadCoefficients(t *testing.T) {
	want := mat.NewDense(3, 2, []float64{1, 0, 0.1, 2, 3, 1e-300})
	var saved bytes.Buffer
	if err := (&Result{Coefficients: want}).Save(&saved); err != nil {
		t.Fatal(err)
	}
	got, err := LoadCoefficients(bytes.NewReader(saved.Bytes()), int64(saved.Len()))
	if err != nil || !mat.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, text := range [][]byte{nil, []byte("PK"), archive(t, map[string]string{"basis": array("<f8", "1, 1", "\x00\x00\x00\x00\x00\x00\xe0\x3f")})} {
		if _, err := LoadCoefficients(bytes.NewReader(text), int64(len(text))); err == nil {
			t.Errorf("coefficients in %d bytes without any", len(text))
		}
	}
}

// TestLoadBadKernelModels checks that a kernel model with inconsistent parts is an error.
func TestLoadBadKernelModels(t *testing.T) {
	integers := func(x ...byte) string {
		var b strings.Builder
		for _, v := range x {
			b.WriteString(string([]byte{v, 0, 0, 0, 0, 0, 0, 0}))
		}
		return array("<i8", fmt.Sprintf("%d,", len(x)), b.String())
	}
	const half, minus = "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf0\xbf"
	zero := strings.Repeat("\x00", 8)
	dense := map[string]string{
		"kind": integers(4), "kernel": integers(1), "width": array("<f8", "1,", half),
		"weights": array("<f8", "2, 1", half+half), "products": array("<f8", "1, 1", half), "samples": array("<f8", "2, 1", half+half),
	}
	sparse := maps.Clone(dense)
	maps.Copy(sparse, map[string]string{
		"samples": array("<f8", "2,", half+half), "columns": integers(0, 2), "starts": integers(0, 1, 2), "features": integers(3),
	})
	for _, good := range []map[string]string{dense, sparse} {
		text := archive(t, good)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		_, features := m.(*KernelModel).Samples.Dims()
		if _, err := m.Transform(context.Background(), mat.NewDense(1, features, slices.Repeat([]float64{1}, features))); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]struct{ good, change map[string]string }{
		`the file has no array "weights"`:                       {dense, map[string]string{"weights": ""}},
		`the file has no array "products"`:                      {dense, map[string]string{"products": ""}},
		`the file has no array "kernel"`:                        {dense, map[string]string{"kernel": ""}},
		`the file has no array "width"`:                         {dense, map[string]string{"width": ""}},
		`the file has no array "samples"`:                       {dense, map[string]string{"samples": ""}},
		`the file has no array "degree"`:                        {dense, map[string]string{"kernel": integers(2)}},
		`the file has no array "offset"`:                        {dense, map[string]string{"kernel": integers(2), "degree": integers(2)}},
		`the array "degree" is 0; expected 1 or more`:           {dense, map[string]string{"kernel": integers(2), "degree": integers(0), "offset": array("<f8", "1,", half)}},
		`the array "offset" has value -1; expected 0 or more`:   {dense, map[string]string{"kernel": integers(2), "degree": integers(2), "offset": array("<f8", "1,", minus)}},
		`the array "kernel" has value 5; expected 0 to 3`:       {dense, map[string]string{"kernel": integers(5)}},
		`the array "width" has value 0; expected more than 0`:   {dense, map[string]string{"width": array("<f8", "1,", zero)}},
		`the array "width" has value -1; expected more than 0`:  {dense, map[string]string{"width": array("<f8", "1,", minus)}},
		`"width" has shape [2]`:                                 {dense, map[string]string{"width": array("<f8", "2,", half+half)}},
		`the model has a 1×1 Gram matrix for 2 concepts`:        {dense, map[string]string{"weights": array("<f8", "1, 2", half+half)}},
		`the model has weights of 1 training samples; expected`: {dense, map[string]string{"weights": array("<f8", "1, 1", half)}},
		`training sample 2: all 1 values are ze`:                {dense, map[string]string{"samples": array("<f8", "2, 1", half+zero)}},
		`value -1 is negative`:                                  {dense, map[string]string{"kernel": integers(3), "samples": array("<f8", "2, 1", half+minus)}},
		`"samples": shape [2 1]; expected 1 dimensions`:         {sparse, map[string]string{"samples": array("<f8", "2, 1", half+half)}},
		`the file has no array "columns"`:                       {sparse, map[string]string{"columns": ""}},
		`the file has no array "features"`:                      {sparse, map[string]string{"features": ""}},
		`column index 2 after -1, of 2`:                         {sparse, map[string]string{"features": integers(2)}},
		`sparse: row starts run from 0 to 1, expected 0 to 2`:   {sparse, map[string]string{"starts": integers(0, 1, 1)}},
		`with 0 row starts`:                                     {sparse, map[string]string{"starts": array("<i8", "0,", "")}},
		`"starts": shape [1 1]`:                                 {sparse, map[string]string{"starts": array("<i8", "1, 1", zero)}},
	} {
		arrays := map[string]string{}
		for _, from := range []map[string]string{c.good, c.change} {
			for name, text := range from {
				if arrays[name] = text; text == "" {
					delete(arrays, name)
				}
			}
		}
		text := archive(t, arrays)
		m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
		if err == nil || !strings.Contains(err.Error(), want) || m != nil {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestLoadDamagedModels checks that changed bytes of a file give an error or a valid model.
func TestLoadDamagedModels(t *testing.T) {
	p := classProblem(3)
	p.opt.Rank = 2
	src := rand.New(rand.NewPCG(1, 31))
	for _, m := range []Method{PCA{}, SparseCoding{Lambda: 0.5}, CF{Kernel{Function: KernelRBF}}} {
		res, err := ForImages(m, p.image).Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		text := saved(t, res)
		for i := range text {
			damaged := bytes.Clone(text)
			damaged[i] ^= 1 << src.IntN(8)
			model, err := LoadModel(bytes.NewReader(damaged), int64(len(damaged)))
			if err == nil {
				if v := model.Vectors(); v != nil && !algebra.Finite(v) {
					t.Fatalf("byte %d changed: %v", i, model)
				}
				if i%16 == 0 {
					if v, err := model.Transform(context.Background(), p.x); err == nil && !algebra.Finite(v) {
						t.Fatalf("byte %d changed: samples are represented by %v", i, v)
					}
				}
			}
			if i%4 != 0 {
				continue
			}
			if _, err := LoadModel(bytes.NewReader(text[:i]), int64(i)); err == nil {
				t.Fatalf("a file cut after %d of %d bytes was read", i, len(text))
			}
		}
	}
}
