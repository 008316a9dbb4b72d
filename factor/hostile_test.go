package factor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

var (
	hostileProblems = flag.Int("problems", 10, "how many hostile problems each method is tried on")
	hostileFirst    = flag.Uint64("first", 0, "the seed of the first of them")
)

// once wrong: the objective of a learned graph rose by dozens of orders of magnitude (the
// simplex lost its 1 beside distances of 1e100; a start off the simplex; eigenvalues of
// 0, times β of 1e30), that of links (sums by difference), that of ss-nmf and of
// weighted divergences (products under the floor of denominators).
var onceWrong = []uint64{10, 12, 13, 19, 114, 395, 576, 1546, 1631, 1733, 1979, 4652, 4900, 4948, 4969}

// TestHostileNumbers, of every method of the registry with any hyper-parameters
// and of every combination of parts: whatever the numbers, what comes out is finite
// or one error that says what is wrong, and an objective that is promised never to
// rise does not.
func TestHostileNumbers(t *testing.T) {
	seeds := slices.Clone(onceWrong)
	for i := range uint64(*hostileProblems) {
		seeds = append(seeds, *hostileFirst+i)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p, kind := hostileProblem(seed)
			for name, r := range hostileRules(t, seed) {
				p.opt.Solver = r.solver
				what := fmt.Sprintf("%s, %v, %s, init %s", name, p, kind, p.opt.Init)
				var x mat.Matrix = p.x
				if seed%2 == 1 {
					x = toSparse(p.x)
				}
				var res *Result
				err := guard.Call(func() (err error) {
					res, err = ForImages(r.method, p.image).Fit(context.Background(), x, p.known, p.opt)
					if err == nil {
						err = r.checkHostile(x, p, res)
					}
					return err
				})
				var fault *guard.PanicError
				var wrong *wrongResult
				switch {
				case err == nil:
				case errors.As(err, &fault) || errors.As(err, &wrong):
					t.Errorf("%s: %v", what, err)
				case len(err.Error()) < 10 || strings.Contains(err.Error(), "\n"):
					t.Errorf("%s: the error says little: %q", what, err)
				}
			}
		})
	}
}

// wrongResult says what must not be in a result.
type wrongResult struct{ error }

func (r rule) checkHostile(x mat.Matrix, p problem, res *Result) error {
	for name, a := range map[string]*mat.Dense{"basis": res.Basis, "coefficients": res.Coefficients, "weights": res.Weights, "association": res.Association} {
		if a != nil && !algebra.Finite(a) {
			return &wrongResult{fmt.Errorf("the %s are not finite", name)}
		}
	}
	if res.Model != nil {
		v, err := res.Model.Transform(context.Background(), x)
		if err == nil && !algebra.Finite(v) {
			return &wrongResult{errors.New("what the model represents is not finite")}
		}
	}
	if r.descends {
		if err := r.check(x, p, res); err != nil {
			return &wrongResult{err}
		}
	}
	return nil
}

