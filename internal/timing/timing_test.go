package timing

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTimes checks that phases are added by method, and that a nested phase counts in both.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := NewContext(t.Context())
		for range 2 {
			fit := Start(Of(ctx, "nmf"), Factorising)
			setUp := Start(Of(ctx, "nmf"), SetUp)
			time.Sleep(time.Second)
			setUp()
			time.Sleep(3 * time.Second)
			fit()
		}
		Start(ctx, Reading)()
		Start(Without(ctx), Reading)()
		sums := FromContext(ctx)
		for _, c := range []struct {
			method string
			phase  Phase
			want   Sum
		}{
			{"nmf", Factorising, Sum{8 * time.Second, 2}},
			{"nmf", SetUp, Sum{2 * time.Second, 2}},
			{"", Factorising, Sum{}},
			{"", Reading, Sum{0, 1}},
		} {
			if got := sums.Spent(c.method, c.phase); got != c.want {
				t.Errorf("phase %d of %q took %v, want %v", c.phase, c.method, got, c.want)
			}
		}
		if got := sums.Elapsed(); got != 8*time.Second {
			t.Errorf("%v in all", got)
		}
	})
}

// TestNotAsked checks that nothing is measured without sums in the context.
func TestNotAsked(t *testing.T) {
	ctx := t.Context()
	Start(Of(ctx, "nmf"), Factorising)()
	if FromContext(Of(ctx, "nmf")) != nil {
		t.Error("times were measured")
	}
}
