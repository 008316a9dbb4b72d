package grouping

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// labelledSet returns 35 samples of three classes, and inputs with the given labels, by sample numbers from 1.
func labelledSet(t *testing.T, classes map[int]string) *input.Inputs {
	t.Helper()
	var text strings.Builder
	for row, class := range classes {
		fmt.Fprintf(&text, "%d,%s\n", row, class)
	}
	labels := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(labels, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	in, err := input.Prepare(t.Context(), &spec.Experiment{Data: spec.Data{Set: testkit.CSV(t, 5, 20, 10), OpenOptions: datasets.OpenOptions{Labels: labels}}}, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestLabelledGroups: with any clustering, labelled samples share a group if and only if they have the same class, even if
// the labels contradict the data.
func TestLabelledGroups(t *testing.T) {
	testkit.Slow(t)
	for seed := range uint64(4) {
		random := rng.New(seed, "given")
		classes := map[int]string{1: "a", 2: "b", 3: "c"}
		for range 12 {
			classes[1+random.IntN(35)] = string(rune('a' + random.IntN(3)))
		}
		in := labelledSet(t, classes)
		labels := in.Labels()
		for _, by := range append(spec.Clusterers(), spec.Largest, "") {
			for _, k := range []int{0, 5} {
				g := Groups{K: k, Method: spec.Method{Name: "cnmf", Iterations: 20}, UseLabels: true, Cluster: spec.Cluster{By: by, Restarts: 3}, Seed: seed}
				if slices.Contains(spec.Clusterers(), by) && k == 5 {
					g.Method, g.Cluster.By = spec.Method{Name: by}, ""
				}
				if err := g.Check(in.Set); err != nil {
					t.Fatal(err)
				}
				found, err := g.Find(t.Context(), in, nil)
				if err != nil {
					t.Errorf("%s: %v", by, err)
					continue
				}
				for i, c := range labels {
					for j, d := range labels[:i] {
						if c >= 0 && d >= 0 && (c == d) != (found.Groups[i] == found.Groups[j]) {
							t.Fatalf("%q with %d groups: samples of the classes %d and %d in the groups %d and %d", by, k, c, d, found.Groups[i], found.Groups[j])
						}
					}
					if c >= 0 && found.GroupClasses[found.Groups[i]] != c {
						t.Errorf("%q: group %d holds a labelled sample of class %d, but its class is %d", by, found.Groups[i], c, found.GroupClasses[found.Groups[i]])
					}
				}
				if by == spec.Largest && slices.Max(found.Groups) >= max(k, 3) {
					t.Errorf("%d groups by the largest coefficient, want %d", slices.Max(found.Groups)+1, max(k, 3))
				}
				if own := 5; (by == "" || by == spec.KMeans) && k == own && slices.Max(found.Groups)+1 != own {
					t.Errorf("%q: %d groups, want %d", by, slices.Max(found.Groups)+1, own)
				}
			}
		}
	}
}

// TestLabelledScores: if the data have their own classes, these score the groups of the unlabelled samples.
func TestLabelledScores(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "x", 2: "x", 10: "y", 11: "y", 30: "z", 31: "z"})
	found, err := Groups{Method: spec.Method{Name: "cnmf"}, UseLabels: true}.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ac := found.Scores["AC free"]; ac < 0.9 {
		t.Errorf("AC %v of the others, of classes that lie apart", ac)
	}
	if _, ok := found.Scores["AC"]; ok {
		t.Error("the scores include labelled samples")
	}
}

// TestOthers: samples that belong to no group make up the last group, but labelled ones stay in theirs.
func TestOthers(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "x", 10: "y"})
	g := Groups{K: 4, Method: spec.Method{Name: spec.KMeans}, UseLabels: true, MinSize: 8}
	found, err := g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Max(found.Groups)
	names := map[int]string{}
	for i, group := range found.Groups {
		names[group] = found.GroupName(group, in.Set.Classes)
		if 0 < i && i < 5 && group != last {
			t.Errorf("sample %d is in group %d of %d, but the 5 samples of its class are too few", i+1, group+1, last+1)
		}
	}
	if !found.Others || names[last] != "Others" || names[found.Groups[0]] != "x" || names[found.Groups[9]] != "y" {
		t.Errorf("names of groups %v, want x and y of the labels, and Others at the end", names)
	}
	g.MinSize = 36
	if err := g.Check(in.Set); err == nil || !strings.Contains(err.Error(), "min-size 36: expected 2 to the number of samples, 35") {
		t.Errorf("min-size above the number of samples: %v", err)
	}
	g.MinSize = 34
	if _, err := g.Find(t.Context(), in, nil); err != nil {
		t.Errorf("labelled samples make groups of any size: %v", err)
	}
	g.UseLabels = false
	if _, err := g.Find(t.Context(), in, nil); err == nil || !strings.Contains(err.Error(), "min-size 34: no group has so many samples") {
		t.Errorf("min-size above the size of all groups: %v", err)
	}
}

