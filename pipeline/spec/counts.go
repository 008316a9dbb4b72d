package spec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

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

// parseRankRange reads a rank, or a range such as 5..40.
func parseRankRange(v *settings.Value) (a, b int, err error) {
	a, b, err = parseInterval(v.Text)
	if err != nil || a < 1 || b < a || b > MaxClasses {
		return 0, 0, v.Errorf("invalid range of ranks %q; expected a rising range such as 5..40", v.Text)
	}
	return a, b, nil
}

// itemsOf returns the items of a list, or the value itself.
func itemsOf(v *settings.Value) []*settings.Value {
	if v.Kind == settings.KindList {
		return v.Items
	}
	return []*settings.Value{v}
}

// Classes are increasing numbers of classes: 5, 2..10, or [2, 5, 10].
type Classes []int

// DecodeSetting reads a number, a range or a list.
func (c *Classes) DecodeSetting(v *settings.Value) error {
	*c = nil
	for _, item := range itemsOf(v) {
		if item.Kind != settings.KindText {
			return item.Want("a number of classes, a range such as 2..10, or a list")
		}
		for part := range strings.SplitSeq(item.Text, ",") {
			a, b, err := parseInterval(part)
			switch {
			case err != nil:
				return item.Errorf("invalid number of classes %q; expected a number or a range such as 2..10", item.Text)
			case a < 2 || b < a || b > MaxClasses:
				return item.Errorf("classes %q: expected numbers from 2 to %d, and rising ranges", item.Text, MaxClasses)
			}
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
	c.From, c.To, err = parseInterval(v.Text)
	if err != nil || c.From < 2 || c.To < c.From || c.To > MaxClasses {
		return v.Errorf("invalid number of clusters %q; expected 2 or more, a range such as 5..30, or auto", v.Text)
	}
	c.Auto = strings.Contains(v.Text, "..")
	return nil
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
