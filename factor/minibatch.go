package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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

// MiniBatch is NMF, min ‖X − UVᵀ‖² or min D(X‖UVᵀ), of samples that are read in blocks. Its zero value is
// under the Frobenius cost.
//
// In an epoch each sample is read once. The coefficients of a block move to their minimum while U is
// held, and then U to the minimum of a function that sums up the blocks so far, each at the coefficients
// that it got: online learning with sufficient statistics (Mairal, Bach, Ponce and Sapiro 2010; under the
// divergence Lefèvre, Bach and Févotte 2011). What a block counts falls by a factor of e in about 8
// blocks or 8192 samples, whichever are more; under the divergence, where steps are shorter, in half as
// many; but by no less than e² in an epoch, under the divergence e⁴, and no more than e⁸ and e¹⁶. Before
// the first epoch a first block is factorised by itself, from which U starts.
//
// A block is put together from runs of up to 32 samples that follow each other, in an order that the seed
// shuffles for each epoch: a file whose samples are sorted by classes gives blocks of many of them. Under
// the Frobenius cost a part that occurs in very few samples can be missed: what it adds to the sums is
// forgotten before it comes again.
//
// Beside one block there are in memory the coefficients, n×k, and some copies of U.
type MiniBatch struct {
	// Cost is how the distance from the data is measured.
	Cost Cost
	// Samples is how many samples, p, a block has, at least k; 0 means DefaultBlock. Where they cannot be
	// cut into equal runs a block has fewer.
	Samples int
}

// Samples in a block of a MiniBatch, and epochs, where nothing else is asked for.
const (
	DefaultBlock  = 1024
	DefaultEpochs = 10
)

const (
	blockRun    = 32   // samples that are read together
	firstRounds = 30   // iterations on the first block
	firstLift   = 0.05 // what entries of U then grow by, of the mean
)

// block holds the samples of some runs.
type block struct {
	runs []run
	x    *mat.Dense // p×m
	// totals and squares are of each sample the sums of its values and their squares.
	totals, squares []float64
}

// A run is the samples from, …, to−1.
type run struct{ from, to int }

// An onlineCost is a cost at u, k×m, which it moves, and at one block after another.
type onlineCost interface {
	// represent moves the coefficients v, k×p, of a block towards their minimum at u, which last is
	// nearer to, and returns the cost there.
	represent(ctx context.Context, b *block, v *mat.Dense, last bool) (float64, error)
	// learn moves u by the blocks so far, of which those before that of the last call of represent count
	// as much as they did times by.
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
		return errors.New("a solver is for samples that are in memory together, and blocks have a way of their own")
	case cmp.Or(opt.Init, InitRandom) != InitRandom:
		return fmt.Errorf("initial factors %q need all samples in memory; in blocks there are %s ones", opt.Init, InitRandom)
	}
	return nil
}

// Fit factorises the samples, which must be ≥ 0, each with a value other than 0. An iteration of the
// options is an epoch. Serves tells of the options; of Options.Start there is Basis alone.
//
// Result.Objective begins with what the first block's cost after its factorisation comes to for n
// samples. The entry of an epoch is the sum of its blocks' costs, each before U moved by it; in place of
// the last stands the objective of the factors that are returned. Entries can rise.
//
// Fit fails on options and samples that cannot be used, the latter with a [*SampleError], when x.Read
// fails, and when ctx ends.
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

// miniBatch is a fit under way.
type miniBatch struct {
	x       Blocks
	n, m, p int
	opt     Options
	parts   Parts
	u       *mat.Dense // k×m
	v       *mat.Dense // n×k, as returned
	room    block      // of the samples of a block
	online  onlineCost
	// forgetting is the logarithm of the factor by which a block counts less after an epoch.
	forgetting float64
}

