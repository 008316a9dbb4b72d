package factor

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// A Penalty is a term added to the cost, a function of the coefficients V or of the basis vectors U. Zero values of
// settings mean the papers' defaults.
type Penalty interface {
	// OnBasis reports whether the term is a function of U, not of V.
	OnBasis() bool
	// Bind returns the penalty for the samples of p, or an error if it does not support them.
	Bind(ctx context.Context, p Problem) (BoundPenalty, error)
}

// Problem is the input of a factorisation, as a penalty sees it.
type Problem struct {
	// Known is the supervision, Image the image size of the samples (the zero value means square), Rank is k.
	Known Known
	Image Image
	Rank  int

	data view.Data
}

// Samples returns X, n×m, a read-only *mat.Dense or *CSR.
func (p Problem) Samples() mat.Matrix { return p.data.Matrix() }

// A BoundPenalty is a penalty bound to samples. Its factor θ is Vᵀ, k×n, or Uᵀ, k×m. Ties are handled by the caller,
// which expands V and pulls the gradient back.
type BoundPenalty interface {
	// Value returns the term at θ.
	Value(theta *mat.Dense) float64
	// Gradient adds scale times the two parts of half the gradient at θ, positive − negative, both ≥ 0.
	Gradient(positive, negative, theta *mat.Dense, scale float64)
	// Root reports whether a multiplicative step under the cost c must take the square root of its ratio so that
	// the objective does not rise, as for a quadratic term under the divergence.
	Root(c Cost) bool
}

// A CoordinatePenalty is a BoundPenalty that is quadratic or linear in each row of θ and separable over rows, so that
// [Fast] can minimise over one entry at a time. The mixed second derivative of two samples of one class, which may be
// tied, must be ≤ 0.
type CoordinatePenalty interface {
	// Row returns the penalty as a function of a row of θ. It may read row later and must not change it.
	Row(row []float64) PenaltyRow
}

// A PenaltyRow is a penalty in one row of θ.
type PenaltyRow struct {
	// Gradient returns half the derivative in entry i.
	Gradient func(i int) float64
	// Curvature, if not nil, returns half the second derivative in entry i, the same for all rows; nil means 0.
	Curvature func(i int) float64
	// Moved, if not nil, must be called after entry i of the row has changed by delta.
	Moved func(i int, delta float64)
}

// A LearningPenalty is a BoundPenalty with parameters of its own. Learn updates them after each iteration.
type LearningPenalty interface {
	Learn(ctx context.Context, theta *mat.Dense) error
}

// PenaltyInfo describes a registered penalty.
type PenaltyInfo struct {
	Name, Title string // name in settings and full name
	Term, Paper string // formula and reference

	zero Penalty
}

// RegisterPenalty adds a penalty to the registry, as [Register] adds a method.
func RegisterPenalty(i PenaltyInfo, defaults Penalty) {
	if slices.Contains(Penalties{}.Values(), i.Name) {
		panic("factor: a penalty " + i.Name + " is already registered")
	}
	i.zero = defaults
	penalties = append(penalties, i)
}

// PenaltyList returns the registered penalties.
func PenaltyList() []PenaltyInfo { return slices.Clone(penalties) }

// OnBasis reports whether the penalty is a function of U, not of V.
func (i PenaltyInfo) OnBasis() bool { return i.zero.OnBasis() }

// Needs returns the requirements of the penalty on the samples.
func (i PenaltyInfo) Needs() Needs { return Parts{Penalties: Penalties{i.zero}}.Needs() }

// Settings returns the penalty's settings.
func (i PenaltyInfo) Settings() []Setting { return settings.List(i.zero) }

var penalties = []PenaltyInfo{
	{Name: "graph", Title: "Graph", Term: "λ·tr(VᵀLV)", Paper: "Cai et al. 2011", zero: Graph{}},
	{Name: "links", Title: "Links between samples", Term: "Σ C_ij·v_iᵀv_j", Paper: "Ambai et al. 2011", zero: Links{}},
	{Name: "learned-graph", Title: "Learned graph", Term: "‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV)", Paper: "Shu et al. 2019", zero: LearnedGraph{}},
	{Name: "l1", Title: "Sum of the coefficients", Term: "λ·Σ V", Paper: "Hoyer 2002", zero: L1{}},
	{Name: "l2", Title: "Squares of the coefficients", Term: "λ·Σ V²", Paper: "Pauca, Piper and Plemmons 2006", zero: L2{}},
	{Name: "l1-basis", Title: "Sum of the basis vectors", Term: "λ·Σ U", Paper: "Hoyer 2002", zero: L1Basis{}},
	{Name: "l2-basis", Title: "Squares of the basis vectors", Term: "λ·Σ U²", Paper: "Pauca, Piper and Plemmons 2006", zero: L2Basis{}},
	{Name: "orthogonal", Title: "Orthogonal coefficients", Term: "λ·Σ_{r≠s} v_rᵀv_s", Paper: "Choi 2008", zero: Orthogonal{}},
	{Name: "orthogonal-basis", Title: "Orthogonal basis vectors", Term: "λ·Σ_{r≠s} u_rᵀu_s", Paper: "Li, Hou, Zhang and Cheng 2001", zero: OrthogonalBasis{}},
	{Name: "volume", Title: "Minimum volume", Term: "λ·log det(UᵀU + δI)", Paper: "Leplat, Ang and Gillis 2019", zero: Volume{}},
	{Name: "smooth", Title: "Smooth basis images", Term: "λ·Σ (u_p − u_q)² over neighbouring pixels", Paper: "Zdunek and Cichocki 2008", zero: Smooth{}},
	{Name: "variation", Title: "Total variation of basis images", Term: "λ·Σ |u_p − u_q| over neighbouring pixels", Paper: "Yin and Liu 2017", zero: Variation{}},
}

