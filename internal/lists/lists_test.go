package lists

import (
	"slices"
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	if got := Map([]string{"a", "b"}, strings.ToUpper); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("got %q", got)
	}
	if got := Map(nil, strings.ToUpper); got == nil || len(got) != 0 {
		t.Errorf("no list: got %#v, want an empty one", got)
	}
}

func TestIndices(t *testing.T) {
	negative := func(x int) bool { return x < 0 }
	if got := Indices([]int{-1, 2, -3, 0}, negative); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("got %v", got)
	}
	if got := Indices([]int{1, 2}, negative); got != nil {
		t.Errorf("none negative: got %#v, want nil", got)
	}
}

func TestUnique(t *testing.T) {
	if got := Unique([]int{3, 1, 3, 2, 1}); !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestFind(t *testing.T) {
	if got, ok := Find([]int{1, 4, 6}, func(v int) bool { return v%2 == 0 }); !ok || got != 4 {
		t.Errorf("got %d, %v", got, ok)
	}
	if got, ok := Find([]int{1}, func(v int) bool { return v > 1 }); ok || got != 0 {
		t.Errorf("none: got %d, %v", got, ok)
	}
}
