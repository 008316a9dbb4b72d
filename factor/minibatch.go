package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Blocks gives n samples of m features a few at a time, so that they need not fit into memory together.
type Blocks interface {
	// Dims returns n and m.
	Dims() (n, m int)
	// Read writes the samples from, …, from+p−1 to dst, p×m. A sample is the same whenever it is read.
	Read(ctx context.Context, from int, dst *mat.Dense) error
}

// MiniBatch is NMF, min ‖X − UVᵀ‖² or min D(X‖UVᵀ), of samples that are read in blocks. In memory are one
// block, the coefficients, n×k, and some copies of U.
//
// In an epoch each sample is read once. The coefficients of a block move to their minimum while U is held, and
// then U to the minimum of a function that sums up the blocks so far, each at its coefficients: online learning
// with sufficient statistics (Mairal, Bach, Ponce and Sapiro 2010; under the divergence Lefèvre, Bach and
// Févotte 2011). The weight of a block falls by a factor of e in about 8 blocks or 8192 samples, whichever are
// more, but by e² to e⁸ in an epoch; under the divergence twice as fast.
//
// A block has runs of up to 32 consecutive samples, in an order that the seed shuffles for each epoch. Under the
// Frobenius cost a part that occurs in very few samples can be missed: its sums are forgotten before it comes again.
type MiniBatch struct {
	Cost Cost // how the distance from the data is measured
	// Samples is p, the number of samples of a block, at least k; 0 means DefaultBlock. Where they cannot be
	// cut into equal runs a block has fewer.
	Samples int
}

// The defaults of MiniBatch.
const (
	DefaultBlock  = 1024
	DefaultEpochs = 10
)

const (
	blockRun    = 32   // samples that are read together
	firstRounds = 30   // iterations on the first block
	firstLift   = 0.05 // what entries of U then grow by, of the mean
)

// block holds some samples, x, p×m, and the sums of their values and of their squares.
type block struct {
	samples         []int
	x               *mat.Dense
	totals, squares []float64
}

// An onlineCost is a cost at u, k×m, which it moves, and at one block after another.
type onlineCost interface {
	// represent moves the coefficients v, k×p, of a block towards their minimum at u, nearer in the last
	// pass, and returns the cost there.
	represent(ctx context.Context, b *block, v *mat.Dense, last bool) (float64, error)
	// learn moves u by the block of the last call of represent and those before, whose weight falls by a factor.
	learn(ctx context.Context, by float64) error
}

// Memory returns about how many bytes Fit takes at most.
func (b MiniBatch) Memory(s Size) int64 {
	p := min(cmp.Or(b.Samples, DefaultBlock), s.Samples)
	first := s
	first.Samples = p
	n, m, k, _ := s.floats()
	return view.Bytes(8*(float64(p)*m+n*k+6*k*m) + float64(Parts{Cost: b.Cost}.Memory(first)))
}

// Serves returns nil, or an error that says what of the options needs all samples in memory.
func (MiniBatch) Serves(opt Options) error {
	switch {
	case opt.Solver != nil:
		return errors.New("batches support no solver setting")
	case cmp.Or(opt.Init, InitRandom) != InitRandom:
		return fmt.Errorf("batches do not support init %q; use %s", opt.Init, InitRandom)
	}
	return nil
}

// Fit factorises the samples, which must be ≥ 0, each with a value other than 0. An iteration of the options
// is an epoch; of Options.Start there is Basis alone. Result.Objective begins with the cost of the first block,
// scaled to n samples. The entry of an epoch is the sum of its blocks' costs, each before U moved by it, and
// the last entry the objective of the factors that are returned. Entries can rise.
//
// Fit fails on options and samples that cannot be used, the latter with a [*SampleError], when x.Read fails,
// and when ctx ends.
func (b MiniBatch) Fit(ctx context.Context, x Blocks, opt Options) (*Result, error) {
	opt.Iterations = cmp.Or(opt.Iterations, DefaultEpochs)
	f, err := b.start(x, opt)
	if err != nil {
		return nil, err
	}
	first, err := f.first(ctx)
	if err != nil {
		return nil, err
	}
	epoch := 0
	history, stop, err := descend(ctx, opt, first, func(bool) (float64, error) {
		epoch++
		return f.pass(ctx, epoch)
	})
	if err != nil {
		return nil, err
	}
	last, err := f.pass(ctx, 0)
	if err != nil {
		return nil, err
	}
	history[epoch] = last
	return f.finish(history, stop)
}

type miniBatch struct {
	x          Blocks
	n, m, p    int
	opt        Options
	parts      Parts
	u          *mat.Dense // k×m
	v          *mat.Dense // n×k, as returned
	room       *mat.Dense // p×m, of the samples of a block
	online     onlineCost
	forgetting float64 // the logarithm of the factor by which a block's weight falls in an epoch
}

