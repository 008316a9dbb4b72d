package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// sharedDraw is a draw with everything that its trials share. Each part is computed for the first trial that needs it,
// and released with the draw after its last trial.
type sharedDraw struct {
	draw
	plan   *Plan
	view   fitting.Once[*input.View]
	rank   fitting.Once[*spec.RankChoice]
	count  fitting.Once[*spec.CountChoice]
	shared factor.Shared // the principal directions that direct methods share
	// By method: the fit of a direct method, which serves all ranks, and the trial of a method that clusters the
	// features, which has no rank.
	direct     []fitting.Once[*fitting.Represented]
	onFeatures []fitting.Once[*finished]
}

func newSharedDraw(p *Plan, id drawID) *sharedDraw {
	many := len(p.methods)
	return &sharedDraw{
		draw: p.draw(id.k, id.repeat), plan: p,
		direct: make([]fitting.Once[*fitting.Represented], many), onFeatures: make([]fitting.Once[*finished], many),
	}
}

// features returns the features of the draw's samples. Trials share them if they are learned.
func (d *sharedDraw) features(ctx context.Context) (*input.View, error) {
	if !d.plan.Inputs.PerDraw() && !d.plan.draws.share {
		return d.plan.view(ctx, d.draw)
	}
	return d.view.Get(ctx, func() (*input.View, error) { return d.plan.view(ctx, d.draw) })
}

func (p *Plan) view(ctx context.Context, d draw) (*input.View, error) {
	return p.Inputs.View(ctx, d.rows, d.testRows, d.id.k, rng.Seed(p.Experiment.Seed, "words", d.id.k, d.id.repeat))
}

// draws holds the draws of running trials.
type draws struct {
	mu      sync.Mutex
	open    map[drawID]func() *sharedDraw
	pending map[drawID]int // the number of unfinished trials
	share   bool           // whether direct methods share features and principal directions
	// modelled makes the draw whose models are saved. The plan keeps it, because its trials may run again once the best
	// ranks are known, and models and tables need its visual words.
	modelled func() *sharedDraw
}

// expectTrials drops the open draws and counts the trials of the coming ones.
func (d *draws) expectTrials(todo []trial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open, d.pending = map[drawID]func() *sharedDraw{}, map[drawID]int{}
	for _, t := range todo {
		d.pending[t.drawID]++
	}
}

// acquireDraw returns a function that makes the trial's draw at its first call; all trials of a draw get the same. The
// trial calls done once, at its end.
func (p *Plan) acquireDraw(t trial) (get func() *sharedDraw, done func()) {
	d, id := &p.draws, t.drawID
	d.mu.Lock()
	defer d.mu.Unlock()
	if get = d.open[id]; get == nil {
		if get = d.modelled; !p.isModelled(t) {
			get = sync.OnceValue(func() *sharedDraw { return newSharedDraw(p, id) })
		}
		if d.pending[id] > 0 {
			d.open[id] = get
		}
	}
	return get, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.pending[id]--; d.pending[id] == 0 {
			delete(d.open, id)
		}
	}
}

// reserveDirections reserves memory for the features and principal directions that two or more direct methods share in
// each draw. ok is false if the trials themselves need the memory.
func (p *Plan) reserveDirections(budget *memory.Budget, workers int) (release func(), ok bool) {
	direct := lists.Indices(p.methods, func(m *fitting.Method) bool { return m.Needs.Direct })
	if len(direct) < 2 {
		return nil, false
	}
	s := p.largestProblem(p.mostClasses(), 1)
	n, m := float64(s.N), float64(s.M)
	need := int64(8*(n*m+3*min(n, m)*min(n, m)) + float64(s.Input()))
	release, err := budget.Keep(need*int64(workers+1), "the features and principal directions of draws")
	if err != nil {
		return nil, false
	}
	if p.checkMemory(budget) != nil {
		release()
		return nil, false
	}
	return release, true
}

// firstShuffled returns the first count numbers of rand.Rand.Perm(n), with memory for count numbers only.
//
// The shuffle goes from i = n−1 down to 1 and swaps place i with a random place ≤ i. firstShuffled undoes the swaps,
// the last one first, and follows the first count places back to their numbers. It reads the random stream twice, the
// second time in blocks from the last to the first.
func firstShuffled(n, count int, src *rand.ChaCha8) []int {
	const block = 1 << 16
	stream := rand.New(src)
	if count > n/16 {
		return stream.Perm(n)[:count]
	}
	var states []rand.ChaCha8 // before the highest step of each block
	for i := n - 1; i > 0; i-- {
		if i == n-1 || i%block == block-1 {
			states = append(states, *src)
		}
		stream.Uint64N(uint64(i) + 1)
	}
	first := make([]int, count)
	followed := make(map[int]int, count) // the index among the first places of the place that is followed
	for i := range first {
		followed[i] = i
	}
	drawn := make([]int, block)
	for at, state := range slices.Backward(states) {
		*src = state
		from := (len(states) - 1 - at) * block
		to := min(from+block, n)
		for i := to - 1; i >= max(from, 1); i-- {
			drawn[i-from] = int(stream.Uint64N(uint64(i) + 1))
		}
		for i := max(from, 1); i < to; i++ {
			j := drawn[i-from]
			a, atI := followed[i]
			b, atJ := followed[j]
			if !atI && !atJ {
				continue
			}
			delete(followed, i)
			delete(followed, j)
			if atI {
				followed[j] = a
			}
			if atJ {
				followed[i] = b
			}
		}
	}
	for number, place := range followed {
		first[place] = number
	}
	return first
}

// drawLinks draws a share of all pairs of samples, and links each by the classes in truth.
func drawLinks(l spec.Links, truth []int, src *rand.ChaCha8) (must, cannot [][2]int) {
	if l.Share == 0 {
		return nil, nil
	}
	n := len(truth)
	all := n * (n - 1) / 2
	for _, at := range firstShuffled(all, int(math.Round(l.Share*float64(all))), src) {
		// Pair number at of (1,0), (2,0), (2,1), (3,0), …
		i := int((1 + math.Sqrt(float64(1+8*at))) / 2)
		for i*(i-1)/2 > at {
			i--
		}
		for i*(i+1)/2 <= at {
			i++
		}
		pair := [2]int{at - i*(i-1)/2, i}
		if truth[pair[0]] == truth[pair[1]] {
			must = append(must, pair)
		} else {
			cannot = append(cannot, pair)
		}
	}
	return must, cannot
}
