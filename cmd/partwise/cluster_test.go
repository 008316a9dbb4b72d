package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRankAuto: cluster and fit choose the rank and say so, and the page shows the curve.
func TestRankAuto(t *testing.T) {
	workplace(t)
	const want = ", chosen from 2 to 6 by stability (held-out misfit "
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

// TestShortOfTheAnswer: a method that had not converged, and a rank that was chosen at the end of its
// range, are said in the terminal and on the page; what has converged is not.
func TestShortOfTheAnswer(t *testing.T) {
	workplace(t)
	const few, limit = " had not converged after 30 iterations", "rank: auto ended at its limit"
	for _, c := range []struct {
		args         string
		page         string
		want, unsaid []string
	}{
		{"run --set generated --features pixels=8 --classes 2,3 --repeats 2 --method ccf,iterations=30 --method ccf,as=quick,solver=fast --labels 30% --rank among=2..3,by=stability --name run", "results/run",
			[]string{"ccf" + few + " in ", " of 4 trials: its objective still fell by up to ", limit + " in ", " of 4 draws: 3 is the largest rank"}, []string{"quick had"}},
		{"report results/run", "results/run", []string{"ccf" + few}, []string{"quick had"}},
		{"cluster generated -k 3 --method cf,solver=mu,iterations=30 --rank among=2..3,by=stability --out slow", "slow", []string{"cf" + few + ": its", limit + ": 3 is"}, nil},
		{"cluster generated -k 3 --method cf --out quick", "quick", nil, []string{"converged", limit}},
		{"fit generated --method cf --solver mu --iterations 30 --rank 3 --out m.npz", "", []string{"cf" + few + ": its"}, []string{limit}},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(c.args), &stdout, &stderr); code != exitDone {
			t.Fatalf("%s: exit code %d, said %q", c.args, code, stderr.String())
		}
		said := []string{stderr.String()}
		if c.page != "" {
			page, err := os.ReadFile(filepath.Join(c.page, "index.html"))
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(page))
		}
		for _, text := range said {
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: not said: %q\n%s", c.args, want, stderr.String())
				}
			}
			for _, unsaid := range c.unsaid {
				if strings.Contains(text, unsaid) {
					t.Errorf("%s: said: %q", c.args, unsaid)
				}
			}
		}
	}
}

// TestEmbeddings: vectors of anyone's, of any sign, are grouped with no method named, and the
// pictures that they are of are shown, explored and named.
func TestEmbeddings(t *testing.T) {
	workplace(t)
	text := "file,a,b,c\n"
	for i, file := range listed(t, "photos") {
		text += fmt.Sprintf("%s,%d,%d,%d\n", file, 3-i%3*3, -1-i%2, i%5)
	}
	write(t, "vectors.csv", text)
	must(t, "cluster", "vectors.csv", "-k", "3", "--out", "groups")
	names := listed(t, "groups")
	if all := strings.Join(names, " "); !strings.Contains(all, "groups/pictures/000.png") {
		t.Errorf("no pictures in %s", all)
	}
	if data := read(t, "groups", "page", "data.js"); !strings.Contains(data, `"thing":"picture"`) || !strings.Contains(data, `../photos`) {
		t.Errorf("the page has no links: %.300s", data)
	}
	address, finish := exploring(t, "groups")
	if state := getState(t, address); len(state.Groups) != strings.Count(text, "\n")-1 {
		t.Errorf("explored: %d", len(state.Groups))
	}
	finish()
}
