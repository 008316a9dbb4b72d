package factor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// kernels returns kernels of each function, with and without defaults.
func kernels() map[string]Kernel {
	return map[string]Kernel{
		"rbf":           {Function: KernelRBF},
		"rbf-narrow":    {Function: KernelRBF, KernelWidth: 0.5},
		"polynomial":    {Function: KernelPolynomial},
		"cubic":         {Function: KernelPolynomial, Degree: 3, Offset: WeightNone},
		"intersection":  {Function: KernelIntersection},
		"signed-linear": {Function: KernelPolynomial, Degree: 1, Offset: WeightNone},
	}
}

// value computes the kernel of two samples by its formula.
func (k Kernel) value(x, y []float64, width float64) float64 {
	var product, distance, least float64
	for j := range x {
		product += x[j] * y[j]
		distance += (x[j] - y[j]) * (x[j] - y[j])
		least += min(x[j], y[j])
	}
	switch k.Function {
	case KernelRBF:
		return math.Exp(-distance / (2 * width * width))
	case KernelPolynomial:
		offset, degree := 1.0, 2
		if k.Offset == WeightNone {
			offset = 0
		}
		if k.Degree > 0 {
			degree = k.Degree
		}
		return math.Pow(product+offset, float64(degree))
	case KernelIntersection:
		return least
	}
	return product
}

// TestKernelValues compares K with the formulas, for dense and sparse samples.
func TestKernelValues(t *testing.T) {
	for seed := range uint64(20) {
		p := randomProblem(seed, false)
		n, _ := p.x.Dims()
		for name, k := range kernels() {
			width := k.KernelWidth
			if width == 0 {
				for i := range n {
					for j := range n {
						var d mat.VecDense
						d.SubVec(p.x.RowView(i), p.x.RowView(j))
						width += mat.Norm(&d, 2) / float64(n*n)
					}
				}
				if width == 0 {
					width = 1
				}
			}
			for _, x := range []mat.Matrix{p.x, toSparse(p.x)} {
				d, err := view.New(x)
				if err != nil {
					t.Fatal(err)
				}
				b := k.bind(context.Background(), x, d)
				largest := mat.Max(b.values)
				for i := range n {
					for j := range n {
						want := k.value(p.x.RawRowView(i), p.x.RawRowView(j), width)
						nearNumber(t, name+" "+p.String(), b.values.At(i, j)/largest, want/largest, 1e-10)
					}
				}
			}
		}
	}
}

// linearKernel has the values XᵀX, as no kernel.
var linearKernel = Kernel{Function: KernelPolynomial, Degree: 1, Offset: WeightNone}

// conceptMethods returns the concept methods with a kernel, for samples x.
func conceptMethods(x mat.Matrix, k Kernel) map[string]Method {
	out := map[string]Method{
		"cf": CF{k}, "ccf": CCF{k}, "lccf": LCCF{Lambda: 0.3, Kernel: k}, "cf-ogl": CFOGL{Beta: WeightNone, Mu: 2, Kernel: k},
		"ccf-graph":    Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: k, Penalties: []Penalty{Graph{Lambda: 2, Neighbourhood: Neighbourhood{Edges: EdgesCosine}}}},
		"ccf-learned":  Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: k, Penalties: []Penalty{LearnedGraph{Beta: WeightNone, Parts: 1}}},
		"parts-labels": Parts{Basis: BasisConcept, Penalties: []Penalty{Graph{LabelEdges: true}}, Kernel: k},
		"parts-links":  Parts{Basis: BasisConcept, Penalties: []Penalty{Links{Must: WeightNone}}, Tie: TieLabels, Kernel: k},
	}
	if mat.Min(x) >= 0 {
		out["ncw"] = Parts{Basis: BasisConcept, Weighting: WeightingNormalisedCut, Kernel: k}
		out["ncw-ties"] = Parts{Basis: BasisConcept, Weighting: WeightingNormalisedCut, Tie: TieLabels, Kernel: k}
	}
	return out
}

