package factor

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/settings"
	"gonum.org/v1/gonum/mat"
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
	notSymmetric, err := NewCSR(4, 4, []int{0, 1, 1, 1, 1}, []int{2}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		x      mat.Matrix
		method Method
		known  Known
		opt    Options
		want   string
	}{
		"rank above n":        {ones(4, 3), NMF{}, Known{}, Options{Rank: 5}, "rank 5 is above the number of samples, 4"},
		"rank 0":              {ones(4, 3), NMF{}, Known{}, Options{}, "rank 0; it must be 1 or more"},
		"NaN":                 {with(1, 2, math.NaN()), NMF{}, Known{}, Options{Rank: 2}, "sample 2: column 3: value NaN"},
		"infinity":            {with(3, 0, math.Inf(1)), CF{}, Known{}, Options{Rank: 2}, "sample 4: column 1: value +Inf"},
		"too large":           {with(3, 0, 1e200), CF{}, Known{}, Options{Rank: 2}, "sample 4: column 1: value 1e+200"},
		"negative":            {with(0, 1, -2), NMF{}, Known{}, Options{Rank: 2}, "sample 1: column 2: value -2 is negative"},
		"negative KL":         {with(0, 1, -2), Parts{Cost: CostKL, Basis: BasisConcept}, Known{}, Options{Rank: 2}, "is negative"},
		"negative init nmf":   {with(0, 1, -2), CF{}, Known{}, Options{Rank: 2, Init: InitNMF}, "initialisation by NMF: sample 1"},
		"zero sample":         {zeroRow, NMF{}, Known{}, Options{Rank: 2}, "sample 3: all 3 values are zero"},
		"zero sample, sparse": {toSparse(zeroRow), NMFKL{}, Known{}, Options{Rank: 2}, "sample 3: all 3 values are zero"},
		"no labels":           {ones(4, 3), CNMF{}, Known{}, Options{Rank: 2}, "none are known"},
		"no labels, graph":    {ones(4, 3), SemiGNMF{}, Known{}, Options{Rank: 2}, "none are known"},
		"labels of others":    {ones(4, 3), CNMF{}, Known{Labels: []int{0, 1}}, Options{Rank: 2}, "2 labels for 4 samples"},
		"label -2":            {ones(4, 3), CNMF{}, Known{Labels: []int{0, 1, -2, 0}}, Options{Rank: 2}, "sample 3 has the label -2"},
		"lambda":              {ones(4, 3), GNMF{Lambda: -3}, labels, Options{Rank: 2}, "lambda is -3"},
		"lambda NaN":          {ones(4, 3), GNMF{Lambda: math.NaN()}, labels, Options{Rank: 2}, "lambda is NaN"},
		"neighbours":          {ones(4, 3), GNMF{Neighbourhood: Neighbourhood{Neighbours: -1}}, labels, Options{Rank: 2}, "a graph of -1 neighbours"},
		"graph not symmetric": {ones(4, 3), Parts{Penalties: []Penalty{Graph{Similarity: notSymmetric}}}, labels, Options{Rank: 2}, "not symmetric: the edge 0–2"},
		"init":                {ones(4, 3), NMF{}, labels, Options{Rank: 2, Init: "zeros"}, `there is no init "zeros"`},
		"nndsvda rank":        {ones(9, 3), NMF{}, Known{}, Options{Rank: 4, Init: InitNNDSVDa}, "at most min(n, m) = 3"},
		"iterations":          {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Iterations: -1}, "-1 iterations"},
		"tolerance":           {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Tolerance: math.NaN()}, "tolerance NaN"},
		"start shape":         {ones(4, 3), NMF{}, Known{}, Options{Rank: 2, Start: &Start{Basis: ones(4, 2)}}, "initial basis vectors are 4×2, want 3×2"},
		"start negative":      {ones(4, 3), CF{}, Known{}, Options{Rank: 3, Start: &Start{Weights: with(1, 1, -1)}}, "initial weights hold -1 at row 2, column 2"},
		"links contradict":    {ones(4, 3), NMF{}, Known{MustLink: [][2]int{{0, 1}, {1, 2}}, CannotLink: [][2]int{{2, 0}}}, Options{Rank: 2}, "cannot-link (2, 0) contradicts must-links"},
		"link against labels": {ones(4, 3), NMF{}, Known{Labels: []int{0, 0, 1, -1}, MustLink: [][2]int{{1, 3}, {3, 2}}}, Options{Rank: 2}, "contradicts must-links"},
		"no links":            {ones(4, 3), DSNMF{}, Known{}, Options{Rank: 2}, "none are known"},
		"link weight":         {ones(4, 3), DSNMF{Must: -2}, labels, Options{Rank: 2}, "the weight of must-links is -2"},
		"weight too large":    {ones(4, 3), GNMF{Lambda: 1e300}, labels, Options{Rank: 2}, "lambda is 1e+300; it must be a number from 0 to 1e+100"},
		"start too large":     {ones(4, 3), CF{}, Known{}, Options{Rank: 3, Start: &Start{Weights: with(1, 1, 1e61)}}, "hold 1e+61 at row 2, column 2; they must be numbers from 0 to 1e+60"},
		"graph parts":         {ones(4, 3), CFOGL{Parts: 5}, labels, Options{Rank: 2}, "a learned graph of 5 parts and 4 samples"},
		"no fit":              {ones(4, 3), CFOGL{Mu: WeightNone}, labels, Options{Rank: 2}, "the weight of the fit is 0"},
		"no image":            {ones(4, 3), NTF{}, labels, Options{Rank: 2}, "no square images"},
		"another image":       {ones(4, 3), NTF{Image{Height: 2, Width: 2}}, Known{}, Options{Rank: 2}, "no 2×2 images"},
		"links":               {ones(4, 3), NMF{}, Known{MustLink: [][2]int{{0, 4}}}, Options{Rank: 2}, "must-link (0, 4) among 4 samples"},
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

