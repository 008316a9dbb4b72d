package pipeline

import (
	"strings"
	"testing"
)

// TestOptionalScores: a score that is asked for is in every record, above 1 too, and
// the log is read again; nobody else gets it.
func TestOptionalScores(t *testing.T) {
	text := "name: s\nmethods: [kmeans, nmf]\nclasses: [4]\nrepeats: 2\nlabels: 1\ncluster: {restarts: 1}\n"
	set := writeSet(t, 6, 6, 6, 6)
	dir := t.TempDir()
	p := newPlan(t, text+"scores: [VI]\n", set)
	runPlan(t, p, dir, RunOptions{})
	records, unread, err := ReadLog(dir)
	if err != nil || len(unread) > 0 || len(records) != p.Len() {
		t.Fatalf("%d records, lines %v are not read, %v", len(records), unread, err)
	}
	for _, r := range records {
		_, all := r.Scores["VI"]
		_, rest := r.Scores["VI free"]
		if !all || !rest {
			t.Errorf("%s: scores %v", r.Trial, r.Scores)
		}
	}
	plain := newPlan(t, text, set)
	if plain.trials[0].id == p.trials[0].id {
		t.Error("a trial with more scores passes for one without")
	}
	for line, want := range map[string]bool{
		`{"trial":"a","method":"b","scores":{"VI":3.5}}`:   true,
		`{"trial":"a","method":"b","scores":{"VI":-1}}`:    false,
		`{"trial":"a","method":"b","scores":{"AC":1.5}}`:   false,
		`{"trial":"a","method":"b","scores":{"AC":-0.5}}`:  false,
		`{"trial":"a","method":"b","scores":{"zeal":-40}}`: true,
	} {
		if got := parseRecord([]byte(line)) != nil; got != want {
			t.Errorf("%s is a record: %v", line, got)
		}
	}
	e, err := Parse([]byte(text + "data: x.csv\nscores: [accuracy]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err == nil || !strings.Contains(err.Error(), "accuracy") || !strings.Contains(err.Error(), "VI") {
		t.Errorf("a score of another task: error %v", err)
	}
}
