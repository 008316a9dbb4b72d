package spec

import (
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Classes are numbers of classes, rising: 5, 2..10, or [2, 5, 10].
type Classes []int

// MaxClasses bounds what a range may spell out.
const MaxClasses = 100_000

// DecodeSetting reads a number, a range or a list.
func (c *Classes) DecodeSetting(v *settings.Value) error {
	*c = nil
	items := []*settings.Value{v}
	if v.Kind == settings.KindList {
		items = v.Items
	}
	for _, item := range items {
		if err := c.add(item); err != nil {
			return err
		}
	}
	return nil
}

func (c *Classes) add(v *settings.Value) error {
	if v.Kind != settings.KindText {
		return v.Want("a number of classes, a range such as 2..10, or a list")
	}
	for part := range strings.SplitSeq(v.Text, ",") {
		a, b, err := interval(part)
		if err != nil {
			return v.Errorf("%q is no number of classes and no range such as 2..10", v.Text)
		}
		if a < 2 || b < a || b > MaxClasses {
			return v.Errorf("classes %q: there must be from 2 to %d, and a range must rise", v.Text, MaxClasses)
		}
		for k := a; k <= b; k++ {
			if n := len(*c); n > 0 && (*c)[n-1] >= k {
				return v.Errorf("classes must rise, and %d follows %d", k, (*c)[n-1])
			}
			*c = append(*c, k)
		}
	}
	return nil
}

// interval reads a number a, where b = a, or a range a..b.
func interval(s string) (a, b int, err error) {
	from, to, isRange := strings.Cut(s, "..")
	if a, err = strconv.Atoi(strings.TrimSpace(from)); err != nil || !isRange {
		return a, a, err
	}
	b, err = strconv.Atoi(strings.TrimSpace(to))
	return a, b, err
}
