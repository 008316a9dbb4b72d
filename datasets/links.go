package datasets

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// Links are pairs of samples, by their place in the set, that belong together
// and that do not.
type Links struct{ Must, Cannot [][2]int }

// ReadLinks reads links from a CSV file. A line holds two samples, as ReadLabels
// takes them, and must or cannot. The first line may be a header. A line that
// cannot be understood, and links that contradict each other, directly or
// through others, are errors.
func (s *Set) ReadLinks(file string) (*Links, error) {
	return readNamed(file, s.parseLinks)
}

// readNamed has parse read a file of links.
func readNamed(file string, parse func(io.Reader) (*Links, error)) (*Links, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	defer in.Close()
	l, err := parse(in)
	if err != nil {
		return nil, fmt.Errorf("links %s: %w", file, err)
	}
	return l, nil
}

func (s *Set) parseLinks(in io.Reader) (*Links, error) {
	l := &Links{}
	err := s.parseLines(in, 3, func(line int, record []string, sample func(field int) (int, error)) error {
		a, err := sample(0)
		if err != nil {
			return err
		}
		b, err := sample(1)
		if err != nil {
			return err
		}
		switch record[2] {
		case "must":
			l.Must = append(l.Must, [2]int{a, b})
		case "cannot":
			l.Cannot = append(l.Cannot, [2]int{a, b})
		default:
			return fmt.Errorf("line %d: %s is neither must nor cannot", line, shortQuote(record[2]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, s.agree(l)
}

// ReadFeedback reads relevance feedback from a CSV file, and makes links of it.
// A line holds the name of a log, a sample, and + or −, for whether somebody who
// was shown it found it to be what was looked for. Within a log all positive
// samples must link, and a positive and a negative one cannot; the links of all
// logs are put together (Chen, Rege, Dong and Fotouhi, SS-NMF).
//
// A sample that one log marks in both ways is an error, and so are logs that give
// more than 33 million links together.
func (s *Set) ReadFeedback(file string) (*Links, error) {
	return readNamed(file, s.parseFeedback)
}

// mostLinks is how many links feedback may give: n samples found good give
// n·(n−1)/2.
const mostLinks = 1 << 25

func (s *Set) parseFeedback(in io.Reader) (*Links, error) {
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
	err := s.parseLines(in, 3, func(line int, record []string, sample func(field int) (int, error)) error {
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
			return fmt.Errorf("line %d: %s is neither + nor -", line, shortQuote(record[2]))
		}
		before, again := l.marks[i]
		switch {
		case again && before.positive != positive:
			return fmt.Errorf("line %d: the log %s contradicts its line %d on %s", line, shortQuote(record[0]), before.line, shortQuote(record[1]))
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
	out := &Links{}
	for _, name := range names {
		l := logs[name]
		p, n := len(l.positive), len(l.negative)
		if len(out.Must)+len(out.Cannot)+p*(p-1)/2+p*n > mostLinks {
			return nil, fmt.Errorf("more than %d links with the log %s, which marks %d samples + and %d -", mostLinks, shortQuote(name), p, n)
		}
		for i, a := range l.positive {
			for _, b := range l.positive[:i] {
				out.Must = append(out.Must, [2]int{b, a})
			}
			for _, b := range l.negative {
				out.Cannot = append(out.Cannot, [2]int{a, b})
			}
		}
	}
	return out, s.agree(out)
}

// agree reports links that contradict each other, by the names of the samples.
func (s *Set) agree(l *Links) error {
	_, err := links.CloseNamed(s.Len(), l.Must, l.Cannot, func(i int) string { return s.Names[i] })
	return err
}

// linkHeaders are the names that a header may give its first column.
var linkHeaders = append(slices.Clone(labelHeaders), "a", "first", "log")

// parseLines calls f for each line of a CSV file of so many fields, with a
// function that finds the sample that a field names.
func (s *Set) parseLines(in io.Reader, fields int, f func(line int, record []string, sample func(field int) (int, error)) error) error {
	reader := newTable(in, ',', mostNamesLine, mostNamesFields)
	find := s.finder()
	for first := true; ; first = false {
		record, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line := reader.line
		if len(record) != fields {
			return wrongFields(line, record, strconv.Itoa(fields))
		}
		if first && slices.Contains(linkHeaders, strings.ToLower(record[0])) {
			if _, isSample := find(record[0]); !isSample {
				continue
			}
		}
		err = f(line, record, func(field int) (int, error) {
			if i, ok := find(record[field]); ok {
				return i, nil
			}
			return 0, fmt.Errorf("line %d: no sample is called %s", line, shortQuote(record[field]))
		})
		if err != nil {
			return err
		}
	}
}
