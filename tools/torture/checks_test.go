package main

import (
	"io"
	"testing"
)

// TestRunChecks: a check that is run again has its new row in place of the old one, and
// the others stay.
func TestRunChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test")
	}
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	all := checks
	defer func() { checks = all }()
	checks = []check{
		{what: "names", args: []string{"./internal/files/filename"}},
		{what: "no such package", args: []string{"./internal/nowhere"}},
		{what: "no such program", needs: "partwise-has-no-such-program"},
	}
	part := &Part{Rows: []Row{{What: "names", Times: 77}, {What: "other", Times: 5}}}
	saves := 0
	if err := runChecks(t.Context(), "n", module, part, io.Discard, func() error { saves++; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(part.Rows) != 3 || saves != 2 {
		t.Fatalf("%d saves, %+v", saves, part.Rows)
	}
	for i, want := range []struct {
		what     string
		failures int
	}{{"names", 0}, {"other", 0}, {"no such package", 1}} {
		if r := part.Rows[i]; r.What != want.what || r.Failures != want.failures {
			t.Errorf("row %d: %+v, want %+v", i, r, want)
		}
	}
	if r := part.Rows[0]; r.Times == 0 || r.Times == 77 {
		t.Errorf("%d tests of names", r.Times)
	}
	if err := runChecks(t.Context(), "(", module, part, io.Discard, nil); err == nil {
		t.Error("no error of an expression that is none")
	}
}
