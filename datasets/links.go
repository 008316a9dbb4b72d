package datasets

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Links are pairs of samples, by their place in the set, that belong together and that do not.
type Links struct {
	Must, Cannot [][2]int
	// File is where they were read, and MustLines and CannotLines hold the lines of it that
	// say so, from 1. They are nil for links that stand in no line each, as those of feedback.
	File                   string
	MustLines, CannotLines []int
}

// None tells whether there are no links.
func (l Links) None() bool { return len(l.Must)+len(l.Cannot) == 0 }

// linkLines are those of a file of links.
var linkLines = namedLines{fields: 3, samples: 3, want: "3", headers: append(slices.Clone(naming.Headers), "a", "first", "log"), others: []string{"link", "links", "kind", "relation", "mark"}}

// checkFit returns an error where this number of links is more than the memory budget of
// the context has room for. A link takes two numbers and its line, three times while a list grows.
func checkFit(ctx context.Context, links int) error {
	return limits.FromContext(ctx).Check(72*int64(links), fmt.Sprintf("%d links", links))
}

// ReadLinks reads links from a CSV file. A line holds two samples, as ReadLabels takes them, and must or
// cannot. The first line may be a header. A line that cannot be understood, and links that contradict each
// other, directly or through others, are errors, and so are more links than the memory budget of the
// context has room for.
func (s *Set) ReadLinks(ctx context.Context, file string) (*Links, error) {
	l := &Links{File: file}
	err := s.readLines(ctx, "links", file, linkLines, func(line int, record []string, sample func(field int) (int, error)) error {
		a, err := sample(0)
		if err != nil {
			return err
		}
		b, err := sample(1)
		if err != nil {
			return err
		}
		if err := checkFit(ctx, len(l.Must)+len(l.Cannot)+1); err != nil {
			return err
		}
		switch record[2] {
		case "must":
			l.Must, l.MustLines = append(l.Must, [2]int{a, b}), append(l.MustLines, line)
		case "cannot":
			l.Cannot, l.CannotLines = append(l.Cannot, [2]int{a, b}), append(l.CannotLines, line)
		default:
			return fmt.Errorf("%s is neither must nor cannot", spreadsheet.Quote(record[2]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, s.CheckLinks(l, false)
}

// WriteLinks writes a CSV file of links as ReadLinks reads it.
func (s *Set) WriteLinks(w io.Writer, l Links) error {
	return writeRecords(w, []string{"first", "second", "link"}, func(put func(...string)) {
		for _, kind := range []struct {
			pairs [][2]int
			name  string
		}{{l.Must, "must"}, {l.Cannot, "cannot"}} {
			for _, p := range kind.pairs {
				put(spreadsheet.Cell(s.Names[p[0]]), spreadsheet.Cell(s.Names[p[1]]), kind.name)
			}
		}
	})
}

// FeedbackLog is a log of relevance feedback: samples that somebody found to be what was looked
// for, and samples that are not, by their places in the set.
type FeedbackLog struct{ Positive, Negative []int }

// mostLinks is how many links feedback may give: n samples found good give n·(n−1)/2.
const mostLinks = 1 << 25

// ReadFeedback reads relevance feedback from a CSV file, and makes links of it. A line holds the name of a
// log, a sample, and + or −, for whether somebody who was shown it found it to be what was looked for.
// Within a log all positive samples must link, and a positive and a negative one cannot; the links of all
// logs are put together (Chen, Rege, Dong and Fotouhi, SS-NMF).
//
// A sample that one log marks in both ways is an error, and so are logs that give
// more than 33 million links together, or more than ReadLinks reads.
func (s *Set) ReadFeedback(ctx context.Context, file string) (*Links, error) {
	type mark struct {
		log    string
		sample int
	}
	type said struct {
		positive bool
		line     int
	}
	marks := map[mark]said{}
	logs := map[string]*FeedbackLog{}
	var names []string
	err := s.readLines(ctx, "links", file, linkLines, func(line int, record []string, sample func(field int) (int, error)) error {
		i, err := sample(1)
		if err != nil {
			return err
		}
		name := strings.Clone(record[0])
		l := logs[name]
		if l == nil {
			l = &FeedbackLog{}
			logs[name] = l
			names = append(names, name)
		}
		positive := slices.Contains([]string{"+", "positive"}, record[2])
		if !positive && !slices.Contains([]string{"-", "−", "negative"}, record[2]) {
			return fmt.Errorf("%s is neither + nor -", spreadsheet.Quote(record[2]))
		}
		before, again := marks[mark{name, i}]
		switch {
		case again && before.positive != positive:
			return fmt.Errorf("the log %s contradicts its line %d on %s", spreadsheet.Quote(name), before.line, spreadsheet.Quote(record[1]))
		case again:
			return nil
		case positive:
			l.Positive = append(l.Positive, i)
		default:
			l.Negative = append(l.Negative, i)
		}
		marks[mark{name, i}] = said{positive, line}
		return nil
	})
	if err != nil {
		return nil, err
	}
	must, cannot := 0, 0
	for _, name := range names {
		p, n := len(logs[name].Positive), len(logs[name].Negative)
		must, cannot = must+p*(p-1)/2, cannot+p*n
		if must+cannot > mostLinks {
			return nil, fmt.Errorf("links %s: more than %d links with the log %s, which marks %d samples + and %d -", file, mostLinks, spreadsheet.Quote(name), p, n)
		}
	}
	if err := checkFit(ctx, must+cannot); err != nil {
		return nil, fmt.Errorf("links %s: %w", file, err)
	}
	out := &Links{File: file, Must: make([][2]int, 0, must), Cannot: make([][2]int, 0, cannot)}
	for _, name := range names {
		l := logs[name]
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

// WriteFeedback writes logs, which it numbers from 1, as ReadFeedback reads them.
func (s *Set) WriteFeedback(w io.Writer, logs []FeedbackLog) error {
	return writeRecords(w, []string{"log", "sample", "mark"}, func(put func(...string)) {
		for at, log := range logs {
			for _, kind := range []struct {
				samples []int
				mark    string
			}{{log.Positive, "+"}, {log.Negative, "-"}} {
				for _, i := range kind.samples {
					put(strconv.Itoa(at+1), spreadsheet.Cell(s.Names[i]), kind.mark)
				}
			}
		}
	})
}
