package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestLinksOfADraw: the share of the pairs, each once and of the right kind.
func TestLinksOfADraw(t *testing.T) {
	p := newPlan(t, "{name: x, methods: [cop-kmeans, {name: ss-nmf, cluster: largest}], classes: 3, repeats: 2, links: 10%}", testkit.CSV(t, 12, 10, 11))
	d := p.draw(3, 0)
	if want := 53; len(d.must)+len(d.cannot) != want { // 10 % of 33·32/2
		t.Errorf("%d links, want %d", len(d.must)+len(d.cannot), want)
	}
	seen := map[[2]int]bool{}
	for _, l := range append(d.must, d.cannot...) {
		if seen[l] || l[0] >= l[1] {
			t.Errorf("the pair %v once more, or of one sample", l)
		}
		seen[l] = true
	}
	for _, l := range d.must {
		if d.truth[l[0]] != d.truth[l[1]] {
			t.Errorf("%v must link across classes", l)
		}
	}
	for _, l := range d.cannot {
		if d.truth[l[0]] == d.truth[l[1]] {
			t.Errorf("%v cannot link within a class", l)
		}
	}
	if _, err := p.Run(t.Context(), nil, RunOptions{}); err != nil {
		t.Error(err)
	}
}

// TestLinksOfAFile: rows of the set become rows of the draw.
func TestLinksOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(file, []byte("1,2,must\n1,14,cannot\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	set := testkit.CSV(t, 12, 10, 11)
	p := newPlan(t, "{name: x, methods: [cop-kmeans, d-snmf], classes: 2, repeats: 30, links: {file: "+file+"}}", set)
	both := 0
	for repeat := range 30 {
		d := p.draw(2, repeat)
		for _, l := range d.must {
			if d.rows[l[0]] != 0 || d.rows[l[1]] != 1 {
				t.Errorf("must-link of rows %d and %d", d.rows[l[0]], d.rows[l[1]])
			}
		}
		for _, l := range d.cannot {
			both++
			if d.rows[l[0]] != 0 || d.rows[l[1]] != 13 {
				t.Errorf("cannot-link of rows %d and %d", d.rows[l[0]], d.rows[l[1]])
			}
		}
	}
	if both == 0 || both == 30 {
		t.Errorf("the cannot-link is in %d draws of 30", both)
	}
	logs := filepath.Join(t.TempDir(), "logs.csv")
	if err := os.WriteFile(logs, []byte("a,3,+\na,4,+\na,15,-\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p = newPlan(t, "{name: x, methods: [cop-kmeans, d-snmf], classes: 2, links: {feedback: "+logs+", file: "+file+"}}", set)
	for range 10 {
		links, err := readLinks(t.Context(), p.Experiment.Links, p.Inputs.Set)
		if got, want := fmt.Sprint(links.Must, links.Cannot, err), "[[0 1] [2 3]] [[0 13] [2 14] [3 14]] <nil>"; got != want {
			t.Fatalf("links of two files: %s, want %s", got, want)
		}
	}
	if got := p.Experiment.Links.String(); got != "of "+file+" and "+logs {
		t.Errorf("links of two files: %s", got)
	}
	for text, want := range map[string]string{
		"links: 3": "no share", "links: {fle: x}": `unknown key "fle"`, "links: rest": "no share",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Files of links are read when the inputs are made, and not once more for the plan.
func TestLinksAreReadOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(file, []byte("1,2,must\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	e := &Experiment{Name: "x", Data: Data{Set: testkit.CSV(t, 5, 5)}, Methods: Methods{{Name: "cop-kmeans"}}, Links: Links{File: file}}
	in, err := Prepare(t.Context(), e, PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil || len(p.must) != 1 {
		t.Errorf("links %v, %v", p, err)
	}
}

// TestShareOfPairs: the pairs of a share are the first of all pairs in a random order,
// as Perm has it, without the memory of one.
func TestShareOfPairs(t *testing.T) {
	n := 10_000
	if testing.Short() || testkit.Race {
		n = 2000
	}
	truth := make([]int, n)
	all := n * (n - 1) / 2
	var must [][2]int
	took := testkit.Allocated(func() { must, _ = drawLinks(Links{Share: 200 / float64(all)}, truth, rng.Source(1)) })
	if !testkit.Race && took > 8<<20 {
		t.Errorf("%d bytes for %d of %d pairs", took, len(must), all)
	}
	if len(must) != 200 {
		t.Fatalf("%d links, want 200", len(must))
	}
}

// The first numbers of a shuffle are those of Perm, whatever the number of blocks.
func TestFirstShuffled(t *testing.T) {
	const block = 1 << 16
	for _, n := range []int{0, 1, 2, 3, 100, block - 1, block, block + 1, 2*block + 2} {
		want := rng.New(uint64(n)).Perm(n)
		for _, count := range []int{0, min(1, n), n / 300, n / 3, n} {
			if got := firstShuffled(n, count, rng.Source(uint64(n))); !slices.Equal(got, want[:count]) {
				t.Errorf("the first %d of %d numbers are others than those of Perm", count, n)
			}
		}
	}
}

// What tells trials apart is digested as JSON has it, however many links there are.
func TestDigestPairs(t *testing.T) {
	many := make([][2]int, 3000)
	for i := range many {
		many[i] = [2]int{i, i * i}
	}
	for _, pairs := range [][][2]int{nil, {{1, 2}}, {{1, 2}, {30, 4}}, many} {
		want, err := json.Marshal(pairs)
		if err != nil {
			t.Fatal(err)
		}
		got, whole := sha256.New(), sha256.New()
		digestPairs(got, pairs)
		fmt.Fprintf(whole, ",%s", want)
		if !bytes.Equal(got.Sum(nil), whole.Sum(nil)) {
			t.Errorf("%d pairs are not digested as %.60s", len(pairs), want)
		}
	}
}
