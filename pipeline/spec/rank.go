package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// Ranks are one or several ranks; the zero value is k. Each of several is a row of the tables.
type Ranks []Rank

// DecodeSetting reads a rank, a range of numbers such as 5..40, or a list.
func (r *Ranks) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	*r = nil
	for _, item := range v.List() {
		n := len(*r)
		if !strings.Contains(item.Text, "..") {
			var one Rank
			guard.Check(one.DecodeSetting(item))
			*r = append(*r, one)
		} else {
			a, b, err := parseRankRange(item)
			guard.Check(err)
			for x := a; x <= b; x++ {
				*r = append(*r, Rank{Fixed: true, Plus: x})
			}
		}
		if before := (*r)[max(0, n-1)]; n > 0 && (!before.Fixed || !(*r)[n].Fixed || (*r)[n].Plus <= before.Plus) {
			return v.Errorf("several ranks must be numbers in rising order")
		}
	}
	return nil
}

// List returns the ranks, k if there are none.
func (r Ranks) List() []Rank {
	if len(r) == 0 {
		return []Rank{{}}
	}
	return r
}

// String returns the form that an experiment file has.
func (r Ranks) String() string { return strings.Join(lists.Map(r.List(), Rank.String), ", ") }

// Rank is the number of basis vectors, Factor·k + Plus for k classes. The zero value is k.
type Rank struct {
	Factor, Plus int
	Fixed        bool      // the number is Plus for any k
	Auto         *AutoRank // if set, chooses the number by the samples
}

var rankForm = lazyregexp.New(`^\s*(?:(\d{1,6})|(?:(\d{1,6})\s*\*?\s*)?k\s*(?:([+-])\s*(\d{1,6}))?)\s*$`)

// DecodeSetting reads a number, k, k+1, k-1, 2k+1, or auto and {among: 2..40, by: stability}.
func (r *Rank) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	s := v.Text
	switch {
	case v.Kind == settings.KindMapping:
		*r = Rank{Auto: &AutoRank{}}
		return settings.Decode(v, r.Auto)
	case s == autoText:
		*r = Rank{Auto: &AutoRank{}}
		return nil
	}
	m := rankForm().FindStringSubmatch(s)
	failIf(m == nil, v.Errorf, "invalid rank %q; expected k, k+1, 2k, a number or auto", s)
	number := func(s string) int {
		x, _ := strconv.Atoi(s) // digits, by the pattern, or nothing
		return x
	}
	*r = Rank{Fixed: m[1] != "", Factor: number(m[2]), Plus: number(m[1] + m[3] + m[4])}
	failIf(r.Fixed && r.Plus < 1, v.Errorf, "rank %s: expected 1 or more", s)
	failIf(m[2] != "" && r.Factor < 1, v.Errorf, "rank %q: the factor of k must be 1 or more", s)
	return nil
}

// Check returns an error if the rank is impossible for n samples and k classes or groups. of says which of the two.
func (r Rank) Check(k, n int, of string) error {
	rank := r.Of(k)
	switch {
	case r.Auto != nil && r.Auto.Among.From > n:
		return fmt.Errorf("rank: the range %s begins above the number of samples of a draw, %d", r.Auto.Among, n)
	case r.Auto != nil:
	case rank < 1:
		return fmt.Errorf("rank: %s is %d for %d %s; expected 1 or more", r, rank, k, of)
	case rank > n && r.Fixed:
		return fmt.Errorf("rank: %s is above the number of samples, %d", r, n)
	case rank > n:
		return fmt.Errorf("rank: %s is %d for %d %s, above the number of samples, %d", r, rank, k, of, n)
	}
	return nil
}

// Of returns the rank for k classes, or the largest rank that Auto may choose.
func (r Rank) Of(k int) int {
	if r.Auto != nil {
		return r.Auto.Most()
	}
	if r.Fixed {
		return r.Plus
	}
	return max(r.Factor, 1)*k + r.Plus
}

// String returns the form that an experiment file has.
func (r Rank) String() string {
	if r.Auto != nil {
		return r.Auto.String()
	}
	if r.Fixed {
		return strconv.Itoa(r.Plus)
	}
	s := "k"
	if r.Factor > 1 {
		s = strconv.Itoa(r.Factor) + "k"
	}
	if r.Plus == 0 {
		return s
	}
	return fmt.Sprintf("%s%+d", s, r.Plus)
}

