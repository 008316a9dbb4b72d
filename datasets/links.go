package datasets

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Links are pairs of samples, by their place in the set, that belong together
// and that do not.
type Links struct {
	Must, Cannot [][2]int
	// File is where they were read, and MustLines and CannotLines hold the lines of it that
	// say so, from 1. They are nil for links that stand in no line each, as those of feedback.
	File                   string
	MustLines, CannotLines []int
}

// None tells whether there are no links.
func (l Links) None() bool { return len(l.Must)+len(l.Cannot) == 0 }

// ReadLinks reads links from a CSV file. A line holds two samples, as ReadLabels
// takes them, and must or cannot. The first line may be a header. A line that
// cannot be understood, and links that contradict each other, directly or
// through others, are errors, and so are more links than the memory budget of the
// context has room for.
func (s *Set) ReadLinks(ctx context.Context, file string) (*Links, error) {
	return readNamed(ctx, file, s.parseLinks)
}

// readNamed has parse read a file of links.
func readNamed(ctx context.Context, file string, parse func(context.Context, io.Reader) (*Links, error)) (*Links, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	defer in.Close()
	l, err := parse(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("links %s: %w", file, err)
	}
	l.File = file
	return l, nil
}

// linkBytes is what a link takes while links are read: its two numbers and its line, three
// times while a list of them grows.
const linkBytes = 72

// linksFit returns an error where this number of links is more than the memory budget of
// the context has room for.
func linksFit(ctx context.Context, links int) error {
	return limits.FromContext(ctx).Check(linkBytes*int64(links), fmt.Sprintf("%d links", links))
}

