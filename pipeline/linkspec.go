package pipeline

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Links says which pairs of samples are told to belong together or not, beside
// what labels say: a share of all pairs of a draw, or the pairs of a file.
type Links struct {
	// Share is the share of a draw's pairs, from 0 to 1, drawn at random.
	Share float64
	// File is a CSV file of pairs, and Feedback one of relevance feedback: see
	// datasets.ReadLinks and datasets.ReadFeedback.
	File     string `setting:"file" want:"the name of a CSV file" help:"CSV file of pairs: two samples and must or cannot a line"`
	Feedback string `setting:"feedback" want:"the name of a CSV file" help:"CSV file of relevance feedback: a log, a sample and + or - a line"`
}

// DecodeSetting reads a share such as 3%, {file: pairs.csv} or {feedback:
// logs.csv}.
func (l *Links) DecodeSetting(v *settings.Value) error {
	*l = Links{}
	if v.Kind != settings.KindText {
		type files Links
		return settings.Decode(v, (*files)(l))
	}
	var p Portion
	if err := p.parse(v); err != nil || p.Count > 0 || p.Rest {
		return v.Errorf("%q is no share of all pairs, such as 3%%", v.Text)
	}
	l.Share = p.Share
	return nil
}

// None tells whether no pairs are told.
func (l Links) None() bool { return l == Links{} }

// String returns the links in words.
func (l Links) String() string {
	switch {
	case l.Share > 0:
		return fmt.Sprintf("%.4g%% of all pairs", 100*l.Share)
	case l.None():
		return "none"
	}
	var files []string
	for _, file := range []string{l.File, l.Feedback} {
		if file != "" {
			files = append(files, file)
		}
	}
	return "of " + strings.Join(files, " and ")
}