// TestFirstOfTwoMistakes: of two weights that cannot be the same one is named each time.
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
	opt = p.opt
	opt.MaxTime = time.Nanosecond
	if res := fit(opt); res.Stop != StopTime || res.Iterations() != 1 {
		t.Errorf("no time: %d iterations, stopped by %s", res.Iterations(), res.Stop)
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

// TestTrace: which objectives are wanted changes no bit of the others, and of the factors.
func TestTrace(t *testing.T) {
	third := func(i int) bool { return i%3 == 0 }
	p := randomProblem(3, false)
	p.opt.Iterations = 10
	for name, parts := range combinations(2) {
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

// TestLeadingSVD: the iterated triplets are those of the full singular
// value decomposition, whatever the size of the data.
func TestLeadingSVD(t *testing.T) {
	for seed := range uint64(60) {
		p := randomProblem(seed, true)
		p.x.Scale([]float64{1, 1e-90, 1e-75, 1e-60, 1e60, 1e90}[seed%6], p.x)
		n, m := p.x.Dims()
		k := min(1+int(seed)%4, n, m)
		left, sigma, right, err := leadingSVD(context.Background(), denseData{p.x}, k)
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
		// X·right = left·sigma, whatever the signs.
		var xr mat.Dense
		xr.Mul(right, p.x.T())
		for r := range k {
			for i := range n {
				nearNumber(t, "left vector", xr.At(r, i)/want[0], sigma[r]*left.At(r, i)/want[0], 1e-4)
			}
		}
	}
}

// TestLeadingSVDOfTinyValues: singular values that rounding alone moves are not waited
// for.
func TestLeadingSVDOfTinyValues(t *testing.T) {
	x := mat.NewDense(40, 30, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		return (2 + math.Sin(float64(i*j))) * math.Pow(10, float64(j*7%20-10))
	}, x)
	products := 0
	if _, _, _, err := leadingSVD(context.Background(), countedData{denseData{x}, &products}, 30); err != nil {
		t.Fatal(err)
	}
	if products > 20 {
		t.Errorf("%d products with data of 40×30", products)
	}
}

// countedData counts the products of the data with coefficients.
type countedData struct {
	denseData
	products *int
}

func (c countedData) timesCoefficients(dst, v *mat.Dense) {
	*c.products++
	c.denseData.timesCoefficients(dst, v)
}

// TestTransform: a new sample is represented by the nearest combination of the
// basis vectors, and each sample's answer is its own.
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
		if _, err := m.Transform(context.Background(), u); err == nil || !strings.Contains(err.Error(), "2 features, the basis vectors 5") {
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
		`gnmf: lamda: unknown key "lamda" (did you mean lambda?); the keys here are lambda, neighbours, edges, width`: {"lamda": 1},
		"gnmf: lambda: want a number from 0 to 1e+100, not -1":                                                        {"lambda": -1},
		`gnmf: lambda: want a number from 0 to 1e+100, not "big"`:                                                     {"lambda": "big"},
		"gnmf: neighbours: want a whole number from 1 to 1000000, not 2.5":                                            {"neighbours": 2.5},
		`gnmf: edges: there is no edges "thick"; there are binary, heat, cosine`:                                      {"edges": "thick"},
	} {
		_, err := gnmf.New(params)
		var e *settings.Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%v gives %q, want %q", params, err, want)
		}
	}
}

// TestParts: the parts put together by name are the named methods.
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
