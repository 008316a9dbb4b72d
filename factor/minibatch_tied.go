package factor

import (
	"cmp"
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// tiedRows are samples or coefficients outside memory, condensed: the row of a class is in memory.
type tiedRows struct {
	Blocks
	classes [][]float64 // the row of each group that is a class, else nil
	first   []int       // the first sample of each group
}

// newTiedRows has m columns.
func newTiedRows(x Blocks, ties *view.Condensation, labels []int, m int) tiedRows {
	t := tiedRows{x, make([][]float64, ties.Groups), make([]int, ties.Groups)}
	for i, label := range labels {
		if g := ties.Group[i]; label < 0 || t.classes[g] == nil {
			if t.first[g] = i; label >= 0 {
				t.classes[g] = make([]float64, m)
			}
		}
	}
	return t
}

func (t tiedRows) Dims() (n, m int) {
	_, m = t.Blocks.Dims()
	return len(t.first), m
}

// each calls class with each row of x that is a class, and rest with the other rows in runs of consecutive samples. The
// first row of x is the condensed row from.
func (t tiedRows) each(from int, x *mat.Dense, class func(in, row []float64), rest func(sample int, rows *mat.Dense) error) error {
	p, m := x.Dims()
	for at, run := 0, 1; at < p; at, run = at+run, 1 {
		g := from + at
		if t.classes[g] != nil {
			class(t.classes[g], x.RawRowView(at))
			continue
		}
		for at+run < p && t.classes[g+run] == nil && t.first[g+run] == t.first[g]+run {
			run++
		}
		if err := rest(t.first[g], x.Slice(at, at+run, 0, m).(*mat.Dense)); err != nil {
			return err
		}
	}
	return nil
}

func (t tiedRows) Read(ctx context.Context, from int, dst *mat.Dense) error {
	return t.each(from, dst, func(in, row []float64) { copy(row, in) }, func(sample int, rows *mat.Dense) error { return t.Blocks.Read(ctx, sample, rows) })
}

func (t tiedRows) Write(from int, src *mat.Dense) error {
	return t.each(from, src, func(in, row []float64) { copy(in, row) }, t.Blocks.(Stored).Write)
}

// fitTied fits the condensed samples of [view.Condensation], and gives each labelled sample the coefficients of its class.
func (b MiniBatch) fitTied(ctx context.Context, x Blocks, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	guard.FailIf(x == nil, "no data")
	n, m := x.Dims()
	guard.Check(cmp.Or(b.Serves(opt), opt.validate(n), Known{Labels: b.Labels}.Check(n)))
	labelled := lists.Indices(b.Labels, func(label int) bool { return label >= 0 })
	guard.FailIf(len(labelled) == 0, "label ties need labelled samples; none are given")
	ties := view.NewCondensation(n, b.Labels, nil, b.parts().cost().degree)
	condensed, offset := newTiedRows(x, ties, b.Labels, m), 0.0
	constant := func(row []float64, size float64) float64 { // the part of the cost that does not depend on the factors
		if b.Cost == CostFrobenius {
			return algebra.Dot(row, row)
		}
		return simd.LogSum(row, row) - elementary.Log(size)*algebra.Total(row)
	}
	for run := 1; len(labelled) > 0; labelled, run = labelled[run:], 1 {
		for run < min(blockRun, len(labelled)) && labelled[run] == labelled[0]+run {
			run++
		}
		rows := mat.NewDense(run, m, nil)
		guard.Check(cmp.Or(ctx.Err(), x.Read(ctx, labelled[0], rows)))
		guard.Check(placed(guard.Try(func() { guard.Check(view.NonNegative(guard.Must(view.New(rows)), "this method")) }), labelled))
		for at, i := range labelled[:run] {
			g, row := ties.Group[i], rows.RawRowView(at)
			offset += constant(row, 1)
			if b.Cost == CostFrobenius {
				floats.Scale(ties.Expand[g], row)
			}
			floats.Add(condensed.classes[g], row)
		}
	}
	for g, row := range condensed.classes {
		if row != nil {
			offset -= constant(row, ties.C[g])
		}
	}
	all := storedOr(b.Coefficients, n, opt.Rank)
	labels, of := b.Labels, newTiedRows(all, ties, b.Labels, opt.Rank)
	b.Labels, b.Coefficients = nil, of
	res, err := b.Fit(ctx, condensed, opt)
	guard.Check(placed(err, of.first))
	floats.AddConst(max(offset, 0), res.Objective)
	for i, label := range labels {
		if label >= 0 {
			z := mat.NewDense(1, opt.Rank, nil)
			z.Scale(ties.Expand[ties.Group[i]], mat.NewDense(1, opt.Rank, of.classes[ties.Group[i]]))
			guard.Check(all.Write(i, z))
		}
	}
	res.Stored = all
	if v, ok := all.(memoryStored); ok {
		res.Coefficients, res.Stored = v.Dense, nil
	}
	return res, nil
}

// placed returns err, with the row of a [SampleError] replaced by its sample.
func placed(err error, samples []int) error {
	if bad := (*SampleError)(nil); errors.As(err, &bad) {
		bad.Sample = samples[bad.Sample]
	}
	return err
}
