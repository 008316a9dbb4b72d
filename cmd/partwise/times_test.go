package main

import (
	"strings"
	"testing"
)

// TestTimesFlag: with --times the page shows where the time went, and no other file differs.
func TestTimesFlag(t *testing.T) {
	workplace(t)
	const heading, list = "Where the time went", ".partwise.jsonl" // which has the sum of the page
	for _, c := range []struct{ line, want string }{
		{"run --set generated --classes 2 --labels 30% --repeats 2 --features pixels=4 --method kmeans --method ccf,init=nmf,iterations=3 --name x", "of it initial factors"},
		{"cluster photos -k 2 --features pixels=4 --method gnmf,iterations=3", "of it set-up"},
	} {
		args := strings.Fields(c.line)
		must(t, append(args, "--out", args[0])...)
		must(t, append(args, "--out", args[0]+"-times", "--times")...)
		want, got := files(t, args[0]), files(t, args[0]+"-times")
		if page := got["/index.html"]; !strings.Contains(page, heading) || !strings.Contains(page, c.want) || strings.Contains(page, "--times") {
			t.Errorf("partwise %s --times: the page shows no times, or is not repeated without them", c.line)
		}
		if strings.Contains(want["/index.html"], heading) {
			t.Errorf("partwise %s: the page shows times", c.line)
		}
		for name := range got {
			if name != "/index.html" && name != "/"+list && got[name] != want[name] {
				t.Errorf("partwise %s --times: %s differs", c.line, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("partwise %s --times: %d files, and %d without it", c.line, len(got), len(want))
		}
	}
}