// TestLinearKernel checks that a kernel with the values XᵀX gives the same result as no kernel.
func TestLinearKernel(t *testing.T) {
	for seed := range uint64(40) {
		p := randomProblem(seed, seed%2 == 0)
		p.opt.Solver = Multiplicative{}
		p.opt.Rank = min(p.opt.Rank, 4) // of more the cost is near 0, where digits are lost
		p.opt.Iterations = 20
		with := conceptMethods(p.x, linearKernel)
		for name, plain := range conceptMethods(p.x, Kernel{}) {
			what := name + " " + p.String()
			want, err := plain.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got, err := with[name].Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			near(t, what+" W", got.Weights, want.Weights, 1e-9*max(1, mat.Max(want.Weights)))
			near(t, what+" V", got.Coefficients, want.Coefficients, 1e-9*max(1, mat.Max(want.Coefficients)))
			for i, w := range want.Objective {
				nearNumber(t, what+" objective", got.Objective[i]/want.Objective[0], w/want.Objective[0], 1e-9)
			}
			if got.Basis != nil || got.Model.Vectors() != nil {
				t.Fatalf("%s: got a basis of features, want none with a kernel", what)
			}
			if seed%2 == 0 {
				continue
			}
			again, err := got.Model.Transform(context.Background(), p.x)
			if err != nil {
				t.Fatal(err)
			}
			there, err := want.Model.Transform(context.Background(), p.x)
			if err != nil {
				t.Fatal(err)
			}
			near(t, what+" transformed", again, there, 1e-8*max(1, mat.Max(there)))
		}
	}
}

// objective computes ‖φ(X) − φ(X)WVᵀ‖² as tr(EᵀKE) with E = I − WVᵀ.
func kernelObjective(k, w, v *mat.Dense) float64 {
	n, _ := k.Dims()
	e, ke := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	e.Mul(w, v.T())
	e.Scale(-1, e)
	for i := range n {
		e.Set(i, i, e.At(i, i)+1)
	}
	ke.Mul(k, e)
	return algebra.Inner(e, ke)
}

// TestKernelObjective: the reported objective is the cost of the returned factors, and the
// concepts have unit length.
func TestKernelObjective(t *testing.T) {
	for seed := range uint64(*problems) {
		p := randomProblem(seed, false)
		for name, k := range kernels() {
			d, err := view.New(p.x)
			if err != nil {
				t.Fatal(err)
			}
			b := k.bind(context.Background(), p.x, d)
			for method, m := range map[string]Method{"cf": CF{k}, "ccf": CCF{k}, "lccf": LCCF{Lambda: 0.1, Kernel: k}} {
				what := fmt.Sprintf("%s %s %v", method, name, p)
				res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				want := kernelObjective(b.values, res.Weights, res.Coefficients)
				last := len(res.Objective) - 1
				got := res.Objective[last]
				if res.Penalty != nil {
					got -= res.Penalty[last]
				}
				size := mat.Trace(b.values)
				nearNumber(t, what, got/size, want/size, 1e-9)
				model := res.Model.(*KernelModel)
				for r := range p.opt.Rank {
					if l := model.Products.At(r, r); math.Abs(l-1) > 1e-9 && l > 1e-9 {
						t.Errorf("%s: concept %d has the length %v", what, r, math.Sqrt(l))
					}
				}
			}
		}
	}
}