// AutoRank chooses the number of basis vectors by the samples, without labels: see [factor.ChooseRank].
type AutoRank struct {
	Among RankRange       `json:",omitzero" setting:"among" help:"range of ranks to choose from, such as 2..40"`
	By    factor.RankRule `json:",omitempty" setting:"by" help:"criterion: error of held-out entries, or stability of basis vectors over starts"`
}

// RankRange is a range of ranks. Its zero value is 2 to 40, or to half of the samples or features.
type RankRange struct{ From, To int }

const (
	autoText     = "auto"
	mostAutoRank = 40 // the limit of the default range
)

// DecodeSetting reads auto or a range such as 2..40.
func (r *RankRange) DecodeSetting(v *settings.Value) (err error) {
	if *r = (RankRange{}); v.Text != autoText {
		r.From, r.To, err = parseRankRange(v)
	}
	return err
}

// String returns the form that an experiment file has.
func (r RankRange) String() string {
	if r.To == 0 {
		return autoText
	}
	return fmt.Sprintf("%d..%d", r.From, r.To)
}

// String describes the choice in words.
func (a AutoRank) String() string {
	if a.Among.To == 0 {
		return fmt.Sprintf("auto, by %s", a.By)
	}
	return fmt.Sprintf("auto, from %s by %s", a.Among, a.By)
}

// Most is the largest rank that can be chosen.
func (a AutoRank) Most() int {
	if a.Among.To == 0 {
		return mostAutoRank
	}
	return a.Among.To
}

const mostMisfit = 1e30 // the largest value in a record

// RankChoice is a chosen rank, with the curve behind the choice.
type RankChoice struct {
	Rank  int               `json:"rank"`  // the chosen rank
	By    factor.RankRule   `json:"by"`    // the rule of the choice
	Curve *factor.RankCurve `json:"curve"` // the values behind the choice
}

// String describes the chosen rank, the range and the rule.
func (c RankChoice) String() string {
	ranks := c.Curve.Rank
	at := c.Curve.Best(c.By)
	return fmt.Sprintf("rank %d, chosen from %d to %d by %s (held-out misfit %.1f %%, stability %.2f)",
		c.Rank, ranks[0], ranks[len(ranks)-1], c.By, 100*c.Curve.Misfit[at], c.Curve.Stability[at])
}

// AtLimit reports whether the rank is the largest that was tried, and below most, the largest for the data.
func (c RankChoice) AtLimit(most int) bool {
	return c.Rank < most && c.Rank == slices.Max(c.Curve.Rank)
}

// AtLimitNote returns the warning that a rank is at its limit. draws says in how many draws.
func (c RankChoice) AtLimitNote(draws string) string {
	return fmt.Sprintf("rank: auto chose the largest rank it tried%s, %d; a larger one may be better: set among=2..%d", draws, c.Rank, 2*c.Rank)
}

// Check returns an error for missing or inconsistent fields.
func (c *RankChoice) Check() error {
	n := 0
	if c.Curve != nil {
		n = len(c.Curve.Rank)
	}
	if n == 0 || n > MaxClasses || len(c.Curve.Misfit) != n || len(c.Curve.Deviation) != n || len(c.Curve.Stability) != n {
		return errors.New("the chosen rank has no curve")
	}
	within := func(v, most float64) bool { return v >= 0 && v <= most }
	for i, k := range c.Curve.Rank {
		if k < 1 || k > MaxClasses || i > 0 && k <= c.Curve.Rank[i-1] || !within(c.Curve.Misfit[i], mostMisfit) || !within(c.Curve.Deviation[i], mostMisfit) || !within(c.Curve.Stability[i], 1) {
			return fmt.Errorf("the chosen rank is outside its range: %v", c.Curve.Rank)
		}
	}
	return nil
}

// MaxClasses is the largest number of classes, groups and basis vectors in a file.
const MaxClasses = 100_000

// parseInterval reads a number a, which gives b = a, or a range a..b.
func parseInterval(s string) (a, b int, err error) {
	from, to, isRange := strings.Cut(s, "..")
	if a, err = strconv.Atoi(strings.TrimSpace(from)); err != nil || !isRange {
		return a, a, err
	}
	b, err = strconv.Atoi(strings.TrimSpace(to))
	return a, b, err
}

