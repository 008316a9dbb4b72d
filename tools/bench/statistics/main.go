// Command statistics counts how often the marks of tables are wrong, and how often they are
// there where methods differ, beside other ways to test, and writes the tables of a document.
//
//	go run ./bench/statistics [-experiments 1000] [-python PYTHON] [-doc docs/statistics.md]
//
// PYTHON has autorank (python -m pip install autorank); without it its columns are left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/table"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/doc"
)

func main() {
	experiments := flag.Int("experiments", 1000, "how many tables of each kind are made")
	python := flag.String("python", "", "Python that has autorank")
	path := flag.String("doc", "../docs/statistics.md", "document that holds the tables")
	flag.Parse()
	if err := run(*experiments, *python, *path); err != nil {
		fmt.Fprintln(os.Stderr, "statistics:", err)
		os.Exit(1)
	}
}

// way is a way to test the differences of a table.
type way struct {
	name string
	by   table.Tests
	// overlap tells that it is told of how many classes the set has.
	overlap bool
}

var ways = []way{
	{"partwise", table.Tests{}, true},
	{"`overlap: ignored`", table.Tests{Rule: significance.Rule{Overlap: significance.OverlapIgnored}}, true},
	{"`correction: none`", table.Tests{Rule: significance.Rule{Correction: significance.Uncorrected}}, true},
	{"plain paired t-test", table.Tests{Rule: significance.Rule{Correction: significance.Uncorrected}}, false},
	{"plain Wilcoxon", table.Tests{Rule: significance.Rule{By: significance.BySignedRank, Correction: significance.Uncorrected}}, false},
}

// outcome is what the marks of a table say.
type outcome struct {
	// Any tells whether any method is marked as worse than the best of its row, and Marked is the
	// share of the methods but the first that are in the last row, if the first is the best.
	Any    bool    `json:"any"`
	Marked float64 `json:"marked"`
}

// count adds outcomes up.
type count struct {
	n, any int
	marked float64
}

func (c *count) add(o outcome) {
	c.n++
	if o.Any {
		c.any++
	}
	c.marked += o.Marked
}

// percent is a share of those counted with its standard error.
func (c count) percent(x float64) string {
	if c.n == 0 {
		return "–"
	}
	p := x / float64(c.n)
	return fmt.Sprintf("%.1f ± %.1f", 100*p, 100*math.Sqrt(p*(1-p)/float64(c.n)))
}

// experiment is one table's records.
type experiment struct {
	records []pipeline.Record
	methods []string
	classes int // of the set
}

// judge makes the table and reads its marks.
func (w way) judge(e experiment) outcome {
	by := w.by
	if w.overlap {
		by.Classes = e.classes
	}
	t := table.New(e.records, "AC", e.methods, by)
	rows := t.Rows
	if t.Average != nil {
		rows = append(rows[:len(rows):len(rows)], *t.Average)
	}
	var o outcome
	for _, r := range rows {
		marked := 0
		for _, c := range r.Cells[1:] {
			if c.Verdict == table.Different && r.Cells[0].Best {
				marked++
			}
		}
		for _, c := range r.Cells {
			o.Any = o.Any || c.Verdict == table.Different
		}
		o.Marked = float64(marked) / float64(len(r.Cells)-1)
	}
	return o
}

// study is a line of a table: experiments of one kind.
type study struct {
	what string
	make func(i int) (experiment, error)
	// power tells that the first method is better, so that marks are right.
	power bool
}

func run(experiments int, python, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	peer, err := startAutorank(python)
	if err != nil {
		return err
	}
	defer peer.close()
	for _, part := range []struct {
		name    string
		studies []study
	}{{"false", falseStudies(context.Background())}, {"power", powerStudies()}} {
		written, err := written(part.studies, experiments, peer)
		if err != nil {
			return err
		}
		if text, err = doc.Replace(text, part.name, written); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return atomicfile.Write(path, text)
}

// written runs the studies and returns their table.
func written(studies []study, experiments int, peer *autorank) (string, error) {
	var out strings.Builder
	line := func(words []string) {
		text := "| " + strings.Join(words, " | ") + " |\n"
		fmt.Fprint(os.Stderr, text)
		out.WriteString(text)
	}
	head, rule := []string{""}, []string{"---"}
	for _, w := range ways {
		head, rule = append(head, w.name), append(rule, "---:")
	}
	line(append(head, strings.TrimSpace("autorank "+peer.version)))
	line(append(rule, "---:"))
	for _, s := range studies {
		counts := make([]count, len(ways)+1)
		for i := range experiments {
			e, err := s.make(i)
			if err != nil {
				return "", err
			}
			for at, w := range ways {
				counts[at].add(w.judge(e))
			}
			if peer.stdin == nil || len(e.methods) > 2 && i >= max(1, experiments/10) {
				continue
			}
			o, err := peer.judge(e, s.power)
			if err != nil {
				return "", err
			}
			counts[len(ways)].add(o)
		}
		words := []string{s.what}
		for _, c := range counts {
			x := float64(c.any)
			if s.power {
				x = c.marked
			}
			words = append(words, c.percent(x))
		}
		line(words)
	}
	fmt.Fprintf(&out, "\nPercent of %d tables, with standard errors", experiments)
	if peer.stdin != nil {
		out.WriteString("; autorank, which takes its time, judged a tenth of those of more than two methods")
	}
	out.WriteString(".\n")
	return out.String(), nil
}
