package report

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed4492f2cd/partwise/internal/timing"
)

// TestTimes: a page shows the times that its context counts, in which the phases, without
// their parts, add up to all of it, and no page shows times that nobody asked for.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := timing.NewContext(t.Context())
		spend := func(phase timing.Phase, method string, d time.Duration, within func()) {
			defer timing.Start(timing.Of(ctx, method), phase)()
			time.Sleep(d)
			if within != nil {
				within()
			}
		}
		spend(timing.Reading, "", time.Second, nil)
		spend(timing.Trials, "", 0, func() {
			spend(timing.Factorising, "nmf", time.Second, func() {
				spend(timing.SetUp, "nmf", time.Second, func() { spend(timing.Initial, "nmf", 2*time.Second, nil) })
			})
			spend(timing.Grouping, "nmf", 3*time.Second, nil)
			spend(timing.Scores, "nmf", 0, nil)
			spend(timing.Scores, "nmf", 0, nil)
		})
		time.Sleep(2 * time.Second)
		dir := t.TempDir()
		if err := WriteExperiment(ctx, dir, fakeExperiment()); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		sources(t, files)
		for _, line := range []string{
			"Reading the data 1.00 10 %", "Features 0.00 0 %", "Trials 7.00 70 %",
			"Pictures, the page and all else 2.00 20 %", "In all 10.00", "nmf 2 4.00 1.00 2.00 3.00 0.00",
		} {
			if got := cells(files["index.html"]); !strings.Contains(got, "\n"+line+"\n") {
				t.Errorf("no line %q in\n%s", line, got)
			}
		}
		if strings.Contains(cells(files["index.html"]), "\ncnmf 0 ") {
			t.Error("a method without trials has a line")
		}
		if err := WriteClusters(ctx, dir, fakeClusters(4)); err != nil {
			t.Fatal(err)
		}
		if got := cells(tree(t, dir)["index.html"]); !strings.Contains(got, "\nGrouping 0.00 0 %\n") {
			t.Errorf("the page of a grouping has\n%s", got)
		}
	})
}

// cells returns the tables of a page, the words of each row with blanks between them.
func cells(page string) string {
	words := strings.NewReplacer("</th><", " <", "</td><", " <", `<span class="mark"></span>`, "").Replace(page)
	var out strings.Builder
	for i, part := range strings.Split("<>"+words, "<") {
		if _, text, ok := strings.Cut(part, ">"); ok && i > 0 {
			out.WriteString(text)
		}
	}
	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
