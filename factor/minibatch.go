package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Blocks reads n samples of m features in blocks, so that they need not fit into memory.
type Blocks interface {
	// Dims returns n and m.
	Dims() (n, m int)
	// Read writes the samples from, …, from+p−1 to dst, p×m. Repeated reads must give the same values.
	Read(ctx context.Context, from int, dst *mat.Dense) error
}

// Stored is an n×k matrix outside memory, such as in a file. Write writes the rows from, …, from+p−1, src, p×k.
type Stored interface {
	Blocks
	Write(from int, src *mat.Dense) error
}

// memoryStored is a Stored in memory.
type memoryStored struct{ *mat.Dense }

func (m memoryStored) rows(from int, x *mat.Dense) *mat.Dense {
	p, k := x.Dims()
	return m.Slice(from, from+p, 0, k).(*mat.Dense)
}

func (m memoryStored) Read(_ context.Context, from int, dst *mat.Dense) error {
	dst.Copy(m.rows(from, dst))
	return nil
}

func (m memoryStored) Write(from int, src *mat.Dense) error {
	m.rows(from, src).Copy(src)
	return nil
}

// MiniBatch is online NMF, min ‖X − UVᵀ‖² or another cost, of samples that are read in blocks. It holds one block, the
// coefficients, n×k, unless Coefficients is set, and a few copies of U in memory.
//
// An epoch reads each sample once. For each block, the coefficients are minimised with U fixed. U is then minimised over
// the sum of the blocks so far, each with its coefficients fixed, from sufficient statistics (Mairal, Bach, Ponce and
// Sapiro 2010; under divergences Lefèvre, Bach and Févotte 2011). The weight of a block decays by a factor of e in
// about 8 blocks or 8192 samples, whichever is more, within e² to e⁸ per epoch. Under other costs, or with missing
// values, it decays twice as fast.
//
// A block consists of runs of up to 32 consecutive samples; the seed shuffles their order for each epoch. Under the
// Frobenius cost a part that occurs in very few samples can be missed, because its statistics decay.
type MiniBatch struct {
	Cost Cost // the distance from the data
	// Exponent and Threshold are parameters of costs, as in [Parts]. A threshold of 0 is taken from the first block.
	Exponent, Threshold float64
	Missing             bool // values that are NaN are missing
	// Samples is p, the number of samples of a block, at least k; 0 means DefaultBlock. It is rounded down to a
	// multiple of the length of a run.
	Samples int
	// Labels, if set, tie the coefficients of the samples of each class, as [TieLabels] does, under CostFrobenius and CostKL
	// without missing values. −1 is unlabelled. Fit reads labelled samples once, and then works with their class's sum.
	Labels []int
	// Coefficients, n×k, if set, receives V instead of memory; Result.Coefficients is then nil.
	Coefficients Stored
}

// DefaultBlock and DefaultEpochs are the defaults of MiniBatch.Samples and of its Options.Iterations.
const (
	DefaultBlock  = 1024
	DefaultEpochs = 10
)

const (
	blockRun    = 32   // largest number of consecutive samples of a run
	firstRounds = 30   // iterations on the first block
	firstLift   = 0.05 // added to entries of U after the first block, relative to the mean of their row
)

// block holds samples x, p×m, with the sums of their values and of the squares.
type block struct {
	samples         []int
	x               *mat.Dense
	weights         *mat.Dense // 0 at missing values, or nil
	totals, squares []float64
}

// An onlineCost updates u, k×m, from successive blocks.
type onlineCost interface {
	// represent minimises over the coefficients v, k×p, of a block with u fixed, and returns the cost. It calls guard.Fail.
	represent(ctx context.Context, b *block, v *mat.Dense, by accuracy) float64
	// add scales the statistics of earlier blocks by by and adds the last block of represent.
	add(by float64)
	// minimise minimises over u given the statistics.
	minimise(ctx context.Context) error
	// statistics returns the memory of the statistics.
	statistics() [][]float64
}

