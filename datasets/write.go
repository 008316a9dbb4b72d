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
	return writeRecords(w, []string{"file", "class"}, func(put func(...string)) {
		for i, class := range classes {
			if class != "" {
				put(spreadsheet.Cell(s.Names[i]), spreadsheet.Cell(class))
			}
		}
	})
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

// writeRecords writes a CSV file of a header and of the records that each puts.
func writeRecords(w io.Writer, header []string, each func(put func(fields ...string))) error {
	out := csv.NewWriter(w)
	put := func(fields ...string) { _ = out.Write(fields) } // Error says what fails
	put(header...)
	each(put)
	out.Flush()
	return out.Error()
}
