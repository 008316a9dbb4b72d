package pipeline

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// AutoRank chooses the number of basis vectors by the samples, without labels: see [factor.ChooseRank].
type AutoRank struct {
	Among RankRange       `json:",omitzero" setting:"among" help:"from which ranks, as in 2..40"`
	By    factor.RankRule `json:",omitempty" setting:"by" help:"by what: entries that are held out, or basis vectors that are the same from every start"`
}

// RankRange is a range of ranks; its zero value is from 2 to 40, or half of the samples or features.
type RankRange struct{ From, To int }

const (
	autoText     = "auto"
	mostAutoRank = 40 // where no range is given
)

// DecodeSetting reads auto or a range such as 2..40.
func (r *RankRange) DecodeSetting(v *settings.Value) error {
	*r = RankRange{}
	if v.Text == autoText {
		return nil
	}
	a, b, err := interval(v.Text)
	if err != nil || a < 1 || b < a || b > maxClasses {
		return v.Errorf("%q is no range of ranks such as 2..40", v.Text)
	}
	r.From, r.To = a, b
	return nil
}

// String returns the form of an experiment file.
func (r RankRange) String() string {
	if r.To == 0 {
		return autoText
	}
	return fmt.Sprintf("%d..%d", r.From, r.To)
}

// String returns the choice in words.
func (a AutoRank) String() string {
	if a.Among.To == 0 {
		return fmt.Sprintf("auto, by %s", a.By)
	}
	return fmt.Sprintf("auto, from %s by %s", a.Among, a.By)
}

// most is the largest rank that can be chosen.
func (a AutoRank) most() int {
	if a.Among.To == 0 {
		return mostAutoRank
	}
	return a.Among.To
}

// check returns an error if no rank of the range is possible with n samples.
func (a AutoRank) check(n int) error {
	if a.Among.From > n {
		return fmt.Errorf("rank: %s begins above the %d samples that there may be", a.Among, n)
	}
	return nil
}
