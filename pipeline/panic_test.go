package pipeline

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// faulty makes a clusterer panic when told to.
func faulty(t *testing.T, name string, now func() bool) {
	t.Helper()
	before := newClusterer
	t.Cleanup(func() { newClusterer = before })
	newClusterer = func(c Cluster) (cluster.Clusterer, error) {
		by, err := before(c)
		if cmp.Or(c.By, KMeans) == name {
			by = panicking{by, now}
		}
		return by, err
	}
}

// panicking is a clusterer that panics now and then.
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

// TestTrialPanics: a panic is the error of its trial, which names the method and
// the place; the others are run and logged.
func TestTrialPanics(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 12, 12, 12, 12))
	var mu sync.Mutex
	calls := 0
	faulty(t, KMeans, func() bool {
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
	for _, want := range []string{"classes, rank", "index out of range", "panic_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

// TestGroupsPanic: a panic while a set is put into groups names the method.
func TestGroupsPanic(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 12, 12, 12, 12))
	faulty(t, KMeans, func() bool { return true })
	_, err := Groups{K: 2, Method: Method{Name: "nmf"}}.Find(context.Background(), p.Inputs, nil)
	var fault *guard.PanicError
	if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), "nmf: ") {
		t.Errorf("got %v", err)
	}
}

// TestOncePanics: those who ask again get the error, not a value that was never
// made.
func TestOncePanics(t *testing.T) {
	var o once[*Record]
	for range 2 {
		v, err := o.get(context.Background(), func() (*Record, error) { panic("fault") })
		if v != nil || err == nil || !strings.Contains(err.Error(), "fault") {
			t.Errorf("got %v, %v", v, err)
		}
	}
}
