package pipeline

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestLinkedGroups: whatever method and whatever clusters, samples told to belong together
// share a group and those told not to never do, with labels and without, also where links
// say the opposite of the data.
func TestLinkedGroups(t *testing.T) {
	testkit.Slow(t)
	for seed := range uint64(3) {
		random := rng.New(seed, "linked groups")
		classes := map[int]string{1: "a", 2: "b", 3: "c"}
		links := datasets.Links{Must: [][2]int{{0, 10}, {10, 20}, {5, 6}, {30, 31}}, Cannot: [][2]int{{5, 20}, {31, 7}, {7, 8}, {8, 30}, {33, 0}}}
		for range 4 {
			a, b := 11+random.IntN(9), 21+random.IntN(9)
			links.Must = append(links.Must, [2]int{a, b})
			links.Cannot = append(links.Cannot, [2]int{9, b})
		}
		for _, labelled := range []bool{false, true} {
			in := toldSet(t, classes)
			labels := in.Labels()
			methods := []Method{{Name: "nmf", Iterations: 10}, {Name: "ss-nmf", Iterations: 10, By: Largest}, {Name: "d-snmf", Iterations: 10}}
			for _, by := range Clusterers() {
				methods = append(methods, Method{Name: by}, Method{Name: "nmf", Iterations: 5, By: by})
			}
			if labelled {
				methods = append(methods, Method{Name: "cnmf", Iterations: 10}, Method{Name: "cnmf", Iterations: 10, By: Largest})
			}
			for _, m := range methods {
				g := Groups{K: 5, Method: m, UseLabels: labelled, Links: links, Cluster: Cluster{Restarts: 2}, Seed: seed}
				if err := g.Check(in.Set); err != nil {
					if !labelled && strings.Contains(err.Error(), "needs the classes of some samples; give labels") {
						continue
					}
					t.Fatalf("%s: %v", m, err)
				}
				found, err := g.Find(t.Context(), in, nil)
				if err != nil {
					if strings.Contains(err.Error(), "links allow no cluster") && strings.Contains(m.String(), "cop-kmeans") {
						continue // a dead end, which it says
					}
					t.Errorf("%s: %v", m, err)
					continue
				}
				for _, p := range links.Must {
					if found.Groups[p[0]] != found.Groups[p[1]] {
						t.Errorf("%s: %v belong together and are in groups %d and %d", m, p, found.Groups[p[0]], found.Groups[p[1]])
					}
				}
				for _, p := range links.Cannot {
					if found.Groups[p[0]] == found.Groups[p[1]] {
						t.Errorf("%s: %v do not belong together and are in group %d", m, p, found.Groups[p[0]])
					}
				}
				for i, c := range labels {
					if labelled && c >= 0 && found.GroupClasses[found.Groups[i]] != c {
						t.Errorf("%s: group %d holds sample %d of class %d and is told to be %d", m, found.Groups[i], i, c, found.GroupClasses[found.Groups[i]])
					}
				}
			}
		}
	}
}

// TestLinksThroughOthers: a must-link holds through a sample that is left out.
func TestLinksThroughOthers(t *testing.T) {
	set := &datasets.Set{Names: make([]string, 6), Classes: []string{"a", "b"}, Labels: []int{-1, 1, -1, -1, -1, -1}}
	g := Groups{UseLabels: true, Links: datasets.Links{Must: [][2]int{{0, 1}, {1, 2}, {3, 4}}, Cannot: [][2]int{{1, 5}, {4, 5}}}}
	known, pairs := g.told(set).of([]int{0, 2, 3, 5})
	if !slices.Equal(known.labels, []int{0, 0, -1, -1}) || !slices.Equal(known.classes, []int{1}) {
		t.Errorf("labels %v of classes %v", known.labels, known.classes)
	}
	if !slices.Equal(pairs.MustLink, [][2]int{{0, 1}}) || !slices.Equal(pairs.CannotLink, [][2]int{{0, 3}, {2, 3}}) {
		t.Errorf("must %v, cannot %v", pairs.MustLink, pairs.CannotLink)
	}
}

func TestLinkedGroupsCheck(t *testing.T) {
	in := toldSet(t, map[int]string{1: "a", 2: "a", 3: "b"})
	var clique [][2]int
	for i := range 4 {
		for j := range i {
			clique = append(clique, [2]int{10 + i, 10 + j})
		}
	}
	all := datasets.Links{}
	for i := range 34 {
		all.Must = append(all.Must, [2]int{i, i + 1})
	}
	for _, test := range []struct {
		g    Groups
		want string
	}{
		{Groups{K: 3, Links: datasets.Links{Cannot: clique}}, "3 groups are asked for, and no 3 groups part all samples that are told not to belong together"},
		{Groups{K: 2, Links: all}, "2 groups are asked for, and samples that are told to belong together leave 1 at most"},
		{Groups{K: 3, UseLabels: true, Links: datasets.Links{File: "l.csv", Must: [][2]int{{0, 2}}, MustLines: []int{7}}}, "links l.csv: must-link ("},
		{Groups{K: 3, Method: Method{Name: "seeded-kmeans"}, Links: datasets.Links{Must: [][2]int{{0, 2}}}}, "seeded-kmeans needs the classes of some samples; give labels"},
		{Groups{K: 3, Method: Method{Name: "cop-kmeans"}}, "cop-kmeans needs the classes of some samples, or links of them"},
	} {
		if test.g.Method.Name == "" {
			test.g.Method = Method{Name: KMeans}
		}
		err := test.g.Check(in.Set)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
		if _, again := test.g.Find(t.Context(), in, nil); again == nil || err == nil || again.Error() != err.Error() {
			t.Errorf("Find says %v, Check %v", again, err)
		}
	}
	if from, _ := (Groups{Links: datasets.Links{Cannot: clique}}).CountRange(in.Set, in.Rows); from != 4 {
		t.Errorf("from %d groups, and 4 samples are told not to belong together", from)
	}
	curve, err := Groups{Method: Method{Name: KMeans}, UseLabels: true, Links: datasets.Links{Cannot: clique}}.CountCurve(t.Context(), in, 4, 6, nil)
	if err != nil || len(curve.K) != 3 {
		t.Errorf("%v, %v", curve, err)
	}
}
