package pipeline

import (
	"context"
	"errors"
	"image"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// An image that exceeds the memory limit is no bad image: skipping does not depend on the limit.
func TestMemorySkipsNothing(t *testing.T) {
	testkit.Slow(t)
	set := photograph(t, 3)
	writePNG(t, filepath.Join(set, "across", "99.png"), image.NewGray(image.Rect(0, 0, 6000, 5000)))
	for _, text := range []string{"{pixels: 8}", "{hog: true}", "{sift: dense, words: 20}"} {
		e, err := spec.Parse([]byte("{name: x, methods: [nmf], features: " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set, e.Features.SkipBad = set, true
		_, err = input.Prepare(memory.NewContext(t.Context(), memory.New(memory.Least)), e, input.PrepareOptions{})
		refused(t, err, "99.png")
		var bad *features.BadSampleError
		if errors.As(err, &bad) {
			t.Errorf("%s: got a bad sample, error %v, want a memory limit", text, err)
		}
	}
}

// refused checks that an error reports more memory than the limit.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var e *memory.LimitError
	if !errors.As(err, &e) {
		t.Errorf("got error %v, want a refusal for want of memory", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got error %v, want one with %q", err, w)
		}
	}
}

// Work that cannot fit the budget is refused, with the number of bytes, before images are read or folders are created.
func TestMemoryRefuses(t *testing.T) {
	load := func(set, text string) *spec.Experiment {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		return e
	}
	tight := memory.NewContext(t.Context(), memory.New(512e6))
	photographs := photograph(t, 8)
	e := load(photographs, "{name: x, methods: [nmf], features: {pixels: 2048}}")
	_, err := input.Prepare(tight, e, input.PrepareOptions{Progress: func(what string, done, _ int) { t.Errorf("%s: %d done", what, done) }})
	refused(t, err, "24×4194304", "805 MB", "512 MB")

	// 4000 samples make several kernel matrices of 128 MB.
	e = load(testkit.CSV(t, 2000, 2000), "{name: x, methods: [nmf, cf-ogl], repeats: 1}")
	in, err := input.Prepare(tight, e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := NewPlan(tight, e, in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(tight, unasked{t}, RunOptions{})
	refused(t, err, "cf-ogl", "4000 samples", "512 MB")
	_, err = grouping.Groups{Method: e.Methods[1]}.Find(tight, in, nil)
	refused(t, err, "cf-ogl", "4000 samples", "512 MB")

	// Spectral clusterers do not factorise.
	e.Methods = e.Methods[:1]
	e.Cluster.By = "ncut"
	if p, err = NewPlan(tight, e, in); err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(tight, unasked{t}, RunOptions{})
	refused(t, err, "4000 samples")
}

// unasked is a sink that must not be called.
type unasked struct{ *testing.T }

func (u unasked) Begin(*Summary) (map[string]record.Record, error) {
	u.Error("a place for the results of a plan that is refused")
	return nil, nil
}
func (u unasked) HasModel(string) bool                            { return true }
func (u unasked) Put(*record.Record, string, *models.Model) error { return nil }

// A budget for one trial at a time changes no result and is released completely.
func TestMemoryTight(t *testing.T) {
	const text = "{name: x, task: classify, methods: [original, nmf, pca], features: {sift: dense, words: 20, grid: 2x2}, train: 4, test: rest, repeats: 2}"
	set := photograph(t, 5)
	run := func(ctx context.Context) []record.Record {
		in := prepare(t, text, set, input.PrepareOptions{})
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		p, err := NewPlan(t.Context(), e, in)
		if err != nil {
			t.Fatal(err)
		}
		records, err := p.Run(ctx, nil, RunOptions{Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	budget := memory.New(memory.Least)
	free := budget.Free()
	// All memory except the needs of the largest trial and a photograph.
	in := prepare(t, text, set, input.PrepareOptions{})
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	most := int64(3 << 20)
	for _, m := range p.methods {
		most = max(most, m.Need(p.largestProblem(3, 3), e.Task, e.Classifier))
	}
	release, err := budget.Keep(free-most-p.sharedMemory(), "the rest")
	if err != nil {
		t.Fatal(err)
	}
	tight := memory.NewContext(t.Context(), budget)
	if diff := cmp.Diff(run(t.Context()), run(tight)); diff != "" {
		t.Errorf("with little memory (-much +little):\n%s", diff)
	}
	release()
	if budget.Free() != free {
		t.Errorf("%d bytes of the budget are free after the run, %d were before", budget.Free(), free)
	}
	if share, err := budget.Acquire(t.Context(), free, "all"); err != nil {
		t.Error(err)
	} else {
		share()
	}
}

// An image that exceeds the budget alone is refused by name.
func TestMemoryOfOneImage(t *testing.T) {
	testkit.Slow(t)
	set := photograph(t, 3)
	large := filepath.Join(set, "down", "00.png")
	writePNG(t, large, image.NewGray(image.Rect(0, 0, 9000, 9000)))
	for _, text := range []string{
		"{name: x, methods: [nmf]}",
		"{name: x, methods: [nmf], features: {hog: true}}",
		"{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}",
	} {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		_, err = input.Prepare(memory.NewContext(t.Context(), memory.New(128e6)), e, input.PrepareOptions{})
		refused(t, err, large, "9000×9000", "128 MB")
	}
}

// Without random links, no list of all pairs is allocated.
func TestNoLinksTakeNoMemory(t *testing.T) {
	truth := make([]int, 5000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must, cannot := drawLinks(spec.Links{}, truth, rng.Source(1))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || must != nil || cannot != nil {
		t.Errorf("%d bytes for %d links of %d samples", took, len(must)+len(cannot), len(truth))
	}
}

// stuck is a matrix whose values block until release is closed.
type stuck struct {
	mat.Matrix
	asked   func()
	release chan struct{}
}

func (s stuck) At(i, j int) float64 {
	s.asked()
	<-s.release
	return s.Matrix.At(i, j)
}

// TestInterruptedWork: every method, clusterer and search returns as soon as its context ends, even if its work is
// blocked, and reports no progress after that.
func TestInterruptedWork(t *testing.T) {
	set := testkit.CSV(t, 12, 12, 12, 12)
	interrupt := func(name string, work func(ctx context.Context, p *Plan, progress input.Progress) error) {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, small, set)
			p.Inputs.HasNegative() // before trials, which ask for it
			ctx, cancel := context.WithCancel(t.Context())
			release, returned := make(chan struct{}), make(chan error, 1)
			defer close(release)
			p.Inputs.X = stuck{p.Inputs.X, sync.OnceFunc(cancel), release}
			go func() {
				returned <- work(ctx, p, func(what string, done, _ int) {
					if done > 0 {
						t.Errorf("%s was reported", what)
					}
				})
			}()
			select {
			case err := <-returned:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the work did not end with its context")
			}
		})
	}
	for _, m := range factor.Methods() {
		interrupt(m.Name, func(ctx context.Context, p *Plan, progress input.Progress) error {
			_, err := grouping.Groups{K: 4, Method: spec.Method{Name: m.Name}, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
		interrupt("fit "+m.Name, func(ctx context.Context, p *Plan, progress input.Progress) error {
			_, err := grouping.Fit{Method: spec.Method{Name: m.Name}, Rank: 4, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
	}
	for _, by := range cluster.Algorithms() {
		interrupt("by "+by.Name, func(ctx context.Context, p *Plan, progress input.Progress) error {
			_, err := grouping.Groups{K: 4, Method: spec.Method{Name: by.Name}, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
	}
	interrupt("rank", func(ctx context.Context, p *Plan, progress input.Progress) error {
		_, err := grouping.ChooseRank(ctx, spec.AutoRank{}, p.Inputs, 1, progress)
		return err
	})
	interrupt("count", func(ctx context.Context, p *Plan, progress input.Progress) error {
		_, err := grouping.Groups{Method: spec.Method{Name: "nmf"}}.CountCurve(ctx, p.Inputs, 2, 4, progress)
		return err
	})
	interrupt("trials", func(ctx context.Context, p *Plan, progress input.Progress) error {
		_, err := p.Run(ctx, nil, RunOptions{})
		return err
	})
}

// faulty makes a clusterer panic while now is true.
func faulty(t *testing.T, name string, now func() bool) {
	t.Helper()
	before := fitting.NewClusterer
	t.Cleanup(func() { fitting.NewClusterer = before })
	fitting.NewClusterer = func(c spec.Cluster) (cluster.Clusterer, error) {
		by, err := before(c)
		if c.By == name || c.By == "" && name == spec.KMeans {
			by = panicking{by, now}
		}
		return by, err
	}
}

// panicking is a clusterer that sometimes panics.
type panicking struct {
	cluster.Clusterer
	now func() bool
}

func (p panicking) Cluster(ctx context.Context, x mat.Matrix, k int, known cluster.Known, seed uint64) (*cluster.Result, error) {
	if p.now() {
		panic("index out of range")
	}
	return p.Clusterer.Cluster(ctx, x, k, known, seed)
}

// TestTrialPanics: a panic is the error of its trial and names the method and the place. Other trials run and are
// logged.
func TestTrialPanics(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 12, 12, 12, 12))
	var mu sync.Mutex
	calls := 0
	faulty(t, spec.KMeans, func() bool {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls == 3
	})
	records, err := p.Run(context.Background(), nil, RunOptions{Workers: 2})
	var some *TrialsError
	if !errors.As(err, &some) || some.Failed != 1 {
		t.Fatalf("got %v, want one failed trial", err)
	}
	if len(records) != p.Len()-1 {
		t.Errorf("%d records of %d trials, of which one panicked", len(records), p.Len())
	}
	for _, want := range []string{"classes, rank", "index out of range", "limits_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

// TestGroupsPanic: a panic while grouping is an error with its place.
func TestGroupsPanic(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 12, 12, 12, 12))
	faulty(t, spec.KMeans, func() bool { return true })
	_, err := grouping.Groups{K: 2, Method: spec.Method{Name: "nmf"}}.Find(context.Background(), p.Inputs, nil)
	var fault *guard.PanicError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "limits_test.go:") {
		t.Errorf("got %v", err)
	}
}

// TestOncePanics: later callers also get the error of a panic.
func TestOncePanics(t *testing.T) {
	var o fitting.Once[*record.Record]
	for range 2 {
		v, err := o.Get(context.Background(), func() (*record.Record, error) { panic("fault") })
		if v != nil || err == nil || !strings.Contains(err.Error(), "fault") {
			t.Errorf("got %v, %v", v, err)
		}
	}
}

// TestProgressHasOneOwner: calls of a Progress do not overlap, and none comes after its call has returned, even while
// trials learn visual words.
func TestProgressHasOneOwner(t *testing.T) {
	e, err := spec.Parse([]byte(scenes))
	if err != nil {
		t.Fatal(err)
	}
	set, err := input.Open(t.Context(), (&spec.Experiment{Data: spec.Data{Set: photograph(t, 7)}}))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set.Name
	calls := map[string]int{} // the race detector watches it
	var inside, returned atomic.Bool
	progress := func(what string, _, _ int) {
		if !inside.CompareAndSwap(false, true) {
			t.Error("two calls overlap")
		}
		if returned.Load() {
			t.Errorf("progress of %s after the call had returned", what)
		}
		calls[what]++
		inside.Store(false)
	}
	in, err := input.PrepareSet(t.Context(), e, set, input.PrepareOptions{Progress: progress})
	returned.Store(true)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if len(calls) == 0 {
		t.Error("progress is never called")
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), nil, RunOptions{Workers: 4}); err != nil {
		t.Fatal(err)
	}
}