// accuracy is how well represent minimises: in an epoch, in the last pass, or from the start in a pass of Sums.
type accuracy int

const (
	ofEpoch accuracy = iota
	ofLastPass
	ofSums
)

// Rounds of sweeps, single sweeps and multiplicative steps of represent, by accuracy.
var frobeniusRounds, klSweeps, splitSteps = [...]int{1, 1, 5}, [...]int{3, 10, 10}, [...]int{10, 50, 50}

// Memory returns an estimate of the bytes that Fit allocates.
func (b MiniBatch) Memory(s Size) int64 {
	p := min(cmp.Or(b.Samples, DefaultBlock), s.Samples)
	first := s
	first.Samples, first.Weighted = p, b.Missing
	n, m, k, _ := s.floats()
	if b.Coefficients != nil {
		n = float64(p)
	}
	return view.Bytes(8*(float64(p)*m+n*k+6*k*m) + float64(b.parts().Memory(first)))
}

func (b MiniBatch) parts() Parts {
	return Parts{Cost: b.Cost, Exponent: b.Exponent, Threshold: b.Threshold, EntryWeights: b.Missing}
}

// Serves returns an error for a cost, or an option in opt, that requires all samples in memory.
func (b MiniBatch) Serves(opt Options) error {
	switch err := b.parts().validate(); {
	case err != nil:
		return err
	case b.parts().cost().split == nil:
		return fmt.Errorf("batches do not support the cost %v", b.Cost)
	case b.Labels != nil && b.parts().cost().constant == nil, b.Labels != nil && b.Missing:
		return errors.New("batches support labels with cost frobenius or kl, without missing values")
	case opt.Solver != nil:
		return errors.New("batches support no solver setting")
	case cmp.Or(opt.Init, InitRandom) != InitRandom:
		return fmt.Errorf("batches do not support init %q; use %s", opt.Init, InitRandom)
	}
	return nil
}

// Fit factorises the samples, which must be ≥ 0 and not all zeros. An iteration of opt is an epoch. Of opt.Start only
// Basis is used. Result.Objective starts with the cost of the first block, scaled to n samples. The entry of an
// epoch is the sum of the costs of its blocks, each before the update of U, and the last entry is the objective of the
// returned factors. Entries can rise.
//
// Fit returns an error for invalid options, a [*SampleError] for an unusable sample, the error of x.Read, or the cause
// of the end of ctx.
func (b MiniBatch) Fit(ctx context.Context, x Blocks, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	opt.Iterations = cmp.Or(opt.Iterations, DefaultEpochs)
	if b.Labels != nil {
		return b.fitTied(ctx, x, opt)
	}
	f := b.start(x, opt)
	epoch := 0
	history, stop := descend(ctx, opt, f.fitFirstBlock(ctx), func(bool) float64 {
		epoch++
		return f.pass(ctx, epoch)
	})
	history[epoch] = f.pass(ctx, 0)
	return f.finish(history, stop)
}

type miniBatch struct {
	x          Blocks
	n, m, p    int
	opt        Options
	parts      Parts
	u          *mat.Dense // k×m
	v          Stored     // n×k, as returned after the last pass
	first      float64    // the coefficients before the first pass
	buffer     *mat.Dense // p×m buffer for the samples of a block
	online     onlineCost
	forgetting float64 // decay rate: a block's weight falls by exp(−forgetting) per epoch
}

