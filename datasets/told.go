package datasets

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// WriteLabels writes a CSV file of classes, one for each sample of the set or "" where none is
// known, as ReadLabels reads it.
func (s *Set) WriteLabels(w io.Writer, classes []string) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"file", "class"}) // Flush tells what fails
	for i, class := range classes {
		if class != "" {
			_ = out.Write([]string{spreadsheet.Cell(s.Names[i]), spreadsheet.Cell(class)})
		}
	}
	out.Flush()
	return out.Error()
}

// WriteLinks writes a CSV file of links as ReadLinks reads it.
func (s *Set) WriteLinks(w io.Writer, l Links) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"first", "second", "link"})
	for _, kind := range []struct {
		pairs [][2]int
		name  string
	}{{l.Must, "must"}, {l.Cannot, "cannot"}} {
		for _, p := range kind.pairs {
			_ = out.Write([]string{spreadsheet.Cell(s.Names[p[0]]), spreadsheet.Cell(s.Names[p[1]]), kind.name})
		}
	}
	out.Flush()
	return out.Error()
}

// FeedbackLog is a log of relevance feedback: samples that somebody found to be what was looked
// for, and samples that are not, by their places in the set.
type FeedbackLog struct{ Positive, Negative []int }

// WriteFeedback writes logs, which it numbers from 1, as ReadFeedback reads them.
func (s *Set) WriteFeedback(w io.Writer, logs []FeedbackLog) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"log", "sample", "mark"})
	for at, log := range logs {
		for _, kind := range []struct {
			samples []int
			mark    string
		}{{log.Positive, "+"}, {log.Negative, "-"}} {
			for _, i := range kind.samples {
				_ = out.Write([]string{strconv.Itoa(at + 1), spreadsheet.Cell(s.Names[i]), kind.mark})
			}
		}
	}
	out.Flush()
	return out.Error()
}
