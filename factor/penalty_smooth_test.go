package factor

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestSmooth: the penalty is the sum over neighbouring pixels of each channel, with every
// basis and cost it makes basis images smoother, and through the samples' inner products
// it is what it is through the basis itself.
func TestSmooth(t *testing.T) {
	image := Image{Height: 3, Width: 4, Channels: 2}
	roughness := func(u *mat.Dense) (sum float64) { // m×k
		m, k := u.Dims()
		for p := range m {
			y, x := p%(image.Height*image.Width)/image.Width, p%image.Width
			for r := range k {
				if x+1 < image.Width {
					sum += math.Pow(u.At(p, r)-u.At(p+1, r), 2)
				}
				if y+1 < image.Height {
					sum += math.Pow(u.At(p, r)-u.At(p+image.Width, r), 2)
				}
			}
		}
		return sum
	}
	x := mat.NewDense(40, 24, nil)
	x.Apply(func(i, j int, _ float64) float64 { return 1 + math.Sin(float64(i*i+7*j*j)) }, x)
	opt := Options{Rank: 3, Iterations: 40}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, basis := range []Basis{BasisFree, BasisConcept, BasisRankOne} {
			rough := map[float64]float64{}
			for _, weight := range []float64{1e-9, 100} {
				res, err := Parts{Cost: cost, Basis: basis, Image: image, Penalties: []Penalty{Smooth{weight}}}.Fit(context.Background(), x, Known{}, opt)
				if err != nil {
					t.Fatal(err)
				}
				rough[weight] = roughness(res.Basis)
				opt.KeepScale = true
				if res, err = (Parts{Cost: cost, Basis: basis, Image: image, Penalties: []Penalty{Smooth{weight}}}).Fit(context.Background(), x, Known{}, opt); err != nil {
					t.Fatal(err)
				}
				opt.KeepScale = false
				nearNumber(t, "penalty", res.Penalty[40]/(weight*roughness(res.Basis)), 1, 1e-9)
			}
			if !(rough[100] < 0.8*rough[1e-9]) {
				t.Errorf("%v, %v: differences of pixels sum to %v by λ", cost, basis, rough)
			}
		}
	}
	for name, x := range map[string]*mat.Dense{"formed": x, "not formed": mat.DenseCopyOf(x.Slice(0, 40, 0, 12))} {
		image := image
		if _, m := x.Dims(); m == 12 {
			image.Channels = 1
		}
		p := Parts{Basis: BasisConcept, Tie: TieLabels, Image: image, Penalties: []Penalty{Smooth{3}, L1{}}}
		labels := make([]int, 40)
		for i := range labels {
			labels[i] = i%9 - 1
		}
		var results []*Result
		for _, plain := range []bool{false, true} {
			f, err := p.start(context.Background(), x, Known{Labels: labels}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if plain {
				d := view.Dense{X: x}
				f.model = p.plainModel(d, f.ties.data(d, CostFrobenius), nil, &initialFactors{w: f.factors[0], v: f.v})
			}
			if err := f.iterate(context.Background(), opt); err != nil {
				t.Fatal(err)
			}
			res, err := f.finish(opt)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, res)
		}
		near(t, name+" W", results[0].Weights, results[1].Weights, 1e-8)
		near(t, name+" V", results[0].Coefficients, results[1].Coefficients, 1e-8)
		nearNumber(t, name+" penalty", results[0].Penalty[40], results[1].Penalty[40], 1e-8*results[1].Penalty[40])
	}
}