func TestLabelsRefused(t *testing.T) {
	all := map[int]string{}
	for row := range 34 {
		all[row+1] = []string{"a", "b"}[row%2]
	}
	few := map[int]string{1: "a", 2: "a", 3: "b", 4: "c"}
	two, err := parseRank("36")
	if err != nil {
		t.Fatal(err)
	}
	nmf, cnmf := spec.Method{Name: "nmf"}, spec.Method{Name: "cnmf"}
	for _, test := range []struct {
		classes map[int]string
		g       Groups
		want    string
	}{
		{few, Groups{K: 2, Method: cnmf, UseLabels: true}, "2 groups requested, but the labels name 3 classes (a, b, c), and each needs a group of its own"},
		{all, Groups{K: 4, Method: cnmf, UseLabels: true}, "4 groups requested, but the 2 groups without labels share only 1 unlabelled sample"},
		{few, Groups{K: 36, Method: nmf}, "36 groups requested, but the data have 35 samples"},
		{few, Groups{K: 3, Method: cnmf}, "cnmf needs labels of some samples: set labels"},
		{few, Groups{K: 3, Method: nmf, Cluster: spec.Cluster{By: "constrained-kmeans"}}, "constrained-kmeans needs labels or links of some samples: set labels or links"},
		{few, Groups{K: 3, Method: nmf, Rank: two}, "rank: 36 is above the number of samples, 35"},
		{few, Groups{K: 3, Method: spec.Method{Name: spec.Original}}, "the method original is for classification and finds no groups"},
		{few, Groups{K: 3, Method: nmf, Cluster: spec.Cluster{By: spec.Largest}, Rank: two}, "rank 36: clustering by largest coefficient needs one basis vector for each of the 3 groups"},
		{few, Groups{K: 3, Method: spec.Method{Name: spec.KMeans}, Cluster: spec.Cluster{By: "ncut"}}, "the method kmeans already clusters the features; remove the clustering by ncut, or choose a factorisation"},
		{map[int]string{1: "a", 2: "a"}, Groups{K: 3, Method: spec.Method{Name: "sda"}, UseLabels: true}, "sda: discriminant directions need labelled samples of two classes; all 2 are of one class"},
		{map[int]string{1: "a", 2: "b"}, Groups{K: 3, Method: spec.Method{Name: "lda"}, UseLabels: true}, "lda: each of the 2 classes has one labelled sample"},
	} {
		in := labelledSet(t, test.classes)
		err := test.g.Check(in.Set)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
		if _, again := test.g.Find(t.Context(), in, nil); again == nil || err == nil || again.Error() != err.Error() {
			t.Errorf("Find says %v, Check %v", again, err)
		}
	}
	in := labelledSet(t, few)
	if notes := (Groups{Method: cnmf, UseLabels: true}).Notes(in); len(notes) != 1 || !strings.Contains(notes[0], "classes with one labelled sample (b, c) do not constrain cnmf; only the clustering uses these labels") {
		t.Errorf("noted %q", notes)
	}
	for _, m := range []spec.Method{nmf, {Name: "constrained-kmeans"}, {Name: "sda"}, {Name: "nmf", By: "seeded-kmeans"}} {
		if notes := (Groups{Method: m, UseLabels: true}).Notes(in); notes != nil {
			t.Errorf("got note %q for %s, want none", notes, m)
		}
	}
}

// parseRank reads a rank.
func parseRank(text string) (*spec.Rank, error) {
	var ranks spec.Ranks
	v, err := document.Parse([]byte(text))
	if err == nil {
		err = ranks.DecodeSetting(v)
	}
	if err != nil {
		return nil, err
	}
	return &ranks[0], nil
}

// TestKeep: each class gets its own group even if there are fewer clusters.
func TestKeep(t *testing.T) {
	known := newClassLabels([]int{0, 0, 2, 4, 4, -1, -1, -1}, 5)
	for _, groups := range [][]int{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 1, 1, 0, 1, 1, 1}, {2, 2, 2, 1, 1, 0, 0, 0}} {
		known.enforce(groups)
		of := known.classesOfGroups(groups)
		if groups[0] != groups[1] || groups[3] != groups[4] || groups[0] == groups[2] || groups[2] == groups[3] || groups[0] == groups[3] {
			t.Errorf("groups %v", groups)
		}
		if of[groups[0]] != 0 || of[groups[2]] != 2 || of[groups[3]] != 4 {
			t.Errorf("groups %v of the classes %v", groups, of)
		}
	}
	// No labels.
	groups := []int{0, 1}
	newClassLabels([]int{-1, -1}, 3).enforce(groups)
	if !slices.Equal(groups, []int{0, 1}) {
		t.Errorf("groups %v", groups)
	}
}