// TestKernelTransform checks that new samples have the same coefficients dense, sparse and alone.
func TestKernelTransform(t *testing.T) {
	for seed := range uint64(10) {
		p := randomProblem(seed, false)
		_, m := p.x.Dims()
		p.opt.Rank = min(p.opt.Rank, 3)
		p.opt.Iterations, p.opt.Solver = 100, Multiplicative{}
		for name, k := range kernels() {
			what := name + " " + p.String()
			res, err := CF{k}.Fit(context.Background(), p.x, Known{}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			got := transformed(t, res.Model, p.x)
			near(t, what+" sparse", transformed(t, res.Model, toSparse(p.x)), got, 1e-9)
			near(t, what+" alone", transformed(t, res.Model, p.x.Slice(0, 1, 0, m)), got.Slice(0, 1, 0, p.opt.Rank), 1e-9)
		}
	}
}

// TestKernelOfManySamples checks that kernels are computed in blocks of samples, and that the model keeps its own copy
// of the samples.
func TestKernelOfManySamples(t *testing.T) {
	const n, m = 150, 4
	src := rand.New(rand.NewPCG(1, 83))
	x := mat.NewDense(n, m, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	for name, k := range kernels() {
		k.KernelWidth = 0.5
		values := mat.NewDense(n, n, nil)
		values.Apply(func(i, j int, _ float64) float64 {
			return k.value(x.RawRowView(i), x.RawRowView(j), 0.5)
		}, values)
		var first *mat.Dense
		for _, samples := range []mat.Matrix{mat.DenseCopyOf(x), toSparse(x)} {
			opt := Options{Rank: 3, Iterations: 20, Solver: Multiplicative{}}
			res, err := CF{k}.Fit(context.Background(), samples, Known{}, opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" objective", mat.NewDense(1, 1, []float64{res.Objective[20]}), mat.NewDense(1, 1, []float64{kernelObjective(values, res.Weights, res.Coefficients)}), 1e-9*res.Objective[0])
			if d, ok := samples.(*mat.Dense); ok {
				d.Zero()
			}
			got := transformed(t, res.Model, x)
			if first == nil {
				first = got
			}
			near(t, name, got, first, 1e-9)
		}
	}
}

func transformed(t *testing.T, m Model, x mat.Matrix) *mat.Dense {
	t.Helper()
	got, err := m.Transform(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// rings returns points on two concentric circles. The first third is on the inner one.
func rings(n int) *mat.Dense {
	src := rand.New(rand.NewPCG(1, 71))
	x := mat.NewDense(3*n, 2, nil)
	for i := range 3 * n {
		radius := 0.5
		if i >= n {
			radius = 3
		}
		radius += 0.1 * src.Float64()
		angle := 2 * math.Pi * float64(i) / float64(n)
		if i >= n {
			angle /= 2
		}
		x.SetRow(i, []float64{5 + radius*math.Cos(angle), 5 + radius*math.Sin(angle)})
	}
	return x
}

// TestKernelRings checks that an rbf kernel separates two rings, which are not linearly separable.
func TestKernelRings(t *testing.T) {
	const n = 30
	x := rings(n)
	right := func(k Kernel) int {
		best := 0
		for seed := range uint64(5) {
			res, err := CF{k}.Fit(context.Background(), x, Known{}, Options{Rank: 2, Seed: seed, Iterations: 500})
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for i := range 3 * n {
				v := res.Coefficients.RawRowView(i)
				if (v[0] > v[1]) == (i < n) {
					same++
				}
			}
			best = max(best, same, 3*n-same)
		}
		return best
	}
	if got := right(Kernel{Function: KernelRBF, KernelWidth: 1}); got < 3*n-1 {
		t.Errorf("the rbf kernel puts %d of %d points on their ring", got, 3*n)
	}
	if got := right(Kernel{}); got > 3*n*3/4 {
		t.Errorf("without a kernel %d of %d points are on their ring, want fewer", got, 3*n)
	}
}

// TestKernelSettings: every concept method has the kernel's parameters.
func TestKernelSettings(t *testing.T) {
	p := randomProblem(8, false)
	kernel := map[string]any{"kernel": "polynomial", "degree": uint64(3), "offset": 0, "kernel-width": 0.5}
	want := Kernel{Function: KernelPolynomial, Degree: 3, Offset: WeightNone, KernelWidth: 0.5}
	for name, parts := range map[string]map[string]any{
		"cf":     {"basis": "concept"},
		"ccf":    {"basis": "concept", "tie": "labels"},
		"lccf":   {"basis": "concept", "penalty": "graph", "width": 2, "edges": "heat"},
		"cf-ogl": {"basis": "concept", "penalty": "learned-graph"},
	} {
		info, _ := Lookup(name)
		own := maps.Clone(kernel)
		if name == "lccf" {
			own["width"], own["edges"] = 2, "heat"
		}
		m, err := info.New(own)
		if err != nil {
			t.Fatal(err)
		}
		if got := reflect.ValueOf(m).FieldByName("Kernel").Interface(); got != want {
			t.Errorf("%s: the kernel is %+v, want %+v", name, got, want)
		}
		maps.Copy(parts, kernel)
		info, _ = Lookup("parts")
		combined, err := info.New(parts)
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		b, err := combined.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, a.Coefficients, b.Coefficients, 0)
	}
}

func TestKernelBadInput(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	signed := mat.NewDense(3, 2, []float64{1, 2, 3, -4, 5, 6})
	nan, inf := math.NaN(), math.Inf(1)
	for want, c := range map[string]struct {
		x mat.Matrix
		m Method
	}{
		"the width of the rbf kernel is -2; expected":                                    {x, CF{Kernel{Function: KernelRBF, KernelWidth: -2}}},
		"the width of the rbf kernel is NaN; expected":                                   {x, CF{Kernel{Function: KernelRBF, KernelWidth: nan}}},
		"the width of the rbf kernel is +Inf; expected":                                  {x, CF{Kernel{Function: KernelRBF, KernelWidth: inf}}},
		"the width of the rbf kernel is 0; expected":                                     {x, CF{Kernel{Function: KernelRBF, KernelWidth: WeightNone}}},
		"the degree of the polynomial kernel is -1; expected 1 to":                       {x, CCF{Kernel{Function: KernelPolynomial, Degree: -1}}},
		"the degree of the polynomial kernel is 2147483648; expected 1 to":               {x, CCF{Kernel{Function: KernelPolynomial, Degree: math.MaxInt32 + 1}}},
		"the offset of the polynomial kernel is -3":                                      {x, LCCF{Kernel: Kernel{Function: KernelPolynomial, Offset: -3}}},
		"the offset of the polynomial kernel is NaN":                                     {x, LCCF{Kernel: Kernel{Function: KernelPolynomial, Offset: nan}}},
		"its kernel value with itself":                                                   {x, CFOGL{Kernel: Kernel{Function: KernelPolynomial, Degree: 400}}},
		"sample 2: column 2: value -4 is negative, and the intersection":                 {signed, CF{Kernel{Function: KernelIntersection}}},
		"a kernel needs basis concept and cost frobenius, got basis free and cost":       {x, Parts{Kernel: Kernel{Function: KernelRBF}}},
		"a kernel needs basis concept and cost frobenius, got basis concept and cost kl": {x, Parts{Basis: BasisConcept, Cost: CostKL, Kernel: Kernel{Function: KernelRBF}}},
	} {
		_, err := c.m.Fit(context.Background(), c.x, Known{Labels: []int{0, 0, -1}}, Options{Rank: 2})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (CF{Kernel{Function: KernelRBF}}).Fit(ctx, x, Known{}, Options{Rank: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestKernelDegenerate checks that copies, samples orthogonal to all others, and opposite samples give finite results.
func TestKernelDegenerate(t *testing.T) {
	samples := func(v ...float64) *mat.Dense { return mat.NewDense(3, 4, v) }
	for name, x := range map[string]*mat.Dense{
		"copies":   samples(2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0),
		"angles":   samples(1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0),
		"opposite": samples(1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0),
		"tiny":     samples(1e-29, 0, 0, 0, 0, 1e-29, 0, 0, 0, 0, 1e-29, 0),
		"huge":     samples(1e29, 0, 0, 0, 0, 1e29, 0, 0, 0, 1e28, 1e29, 0),
		"mixed":    samples(1e29, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1e-29, 0),
	} {
		for rank := 1; rank <= 3; rank++ {
			for method, m := range map[string]Method{"cf": CF{linearKernel}, "ccf": CCF{linearKernel}} {
				res, err := m.Fit(context.Background(), x, Known{Labels: []int{0, 0, -1}}, Options{Rank: rank})
				if err != nil {
					t.Errorf("%s %s: %v", method, name, err)
					continue
				}
				for i := range 3 {
					if l := rowLength(res.Coefficients, i); rank == 3 && method == "cf" && name != "mixed" && !(l > 1e-60) {
						t.Errorf("%s %s: sample %d has the coefficients 0", method, name, i)
					}
				}
				// One new sample is orthogonal to all training samples, and one equals the first of them.
				got := transformed(t, res.Model, mat.NewDense(2, 4, append([]float64{0, 0, 0, 1}, x.RawRowView(0)...)))
				v := got.RowView(0)
				if length := mat.Inner(v, res.Model.(*KernelModel).Products, v); !algebra.Finite(got) || !(length < 0.01) {
					t.Errorf("%s %s: a sample orthogonal to all others has the coefficients %v, of length %v", method, name, got.RawRowView(0), math.Sqrt(length))
				}
			}
		}
	}
	// All samples are equal: the mean distance is 0.
	x := mat.NewDense(3, 2, []float64{1, 2, 1, 2, 1, 2})
	res, err := CF{Kernel{Function: KernelRBF}}.Fit(context.Background(), x, Known{}, Options{Rank: 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "copies", res.Coefficients, mat.NewDense(3, 1, []float64{1, 1, 1}), 1e-9)
	far := transformed(t, res.Model, mat.NewDense(1, 2, []float64{1e50, -1e50}))
	near(t, "far away", far, mat.NewDense(1, 1, nil), 0)
}

func rowLength(a *mat.Dense, i int) float64 { return mat.Norm(a.RowView(i), 2) }

// TestKernelModelBadInput checks that samples that the model cannot represent are an error.
func TestKernelModelBadInput(t *testing.T) {
	p := randomProblem(3, false)
	_, m := p.x.Dims()
	fit := func(k Kernel) *KernelModel {
		res, err := CF{k}.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		return res.Model.(*KernelModel)
	}
	features := fit(Kernel{Function: KernelIntersection})
	negative := mat.NewDense(1, m, nil)
	negative.Set(0, 0, -1)
	for want, c := range map[string]struct {
		m Model
		x mat.Matrix
	}{
		fmt.Sprintf("have %d features; expected %d, as in the model", m+1, m): {features, mat.NewDense(1, m+1, slices.Repeat([]float64{1}, m+1))},
		"sample 1: all":              {features, mat.NewDense(1, m, nil)},
		"value -1 is negative":       {features, negative},
		"no data":                    {features, nil},
		"no data: the matrix is 0×0": {features, &mat.Dense{}},
	} {
		if _, err := c.m.Transform(context.Background(), c.x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestKernelSave checks that models of all kernels, of dense and sparse samples, are equal after saving and
// loading, and contain the arrays that NumPy users read.
func TestKernelSave(t *testing.T) {
	p := randomProblem(4, false)
	p.opt.Rank = 2
	for name, k := range kernels() {
		for _, x := range []mat.Matrix{p.x, toSparse(p.x)} {
			res, err := LCCF{Kernel: k}.Fit(context.Background(), x, Known{}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			text := saved(t, res)
			m, err := LoadModel(bytes.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			near(t, name, transformed(t, m, x), transformed(t, res.Model, x), 0)
			want := *res.Model.(*KernelModel)
			if want.Kernel.Function == KernelPolynomial {
				want.Kernel.KernelWidth = 0
			}
			got := m.(*KernelModel)
			if !reflect.DeepEqual(got.Weights, want.Weights) || !reflect.DeepEqual(got.Products, want.Products) || !reflect.DeepEqual(got.Samples, want.Samples) {
				t.Errorf("%s: another model came back", name)
			}
			z, err := npz.NewReader(bytes.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			var penalty []float64
			if err := z.Read("penalty", &penalty); err != nil || !reflect.DeepEqual(penalty, res.Penalty) {
				t.Errorf("the penalty's part is %v, want %v (%v)", penalty, res.Penalty, err)
			}
		}
	}
}