func penaltyName(p Penalty) string {
	for _, i := range penalties {
		if reflect.TypeOf(i.zero) == reflect.TypeOf(p) {
			return i.Name
		}
	}
	return fmt.Sprintf("%T", p)
}

// Penalties are terms added to the cost. In settings they are names joined by "+", such as "graph+l1", or "none".
type Penalties []Penalty

// UnmarshalText parses names joined by "+", or "none".
func (p *Penalties) UnmarshalText(names []byte) error {
	*p = nil
	if strings.EqualFold(string(names), noPenalty) {
		return nil
	}
	for name := range strings.SplitSeq(string(names), "+") {
		i, err := enum.Index("penalty", name, p.Values())
		if err != nil || i == 0 {
			return cmp.Or(err, fmt.Errorf("%s cannot be combined with other penalties", noPenalty))
		}
		*p = append(*p, penalties[i-1].zero)
	}
	return nil
}

const noPenalty = "none"

// Values returns the names of all penalties.
func (Penalties) Values() []string {
	return append([]string{noPenalty}, lists.Map(penalties, func(i PenaltyInfo) string { return i.Name })...)
}

// String returns the names joined by "+", or "none".
func (p Penalties) String() string {
	return cmp.Or(strings.Join(lists.Map(p, penaltyName), "+"), noPenalty)
}

// decode reads each penalty's settings from v. Keys that neither a penalty nor known has are errors.
func (p Penalties) decode(v *settings.Value, known []string) (err error) {
	defer guard.Catch(&err)
	decode := func(zero Penalty) Penalty {
		own, _ := v.Split(settings.Names(zero))
		return guard.Must(settings.New(own, zero))
	}
	for i := range p {
		p[i] = decode(p[i])
	}
	for _, i := range penalties {
		decode(i.zero)
		known = append(known, settings.Names(i.zero)...)
	}
	for _, f := range v.Fields {
		if !slices.Contains(known, f.Key.Text) {
			return settings.UnknownKey(f.Key, slices.Compact(known))
		}
	}
	return nil
}

// penaltySettings returns the settings of all penalties. A setting of several penalties is listed once, with all defaults.
func penaltySettings() []Setting {
	var all []Setting
	for _, i := range penalties {
		for _, s := range settings.List(i.zero) {
			at := slices.IndexFunc(all, func(have Setting) bool { return have.Name == s.Name })
			if at < 0 {
				all = append(all, s)
			} else if all[at].Default != s.Default {
				all[at].Default += fmt.Sprintf(", %s %s", i.Name, s.Default)
			}
		}
	}
	return all
}

type boundPenalties []BoundPenalty

func (b boundPenalties) value(theta *mat.Dense) (sum float64) {
	for _, p := range b {
		sum += p.Value(theta)
	}
	return sum
}

// terms returns scale times the sum of the terms at θ.
func (b boundPenalties) terms(theta *mat.Dense, c Cost, scale float64) *Terms {
	k, p := theta.Dims()
	t := &Terms{Positive: mat.NewDense(k, p, nil), Negative: mat.NewDense(k, p, nil)}
	for _, one := range b {
		one.Gradient(t.Positive, t.Negative, theta, scale)
		t.Root = t.Root || one.Root(c)
	}
	return t
}

// WeightNone is the weight 0 for settings such as Graph.Lambda, whose value 0 means the paper's default.
const WeightNone = settings.None

// orDefault resolves a weight: 0 means def, WeightNone means 0.
func orDefault(x, def float64) float64 {
	switch x {
	case 0:
		return def
	case WeightNone:
		return 0
	}
	return x
}

// bindWeight returns p bound with its weight, which is 0.1 by default, or an error.
func bindWeight(p Penalty, weight float64, bound func(weight float64) BoundPenalty) (BoundPenalty, error) {
	weight = orDefault(weight, 0.1)
	return bound(weight), view.CheckWeight("the weight of the penalty "+penaltyName(p), weight)
}