// parseRange is parseInterval for numbers from least to MaxClasses. invalid is the format of the error.
func parseRange(v *settings.Value, least int, invalid string) (a, b int, err error) {
	if a, b, err = parseInterval(v.Text); err != nil || a < least || b < a || b > MaxClasses {
		err = v.Errorf(invalid, v.Text)
	}
	return a, b, err
}

func parseRankRange(v *settings.Value) (a, b int, err error) {
	return parseRange(v, 1, "invalid range of ranks %q; expected a rising range such as 5..40")
}

// Classes are increasing numbers of classes: 5, 2..10, or [2, 5, 10].
type Classes []int

// DecodeSetting reads a number, a range or a list.
func (c *Classes) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	*c = nil
	for _, item := range v.List() {
		failIf(item.Kind != settings.KindText, item.Want, "a number of classes, a range such as 2..10, or a list")
		for part := range strings.SplitSeq(item.Text, ",") {
			a, b, err := parseInterval(part)
			failIf(err != nil,
				item.Errorf, "invalid number of classes %q; expected a number or a range such as 2..10", item.Text)
			failIf(a < 2 || b < a || b > MaxClasses,
				item.Errorf, "classes %q: expected numbers from 2 to %d, and rising ranges", item.Text, MaxClasses)
			for k := a; k <= b; k++ {
				if n := len(*c); n > 0 && (*c)[n-1] >= k {
					return item.Errorf("classes must be in rising order, but %d follows %d", k, (*c)[n-1])
				}
				*c = append(*c, k)
			}
		}
	}
	return nil
}

// GroupCount is the number of groups of a draw. Its zero value is the number of classes.
type GroupCount struct {
	From, To int  // equal, or a range to choose from
	Auto     bool // chooses the number; the default range is 2 to 500, or to a third of the samples
}

// LeastOfCounted is the smallest number of samples for which a number of groups is chosen.
const LeastOfCounted = 10

// DecodeSetting reads a number, a range such as 5..30, or auto.
func (c *GroupCount) DecodeSetting(v *settings.Value) (err error) {
	if *c = (GroupCount{Auto: true}); v.Text == autoText {
		return nil
	}
	c.Auto = strings.Contains(v.Text, "..")
	c.From, c.To, err = parseRange(v, 2, "invalid number of clusters %q; expected 2 or more, a range such as 5..30, or auto")
	return err
}

// String returns the form that an experiment file has.
func (c GroupCount) String() string {
	switch {
	case !c.Auto:
		return strconv.Itoa(c.From)
	case c.To == 0:
		return autoText
	}
	return fmt.Sprintf("%d..%d", c.From, c.To)
}

// Within returns the range for n samples in this number of classes. labelled is true if they are labelled.
func (c GroupCount) Within(n, classes int, labelled bool) (from, to int) {
	if c == (GroupCount{}) {
		return classes, classes
	}
	if from, to = c.From, c.To; to > 0 {
		return from, to
	}
	if from = 2; labelled {
		from = classes
	}
	return from, max(from, min(cluster.MostCounted, n/3))
}

// Check returns an error for impossible numbers of groups of n samples.
func (c GroupCount) Check(n, classes int, labelled bool) error {
	from, to := c.Within(n, classes, labelled)
	switch {
	case labelled && from < classes:
		return fmt.Errorf("cluster: k is %s, but there must be a cluster for each of the %d labelled classes", c, classes)
	case c.Auto && n < LeastOfCounted:
		return fmt.Errorf("cluster: k is %s, but a draw may have only %d samples, too few to choose k", c, n)
	case to >= n:
		return fmt.Errorf("cluster: k is %s, but a draw may have only %d samples", c, n)
	}
	return nil
}

// CountChoice is a chosen number of groups, with the values behind the choice.
type CountChoice struct {
	K int `json:"k"` // the chosen number
	// Length holds the description lengths of From groups, From + 1, …, in bits per edge: see cluster.DescriptionLengths.
	From   int       `json:"from"`
	Length []float64 `json:"length"`
}

// Check returns an error for inconsistent fields.
func (c *CountChoice) Check() error {
	if c.From < 2 || c.K < c.From || c.K-c.From >= len(c.Length) || c.From+len(c.Length) > MaxClasses+1 || !(floats.Norm(c.Length, math.Inf(1)) < 1e6) {
		return errors.New("the chosen number of clusters is outside its range")
	}
	return nil
}
