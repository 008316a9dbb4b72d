package table

import (
	"cmp"

	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// awkwardRecords returns records with special characters, long names, missing trials, a row with too few trials to test, ties
// and a two-digit deviation.
func awkwardRecords() (records []record.Record, methods []string) {
	methods = []string{"nmf_kl", "a & b %", "x<y|z {~}", "a method with a long name, λ = 100"}
	records = fakeRecords(methods, []int{2, 5, 10}, 8)
	records = slices.DeleteFunc(records, func(r record.Record) bool {
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
	return records, methods
}

// awkward is a table with all special cases.
func awkward() *Table {
	records, methods := awkwardRecords()
	table := New(records, "AC", methods, Tests{})
	table.Name = "Yale_32x32, 30 % labels"
	return table
}

// renderers returns the writers of a table, by file extension.
func renderers(t interface{ Document() *Document }) map[string]func(io.Writer) error {
	out := map[string]func(io.Writer) error{}
	for _, f := range Formats {
		out[cmp.Or(f.Extension, "html")] = func(w io.Writer) error { return f.Write(w, t.Document(), Options{}) }
	}
	return out
}

func TestRenderers(t *testing.T) {
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprintf("method %d", i+1)
	}
	tables := map[string]*Table{
		"seven":   New(fakeRecords(sevenMethods, []int{2, 3, 4, 5, 6, 7, 8, 9, 10}, 10), "AC free", sevenMethods, Tests{}),
		"awkward": awkward(),
		"fifteen": New(fakeRecords(many, []int{4}, 10), "NMI", many, Tests{}),
		"single":  New(fakeRecords([]string{"nmf", "cf"}, []int{2, 3}, 1), "purity", []string{"nmf", "cf"}, Tests{}),
		"alone":   New(fakeRecords([]string{"nmf"}, []int{2}, 3), "AC", []string{"nmf"}, Tests{}),
		"empty":   New(nil, "AC", []string{"nmf", "cf"}, Tests{}),
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
					t.Errorf("got error %v, want the writer's", err)
				}
			})
		}
	}
}

func TestTextWidth(t *testing.T) {
	table := New(fakeRecords(sevenMethods, []int{2, 3}, 6), "AC", sevenMethods, Tests{})
	var b strings.Builder
	if err := Text(&b, table.Document(), Options{Width: 60}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 60 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
	for _, method := range sevenMethods {
		if !strings.Contains(b.String(), " "+method) {
			t.Errorf("%s is lost", method)
		}
	}
	if err := Text(io.Discard, table.Document(), Options{Width: 3}); err != nil {
		t.Errorf("a very narrow terminal: %v", err)
	}
}

func TestTextColour(t *testing.T) {
	table := New(slices.Concat(scored("a", 2, 0.5), scored("b", 2, 0.4)), "AC", []string{"a", "b"}, Tests{})
	var plain, bold strings.Builder
	if err := errors.Join(Text(&plain, table.Document(), Options{}), Text(&bold, table.Document(), Options{Colour: true})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(bold.String(), "\x1b[1m50.0 *\x1b[0m") {
		t.Errorf("the best is not bold:\n%q", bold.String())
	}
	if got := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(bold.String()); got != plain.String() {
		t.Errorf("colour moves the words:\n%s\n%s", got, plain.String())
	}
}

func ExampleNew() {
	records := slices.Concat(
		scored("nmf", 2, 0.71, 0.64, 0.68, 0.70, 0.66, 0.69),
		scored("cnmf", 2, 0.82, 0.80, 0.81, 0.83, 0.80, 0.84),
		scored("ccf", 2, 0.83, 0.81, 0.80, 0.84, 0.81, 0.83),
	)
	table := New(records, "AC", []string{"nmf", "cnmf", "ccf"}, Tests{})
	if err := Text(os.Stdout, table.Document(), Options{Width: 80}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Classes           nmf          cnmf           ccf
	// ───────────────────────────────────────────────────
	//        2  68.0 ± 2.6    81.7 ± 1.6 ~  82.0 ± 1.5 *
	//
	// Difference in AC from ccf with 2 classes
	//
	//  Method  Difference   95 % interval  Effect         p
	// ──────────────────────────────────────────────────────
	//  nmf          −14.0  [−16.0, −12.0]   −7.38  <0.001 *
	//  cnmf          −0.3    [−1.4, +0.8]   −0.32   0.465
	//
	// Clustering accuracy (AC) in percent, mean ± standard deviation over 6 repeats.
	// *: best of the row. ~: not significantly worse than the best (two-sided
	// corrected resampled t-test (Nadeau and Bengio 2003), p ≥ 0.05 after Holm's
	// correction for 3 comparisons; the result holds for these samples). Differences:
	// mean in percent, its 95 % confidence interval (not corrected), and the effect
	// size (mean divided by standard deviation). p-values are corrected.
}
