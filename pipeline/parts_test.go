package pipeline

import (
	"slices"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// No group has rows of two parts, also if copies are in other parts than their originals.
func TestParts(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "a"})
	n := len(in.Rows)
	parts, copies := make([]int, n), matrix.AllRows(in.X)
	for i := range n {
		parts[i] = i % 3
	}
	parts[n-1] = 3              // alone
	copies[4], copies[7] = 0, 0 // copies in one part of an original in another one
	copies[3] = 0               // in the part of the original
	for _, k := range []int{0, 2} {
		g, err := grouping.Groups{K: k, Count: spec.GroupCount{Auto: true}, Method: spec.Method{Name: spec.KMeans}, Parts: parts, Copies: copies}.Find(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		part := map[int]int{}
		for i, group := range g.Groups {
			if at, ok := part[group]; ok && at != parts[i] {
				t.Fatalf("k %d: group %d has rows of the parts %d and %d", k, group, at, parts[i])
			}
			part[group] = parts[i]
		}
		if k == 2 && len(part) != 7 || g.Groups[4] != g.Groups[7] || g.Groups[0] != g.Groups[3] {
			t.Errorf("k %d: groups %v", k, g.Groups)
		}
	}
	for _, g := range []grouping.Groups{
		{Method: spec.Method{Name: "nmf"}}, {Method: spec.Method{Name: spec.KMeans}, UseLabels: true}, {Method: spec.Method{Name: spec.KMeans}, Batch: 5},
	} {
		if g.CheckParts() == nil {
			t.Errorf("no error of %+v", g)
		}
	}
}

func TestDays(t *testing.T) {
	at := func(day, hour int) imagefile.Capture {
		return imagefile.Capture{Taken: time.Date(2020, 1, day, hour, 0, 0, 0, time.UTC)}
	}
	p := &input.Pictures{Capture: []imagefile.Capture{at(2, 23), {}, at(1, 5), at(2, 0), at(3, 0)}}
	if got, want := p.Days(), []int{1, 3, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
