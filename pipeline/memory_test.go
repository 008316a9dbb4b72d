package pipeline

import (
	"context"
	"errors"
	"image"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// An image that the limit has no room for is no bad image: what is left out does not
// depend on the limit.
func TestMemorySkipsNothing(t *testing.T) {
	set := photograph(t, 3)
	writePNG(t, filepath.Join(set, "across", "99.png"), image.NewGray(image.Rect(0, 0, 6000, 5000)))
	for _, text := range []string{"{pixels: 8}", "{hog: true}", "{sift: dense, words: 20}"} {
		e, err := Parse([]byte("{name: x, methods: [nmf], features: " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set, e.Features.SkipBad = set, true
		_, err = Prepare(WithMemory(t.Context(), memory.Least), e, PrepareOptions{})
		refused(t, err, "99.png")
		var bad *features.BadSampleError
		if errors.As(err, &bad) {
			t.Errorf("%s: error %v is that of a bad sample", text, err)
		}
	}
}

// refused checks that an error says that something needs more memory than there is.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var e *memory.LimitError
	if !errors.As(err, &e) {
		t.Errorf("error %v, want a refusal for want of memory", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %v, want one with %q", err, w)
		}
	}
}

// What cannot fit into the budget is refused before images are read or a folder is
// made, with the number.
func TestMemoryRefuses(t *testing.T) {
	load := func(set, text string) *Experiment {
		e, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		return e
	}
	tight := WithMemory(t.Context(), 512e6)
	photographs := photograph(t, 8)
	e := load(photographs, "{name: x, methods: [nmf], features: {pixels: 2048}}")
	_, err := Prepare(tight, e, PrepareOptions{Progress: func(what string, done, _ int) { t.Errorf("%s: %d done", what, done) }})
	refused(t, err, "24×4194304", "805 MB", "512 MB")

	// 4000 samples make a kernel of 128 MB, and there are more than one of it.
	e = load(testkit.CSV(t, 2000, 2000), "{name: x, methods: [nmf, cf-ogl], repeats: 1}")
	in, err := Prepare(tight, e, PrepareOptions{})
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
	_, err = Groups{Method: e.Methods[1]}.Find(tight, in, nil)
	refused(t, err, "cf-ogl", "4000 samples", "512 MB")

	// The spectral clusterers are no methods of a factorisation.
	e.Methods = e.Methods[:1]
	e.Cluster.By = "ncut"
	if p, err = NewPlan(tight, e, in); err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(tight, unasked{t}, RunOptions{})
	refused(t, err, "4000 samples")
}

// unasked is a sink that nobody asks.
type unasked struct{ *testing.T }

func (u unasked) Begin(*Summary) (map[string]Record, error) {
	u.Error("a place for the results of a plan that is refused")
	return nil, nil
}
func (u unasked) HasModel(string) bool              { return true }
func (u unasked) Put(*Record, string, *Model) error { return nil }

// A budget that is enough for one trial at a time changes no result, and all of it
// is given back.
func TestMemoryTight(t *testing.T) {
	const text = "{name: x, task: classify, methods: [original, nmf, pca], features: {sift: dense, words: 20, grid: 2x2}, train: 4, test: rest, repeats: 2}"
	set := photograph(t, 8)
	run := func(ctx context.Context) []Record {
		in := prepare(t, text, set, PrepareOptions{})
		e, err := Parse([]byte(text))
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
	// All but what the largest trial and a photograph need.
	in := prepare(t, text, set, PrepareOptions{})
	e, err := Parse([]byte(text))
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
		most = max(most, m.need(p.problem(3, 3), e.Task, e.Classifier))
	}
	release, err := budget.Keep(free-most-p.shared(), "the rest")
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

// An image whose own need is above the budget is refused by its name.
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
		e, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		_, err = Prepare(WithMemory(t.Context(), 128e6), e, PrepareOptions{})
		refused(t, err, large, "9000×9000", "128 MB")
	}
}

// Where no links are drawn, nothing is made of all pairs of samples.
func TestNoLinksTakeNoMemory(t *testing.T) {
	truth := make([]int, 5000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must, cannot := drawLinks(Links{}, truth, rng.Source(1))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || must != nil || cannot != nil {
		t.Errorf("%d bytes for %d links of %d samples", took, len(must)+len(cannot), len(truth))
	}
}