func (b MiniBatch) start(x Blocks, opt Options) (*miniBatch, error) {
	if x == nil {
		return nil, errors.New("no data")
	}
	f := &miniBatch{x: x, opt: opt, parts: Parts{Cost: b.Cost}}
	f.n, f.m = x.Dims()
	switch {
	case b.Cost != CostFrobenius && b.Cost != CostKL:
		return nil, fmt.Errorf("batches do not support the cost %v; use %v or %v", b.Cost, CostFrobenius, CostKL)
	case f.n < 1 || f.m < 1:
		return nil, fmt.Errorf("no data: the matrix is %d×%d", f.n, f.m)
	}
	if err := cmp.Or(f.parts.check(), opt.check(f.n), b.Serves(opt)); err != nil {
		return nil, err
	}
	if f.p = cmp.Or(b.Samples, DefaultBlock); f.p >= f.n {
		f.p = f.n
	} else if f.p > 0 {
		f.p = f.run() * parallel.Count(f.p, blockRun)
	}
	if f.p < opt.Rank {
		return nil, fmt.Errorf("batches of %d samples are smaller than the rank %d", f.p, opt.Rank)
	}
	f.u = drawn(opt, "basis", f.m)
	if opt.Start != nil && opt.Start.Basis != nil {
		var err error
		if f.u, err = given(opt.Start.Basis, "basis vectors", f.m, opt.Rank); err != nil {
			return nil, err
		}
	}
	f.room = mat.NewDense(f.p, f.m, nil)
	// The longer blocks count, the later U follows; the shorter, the more it fits the last samples alone.
	f.forgetting = min(max(float64(f.n)/float64(8*max(f.p, 1024)), 2), 8)
	// From 0, or from 1 under the divergence, where nothing leaves 0. A sweep stops by its first step, which
	// must not come from numbers of another size than the data's.
	if b.Cost == CostKL {
		f.v, f.forgetting = uniform(f.n, opt.Rank), 2*f.forgetting
		f.online = &onlineKL{u: f.u, shares: algebra.Like(f.u), sums: make([]float64, opt.Rank)}
	} else {
		f.v = mat.NewDense(f.n, opt.Rank, nil)
		f.online = &onlineFrobenius{u: f.u, gram: mat.NewDense(opt.Rank, opt.Rank, nil), linear: algebra.Like(f.u)}
	}
	return f, nil
}

// run returns the number of samples of a run: nearly blockRun, the same throughout a block.
func (f *miniBatch) run() int { return f.p / parallel.Count(f.p, blockRun) }

