package datasets

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Links are must-links and cannot-links: pairs of sample indices that belong together, and that do not.
type Links struct {
	Must, Cannot [][2]int
	// File is the file of the links. MustLines and CannotLines are their lines in it, from 1, or nil.
	File                   string
	MustLines, CannotLines []int
}

// None reports whether there are no links.
func (l Links) None() bool { return len(l.Must)+len(l.Cannot) == 0 }

var linkLines = namedLines{fields: 3, samples: 3, want: "three fields", headers: append(slices.Clone(naming.Headers), "a", "first", "log"), others: []string{"link", "links", "kind", "relation", "mark"}}

// checkFit fails if this many links exceed the memory budget, including copies of growing lists.
func checkFit(ctx context.Context, links int) {
	guard.Check(limits.FromContext(ctx).Check(72*int64(links), fmt.Sprintf("%d links", links)))
}

// ReadLinks reads links from a CSV file. A line holds two samples, named as for ReadLabels, and must or cannot. The
// first line may be a header. It returns an error for links that contradict each other, directly or through others, and
// for more links than fit the memory budget of the context.
func (s *Set) ReadLinks(ctx context.Context, file string) (*Links, error) {
	l := &Links{File: file}
	err := s.readLines(ctx, "links", file, linkLines, []int{0, 1}, func(line int, record []string, samples []int) {
		switch record[2] {
		case "must":
			l.Must, l.MustLines = append(l.Must, [2]int(samples)), append(l.MustLines, line)
		case "cannot":
			l.Cannot, l.CannotLines = append(l.Cannot, [2]int(samples)), append(l.CannotLines, line)
		default:
			guard.Fail("%s: expected must or cannot", spreadsheet.Quote(record[2]))
		}
		checkFit(ctx, len(l.Must)+len(l.Cannot))
	})
	if err != nil {
		return nil, err
	}
	return l, s.CheckLinks(l, false)
}

