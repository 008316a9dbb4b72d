package pipeline

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// stuck is a matrix whose values are not there before release is closed.
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

// TestInterruptedWork: every method, clusterer and search returns as soon as its context ends,
// whatever its work is waiting for, and reports nothing after that.
func TestInterruptedWork(t *testing.T) {
	set := testkit.CSV(t, 12, 12, 12, 12)
	interrupt := func(name string, work func(ctx context.Context, p *Plan, progress Progress) error) {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, small, set)
			p.Inputs.HasNegative() // which trials ask before they begin
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
		interrupt(m.Name, func(ctx context.Context, p *Plan, progress Progress) error {
			_, err := Groups{K: 4, Method: Method{Name: m.Name}, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
		interrupt("fit "+m.Name, func(ctx context.Context, p *Plan, progress Progress) error {
			_, err := Fit{Method: Method{Name: m.Name}, Rank: 4, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
	}
	for _, by := range cluster.Algorithms() {
		interrupt("by "+by.Name, func(ctx context.Context, p *Plan, progress Progress) error {
			_, err := Groups{K: 4, Method: Method{Name: by.Name}, UseLabels: true}.Find(ctx, p.Inputs, progress)
			return err
		})
	}
	interrupt("rank", func(ctx context.Context, p *Plan, progress Progress) error {
		_, err := ChooseRank(ctx, AutoRank{}, p.Inputs, 1, progress)
		return err
	})
	interrupt("count", func(ctx context.Context, p *Plan, progress Progress) error {
		_, err := Groups{Method: Method{Name: "nmf"}}.CountCurve(ctx, p.Inputs, 2, 4, progress)
		return err
	})
	interrupt("trials", func(ctx context.Context, p *Plan, progress Progress) error {
		_, err := p.Run(ctx, nil, RunOptions{})
		return err
	})
}
