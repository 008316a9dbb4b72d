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

func TestUnique(t *testing.T) {
	if got := Unique([]int{3, 1, 3, 2, 1}); !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("got %v", got)
	}
}
