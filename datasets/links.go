package datasets

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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

// checkFit returns an error if this many links exceed the memory budget, including copies of growing lists.
func checkFit(ctx context.Context, links int) error {
	return limits.FromContext(ctx).Check(72*int64(links), fmt.Sprintf("%d links", links))
}

// ReadLinks reads links from a CSV file. A line holds two samples, named as for ReadLabels, and must or cannot. The
// first line may be a header. It returns an error for links that contradict each other, directly or through others, and
// for more links than fit the memory budget of the context.
func (s *Set) ReadLinks(ctx context.Context, file string) (*Links, error) {
	l := &Links{File: file}
	err := s.readLines(ctx, "links", file, linkLines, []int{0, 1}, func(line int, record []string, samples []int) error {
		switch record[2] {
		case "must":
			l.Must, l.MustLines = append(l.Must, [2]int(samples)), append(l.MustLines, line)
		case "cannot":
			l.Cannot, l.CannotLines = append(l.Cannot, [2]int(samples)), append(l.CannotLines, line)
		default:
			return fmt.Errorf("%s: expected must or cannot", spreadsheet.Quote(record[2]))
		}
		return checkFit(ctx, len(l.Must)+len(l.Cannot))
	})
	if err != nil {
		return nil, err
	}
	return l, s.CheckLinks(l, false)
}

// WriteLinks writes a CSV file of links, which ReadLinks can read.
func (s *Set) WriteLinks(w io.Writer, l Links) error {
	rows := [][]string{{"first", "second", "link"}}
	for i, p := range slices.Concat(l.Must, l.Cannot) {
		kind := "must"
		if i >= len(l.Must) {
			kind = "cannot"
		}
		rows = append(rows, []string{spreadsheet.Cell(s.Names[p[0]]), spreadsheet.Cell(s.Names[p[1]]), kind})
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
func (s *Set) ReadFeedback(ctx context.Context, file string) (*Links, error) {
	type mark struct {
		log    string
		sample int
	}
	marks := map[mark]int{} // lines, negated for negative marks
	var names []string
	var logs []FeedbackLog
	index := map[string]int{}
	err := s.readLines(ctx, "links", file, linkLines, []int{1}, func(line int, record []string, samples []int) error {
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
			return fmt.Errorf("%s: expected + or -", spreadsheet.Quote(record[2]))
		}
		switch before := marks[mark{name, i}] * sign; {
		case before < 0:
			return fmt.Errorf("the log %s marks %[3]s with the opposite sign in line %[2]d", spreadsheet.Quote(name), -before, spreadsheet.Quote(record[1]))
		case before == 0:
			*list = append(*list, i)
			marks[mark{name, i}] = line * sign
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	must, cannot := 0, 0
	for i, l := range logs {
		p, n := len(l.Positive), len(l.Negative)
		must, cannot = must+p*(p-1)/2, cannot+p*n
		if must+cannot > mostLinks {
			return nil, fmt.Errorf("links %s: more than %d links; the log %s marks %d samples + and %d -", file, mostLinks, spreadsheet.Quote(names[i]), p, n)
		}
	}
	if err := checkFit(ctx, must+cannot); err != nil {
		return nil, fmt.Errorf("links %s: %w", file, err)
	}
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
		for k, i := range slices.Concat(log.Positive, log.Negative) {
			mark := "+"
			if k >= len(log.Positive) {
				mark = "-"
			}
			rows = append(rows, []string{strconv.Itoa(at + 1), spreadsheet.Cell(s.Names[i]), mark})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// CheckLinks returns an error if links contradict each other, directly or through others. With labels, they must not
// contradict the classes either. The error names the samples and lines of the shortest path.
func (s *Set) CheckLinks(l *Links, labels bool) error {
	if err := s.contradiction(l, labels); err != nil {
		return fmt.Errorf("links %s: %w", l.File, err)
	}
	return nil
}

func (s *Set) contradiction(l *Links, labels bool) error {
	// Classes are nodes after the samples, and each sample is must-linked with its class.
	n, must := s.Len(), slices.Clip(l.Must)
	if labels {
		for i, c := range s.Labels {
			if c >= 0 {
				must = append(must, [2]int{i, n + c})
			}
		}
	}
	group, err := links.Close(n+len(s.Classes), must, nil)
	if err != nil {
		return err
	}
	if labels {
		class := map[int]int{} // of a group
		for c := range s.Classes {
			if other, ok := class[group[n+c]]; ok {
				return fmt.Errorf("must-links join two classes: %s", s.describePath(l, must, n+other, n+c))
			}
			class[group[n+c]] = c
		}
	}
	for at, p := range l.Cannot {
		from := ""
		if l.CannotLines != nil {
			from = fmt.Sprintf("line %d: ", l.CannotLines[at])
		}
		if p[0] == p[1] {
			return fmt.Errorf("%scannot-link (%s, %s) joins a sample with itself", from, s.Names[p[0]], s.Names[p[1]])
		}
		if group[p[0]] == group[p[1]] {
			return fmt.Errorf("%scannot-link (%s, %s) contradicts %s", from, s.Names[p[0]], s.Names[p[1]], s.describePath(l, must, p[0], p[1]))
		}
	}
	return nil
}

// describePath describes the shortest path between two samples or classes along must-links.
func (s *Set) describePath(l *Links, must [][2]int, from, to int) string {
	type step struct{ to, link int }
	next := map[int][]step{}
	for at, p := range must {
		next[p[0]], next[p[1]] = append(next[p[0]], step{p[1], at}), append(next[p[1]], step{p[0], at})
	}
	back := map[int]step{to: {}} // towards to
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		for _, p := range next[queue[0]] {
			if _, ok := back[p.to]; !ok {
				back[p.to] = step{queue[0], p.link}
				queue = append(queue, p.to)
			}
		}
	}
	var path []string
	for at := from; at != to; at = back[at].to {
		link := back[at].link
		i, other := must[link][0], must[link][1]
		if link < len(l.Must) {
			path = append(path, fmt.Sprintf("must-link (%s, %s)", s.Names[i], s.Names[other]))
			if l.MustLines != nil {
				path[len(path)-1] += fmt.Sprintf(" of line %d", l.MustLines[link])
			}
			continue
		}
		path = append(path, fmt.Sprintf("the class %s of %s", s.Classes[other-s.Len()], s.Names[i]))
		if s.LabelLines != nil && s.LabelLines[i] != 0 {
			path[len(path)-1] += fmt.Sprintf(" in line %d of %s", s.LabelLines[i], s.LabelsFile)
		}
	}
	const most = 6
	if len(path) > most {
		path = append(path[:most:most], "…")
	}
	return strings.Join(path, ", ")
}
