package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Portion is a part of each class: none, a share such as 30%, or a count.
type Portion struct {
	// Share is the share of a class, from 0 to 1, or Count the number.
	Share float64
	Count int
	// Min is the least number in a class for a share, 0 for 2: one label ties nothing.
	Min int
	// Rest is all other samples.
	Rest bool
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

func (p *Portion) parse(v *settings.Value) error {
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
		if err != nil || !(x >= 0 && x <= 100) {
			return v.Errorf("%q is not a share from 0%% to 100%%", s)
		}
		p.Share = x / 100
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return v.Errorf("%q is neither none, nor a share such as 30%%, nor a count", s)
	}
	p.Count = n
	return nil
}

// None tells whether the portion is empty.
func (p Portion) None() bool { return p.Share == 0 && p.Count == 0 && !p.Rest }

// String returns the form of an experiment file.
func (p Portion) String() string {
	switch {
	case p.Rest:
		return "the rest"
	case p.Count > 0:
		return strconv.Itoa(p.Count) + " a class"
	case p.Share > 0:
		return fmt.Sprintf("%.4g%%, at least %d a class", 100*p.Share, p.min())
	}
	return "none"
}

func (p Portion) min() int {
	return cmp.Or(p.Min, 2)
}

// of returns the number of samples of a class, for a share or a count.
func (p Portion) of(size int) (int, error) {
	if p.Count > size {
		return 0, fmt.Errorf("%d samples are asked for, and it has %d", p.Count, size)
	}
	if p.Share == 0 {
		return p.Count, nil
	}
	return min(size, max(p.min(), int(math.Round(p.Share*float64(size))))), nil
}
