package report

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// Words shows the words of a vocabulary, or some of them.
type Words struct {
	// Total is how many words the vocabulary has.
	Total int
	// Patches is how many patches were counted, in all words.
	Patches int
	// Words are drawn in this order.
	Words []figure.Word
}

// wordsView is what a page shows of a vocabulary.
type wordsView struct {
	Lead   string
	Sheets []*picture
}

// writeWords writes words/1.png and so on, contact sheets of
// MaxSheetWords words each, and returns what a page shows of them.
func writeWords(to folder, w Words) (*wordsView, error) {
	v := &wordsView{Lead: fmt.Sprintf("The vocabulary has %s.", phrase.Count(max(w.Total, len(w.Words)), "word", "words"))}
	if w.Patches > 0 {
		v.Lead = fmt.Sprintf("%s Together they stand for %s.", v.Lead, phrase.Count(w.Patches, "patch", "patches"))
	}
	if len(w.Words) < w.Total {
		v.Lead = fmt.Sprintf("%s %d are shown.", v.Lead, len(w.Words))
	}
	for from := 0; from < len(w.Words); from += figure.MaxSheetWords {
		words := w.Words[from:min(from+figure.MaxSheetWords, len(w.Words))]
		path := fmt.Sprintf("words/%d.png", from/figure.MaxSheetWords+1)
		alt := fmt.Sprintf("Patches of %s, each word below its number and how many patches have it.", phrase.Count(len(words), "visual word", "visual words"))
		drawn, err := figure.WordSheet(to.ctx, words)
		if err != nil {
			return nil, err
		}
		sheet, err := to.picture(path, alt, drawn)
		if err != nil {
			return nil, err
		}
		v.Sheets = append(v.Sheets, sheet)
	}
	return v, nil
}