// order returns the first samples of the runs of an epoch, shuffled but for a last one of fewer samples, or of epoch
// 0, the last pass, as they follow each other.
func (f *miniBatch) order(epoch int) (runs []int) {
	size := f.run()
	for from := 0; from < f.n; from += size {
		runs = append(runs, from)
	}
	if epoch > 0 {
		rng.New(f.opt.Seed, "order", epoch).Shuffle(f.n/size, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	}
	return runs
}

// first moves u to a minimum of the first block, and returns the block's cost, scaled to all samples.
func (f *miniBatch) first(ctx context.Context) (float64, error) {
	b, _, err := f.read(ctx, f.order(1))
	if err != nil {
		return 0, err
	}
	p, _ := b.x.Dims()
	opt := Options{Rank: f.opt.Rank, Iterations: firstRounds, Start: &Start{Basis: algebra.Transpose(f.u)}, KeepScale: true}
	res, err := f.parts.Fit(ctx, b.x, Known{}, opt)
	if err != nil {
		return 0, err
	}
	f.u.Copy(res.Basis.T())
	// What the first block has nothing of could not come back under the divergence.
	for r := range f.opt.Rank {
		row := f.u.RawRowView(r)
		floats.AddConst(firstLift*elementary.Sum(row)/float64(f.m), row)
	}
	return res.Objective[firstRounds] * float64(f.n) / float64(p), nil
}

// pass reads all samples once, moves their coefficients, and u except in epoch 0, and returns the sum of their
// costs.
func (f *miniBatch) pass(ctx context.Context, epoch int) (sum float64, err error) {
	for runs := f.order(epoch); len(runs) > 0; {
		if err := ctx.Err(); err != nil {
			return 0, context.Cause(ctx)
		}
		var b *block
		if b, runs, err = f.read(ctx, runs); err != nil {
			return 0, err
		}
		p, _ := b.x.Dims()
		v := mat.NewDense(f.opt.Rank, p, nil)
		for at, i := range b.samples {
			v.SetCol(at, f.v.RawRowView(i))
		}
		cost, err := f.online.represent(ctx, b, v, epoch == 0)
		if err != nil {
			return 0, err
		}
		for at, i := range b.samples {
			mat.Col(f.v.RawRowView(i), at, v)
		}
		if sum += cost; epoch > 0 {
			if err := f.online.learn(ctx, elementary.Exp(-f.forgetting*float64(p)/float64(f.n))); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// read reads a block of the first of the runs, checks its samples, and returns the other runs.
func (f *miniBatch) read(ctx context.Context, runs []int) (*block, []int, error) {
	b := &block{}
	for ; len(runs) > 0; runs = runs[1:] {
		p, from := len(b.samples), runs[0]
		size := min(f.run(), f.n-from)
		if p+size > f.p {
			break
		}
		if err := f.x.Read(ctx, from, f.room.Slice(p, p+size, 0, f.m).(*mat.Dense)); err != nil {
			return nil, nil, err
		}
		for i := range size {
			b.samples = append(b.samples, from+i)
		}
	}
	p := len(b.samples)
	b.x, b.totals, b.squares = f.room.Slice(0, p, 0, f.m).(*mat.Dense), make([]float64, p), make([]float64, p)
	d, err := view.New(b.x)
	if err == nil {
		err = view.NonNegative(d, "this method")
	}
	var bad *view.SampleError
	if errors.As(err, &bad) {
		bad.Sample = b.samples[bad.Sample]
	}
	algebra.EachRow(b.x, 1, func(at int, row []float64) {
		for _, x := range row {
			b.totals[at] += x
			b.squares[at] += x * x
		}
	})
	return b, runs, err
}

func (f *miniBatch) finish(history []float64, stop Stop) (*Result, error) {
	if !f.opt.KeepScale {
		scale := algebra.Lengths(f.u)
		algebra.DivideRows(f.u, scale)
		f.v.Apply(func(_, r int, x float64) float64 { return x * scale[r] }, f.v)
	}
	if !algebra.Finite(f.u) || !algebra.Finite(f.v) || !algebra.FiniteNumber(history[len(history)-1]) {
		return nil, fmt.Errorf("the factors overflow after %d epochs", len(history)-1)
	}
	basis := algebra.Transpose(f.u)
	model := &Additive{Cost: f.parts.Cost, Basis: basis}
	return &Result{Model: model, Basis: basis, Coefficients: f.v, Objective: history, Stop: stop}, nil
}

// onlineFrobenius is ‖X − vᵀu‖². What it knows of the blocks is Σ v·vᵀ and Σ v·X, of which U minimises
// ½·tr(uᵀ·gram·u) − tr(linearᵀ·u).
type onlineFrobenius struct {
	u, gram, linear *mat.Dense
	at              *frobeniusCost // of the last block
}

func (o *onlineFrobenius) represent(ctx context.Context, b *block, v *mat.Dense, _ bool) (float64, error) {
	o.at = newFrobeniusCost(view.Dense{X: b.x}, o.u, v, elementary.Sum(b.squares))
	problem := o.at.coefficientBlock()
	if err := descent.MinimiseRows(ctx, v, v, problem.Linear, problem.Quadratic, descent.MostSweeps); err != nil {
		return 0, err
	}
	o.at.moved(true)
	return o.at.value(), nil
}

func (o *onlineFrobenius) learn(ctx context.Context, by float64) error {
	problem := o.at.basisBlock()
	o.gram.Scale(by, o.gram)
	o.gram.Add(o.gram, problem.Quadratic)
	o.linear.Scale(by, o.linear)
	o.linear.Add(o.linear, problem.Linear)
	return descent.MinimiseRows(ctx, o.u, o.u, o.linear, o.gram, descent.MostSweeps)
}

// onlineKL is D(X‖vᵀu). Of a block Σ x·log(vᵀu') is at least Σ x·φ·log(v·u'/φ) at any u', φ being the shares
// of the terms in vᵀu, and the same at u (Lee and Seung 2001). It keeps Σ v and shares, Σ x·φ, of which u' =
// shares/Σ v is the minimum.
type onlineKL struct {
	u, shares *mat.Dense
	sums      []float64 // Σ v of each row
	at        *klCost   // of the last block
}

// Sweeps of a block's coefficients under the divergence, in an epoch and in the last pass.
const (
	klBlockSweeps = 3
	klLastSweeps  = 10
)

func (o *onlineKL) represent(ctx context.Context, b *block, v *mat.Dense, last bool) (float64, error) {
	o.lift()
	h := descent.NewKLHalf(descent.KLRows{Totals: b.totals, Dense: b.x}, v, o.u)
	sweeps := klBlockSweeps
	if last {
		sweeps = klLastSweeps
	}
	for range sweeps {
		if err := h.Sweep(ctx); err != nil {
			return 0, err
		}
	}
	o.at = newKLCost(view.Dense{X: b.x}, o.u, v, elementary.Sum(b.totals))
	return o.at.value(), nil
}

// lift brings the entries of u to no less than KLFloor of their rows' sums: a feature that is 0 in all samples
// so far would stay 0.
func (o *onlineKL) lift() {
	sums := make([]float64, len(o.sums))
	algebra.RowSums(sums, o.u)
	for r, s := range sums {
		row := o.u.RawRowView(r)
		for j, x := range row {
			row[j] = algebra.Moved(max(x, descent.KLFloor*s), 1)
		}
	}
}

func (o *onlineKL) learn(_ context.Context, by float64) error {
	problem := o.at.basisBlock()
	for r := range o.sums {
		row, shares, linear := o.u.RawRowView(r), o.shares.RawRowView(r), problem.Linear.RawRowView(r)
		o.sums[r] = by*o.sums[r] + problem.Positive.At(r, 0)
		for j, x := range row {
			if shares[j] = by*shares[j] + x*linear[j]; o.sums[r] >= algebra.LeastDenominator {
				row[j] = algebra.Moved(shares[j], 1/o.sums[r])
			}
		}
	}
	return nil
}
