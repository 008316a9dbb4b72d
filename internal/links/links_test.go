package links

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

func TestClose(t *testing.T) {
	got, err := Close(7, [][2]int{{5, 1}, {3, 5}, {6, 2}, {2, 6}, {4, 4}}, [][2]int{{0, 1}, {6, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 1, 3, 1, 2}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if got, err := Close(0, nil, nil); err != nil || len(got) != 0 {
		t.Errorf("no samples: %v, %v", got, err)
	}
}

func TestCloseErrors(t *testing.T) {
	for _, test := range []struct {
		must, cannot [][2]int
		want         string
	}{
		{[][2]int{{0, 4}}, nil, "must-link (0, 4): expected samples from 0 to less than 4"},
		{nil, [][2]int{{0, 1}, {-1, 2}}, "cannot-link (-1, 2): expected samples from 0 to less than 4"},
		{nil, [][2]int{{2, 2}}, "cannot-link (2, 2) joins a sample with itself"},
		{[][2]int{{1, 2}}, [][2]int{{2, 1}}, "cannot-link (2, 1) contradicts must-links or labels"},
		{[][2]int{{0, 1}, {1, 2}, {2, 3}, {1, 3}}, [][2]int{{0, 3}}, "cannot-link (0, 3) contradicts must-links or labels"},
	} {
		_, err := Close(4, test.must, test.cannot)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

// TestCloseMatchesPlain compares with the transitive closure of a relation.
func TestCloseMatchesPlain(t *testing.T) {
	random := rng.New(1, "close")
	for range 200 {
		n := 1 + random.IntN(12)
		var must, cannot [][2]int
		for range random.IntN(n + 1) {
			must = append(must, [2]int{random.IntN(n), random.IntN(n)})
		}
		if random.IntN(2) == 0 {
			cannot = append(cannot, [2]int{random.IntN(n), random.IntN(n)})
		}
		same := make([][]bool, n)
		for i := range same {
			same[i] = make([]bool, n)
			same[i][i] = true
		}
		for _, p := range must {
			same[p[0]][p[1]], same[p[1]][p[0]] = true, true
		}
		for via := range n {
			for i := range n {
				for j := range n {
					same[i][j] = same[i][j] || same[i][via] && same[via][j]
				}
			}
		}
		contradicted := len(cannot) > 0 && same[cannot[0][0]][cannot[0][1]]
		groups, err := Close(n, must, cannot)
		if (err != nil) != contradicted {
			t.Fatalf("must %v, cannot %v: error %v", must, cannot, err)
		}
		if err != nil {
			continue
		}
		for i := range n {
			for j := range n {
				if (groups[i] == groups[j]) != same[i][j] {
					t.Fatalf("must %v: groups %v", must, groups)
				}
			}
		}
	}
}

// TestKnown checks that equal labels link samples, that different ones separate them, and that labels can contradict
// links.
func TestKnown(t *testing.T) {
	got, err := Known{Labels: []int{7, -1, 7, 9, -1}, MustLink: [][2]int{{1, 3}}, CannotLink: [][2]int{{4, 0}}}.Close(5)
	if diff := cmp.Diff([]int{0, 1, 0, 1, 2}, got); diff != "" || err != nil {
		t.Errorf("groups (-want +got):\n%s%v", diff, err)
	}
	for want, known := range map[string]Known{
		"cannot-link (0, 3) contradicts must-links or labels":          {Labels: []int{7, -1, 7, 9, -1}, MustLink: [][2]int{{2, 3}}},
		"cannot-link (2, 0) contradicts must-links or labels":          {Labels: []int{7, -1, 7, 9, -1}, CannotLink: [][2]int{{2, 0}}},
		"2 labels for 5 samples":                                       {Labels: []int{0, 1}},
		"sample 2 has label -2; expected 0 or more, or -1 for unknown": {Labels: []int{0, -2, 1, 1, 1}},
		"must-link (0, 5): expected samples from 0 to less than 5":     {MustLink: [][2]int{{0, 5}}},
	} {
		if err := known.Check(5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	must, cannot, err := Known{Labels: []int{0, 0, 1, -1, -1}, MustLink: [][2]int{{1, 0}, {3, 1}, {1, 3}}, CannotLink: [][2]int{{0, 2}, {4, 2}, {4, 2}}}.BeyondLabels(5)
	if diff := cmp.Diff([][][2]int{{{1, 3}}, {{2, 4}}}, [][][2]int{must, cannot}); diff != "" || err != nil {
		t.Errorf("links beyond the labels (-want +got):\n%s%v", diff, err)
	}
}