// hostileRules are all combinations of parts and all methods of the registry, the
// latter with hyper-parameters of any size.
func hostileRules(t *testing.T, seed uint64) map[string]rule {
	src := rand.New(rand.NewPCG(seed, 23))
	lambda := hostileWeight(src)
	out := rules(lambda)
	for _, info := range Methods() {
		params := map[string]any{}
		for _, p := range info.Settings() {
			var value any
			switch p.Name {
			case "rule":
				continue
			case "neighbours", "k1", "k2", "parts", "degree":
				value = []int{1, 2, 5, 1000, 1e6}[src.IntN(5)]
			case "cost", "basis", "tie", "weighting", "penalty":
				value = p.Values[src.IntN(len(p.Values))]
			case "label-edges", "unit-norm":
				value = src.IntN(2) == 0
			case "edges":
				value = []string{"binary", "heat", "cosine"}[src.IntN(3)]
			case "kernel":
				value = []string{"linear", "rbf", "polynomial", "intersection"}[src.IntN(4)]
			case "variance":
				value = []float64{1e-300, 0.5, 1}[src.IntN(3)]
			default:
				value = hostileWeight(src)
			}
			if src.IntN(2) == 0 {
				params[p.Name] = value
			}
		}
		method, err := info.New(params)
		var refused *settings.Error
		if errors.As(err, &refused) { // the value has no such form
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := out[info.Name] // with what it promises, or nothing
		if r.method = method; r.descends {
			if k := reflect.ValueOf(method).FieldByName("Kernel"); k.IsValid() {
				r.parts.Kernel = k.Interface().(Kernel)
			}
			if m, ok := method.(CFOGL); ok {
				r.parts.FitWeight = m.Mu
			}
		}
		out[fmt.Sprintf("%s with %v", info.Name, params)] = r
	}
	return out
}

// hostileWeight draws a weight of any size, one in six WeightNone.
func hostileWeight(src *rand.Rand) float64 {
	switch src.IntN(6) {
	case 0:
		return WeightNone
	case 1:
		return math.Pow(10, 600*src.Float64()-300)
	case 2, 3:
		return math.Pow(10, 120*src.Float64()-60)
	default:
		return math.Pow(10, 12*src.Float64()-6)
	}
}

// hostileProblem draws a problem with some of what can be wrong with one, and says
// with what.
func hostileProblem(seed uint64) (p problem, kind string) {
	src := rand.New(rand.NewPCG(seed, 29))
	p = randomProblem(seed, src.IntN(3) == 0)
	n, m := p.x.Dims()
	p.opt.Iterations = 12
	p.opt.Init = []Init{InitRandom, InitRandom, InitNNDSVDa, InitNMF}[src.IntN(4)]
	if p.opt.Init == InitNNDSVDa {
		p.opt.Rank = min(p.opt.Rank, n, m)
	}
	var kinds []string
	say := func(format string, args ...any) { kinds = append(kinds, fmt.Sprintf(format, args...)) }
	for range 1 + src.IntN(3) {
		n, m = p.x.Dims()
		switch src.IntN(14) {
		case 0:
			e := 600*src.Float64() - 300
			p.x.Scale(math.Pow(10, e), p.x)
			say("scale 1e%.0f", e)
		case 1:
			e := 114*src.Float64() - 57
			p.x.Scale(math.Pow(10, e), p.x)
			say("scale 1e%.0f", e)
		case 2, 3:
			e := []float64{16, 60, 115, 600}[src.IntN(4)]
			for i := range n {
				algebra.ScaleRow(p.x, i, math.Pow(10, e*(src.Float64()-0.5)))
			}
			say("rows over 1e%.0f", e)
		case 4:
			e := []float64{16, 60, 115}[src.IntN(3)]
			p.x.Apply(func(_, _ int, x float64) float64 { return x * math.Pow(10, e*(src.Float64()-0.5)) }, p.x)
			say("values over 1e%.0f", e)
		case 5:
			p.x.Apply(func(int, int, float64) float64 { return 3 }, p.x)
			say("constant")
		case 6:
			p.x.SetRow(src.IntN(n), make([]float64, m))
			say("a row of zeros")
		case 7:
			bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, math.MaxFloat64}[src.IntN(5)]
			p.x.Set(src.IntN(n), src.IntN(m), bad)
			say("a value %v", bad)
		case 8:
			p.known.Labels = make([]int, n)
			for i := range n {
				p.known.Labels[i] = src.IntN(3) * (1 << 40)
			}
			say("all labelled")
		case 9:
			must, cannot := [2]int{src.IntN(n), src.IntN(n)}, [2]int{src.IntN(n), src.IntN(n)}
			p.known.MustLink, p.known.CannotLink = [][2]int{must}, [][2]int{cannot}
			say("links %v and %v", must, cannot)
		case 10:
			p.x.Apply(func(_, _ int, x float64) float64 { return x + 1e8*mat.Max(p.x) }, mat.DenseCopyOf(p.x))
			say("a large offset")
		default:
			d := degenerations[src.IntN(len(degenerations))]
			if p.known.Labels == nil {
				p.known.Labels = slices.Repeat([]int{-1}, n)
			}
			d.apply(&p, src)
			n, _ = p.x.Dims()
			p.opt.Rank = min(p.opt.Rank, n)
			say("%s", d.name)
		}
	}
	if src.IntN(4) == 0 {
		p.opt.Start = unevenStart(p, src)
		say("uneven start")
	}
	return p, strings.Join(kinds, ", ")
}

// TestLimitsOfScale: what a factorisation without penalties finds in data with the
// largest and the smallest values that are taken is what it finds elsewhere.
func TestLimitsOfScale(t *testing.T) {
	p := randomProblem(7, true)
	n, _ := p.x.Dims()
	p.known = Known{Labels: slices.Repeat([]int{-1}, n)}
	p.known.Labels[0], p.known.Labels[1] = 0, 0
	p.opt.Iterations = 20
	positive := mat.DenseCopyOf(p.x)
	positive.Apply(func(_, _ int, x float64) float64 { return math.Abs(x) }, p.x)
	for name, m := range map[string]Method{
		"nmf": NMF{}, "nmf-kl": NMFKL{}, "nmf-ncw": NMFNCW{}, "ntf": NTF{}, "cnmf": CNMF{}, "cnmf-kl": CNMFKL{},
		"cf": CF{}, "ccf": CCF{}, "signed cf": CF{}, "signed ccf": CCF{}, "kl-concept": Parts{Cost: CostKL, Basis: BasisConcept},
	} {
		x := positive
		if strings.HasPrefix(name, "signed") {
			x = p.x
		}
		want, err := ForImages(m, p.image).Fit(context.Background(), x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []float64{
			math.Exp2(math.Floor(math.Log2(view.LargestValue / mat.Norm(positive, math.Inf(1))))),
			math.Exp2(math.Ceil(math.Log2(view.SmallestValue / leastPeak(p.x)))),
		} {
			var scaled mat.Dense
			scaled.Scale(scale, x)
			got, err := m.Fit(context.Background(), &scaled, p.known, p.opt)
			if err != nil {
				t.Errorf("%s of data times %.3g: %v", name, scale, err)
				continue
			}
			got.Coefficients.Scale(1/scale, got.Coefficients)
			if !mat.EqualApprox(got.Coefficients, want.Coefficients, 1e-9) {
				t.Errorf("%s of data times %.3g finds other coefficients", name, scale)
			}
		}
	}
}

// leastPeak returns the least of the samples' largest values.
func leastPeak(x *mat.Dense) float64 {
	n, _ := x.Dims()
	least := math.Inf(1)
	for i := range n {
		least = min(least, mat.Norm(x.RowView(i), math.Inf(1)))
	}
	return least
}
