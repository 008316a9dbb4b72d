package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

// tiedRows are n rows of samples or coefficients outside memory as condensed rows: one for each class, in memory, then the
// unlabelled rows.
type tiedRows struct {
	Blocks
	classes *mat.Dense
	rest    []int // the unlabelled rows
}

func (t tiedRows) Dims() (n, m int) {
	c, m := t.classes.Dims()
	return c + len(t.rest), m
}

// each calls class with each row of x that is a class, and rest with the other rows in runs of consecutive samples. The
// first row of x is the condensed row from.
func (t tiedRows) each(from int, x *mat.Dense, class func(in, row []float64), rest func(sample int, rows *mat.Dense) error) error {
	p, m := x.Dims()
	c, _ := t.classes.Dims()
	at := 0
	for ; at < p && from+at < c; at++ {
		class(t.classes.RawRowView(from+at), x.RawRowView(at))
	}
	for at < p {
		first := from + at - c
		run := 1
		for at+run < p && t.rest[first+run] == t.rest[first]+run {
			run++
		}
		if err := rest(t.rest[first], x.Slice(at, at+run, 0, m).(*mat.Dense)); err != nil {
			return err
		}
		at += run
	}
	return nil
}

func (t tiedRows) Read(ctx context.Context, from int, dst *mat.Dense) error {
	return t.each(from, dst, func(in, row []float64) { copy(row, in) }, func(sample int, rows *mat.Dense) error { return t.Blocks.Read(ctx, sample, rows) })
}

func (t tiedRows) Write(from int, src *mat.Dense) error {
	return t.each(from, src, func(in, row []float64) { copy(in, row) }, t.Blocks.(Stored).Write)
}

// fitTied fits the condensed samples D^-½AᵀX, or AᵀX under the divergence, where A assigns samples to classes, and gives
// each labelled sample the coefficients of its class; see [view.Condensation].
func (b MiniBatch) fitTied(ctx context.Context, x Blocks, opt Options) (*Result, error) {
	if x == nil {
		return nil, errors.New("no data")
	}
	n, m := x.Dims()
	if err := cmp.Or(b.Serves(opt), opt.validate(n), Known{Labels: b.Labels}.Check(n)); err != nil {
		return nil, err
	}
	number, size, rest := map[int]int{}, []float64(nil), []int(nil) // the classes in the order of their first samples
	for i, label := range b.Labels {
		c, seen := number[label]
		switch {
		case label < 0:
			rest = append(rest, i)
			continue
		case !seen:
			c = len(size)
			number[label], size = c, append(size, 0)
		}
		size[c]++
	}
	if len(size) == 0 {
		return nil, errors.New("label ties need labelled samples; none are given")
	}
	condensed := tiedRows{x, mat.NewDense(len(size), m, nil), rest}
	offset := 0.0
	bits := func(row []float64, size float64) (sum float64) { // the part of the cost that does not depend on the factors
		if b.Cost == CostFrobenius {
			return algebra.Dot(row, row)
		}
		for _, v := range row {
			if v > 0 {
				sum += v * elementary.Log(v/size)
			}
		}
		return sum
	}
	labelled := lists.Indices(b.Labels, func(label int) bool { return label >= 0 })
	for len(labelled) > 0 {
		run := 1
		for run < min(blockRun, len(labelled)) && labelled[run] == labelled[0]+run {
			run++
		}
		rows := mat.NewDense(run, m, nil)
		if err := cmp.Or(ctx.Err(), x.Read(ctx, labelled[0], rows)); err != nil {
			return nil, err
		}
		d, err := view.New(rows)
		if err == nil {
			err = view.NonNegative(d, "this method")
		}
		if err != nil {
			return nil, placed(err, func(at int) int { return labelled[at] })
		}
		for at, i := range labelled[:run] {
			floats.Add(condensed.classes.RawRowView(number[b.Labels[i]]), rows.RawRowView(at))
			offset += bits(rows.RawRowView(at), 1)
		}
		labelled = labelled[run:]
	}
	expand := make([]float64, len(size))
	for c, size := range size {
		in := condensed.classes.RawRowView(c)
		if expand[c] = 1 / size; b.Cost == CostFrobenius {
			expand[c] = 1 / math.Sqrt(size)
			floats.Scale(expand[c], in)
		}
		offset -= bits(in, size)
	}
	all, labels := b.Coefficients, b.Labels
	if all == nil {
		all = memoryStored{mat.NewDense(n, opt.Rank, nil)}
	} else if r, k := all.Dims(); r != n || k != opt.Rank {
		return nil, fmt.Errorf("coefficients are %d×%d; expected %d×%d", r, k, n, opt.Rank)
	}
	of := tiedRows{all, mat.NewDense(len(size), opt.Rank, nil), rest}
	b.Labels, b.Coefficients = nil, of
	if tell := opt.OnIteration; tell != nil {
		opt.OnIteration = func(i int, objective float64) { tell(i, objective+offset) }
	}
	res, err := b.Fit(ctx, condensed, opt)
	if err != nil {
		return nil, placed(err, func(row int) int {
			if row < len(size) {
				return slices.IndexFunc(labels, func(label int) bool { return label >= 0 && number[label] == row })
			}
			return rest[row-len(size)]
		})
	}
	floats.AddConst(max(offset, 0), res.Objective)
	for i, label := range labels {
		if label < 0 {
			continue
		}
		z := slices.Clone(of.classes.RawRowView(number[label]))
		floats.Scale(expand[number[label]], z)
		if err := all.Write(i, mat.NewDense(1, opt.Rank, z)); err != nil {
			return nil, err
		}
	}
	res.Stored = all
	if v, ok := all.(memoryStored); ok {
		res.Coefficients, res.Stored = v.Dense, nil
	}
	return res, nil
}

// placed returns err, with the sample of a [SampleError] replaced by sample of it.
func placed(err error, sample func(int) int) error {
	if bad := (*SampleError)(nil); errors.As(err, &bad) {
		bad.Sample = sample(bad.Sample)
	}
	return err
}