// TestSmoothRefuses, by its name.
func TestSmoothRefuses(t *testing.T) {
	x := mat.NewDense(4, 6, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64(i + j + 1) }, x)
	signed := mat.DenseCopyOf(x)
	signed.Set(2, 1, -3)
	image := Image{Height: 2, Width: 3}
	for _, c := range []struct {
		p     Parts
		x     *mat.Dense
		image Image
		want  string
	}{
		{Parts{}, x, Image{}, "a penalty on neighbouring pixels is for images, and samples of 6 features are no square images"},
		{Parts{}, x, Image{Height: 2, Width: 3, Channels: 3}, "are no 6×3 images"},
		{Parts{Basis: BasisConcept}, signed, image, "sample 3: column 2: value -3 is negative, and the penalty smooth needs values of 0 or more"},
		{Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}}, x, image, "the penalty smooth is on basis vectors, and of a kernel there are none among the features"},
	} {
		c.p.Image, c.p.Penalties = c.image, []Penalty{Smooth{}}
		if _, err := c.p.Fit(context.Background(), c.x, Known{}, Options{Rank: 2}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := (Parts{Image: image, Penalties: []Penalty{Smooth{-2}}}).Fit(context.Background(), x, Known{}, Options{Rank: 2}); err == nil {
		t.Error("a weight below 0 is taken")
	}
}

// TestEnumerations: a value without a name is refused, not taken for the default.
func TestEnumerations(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	known := Known{Labels: []int{0, 1, -1}}
	for want, m := range map[string]Method{
		"there is no cost(2)":      Parts{Cost: 2},
		"there is no basis(-1)":    Parts{Basis: -1},
		"there is no tie(7)":       Parts{Tie: 7},
		"there is no weighting(2)": Parts{Weighting: 2},
		"there is no kernel(4)":    CF{Kernel{Function: 4}},
		"there is no edges(3)":     GNMF{Neighbourhood: Neighbourhood{Edges: 3}},
		"there is no rule(2)":      CFOGL{Rule: 2},
		"there is no rule(-1)":     SSNMF{Rule: -1},
		`there is no init "other"`: NMF{},
	} {
		opt := Options{Rank: 1}
		if m == (NMF{}) {
			opt.Init = "other"
		}
		if _, err := m.Fit(context.Background(), x, known, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T gives %v, want %q", m, err, want)
		}
	}
	if _, err := (&Additive{Cost: 2, Basis: mat.NewDense(2, 1, []float64{1, 1})}).Transform(context.Background(), x); err == nil {
		t.Error("a model of no cost transforms")
	}
}

// TestPenaltySettings: several penalties with their settings beside those of the parts.
func TestPenaltySettings(t *testing.T) {
	parts, _ := Lookup("parts")
	m, err := parts.New(map[string]any{"penalty": "graph+l1+smooth", "lambda": 3, "neighbours": 2, "l1-weight": 0, "smooth-weight": 0.5, "must": 2, "cost": "kl"})
	if err != nil {
		t.Fatal(err)
	}
	got := m.(Parts)
	if want := (Penalties{Graph{Lambda: 3, Neighbourhood: Neighbourhood{Neighbours: 2}}, L1{WeightNone}, Smooth{0.5}}); got.Penalties.String() != "graph+l1+smooth" ||
		got.Penalties[0] != want[0] || got.Penalties[1] != want[1] || got.Penalties[2] != want[2] || got.Cost != CostKL {
		t.Errorf("got %+v, want the penalties %+v", got, want)
	}
	for want, params := range map[string]map[string]any{
		`parts: penalty: there is no penalty "grap" (did you mean graph?); there are none, graph`: {"penalty": "grap"},
		`parts: penalty: none stands alone`: {"penalty": "graph+none"},
		`parts: lamda: unknown key "lamda" (did you mean lambda?); the keys here are cost, basis`: {"lamda": 3},
		`parts: l1-weight: want a number from 0 to 1e+100, not -1`:                                {"l1-weight": -1},
		`parts: must: want a number from 0 to 1e+100, not "x"`:                                    {"must": "x", "penalty": "graph"},
	} {
		if _, err := parts.New(params); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v gives %v, want %s", params, err, want)
		}
	}
	for name, want := range map[string]Needs{
		"graph+label-edges": {Labels: true, TiesLabels: true}, "links": {Labels: true, Links: true}, "smooth": {Images: true}, "l1": {},
	} {
		penalty, edges := strings.CutSuffix(name, "+label-edges")
		m, err := parts.New(map[string]any{"penalty": penalty, "label-edges": edges})
		if err != nil {
			t.Fatal(err)
		}
		if got := NeedsOf(m); got.Labels != want.Labels || got.TiesLabels != want.TiesLabels || got.Links != want.Links || got.Images != want.Images {
			t.Errorf("%s needs %+v, want %+v", name, got, want)
		}
	}
}