// start calls guard.Fail.
func (b MiniBatch) start(x Blocks, opt Options) *miniBatch {
	guard.FailIf(x == nil, "no data")
	f := &miniBatch{x: x, opt: opt, parts: b.parts(), v: b.Coefficients}
	f.n, f.m = x.Dims()
	guard.FailIf(f.n < 1 || f.m < 1, "no data: the matrix is %d×%d", f.n, f.m)
	guard.Check(cmp.Or(b.Serves(opt), opt.validate(f.n)))
	if f.p = cmp.Or(b.Samples, DefaultBlock); f.p >= f.n {
		f.p = f.n
	} else if f.p > 0 {
		f.p = f.runLength() * parallel.Count(f.p, blockRun)
	}
	guard.FailIf(f.p < opt.Rank, "batches of %d samples are smaller than the rank %d", f.p, opt.Rank)
	f.u = randomFactor(opt, "basis", f.m)
	if opt.Start != nil && opt.Start.Basis != nil {
		f.u = initialFactor(opt.Start.Basis, "basis vectors", f.m, opt.Rank)
	}
	f.v = storedOr(f.v, f.n, opt.Rank)
	f.buffer = mat.NewDense(f.p, f.m, nil)
	f.online, f.first = f.parts.online(f.u)
	// A slow decay makes U follow late; a fast one makes it fit only the last samples.
	f.forgetting = min(max(float64(f.n)/float64(8*max(f.p, 1024)), 2), 8)
	if f.first > 0 {
		f.forgetting *= 2
	}
	return f
}

// storedOr returns x, which must be n×k, or n×k in memory if it is nil. It calls guard.Fail.
func storedOr(x Stored, n, k int) Stored {
	if x == nil {
		return memoryStored{mat.NewDense(n, k, nil)}
	}
	r, c := x.Dims()
	guard.FailIf(r != n || c != k, "coefficients are %d×%d; expected %d×%d", r, c, n, k)
	return x
}

// online returns the updates of u and the start of the coefficients: 0, or 1 if the updates cannot leave 0. Convergence
// is tested against the first sweep's step, so the start must not be on another scale than the data.
func (p *Parts) online(u *mat.Dense) (_ onlineCost, first float64) {
	k, _ := u.Dims()
	switch {
	case p.EntryWeights || p.Cost > CostKL:
		return &onlineSplit{parts: p, u: u, above: algebra.Like(u), below: algebra.Like(u)}, 1
	case p.Cost == CostKL:
		return &onlineKL{u: u, shares: algebra.Like(u), sums: make([]float64, k)}, 1
	}
	return &onlineFrobenius{u: u, gram: mat.NewDense(k, k, nil), linear: algebra.Like(u)}, 0
}

// runLength returns the length of a run: at most blockRun, equal for all runs of a block.
func (f *miniBatch) runLength() int { return f.p / parallel.Count(f.p, blockRun) }