// TestLinkedGroups: with any method and clustering, with and without labels, must-linked samples share a group and
// cannot-linked ones never do, even if links contradict the data.
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
			in := labelledSet(t, classes)
			labels := in.Labels()
			methods := []spec.Method{{Name: "nmf", Iterations: 10}, {Name: "ss-nmf", Iterations: 10, By: spec.Largest}, {Name: "d-snmf", Iterations: 10}}
			for _, by := range spec.Clusterers() {
				methods = append(methods, spec.Method{Name: by}, spec.Method{Name: "nmf", Iterations: 5, By: by})
			}
			if labelled {
				methods = append(methods, spec.Method{Name: "cnmf", Iterations: 10}, spec.Method{Name: "cnmf", Iterations: 10, By: spec.Largest})
			}
			for _, m := range methods {
				g := Groups{K: 5, Method: m, UseLabels: labelled, Links: links, Cluster: spec.Cluster{Restarts: 2}, Seed: seed}
				if err := g.Check(in.Set); err != nil {
					if !labelled && strings.Contains(err.Error(), "needs labels of some samples: set labels") {
						continue
					}
					t.Fatalf("%s: %v", m, err)
				}
				found, err := g.Find(t.Context(), in, nil)
				if err != nil {
					if strings.Contains(err.Error(), "links exclude all clusters") && strings.Contains(m.String(), "cop-kmeans") {
						continue // a dead end, which the error reports
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
						t.Errorf("%s: group %d holds labelled sample %d of class %d, but its class is %d", m, found.Groups[i], i, c, found.GroupClasses[found.Groups[i]])
					}
				}
			}
		}
	}
}

// TestLinksThroughOthers: a must-link holds through a skipped sample.
func TestLinksThroughOthers(t *testing.T) {
	set := &datasets.Set{Names: make([]string, 6), Classes: []string{"a", "b"}, Labels: []int{-1, 1, -1, -1, -1, -1}}
	g := Groups{UseLabels: true, Links: datasets.Links{Must: [][2]int{{0, 1}, {1, 2}, {3, 4}}, Cannot: [][2]int{{1, 5}, {4, 5}}}}
	known, pairs := g.constraints(set).forRows([]int{0, 2, 3, 5})
	if !slices.Equal(known.labels, []int{0, 0, -1, -1}) || !slices.Equal(known.classes, []int{1}) {
		t.Errorf("labels %v of classes %v", known.labels, known.classes)
	}
	if !slices.Equal(pairs.MustLink, [][2]int{{0, 1}}) || !slices.Equal(pairs.CannotLink, [][2]int{{0, 3}, {2, 3}}) {
		t.Errorf("must %v, cannot %v", pairs.MustLink, pairs.CannotLink)
	}
}

func TestLinkedGroupsCheck(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "a", 2: "a", 3: "b"})
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
		{Groups{K: 3, Links: datasets.Links{Cannot: clique}}, "3 groups requested, but the cannot-links need more"},
		{Groups{K: 2, Links: all}, "2 groups requested, but must-links allow at most 1"},
		{Groups{K: 3, UseLabels: true, Links: datasets.Links{File: "l.csv", Must: [][2]int{{0, 2}}, MustLines: []int{7}}}, "links l.csv: must-links join the classes a and "},
		{Groups{K: 3, Method: spec.Method{Name: "seeded-kmeans"}, Links: datasets.Links{Must: [][2]int{{0, 2}}}}, "seeded-kmeans needs labels of some samples: set labels"},
		{Groups{K: 3, Method: spec.Method{Name: "cop-kmeans"}}, "cop-kmeans needs labels or links of some samples: set labels or links"},
	} {
		if test.g.Method.Name == "" {
			test.g.Method = spec.Method{Name: spec.KMeans}
		}
		err := test.g.Check(in.Set)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
		if _, again := test.g.Find(t.Context(), in, nil); again == nil || err == nil || again.Error() != err.Error() {
			t.Errorf("Find says %v, Check %v", again, err)
		}
	}
	if from, _ := (Groups{Links: datasets.Links{Cannot: clique}}).CountRange(in.Set, in.Rows); from != 4 {
		t.Errorf("got at least %d groups, want 4 for 4 samples with cannot-links", from)
	}
	curve, err := Groups{Method: spec.Method{Name: spec.KMeans}, UseLabels: true, Links: datasets.Links{Cannot: clique}}.CountCurve(t.Context(), in, 4, 6, nil)
	if err != nil || len(curve.K) != 3 {
		t.Errorf("%v, %v", curve, err)
	}
}
