package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
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

// read reads the links of the files, by samples of the set.
func (l Links) read(ctx context.Context, set *datasets.Set) (all datasets.Links, err error) {
	for _, source := range []struct {
		file string
		read func(context.Context, string) (*datasets.Links, error)
	}{{l.File, set.ReadLinks}, {l.Feedback, set.ReadFeedback}} {
		if source.file == "" {
			continue
		}
		links, err := source.read(ctx, source.file)
		if err != nil {
			return all, err
		}
		all.Must, all.Cannot = append(all.Must, links.Must...), append(all.Cannot, links.Cannot...)
	}
	return all, nil
}

// draw draws the share of the pairs of samples of these classes.
func (l Links) draw(truth []int, src *rand.ChaCha8) (must, cannot [][2]int) {
	if l.Share == 0 {
		return nil, nil
	}
	n := len(truth)
	all := n * (n - 1) / 2
	for _, at := range firstShuffled(all, int(math.Round(l.Share*float64(all))), src) {
		// Pair number at of (1,0), (2,0), (2,1), (3,0), …
		i := int((1 + math.Sqrt(float64(1+8*at))) / 2)
		for i*(i-1)/2 > at {
			i--
		}
		for i*(i+1)/2 <= at {
			i++
		}
		pair := [2]int{at - i*(i-1)/2, i}
		if truth[pair[0]] == truth[pair[1]] {
			must = append(must, pair)
		} else {
			cannot = append(cannot, pair)
		}
	}
	return must, cannot
}