// WriteLinks writes a CSV file of links, which ReadLinks can read.
func (s *Set) WriteLinks(w io.Writer, l Links) error {
	rows := [][]string{{"first", "second", "link"}}
	for k, pairs := range [][][2]int{l.Must, l.Cannot} {
		for _, p := range pairs {
			rows = append(rows, []string{spreadsheet.Cell(s.Names[p[0]]), spreadsheet.Cell(s.Names[p[1]]), [...]string{"must", "cannot"}[k]})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// FeedbackLog is one log of relevance feedback: samples that matched a query, and samples that did not.
type FeedbackLog struct{ Positive, Negative []int }

const mostLinks = 1 << 25 // the most links from feedback: n positive samples give n·(n−1)/2

// ReadFeedback reads relevance feedback from a CSV file and derives links. A line holds the name of a log, a sample,
// and + or − for whether it matched. Within a log, positive samples are must-linked, and each positive sample is
// cannot-linked with each negative one (Chen, Rege, Dong and Fotouhi 2007). A sample with both marks in one log is an
// error, and so are more than 33 million links.
func (s *Set) ReadFeedback(ctx context.Context, file string) (_ *Links, err error) {
	defer guard.Catch(&err)
	type mark struct {
		log    string
		sample int
	}
	marks := map[mark]int{} // lines, negated for negative marks
	var names []string
	var logs []FeedbackLog
	index := map[string]int{}
	err = s.readLines(ctx, "links", file, linkLines, []int{1}, func(line int, record []string, samples []int) {
		i, name := samples[0], strings.Clone(record[0])
		if _, ok := index[name]; !ok {
			index[name], names, logs = len(logs), append(names, name), append(logs, FeedbackLog{})
		}
		l := &logs[index[name]]
		list, sign := &l.Positive, 1
		switch record[2] {
		case "+", "positive":
		case "-", "−", "negative":
			list, sign = &l.Negative, -1
		default:
			guard.Fail("%s: expected + or -", spreadsheet.Quote(record[2]))
		}
		switch before := marks[mark{name, i}] * sign; {
		case before < 0:
			guard.Fail("the log %s marks %[3]s with the opposite sign in line %[2]d", spreadsheet.Quote(name), -before, spreadsheet.Quote(record[1]))
		case before == 0:
			*list = append(*list, i)
			marks[mark{name, i}] = line * sign
		}
	})
	guard.Check(err)
	must, cannot := 0, 0
	guard.Within(func() {
		for i, l := range logs {
			p, n := len(l.Positive), len(l.Negative)
			must, cannot = must+p*(p-1)/2, cannot+p*n
			guard.FailIf(must+cannot > mostLinks, "more than %d links; the log %s marks %d samples + and %d -", mostLinks, spreadsheet.Quote(names[i]), p, n)
		}
		checkFit(ctx, must+cannot)
	}, "links %s", file)
	out := &Links{File: file, Must: make([][2]int, 0, must), Cannot: make([][2]int, 0, cannot)}
	for _, l := range logs {
		for i, a := range l.Positive {
			for _, b := range l.Positive[:i] {
				out.Must = append(out.Must, [2]int{b, a})
			}
			for _, b := range l.Negative {
				out.Cannot = append(out.Cannot, [2]int{a, b})
			}
		}
	}
	return out, s.CheckLinks(out, false)
}

// WriteFeedback writes logs, numbered from 1, which ReadFeedback can read.
func (s *Set) WriteFeedback(w io.Writer, logs []FeedbackLog) error {
	rows := [][]string{{"log", "sample", "mark"}}
	for at, log := range logs {
		for k, samples := range [][]int{log.Positive, log.Negative} {
			for _, i := range samples {
				rows = append(rows, []string{strconv.Itoa(at + 1), spreadsheet.Cell(s.Names[i]), "+-"[k : k+1]})
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// CheckLinks returns an error if links contradict each other, directly or through others. With labels, they must not
// contradict the classes either. The error names the samples and the line of a link.
func (s *Set) CheckLinks(l *Links, labels bool) error {
	return guard.Wrap(guard.Try(func() { s.findContradiction(l, labels) }), "links %s", l.File)
}

// findContradiction is CheckLinks with guard.Fail.
func (s *Set) findContradiction(l *Links, labels bool) {
	// Classes are nodes after the samples, and each sample is must-linked with its class.
	n, must := s.Len(), slices.Clip(l.Must)
	if labels {
		for i, c := range s.Labels {
			if c >= 0 {
				must = append(must, [2]int{i, n + c})
			}
		}
	}
	group := guard.Must(links.Close(n+len(s.Classes), must, nil))
	if labels {
		class := map[int]int{} // of a group
		for c := range s.Classes {
			if other, ok := class[group[n+c]]; ok {
				at := slices.IndexFunc(l.Must, func(p [2]int) bool { return group[p[0]] == group[n+c] })
				guard.Fail("must-links join the classes %s and %s, such as %s", s.Classes[other], s.Classes[c], s.describe(l.Must, l.MustLines, at))
			}
			class[group[n+c]] = c
		}
	}
	for at, p := range l.Cannot {
		if group[p[0]] != group[p[1]] {
			continue
		}
		cannot := s.describe(l.Cannot, l.CannotLines, at)
		guard.FailIf(p[0] == p[1], "cannot-link %s joins a sample with itself", cannot)
		if labels && s.Labels[p[0]] >= 0 && s.Labels[p[0]] == s.Labels[p[1]] {
			guard.Fail("cannot-link %s contradicts the class %s of both samples", cannot, s.Classes[s.Labels[p[0]]])
		}
		by := slices.IndexFunc(l.Must, func(m [2]int) bool { return slices.Contains(p[:], m[0]) || slices.Contains(p[:], m[1]) })
		guard.Fail("cannot-link %s contradicts must-links, such as %s", cannot, s.describe(l.Must, l.MustLines, by))
	}
}

// describe describes a link.
func (s *Set) describe(pairs [][2]int, lines []int, at int) string {
	text := fmt.Sprintf("(%s, %s)", s.Names[pairs[at][0]], s.Names[pairs[at][1]])
	if lines != nil {
		text += fmt.Sprintf(" of line %d", lines[at])
	}
	return text
}
