package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Portion is a part of each class: none, a share such as 30%, or a count.
type Portion struct {
	Share float64 // the fraction of a class, from 0 to 1
	Count int     // the number of samples
	Min   int     // the fewest samples of a class for a share; 0 means 2, because one label constrains nothing
	Rest  bool    // all other samples
}

// DecodeSetting reads none, 30%, 3, rest, or {share: 10%, min: 2}.
func (p *Portion) DecodeSetting(v *settings.Value) error {
	*p = Portion{}
	if v.Kind == settings.KindText {
		return p.parse(v)
	}
	var form struct {
		Share Portion `setting:"share"`
		Count Portion `setting:"count"`
		Min   int     `setting:"min"`
	}
	if err := settings.Decode(v, &form); err != nil {
		return err
	}
	*p = form.Share
	if !form.Count.None() {
		*p = form.Count
	}
	p.Min = form.Min
	return nil
}

func (p *Portion) parse(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	s := v.Text
	switch s {
	case "none", "0":
		return nil
	case "rest":
		p.Rest = true
		return nil
	}
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		failIf(err != nil || !(x >= 0 && x <= 100), v.Errorf, "invalid percentage %q; expected 0%% to 100%%", s)
		p.Share = x / 100
		return nil
	}
	n, err := strconv.Atoi(s)
	failIf(err != nil || n < 0, v.Errorf, "invalid value %q; expected none, a percentage such as 30%%, or a count", s)
	p.Count = n
	return nil
}

// None reports whether the portion is empty.
func (p Portion) None() bool { return p.Share == 0 && p.Count == 0 && !p.Rest }

// String returns the form of an experiment file.
func (p Portion) String() string {
	switch {
	case p.Rest:
		return "the rest"
	case p.Count > 0:
		return strconv.Itoa(p.Count) + " a class"
	case p.Share > 0:
		return fmt.Sprintf("%.4g%%, at least %d a class", 100*p.Share, cmp.Or(p.Min, 2))
	}
	return "none"
}

// CountOf returns the number of samples for a class of size samples.
func (p Portion) CountOf(size int) (int, error) {
	if p.Count > size {
		return 0, fmt.Errorf("%d samples requested, but the class has %d", p.Count, size)
	}
	if p.Share == 0 {
		return p.Count, nil
	}
	return min(size, max(cmp.Or(p.Min, 2), int(math.Round(p.Share*float64(size))))), nil
}

// Links are pairs of samples that belong together or not, in addition to labels: a random share of all pairs of a draw,
// or the pairs of a file.
type Links struct {
	Share float64 // the random share of a draw's pairs, from 0 to 1
	// File is a CSV file of pairs, and Feedback one of relevance feedback: see
	// datasets.ReadLinks and datasets.ReadFeedback.
	File     string `setting:"file" want:"the name of a CSV file" help:"CSV file of links: two samples, then must or cannot"`
	Feedback string `setting:"feedback" want:"the name of a CSV file" help:"CSV file of relevance feedback: log (of one query), sample, then + or -"`
}

// DecodeSetting reads a share such as 3%, {file: pairs.csv} or {feedback: logs.csv}.
func (l *Links) DecodeSetting(v *settings.Value) error {
	*l = Links{}
	if v.Kind != settings.KindText {
		return settings.DecodeFields(v, l)
	}
	var p Portion
	if err := p.parse(v); err != nil || p.Count > 0 || p.Rest {
		return v.Errorf("invalid percentage of pairs %q; expected a value such as 3%%", v.Text)
	}
	l.Share = p.Share
	return nil
}

// None reports whether there are no links.
func (l Links) None() bool { return l == Links{} }

// String describes the links in words.
func (l Links) String() string {
	switch {
	case l.Share > 0:
		return fmt.Sprintf("%.4g%% of all pairs", 100*l.Share)
	case l.None():
		return "none"
	}
	files := slices.DeleteFunc([]string{l.File, l.Feedback}, func(file string) bool { return file == "" })
	return "of " + strings.Join(files, " and ")
}
