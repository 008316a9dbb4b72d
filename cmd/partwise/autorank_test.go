package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRankAuto: cluster and fit choose the rank and say so, and the page shows the curve.
func TestRankAuto(t *testing.T) {
	workplace(t)
	const want = ", chosen from 2 to 6 by stability (misfit of what is held out "
	said := must(t, "cluster", "photos", "-k", "4", "--method", "nmf", "--features", "pixels=8", "--rank", "among=2..6,by=stability", "--out", "groups")
	if !strings.HasPrefix(said, "rank ") || !strings.Contains(said, want) {
		t.Errorf("cluster said %q", said)
	}
	page, err := os.ReadFile(filepath.Join("groups", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`id="how-many-parts"`, "curves/rank.png", want} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page has no %q", text)
		}
	}
	said = must(t, "fit", "photos", "--features", "pixels=8", "--rank", "among=2..6,by=stability", "--out", "model.npz")
	rank, _, _ := strings.Cut(said, ",")
	if !strings.Contains(said, want) || !strings.Contains(said, "nmf of "+rank+":") {
		t.Errorf("fit said %q", said)
	}
	for _, c := range []struct{ args, want string }{
		{"fit photos --rank k+1 --out x.npz", "--rank k+1: want one number, 1 or more, or auto"},
		{"fit photos --rank auto --start model.npz --out x.npz", "the rank is that of the factors of --start"},
		{"cluster photos --rank among=9..3", "is no range of ranks"},
		{"cluster photos --rank auto --cluster largest -k 3", "each basis vector is a group"},
	} {
		if code, _, stderr := partwise(strings.Fields(c.args)...); code == exitDone || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, said %q", c.args, code, stderr)
		}
	}
}