// order returns the first sample of each run in the order of an epoch: shuffled, except a shorter last run. Epoch 0, the
// last pass, is not shuffled.
func (f *miniBatch) order(epoch int) (runs []int) {
	size := f.runLength()
	for from := 0; from < f.n; from += size {
		runs = append(runs, from)
	}
	if epoch > 0 {
		rng.New(f.opt.Seed, "order", epoch).Shuffle(f.n/size, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	}
	return runs
}

// fitFirstBlock fits u to the first block and returns the block's cost, scaled to all samples. It calls guard.Fail.
func (f *miniBatch) fitFirstBlock(ctx context.Context) float64 {
	b, _ := f.read(ctx, f.order(1))
	if f.parts.Cost == CostHuber && f.parts.Threshold == 0 {
		weights := b.weights
		if weights == nil {
			weights = onesMatrix(b.x.Dims())
		}
		f.parts.Threshold = defaultThreshold(view.Dense{X: b.x}, weights)
	}
	var x mat.Matrix = b.x
	if b.weights != nil {
		x = &Weighted{Matrix: b.x, Entries: b.weights}
	}
	p, _ := b.x.Dims()
	opt := Options{Rank: f.opt.Rank, Iterations: firstRounds, Start: &Start{Basis: algebra.Transpose(f.u)}, KeepScale: true}
	res, err := f.parts.Fit(ctx, x, Known{}, opt)
	guard.Check(guard.Wrap(err, "the first batch"))
	f.u.Copy(res.Basis.T())
	// Features that are 0 in the first block could not leave 0 under the divergence.
	for r := range f.opt.Rank {
		row := f.u.RawRowView(r)
		floats.AddConst(firstLift*elementary.Sum(row)/float64(f.m), row)
	}
	return res.Objective[firstRounds] * float64(f.n) / float64(p)
}

// pass reads all samples once, updates their coefficients and, except in epoch 0, u. It returns the sum of the blocks'
// costs. Epoch 0 scales u and the coefficients as the result needs. It calls guard.Fail.
func (f *miniBatch) pass(ctx context.Context, epoch int) (sum float64) {
	rows := mat.NewDense(f.p, f.opt.Rank, nil)
	scale := slices.Repeat([]float64{1}, f.opt.Rank)
	if epoch == 0 && !f.opt.KeepScale {
		scale = algebra.Lengths(f.u)
	}
	for runs := f.order(epoch); len(runs) > 0; {
		guard.Check(context.Cause(ctx))
		var b *block
		b, runs = f.read(ctx, runs)
		p, _ := b.x.Dims()
		rows := rows.Slice(0, p, 0, f.opt.Rank).(*mat.Dense)
		f.eachRun(rows, b.samples, func(from int, rows *mat.Dense) error {
			if epoch == 1 {
				rows.Apply(func(int, int, float64) float64 { return f.first }, rows)
				return nil
			}
			return f.v.Read(ctx, from, rows)
		})
		v := algebra.Transpose(rows)
		by := ofEpoch
		if epoch == 0 {
			by = ofLastPass
		}
		cost := f.online.represent(ctx, b, v, by)
		rows.Apply(func(at, r int, _ float64) float64 { return v.At(r, at) * scale[r] }, rows)
		guard.FailIf(!algebra.Finite(rows), "the coefficients overflow")
		f.eachRun(rows, b.samples, f.v.Write)
		if sum += cost; epoch > 0 {
			f.online.add(elementary.Exp(-f.forgetting * float64(p) / float64(f.n)))
			guard.Check(f.online.minimise(ctx))
		}
	}
	if epoch == 0 {
		algebra.DivideRows(f.u, scale)
	}
	return sum
}

// eachRun calls f with the rows of each run of consecutive samples, and the first of these. It calls guard.Fail.
func (f *miniBatch) eachRun(rows *mat.Dense, samples []int, call func(from int, rows *mat.Dense) error) {
	_, k := rows.Dims()
	for at := 0; at < len(samples); {
		end := min(at+f.runLength(), len(samples))
		guard.Check(call(samples[at], rows.Slice(at, end, 0, k).(*mat.Dense)))
		at = end
	}
}

// read reads and validates a block of the first runs, and returns the remaining runs. It calls guard.Fail.
func (f *miniBatch) read(ctx context.Context, runs []int) (*block, []int) {
	b := &block{}
	for ; len(runs) > 0; runs = runs[1:] {
		p, from := len(b.samples), runs[0]
		size := min(f.runLength(), f.n-from)
		if p+size > f.p {
			break
		}
		guard.Check(f.x.Read(ctx, from, f.buffer.Slice(p, p+size, 0, f.m).(*mat.Dense)))
		for i := range size {
			b.samples = append(b.samples, from+i)
		}
	}
	b.x = f.buffer.Slice(0, len(b.samples), 0, f.m).(*mat.Dense)
	b.check(&f.parts)
	return b, runs
}

// check validates the samples of the block, and sets their weights and sums. It calls guard.Fail.
func (b *block) check(parts *Parts) {
	p := len(b.samples)
	b.totals, b.squares = make([]float64, p), make([]float64, p)
	guard.Check(placed(guard.Try(func() {
		if parts.EntryWeights {
			b.fill()
		}
		d := guard.Must(view.New(b.x))
		guard.Check(view.NonNegative(d, "this method"))
		if info := parts.cost(); info.positive {
			guard.Must(info.samples(d))
		}
	}), b.samples))
	algebra.EachRow(b.x, 1, func(at int, row []float64) {
		b.totals[at], b.squares[at] = elementary.Sum(row), elementary.Dot(row, row)
	})
}

// fill sets weights, if values are missing, and replaces these by 1. It calls guard.Fail.
func (b *block) fill() {
	_, weights, _, err := view.Unweighted(&Weighted{Matrix: b.x}, false)
	if guard.Check(err); weights == nil {
		return
	}
	b.weights = weights
	b.x.Apply(func(i, j int, x float64) float64 {
		if weights.At(i, j) == 0 {
			return 1
		}
		return x
	}, b.x)
}

func (f *miniBatch) finish(history []float64, stop Stop) (*Result, error) {
	if !algebra.Finite(f.u) || !algebra.FiniteNumber(history[len(history)-1]) {
		return nil, fmt.Errorf("the factors overflow after %d epochs", len(history)-1)
	}
	basis := algebra.Transpose(f.u)
	model := &Additive{Cost: f.parts.Cost, Exponent: f.parts.Exponent, Threshold: f.parts.Threshold, Basis: basis}
	out := &Result{Model: model, Basis: basis, Objective: history, Stop: stop}
	if v, ok := f.v.(memoryStored); ok {
		out.Coefficients = v.Dense
	} else {
		out.Stored = f.v
	}
	return out, nil
}

// onlineFrobenius is ‖X − vᵀu‖². Its statistics are gram = Σ v·vᵀ and linear = Σ v·X over the blocks; U minimises
// ½·tr(uᵀ·gram·u) − tr(linearᵀ·u).
type onlineFrobenius struct {
	u, gram, linear *mat.Dense
	at              *frobeniusCost // cost of the last block
}

func (o *onlineFrobenius) represent(ctx context.Context, b *block, v *mat.Dense, by accuracy) float64 {
	o.at = newFrobeniusCost(view.Dense{X: b.x}, o.u, v, elementary.Sum(b.squares))
	problem := o.at.coefficientBlock()
	for range frobeniusRounds[by] {
		guard.Check(descent.MinimiseRows(ctx, v, v, problem.Linear, problem.Quadratic, descent.MostSweeps))
	}
	o.at.moved(true)
	return o.at.value()
}

func (o *onlineFrobenius) add(by float64) {
	problem := o.at.basisBlock()
	o.gram.Scale(by, o.gram)
	o.gram.Add(o.gram, problem.Quadratic)
	o.linear.Scale(by, o.linear)
	o.linear.Add(o.linear, problem.Linear)
}

func (o *onlineFrobenius) minimise(ctx context.Context) error {
	return descent.MinimiseRows(ctx, o.u, o.u, o.linear, o.gram, descent.MostSweeps)
}

func (o *onlineFrobenius) statistics() [][]float64 {
	return [][]float64{o.linear.RawMatrix().Data, o.gram.RawMatrix().Data}
}

// onlineKL is D(X‖vᵀu). With φ the shares of the terms in vᵀu, Σ x·φ·log(v·u'/φ) is a lower bound of Σ x·log(vᵀu') for
// any u', tight at u (Lee and Seung 2001). Its statistics over the blocks are sums = Σ v and shares = Σ x·φ; the bound is
// optimal at u' = shares/sums.
type onlineKL struct {
	u, shares *mat.Dense
	sums      []float64 // Σ v for each row
	at        *klCost   // cost of the last block
}

func (o *onlineKL) represent(ctx context.Context, b *block, v *mat.Dense, by accuracy) float64 {
	raiseToFloor(o.u)
	h := descent.NewKLHalf(descent.KLRows{Totals: b.totals, Dense: b.x}, v, o.u)
	for range klSweeps[by] {
		guard.Check(h.Sweep(ctx))
	}
	o.at = newKLCost(view.Dense{X: b.x}, o.u, v, elementary.Sum(b.totals))
	return o.at.value()
}

// raiseToFloor raises the entries of u to at least KLFloor of their row's sum: otherwise a feature that is 0 in all
// samples so far would stay 0.
func raiseToFloor(u *mat.Dense) {
	k, _ := u.Dims()
	sums := make([]float64, k)
	algebra.RowSums(sums, u)
	for r, s := range sums {
		row := u.RawRowView(r)
		for j, x := range row {
			row[j] = algebra.FlooredProduct(max(x, descent.KLFloor*s), 1)
		}
	}
}

func (o *onlineKL) add(by float64) {
	problem := o.at.basisBlock()
	for r := range o.sums {
		shares, linear := o.shares.RawRowView(r), problem.Linear.RawRowView(r)
		o.sums[r] = by*o.sums[r] + problem.Positive.At(r, 0)
		for j, x := range o.u.RawRowView(r) {
			shares[j] = by*shares[j] + x*linear[j]
		}
	}
}

func (o *onlineKL) minimise(context.Context) error {
	for r, sum := range o.sums {
		if sum < algebra.LeastDenominator {
			continue
		}
		row := o.u.RawRowView(r)
		for j, x := range o.shares.RawRowView(r) {
			row[j] = algebra.FlooredProduct(x, 1/sum)
		}
	}
	return nil
}

func (o *onlineKL) statistics() [][]float64 { return [][]float64{o.shares.RawMatrix().Data, o.sums} }

// onlineSplit is any cost that splits its gradient, also with missing values. At u the cost of a block with the parts P − N
// of its gradient has a tight bound, which is minimal at u' = (N·u^a/(P·u^b))^γ, with a = max(2 − β, 0), b = min(1 − β, 0)
// and γ of betaDivergence (Févotte and Idier 2011); robust costs have β = 2. Its statistics over the blocks are
// above = Σ N·u^a and below = Σ P·u^b.
type onlineSplit struct {
	parts           *Parts
	u, above, below *mat.Dense
	at              cost // cost of the last block
}

func (o *onlineSplit) represent(ctx context.Context, b *block, v *mat.Dense, by accuracy) float64 {
	raiseToFloor(o.u)
	o.at = o.parts.cost().weighted(view.Dense{X: b.x}, b.weights, o.u, v, nil)
	next := func() Block {
		o.at.moved(true)
		return o.at.coefficientBlock()
	}
	solve(ctx, v, false, splitSteps[by], next)
	o.at.moved(true)
	return o.at.value()
}

// powers returns a, b and γ.
func (o *onlineSplit) powers() (a, b func(float64) float64, power float64) {
	info := o.parts.cost()
	return powerOf(max(2-info.degree, 0)), powerOf(min(1-info.degree, 0)), cmp.Or(info.power, 1)
}

func (o *onlineSplit) add(by float64) {
	problem := o.at.basisBlock()
	a, b, _ := o.powers()
	algebra.EachRow(o.u, divisionWork, func(r int, row []float64) {
		above, below := o.above.RawRowView(r), o.below.RawRowView(r)
		negative, positive := problem.Linear.RawRowView(r), problem.Positive.RawRowView(r)
		for j, x := range row {
			if x == 0 {
				continue // so is the whole vector
			}
			above[j] = by*above[j] + negative[j]*a(x)
			below[j] = by*below[j] + positive[j]*b(x)
		}
	})
}

func (o *onlineSplit) minimise(context.Context) error {
	_, _, power := o.powers()
	algebra.EachRow(o.u, divisionWork, func(r int, row []float64) {
		above := o.above.RawRowView(r)
		for j, below := range o.below.RawRowView(r) {
			if row[j] > 0 && below >= algebra.LeastDenominator {
				row[j] = algebra.FlooredProduct(elementary.Pow(above[j]/below, power), 1)
			}
		}
	})
	return nil
}

func (o *onlineSplit) statistics() [][]float64 {
	return [][]float64{o.above.RawMatrix().Data, o.below.RawMatrix().Data}
}
