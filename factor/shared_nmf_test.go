package factor

import (
	"context"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
)

// sameFit reports a result that is not that of the fit, to the bytes.
func sameFit(t *testing.T, what string, got, want *Result) {
	t.Helper()
	if want.Basis != nil {
		near(t, what+": basis", got.Basis, want.Basis, 0)
	}
	near(t, what+": coefficients", got.Coefficients, want.Coefficients, 0)
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	if !slices.EqualFunc(got.Objective, want.Objective, same) || got.Stop != want.Stop {
		t.Errorf("%s: another objective", what)
	}
}

// TestSharedNMF: fits of NMF and fits from its factors give the same bytes with and without a
// Shared, in any order, and find the factors once.
func TestSharedNMF(t *testing.T) {
	ctx := t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	p := randomProblem(9, false)
	p.opt.Rank, p.opt.Iterations = 3, 30
	all := p.opt
	all.Solver, all.Iterations = Multiplicative{}, 0
	few := all
	few.Trace = func(i int) bool { return i%7 == 0 }
	from := few
	from.Init, from.Iterations, from.Tolerance = InitNMF, 5, 0.1
	fits := []struct {
		name   string
		method Method
		opt    Options
	}{{"all of the curve", NMF{}, all}, {"of images", Parts{Image: Image{Height: 1}}, few}, {"few of the curve", NMF{}, few}, {"ccf", CCF{}, from}, {"gnmf", GNMF{}, from}}
	for range 2 {
		shared := new(Shared)
		for _, f := range fits {
			want, err := f.method.Fit(ctx, p.x, p.known, f.opt)
			if err != nil {
				t.Fatal(err)
			}
			f.opt.Shared = shared
			for range 2 {
				got, err := f.method.Fit(ctx, p.x, p.known, f.opt)
				if err != nil {
					t.Fatal(err)
				}
				sameFit(t, f.name, got, want)
				got.Basis.Scale(2, got.Basis) // a result is the caller's
				got.Coefficients.Scale(2, got.Coefficients)
			}
			if SharingOf(f.method, f.opt) != SharingOf(NMF{}, all) || len(shared.nmf) != 1 {
				t.Errorf("%s shares %v, of %d fits", f.name, SharingOf(f.method, f.opt), len(shared.nmf))
			}
		}
		few.Shared = shared
		if _, err := (NMF{}).Fit(cancelled, p.x, p.known, few); err != nil {
			t.Errorf("factors that are known are looked for once more: %v", err)
		}
		if _, err := (Parts{}).fromNMF(cancelled, p.x, &condensation{none: true}, few); err != nil {
			t.Errorf("factors to start from are looked for once more: %v", err)
		}
		if _, err := (NMF{}).Fit(ctx, p.x, Known{Labels: []int{1}}, few); err == nil {
			t.Error("a label of many samples will do")
		}
		slices.Reverse(fits)
	}
}

// TestSharedNMFOfOthers: fits by other settings, and of other samples, are their own.
func TestSharedNMFOfOthers(t *testing.T) {
	p := randomProblem(9, false)
	n, m := p.x.Dims()
	p.opt.Rank, p.opt.Iterations, p.opt.Init = 3, 20, ""
	iterated := 0
	similar := mat.NewDense(n, n, nil)
	similar.Mul(p.x, p.x.T())
	for name, change := range map[string]func(*Parts, *Options){
		"rank":       func(_ *Parts, o *Options) { o.Rank = 2 },
		"iterations": func(_ *Parts, o *Options) { o.Iterations = 19 },
		"tolerance":  func(_ *Parts, o *Options) { o.Tolerance = 0.01 },
		"seed":       func(_ *Parts, o *Options) { o.Seed++ },
		"solver":     func(_ *Parts, o *Options) { o.Solver = Multiplicative{} },
		"init":       func(_ *Parts, o *Options) { o.Init = InitNNDSVDa },
		"start": func(_ *Parts, o *Options) {
			o.Start = &Start{Basis: mat.NewDense(m, 3, slices.Repeat([]float64{1}, 3*m))}
		},
		"time":         func(_ *Parts, o *Options) { o.MaxTime = time.Hour },
		"scale":        func(_ *Parts, o *Options) { o.KeepScale = true },
		"on iteration": func(_ *Parts, o *Options) { o.OnIteration = func(int, float64) { iterated++ } },
		"cost":         func(p *Parts, _ *Options) { p.Cost = CostKL },
		"penalty":      func(p *Parts, _ *Options) { p.Penalties = Penalties{L1{}} },
		"held out":     func(p *Parts, _ *Options) { p.HeldOut = HoldOut(n, m, 0.2, 1) },
		"start without what is held out": func(p *Parts, o *Options) {
			p.HeldOut, o.Init, o.Iterations = HoldOut(n, m, 0.2, 1), InitNMF, 1
		},
		"start of a kernel": func(p *Parts, o *Options) {
			p.Basis, p.Kernel.Matrix, o.Init, o.Iterations = BasisConcept, similar, InitNMF, 1
		},
	} {
		parts, opt := Parts{}, p.opt
		change(&parts, &opt)
		x := mat.Matrix(p.x)
		if parts.Kernel.Matrix != nil {
			x = nil // rows of the kernel stand for samples
		}
		want, err := parts.Fit(t.Context(), x, p.known, opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if SharingOf(parts, opt) == SharingOf(NMF{}, p.opt) {
			t.Errorf("%s: what is shared is that of other settings", name)
		}
		opt.Shared = new(Shared)
		for _, base := range []Options{p.opt, {Rank: 3, Seed: p.opt.Seed, Solver: Multiplicative{}}} {
			base.Shared = opt.Shared
			if _, err := (NMF{}).Fit(t.Context(), p.x, p.known, base); err != nil {
				t.Fatal(err)
			}
		}
		got, err := parts.Fit(t.Context(), x, p.known, opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameFit(t, name, got, want)
	}
	if iterated != 2*p.opt.Iterations {
		t.Errorf("%d iterations are told of, want twice %d", iterated, p.opt.Iterations)
	}
}

// TestInitNMFBySolver: the start by NMF is found by fast where that is asked for, to its tolerance, and
// else by the papers' rule, whatever the tolerance.
func TestInitNMFBySolver(t *testing.T) {
	p := randomProblem(9, false)
	p.opt.Rank = 3
	for _, c := range []struct {
		solver, start Solver
		tolerance     float64
	}{{nil, Multiplicative{}, 0}, {Multiplicative{}, Multiplicative{}, 0}, {Fast{}, Fast{}, 0.01}} {
		opt := Options{Rank: 3, Seed: 5, Init: InitNMF, Solver: c.solver, Tolerance: 0.01, Shared: new(Shared)}
		if _, err := (CCF{}).Fit(t.Context(), p.x, p.known, opt); err != nil {
			t.Fatal(err)
		}
		nmf := Options{Rank: 3, Seed: 5, Solver: c.start, Tolerance: c.tolerance}
		if want := (Parts{}).nmfFit(nmf); len(opt.Shared.nmf) != 1 || opt.Shared.nmf[want] == nil {
			t.Errorf("%T starts from %v, want %v", c.solver, opt.Shared.nmf, want)
		}
		if SharingOf(CCF{}, opt) != SharingOf(NMF{}, nmf) {
			t.Errorf("%T does not share its start with NMF by %T", c.solver, c.start)
		}
	}
}