func (b MiniBatch) start(x Blocks, opt Options) (*miniBatch, error) {
	if x == nil {
		return nil, errors.New("no data")
	}
	f := &miniBatch{x: x, opt: opt, parts: Parts{Cost: b.Cost}}
	if b.Cost != CostFrobenius && b.Cost != CostKL {
		return nil, fmt.Errorf("blocks are not learned from under %v: choose %v or %v", b.Cost, CostFrobenius, CostKL)
	}
	f.n, f.m = x.Dims()
	if f.n < 1 || f.m < 1 {
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
		return nil, fmt.Errorf("blocks of %d samples; of rank %d they must have as many or more", f.p, opt.Rank)
	}
	f.u = drawn(opt, "basis", f.m)
	if opt.Start != nil && opt.Start.Basis != nil {
		var err error
		if f.u, err = given(opt.Start.Basis, "basis vectors", f.m, opt.Rank); err != nil {
			return nil, err
		}
	}
	// From 0, or from 1 under the divergence, where nothing leaves 0. A sweep stops by its first step,
	// which must not come from numbers of another size than the data's.
	f.v = mat.NewDense(f.n, opt.Rank, nil)
	if b.Cost == CostKL {
		for i := range f.n {
			row := f.v.RawRowView(i)
			for r := range row {
				row[r] = 1
			}
		}
	}
	f.room = block{x: mat.NewDense(f.p, f.m, nil), totals: make([]float64, f.p), squares: make([]float64, f.p)}
	// So many times a block counts less by e in an epoch. The longer blocks count, the later U follows,
	// and the fewer samples count, the more it fits these alone.
	f.forgetting = min(max(float64(f.n)/float64(8*max(f.p, 1024)), 2), 8)
	if b.Cost == CostKL {
		f.online = newOnlineKL(f.u)
		f.forgetting *= 2
	} else {
		f.online = newOnlineFrobenius(f.u)
	}
	return f, nil
}

// run returns how many samples a run has: nearly blockRun, as many in each of a block.
func (f *miniBatch) run() int { return f.p / parallel.Count(f.p, blockRun) }

