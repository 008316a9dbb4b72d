package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
