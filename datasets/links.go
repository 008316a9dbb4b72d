package datasets

import (
	"fmt"
	"io"
	"os"
	"slices"
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
	l := &Links{}
	err := s.readLines(file, 3, func(line int, record []string, sample func(field int) (int, error)) error {
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
			return fmt.Errorf("line %d: %q is neither must nor cannot", line, record[2])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, s.agree(file, l)
}

// ReadFeedback reads relevance feedback from a CSV file, and makes links of it.
// A line holds the name of a log, a sample, and + or −, for whether somebody who
// was shown it found it to be what was looked for. Within a log all positive
// samples must link, and a positive and a negative one cannot; the links of all
// logs are put together (Chen, Rege, Dong and Fotouhi, SS-NMF).
func (s *Set) ReadFeedback(file string) (*Links, error) {
	type log struct{ positive, negative []int }
	logs := map[string]*log{}
	var names []string
	err := s.readLines(file, 3, func(line int, record []string, sample func(field int) (int, error)) error {
		i, err := sample(1)
		if err != nil {
			return err
		}
		l := logs[record[0]]
		if l == nil {
			l = &log{}
			logs[record[0]] = l
			names = append(names, record[0])
		}
		switch record[2] {
		case "+", "positive":
			l.positive = append(l.positive, i)
		case "-", "−", "negative":
			l.negative = append(l.negative, i)
		default:
			return fmt.Errorf("line %d: %q is neither + nor -", line, record[2])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &Links{}
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
	return out, s.agree(file, out)
}

// agree reports links that contradict each other, by the names of the samples.
func (s *Set) agree(file string, l *Links) error {
	_, err := links.CloseNamed(s.Len(), l.Must, l.Cannot, func(i int) string { return s.Names[i] })
	if err != nil {
		return fmt.Errorf("links %s: %w", file, err)
	}
	return nil
}

// linkHeaders are the names that a header may give its first column.
var linkHeaders = append(slices.Clone(labelHeaders), "a", "first", "log")

// readLines calls f for each line of a CSV file of so many fields, with a
// function that finds the sample that a field names.
func (s *Set) readLines(file string, fields int, f func(line int, record []string, sample func(field int) (int, error)) error) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("links: %w", err)
	}
	defer in.Close()
	reader := csvReader(in)
	find := s.finder()
	for first := true; ; first = false {
		record, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("links %s: %w", file, err)
		}
		line, _ := reader.FieldPos(0)
		if len(record) != fields {
			return fmt.Errorf("links %s: line %d: %d fields in %q, want %d", file, line, len(record), strings.Join(record, ","), fields)
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
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
			return 0, fmt.Errorf("line %d: no sample is called %q", line, record[field])
		})
		if err != nil {
			return fmt.Errorf("links %s: %w", file, err)
		}
	}
}
