package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// awkward is a table with everything in it: special characters and long names,
// missing trials, a row too short to test, ties and a two-digit deviation.
func awkward() *Table {
	methods := []string{"nmf_kl", "a & b %", "x<y|z {~}", "a method with a long name, λ = 100"}
	records := fakeRecords(methods, []int{2, 5, 10}, 8)
	records = slices.DeleteFunc(records, func(r pipeline.Record) bool {
		return r.Classes == 10 && r.Repeat > 3 || r.Classes == 5 && r.Method == "a & b %" && r.Repeat == 2 || r.Classes == 10 && r.Method == "x<y|z {~}"
	})
	for i, r := range records {
		if r.Classes == 2 && r.Method == "nmf_kl" {
			records[i].Scores["AC"] = float64(r.Repeat) / 8
		}
		if r.Classes == 2 && r.Method == "x<y|z {~}" {
			records[i].Scores["AC"] += 0.03
		}
	}
	table := NewTable(records, "AC", methods)
	table.Name = "Yale_32x32, 30 % labels"
	return table
}

// renderers returns what writes a table, by the extension of the file.
func renderers(t tableWriter) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"txt": func(w io.Writer) error { return t.Text(w, TextOptions{}) },
		"md":  t.Markdown,
		"csv": t.CSV,
		"tex": t.LaTeX,
	}
}

func TestRenderers(t *testing.T) {
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprintf("method %d", i+1)
	}
	tables := map[string]*Table{
		"seven":   NewTable(fakeRecords(sevenMethods, []int{2, 3, 4, 5, 6, 7, 8, 9, 10}, 10), "AC free", sevenMethods),
		"awkward": awkward(),
		"fifteen": NewTable(fakeRecords(many, []int{4}, 10), "NMI", many),
		"single":  NewTable(fakeRecords([]string{"nmf", "cf"}, []int{2, 3}, 1), "purity", []string{"nmf", "cf"}),
		"alone":   NewTable(fakeRecords([]string{"nmf"}, []int{2}, 3), "AC", []string{"nmf"}),
		"empty":   NewTable(nil, "AC", []string{"nmf", "cf"}),
	}
	for name, table := range tables {
		for extension, write := range renderers(table) {
			t.Run(name+"."+extension, func(t *testing.T) {
				var b strings.Builder
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), "NaN") {
					t.Error("NaN in the table")
				}
				golden(t, name+"."+extension, b.String())
				if err := write(failing{}); !errors.Is(err, errFailing) {
					t.Errorf("error %v, want the writer's", err)
				}
			})
		}
	}
}

var errFailing = errors.New("disk full")

// failing is a writer on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

func TestTextWidth(t *testing.T) {
	table := NewTable(fakeRecords(sevenMethods, []int{2, 3}, 6), "AC", sevenMethods)
	var b strings.Builder
	if err := table.Text(&b, TextOptions{Width: 60}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := narrow.StringWidth(strings.TrimRight(line, "\n")); n > 60 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
	for _, method := range sevenMethods {
		if !strings.Contains(b.String(), " "+method) {
			t.Errorf("%s is lost", method)
		}
	}
	if err := table.Text(io.Discard, TextOptions{Width: 3}); err != nil {
		t.Errorf("a very narrow terminal: %v", err)
	}
}

func TestTextColour(t *testing.T) {
	table := NewTable(slices.Concat(scored("a", 2, 0.5), scored("b", 2, 0.4)), "AC", []string{"a", "b"})
	var plain, bold strings.Builder
	if err := errors.Join(table.Text(&plain, TextOptions{}), table.Text(&bold, TextOptions{Colour: true})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(bold.String(), "\x1b[1m50.0 *\x1b[0m") {
		t.Errorf("the best is not bold:\n%q", bold.String())
	}
	if got := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(bold.String()); got != plain.String() {
		t.Errorf("colour moves the words:\n%s\n%s", got, plain.String())
	}
}

func TestPercent(t *testing.T) {
	for score, want := range map[float64]string{0: "0.0", 1: "100.0", 0.74049: "74.0", -0.00001: "0.0", -0.021: "-2.1"} {
		if got := percent(score); got != want {
			t.Errorf("%v is %s, want %s", score, got, want)
		}
	}
}

func ExampleTable_Text() {
	records := slices.Concat(
		scored("nmf", 2, 0.71, 0.64, 0.68, 0.70, 0.66, 0.69),
		scored("cnmf", 2, 0.82, 0.80, 0.81, 0.83, 0.80, 0.84),
		scored("ccf", 2, 0.83, 0.81, 0.80, 0.84, 0.81, 0.83),
	)
	table := NewTable(records, "AC", []string{"nmf", "cnmf", "ccf"})
	if err := table.Text(os.Stdout, TextOptions{Width: 80}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Classes           nmf          cnmf           ccf
	// ───────────────────────────────────────────────────
	//        2  68.0 ± 2.6    81.7 ± 1.6 ~  82.0 ± 1.5 *
	//
	// Clustering accuracy (AC) in percent, mean ± standard deviation over 6 repeats.
	// *: the best of the row. ~: not significantly different from the best (two-sided
	// Wilcoxon signed-rank test over paired trials, p ≥ 0.05).
}