// order returns the runs of an epoch, or those of epoch 0, the last pass, as they follow each other. A
// last one of fewer samples stays the last.
func (f *miniBatch) order(epoch int) []run {
	size := f.run()
	runs := make([]run, parallel.Count(f.n, size))
	for i := range runs {
		runs[i] = run{i * size, min((i+1)*size, f.n)}
	}
	if epoch > 0 {
		rng.New(f.opt.Seed, "order", epoch).Shuffle(f.n/size, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	}
	return runs
}

// first moves u to a minimum of the first block, and returns what the block's cost comes to for all
// samples.
func (f *miniBatch) first(ctx context.Context) (float64, error) {
	b, _, err := f.read(ctx, f.order(1))
	if err != nil {
		return 0, err
	}
	p, _ := b.x.Dims()
	res, err := f.parts.Fit(ctx, b.x, Known{}, Options{Rank: f.opt.Rank, Iterations: firstRounds, Start: &Start{Basis: algebra.Transpose(f.u)}, KeepScale: true})
	if err != nil {
		return 0, err
	}
	f.u.Copy(res.Basis.T())
	// What the first block has nothing of could not come back under the divergence.
	for r := range f.opt.Rank {
		row := f.u.RawRowView(r)
		add := firstLift * elementary.Sum(row) / float64(f.m)
		for j := range row {
			row[j] += add
		}
	}
	return res.Objective[firstRounds] * float64(f.n) / float64(p), nil
}

// pass reads all samples once, moves their coefficients, and u but in epoch 0, and returns the sum of
// their costs.
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
		b.each(func(at, i int) { v.SetCol(at, f.v.RawRowView(i)) })
		cost, err := f.online.represent(ctx, b, v, epoch == 0)
		if err != nil {
			return 0, err
		}
		b.each(func(at, i int) { mat.Col(f.v.RawRowView(i), at, v) })
		if sum += cost; epoch > 0 {
			if err := f.online.learn(ctx, elementary.Exp(-f.forgetting*float64(p)/float64(f.n))); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// each calls f with the place of each sample in the block and among all.
func (b *block) each(f func(at, i int)) {
	at := 0
	for _, r := range b.runs {
		for i := r.from; i < r.to; i++ {
			f(at, i)
			at++
		}
	}
}

// read reads a block of the first of the runs, and returns the others.
func (f *miniBatch) read(ctx context.Context, runs []run) (*block, []run, error) {
	p, next := 0, 0
	for ; next < len(runs) && p+runs[next].to-runs[next].from <= f.p; next++ {
		size := runs[next].to - runs[next].from
		if err := f.x.Read(ctx, runs[next].from, f.room.x.Slice(p, p+size, 0, f.m).(*mat.Dense)); err != nil {
			return nil, nil, err
		}
		p += size
	}
	b := &block{
		runs: runs[:next], x: f.room.x.Slice(0, p, 0, f.m).(*mat.Dense),
		totals: f.room.totals[:p], squares: f.room.squares[:p],
	}
	return b, runs[next:], b.check()
}

// check sums up the samples, and reports the first that cannot be used.
func (b *block) check() error {
	p, m := b.x.Dims()
	d, err := view.New(b.x)
	if err == nil {
		if negative := view.Negative(d); negative != nil {
			err = negative.Needing("this method")
		}
	}
	var bad *view.SampleError
	if errors.As(err, &bad) {
		place := bad.Sample
		b.each(func(at, i int) {
			if at == place {
				bad.Sample = i
			}
		})
	}
	parallel.DoWork(p*m, p, func(at int) {
		var total, square float64
		for _, x := range b.x.RawRowView(at) {
			total += x
			square += x * x
		}
		b.totals[at], b.squares[at] = total, square
	})
	return err
}

func (f *miniBatch) finish(history []float64, stop Stop) (*Result, error) {
	if !f.opt.KeepScale {
		scale := algebra.Lengths(f.u)
		algebra.DivideRows(f.u, scale)
		for i := range f.n {
			for r, s := range scale {
				f.v.RawRowView(i)[r] *= s
			}
		}
	}
	if !algebra.Finite(f.u) || !algebra.Finite(f.v) || !algebra.FiniteNumber(history[len(history)-1]) {
		return nil, fmt.Errorf("the factors have outgrown what numbers can hold after %d epochs", len(history)-1)
	}
	basis := algebra.Transpose(f.u)
	return &Result{
		Model: &Additive{Cost: f.parts.Cost, Basis: basis},
		Basis: basis, Coefficients: f.v, Objective: history, Stop: stop,
	}, nil
}

// onlineFrobenius is ‖X − vᵀu‖². What it knows of the blocks is Σ v·vᵀ and Σ v·X, of which U minimises
// ½·tr(uᵀ·gram·u) − tr(linearᵀ·u).
type onlineFrobenius struct {
	u, gram, linear *mat.Dense
	at              *frobeniusCost // of the last block
}

func newOnlineFrobenius(u *mat.Dense) *onlineFrobenius {
	k, _ := u.Dims()
	return &onlineFrobenius{u: u, gram: mat.NewDense(k, k, nil), linear: algebra.Like(u)}
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
	algebra.AddTo(o.gram, by, problem.Quadratic)
	algebra.AddTo(o.linear, by, problem.Linear)
	return descent.MinimiseRows(ctx, o.u, o.u, o.linear, o.gram, descent.MostSweeps)
}

// onlineKL is D(X‖vᵀu). Of a block at v and u Σ x·log(vᵀu) is at least Σ x·φ·log(v·u'/φ) at any u', φ
// being the shares of the terms in vᵀu, and the same at u (Lee and Seung 2001). What it knows of the
// blocks is Σ v and shares, Σ x·φ, of which u' = shares/Σ v is the minimum.
type onlineKL struct {
	u, shares *mat.Dense
	sums      []float64 // Σ v of each row
	at        *klCost   // of the last block
}

func newOnlineKL(u *mat.Dense) *onlineKL {
	k, _ := u.Dims()
	return &onlineKL{u: u, shares: algebra.Like(u), sums: make([]float64, k)}
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

// lift brings the entries of u to no less than klFloor of their rows' sums: a feature that is 0 in all
// samples so far would have a place in none.
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