func (s *Set) parseLinks(ctx context.Context, in io.Reader) (*Links, error) {
	l := &Links{}
	err := s.parseLines(ctx, in, linkLines, func(line int, record []string, sample func(field int) (int, error)) error {
		a, err := sample(0)
		if err != nil {
			return err
		}
		b, err := sample(1)
		if err != nil {
			return err
		}
		if err := linksFit(ctx, len(l.Must)+len(l.Cannot)+1); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		switch record[2] {
		case "must":
			l.Must, l.MustLines = append(l.Must, [2]int{a, b}), append(l.MustLines, line)
		case "cannot":
			l.Cannot, l.CannotLines = append(l.Cannot, [2]int{a, b}), append(l.CannotLines, line)
		default:
			return fmt.Errorf("line %d: %s is neither must nor cannot", line, spreadsheet.Quote(record[2]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, s.checkLinks(l, false)
}

// ReadFeedback reads relevance feedback from a CSV file, and makes links of it.
// A line holds the name of a log, a sample, and + or −, for whether somebody who
// was shown it found it to be what was looked for. Within a log all positive
// samples must link, and a positive and a negative one cannot; the links of all
// logs are put together (Chen, Rege, Dong and Fotouhi, SS-NMF).
//
// A sample that one log marks in both ways is an error, and so are logs that give
// more than 33 million links together, or more than ReadLinks reads.
func (s *Set) ReadFeedback(ctx context.Context, file string) (*Links, error) {
	return readNamed(ctx, file, s.parseFeedback)
}

// mostLinks is how many links feedback may give: n samples found good give
// n·(n−1)/2.
const mostLinks = 1 << 25

func (s *Set) parseFeedback(ctx context.Context, in io.Reader) (*Links, error) {
	type mark struct {
		positive bool
		line     int
	}
	type log struct {
		positive, negative []int
		marks              map[int]mark
	}
	logs := map[string]*log{}
	var names []string
	err := s.parseLines(ctx, in, linkLines, func(line int, record []string, sample func(field int) (int, error)) error {
		i, err := sample(1)
		if err != nil {
			return err
		}
		l := logs[record[0]]
		if l == nil {
			l = &log{marks: map[int]mark{}}
			name := strings.Clone(record[0])
			logs[name] = l
			names = append(names, name)
		}
		var positive bool
		switch record[2] {
		case "+", "positive":
			positive = true
		case "-", "−", "negative":
		default:
			return fmt.Errorf("line %d: %s is neither + nor -", line, spreadsheet.Quote(record[2]))
		}
		before, again := l.marks[i]
		switch {
		case again && before.positive != positive:
			return fmt.Errorf("line %d: the log %s contradicts its line %d on %s", line, spreadsheet.Quote(record[0]), before.line, spreadsheet.Quote(record[1]))
		case again:
			return nil
		case positive:
			l.positive = append(l.positive, i)
		default:
			l.negative = append(l.negative, i)
		}
		l.marks[i] = mark{positive, line}
		return nil
	})
	if err != nil {
		return nil, err
	}
	must, cannot := 0, 0
	for _, name := range names {
		p, n := len(logs[name].positive), len(logs[name].negative)
		must, cannot = must+p*(p-1)/2, cannot+p*n
		if must+cannot > mostLinks {
			return nil, fmt.Errorf("more than %d links with the log %s, which marks %d samples + and %d -", mostLinks, spreadsheet.Quote(name), p, n)
		}
	}
	if err := linksFit(ctx, must+cannot); err != nil {
		return nil, err
	}
	out := &Links{Must: make([][2]int, 0, must), Cannot: make([][2]int, 0, cannot)}
	for _, name := range names {
		l := logs[name]
		for i, a := range l.positive {
			for _, b := range l.positive[:i] {
				out.Must = append(out.Must, [2]int{b, a})
			}
			for _, b := range l.negative {
				out.Cannot = append(out.Cannot, [2]int{a, b})
			}
		}
	}
	return out, s.checkLinks(out, false)
}

// namedLines are the lines of a CSV file about samples: how many fields they have, as
// want says, how many of the first may name samples, and what a header may call the
// first field and the others. Where wider is set it is called with a header that names more fields, as many
// as all lines have then.
type namedLines struct {
	fields, samples int
	want            string
	headers, others []string
	wider           func(header []string)
}

// linkLines are those of a file of links.
var linkLines = namedLines{fields: 3, samples: 3, want: "3", headers: append(slices.Clone(naming.Headers), "a", "first", "log"), others: []string{"link", "links", "kind", "relation", "mark"}}

// parseLines calls f for each line of a CSV file but its header, with a
// function that finds the sample that a field names. The fields are divided by commas,
// semicolons or tabs, which the first lines tell.
func (s *Set) parseLines(ctx context.Context, in io.Reader, lines namedLines, f func(line int, record []string, sample func(field int) (int, error)) error) error {
	text := decoded(in)
	head, _ := text.Peek(separatorWindow)
	find := s.finder()
	by, err := separatorOf(head, lines, find)
	if err != nil {
		return err
	}
	reader := spreadsheet.NewTable(text, by.char, mostNamesLine, mostNamesFields)
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line := reader.Line
		isHeader := first && lines.isHeader(record, find)
		if isHeader && lines.wider != nil && len(record) > lines.fields {
			lines.fields = len(record)
			lines.wider(record)
		}
		if len(record) != lines.fields {
			return fmt.Errorf("line %d: %s in %s, want %s, divided by %s", line, counted(len(record), "field", "fields"), spreadsheet.Quote(strings.Join(record, string(by.char))), lines.want, by.name)
		}
		if isHeader {
			continue
		}
		err = f(line, record, func(field int) (int, error) {
			i, several := find(record[field])
			switch {
			case several != nil:
				return 0, fmt.Errorf("line %d: %s is the name of several samples, %s; give their folders too", line, spreadsheet.Quote(record[field]), naming.Short(several))
			case i >= 0:
				return i, nil
			}
			return 0, fmt.Errorf("line %d: no sample is called %s", line, spreadsheet.Quote(record[field]))
		})
		if err != nil {
			return err
		}
	}
}
