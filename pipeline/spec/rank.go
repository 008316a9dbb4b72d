package spec

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Ranks are one or several ranks; none stands for k. Where there are several,
// each is a row of the tables.
type Ranks []Rank

// DecodeSetting reads a rank, a range of numbers such as 5..40, or a list.
func (r *Ranks) DecodeSetting(v *settings.Value) error {
	*r = nil
	items := []*settings.Value{v}
	if v.Kind == settings.KindList {
		items = v.Items
	}
	for _, item := range items {
		if !strings.Contains(item.Text, "..") {
			var one Rank
			if err := one.DecodeSetting(item); err != nil {
				return err
			}
			if err := r.add(v, one); err != nil {
				return err
			}
			continue
		}
		a, b, err := interval(item.Text)
		if err != nil || a < 1 || b < a || b > MaxClasses {
			return item.Errorf("%q is no range of ranks such as 5..40", item.Text)
		}
		for x := a; x <= b; x++ {
			if err := r.add(v, Rank{Fixed: true, Plus: x}); err != nil {
				return err
			}
		}
	}
	return nil
}

// add appends a rank, of which several must be numbers that rise.
func (r *Ranks) add(v *settings.Value, one Rank) error {
	if n := len(*r); n > 0 {
		if last := (*r)[n-1]; !last.Fixed || !one.Fixed || one.Plus <= last.Plus {
			return v.Errorf("several ranks must be numbers that rise")
		}
	}
	*r = append(*r, one)
	return nil
}

// List returns the ranks, k where there are none.
func (r Ranks) List() []Rank {
	if len(r) == 0 {
		return []Rank{{}}
	}
	return r
}

// String returns what an experiment file would hold.
func (r Ranks) String() string {
	var out []string
	for _, one := range r.List() {
		out = append(out, one.String())
	}
	return strings.Join(out, ", ")
}

// Rank is the number of basis vectors, Factor·k + Plus for k classes. The zero
// value is k.
type Rank struct {
	Factor, Plus int
	Fixed        bool // the number is Plus, whatever k
	// Auto, if set, says that the number is chosen by the samples.
	Auto *AutoRank
}

var rankForm = regexp.MustCompile(`^\s*(?:(\d{1,6})|(?:(\d{1,6})\s*\*?\s*)?k\s*(?:([+-])\s*(\d{1,6}))?)\s*$`)

// DecodeSetting reads a number, k, k+1, k-1, 2k+1, or auto and {among: 2..40, by: stability}.
func (r *Rank) DecodeSetting(v *settings.Value) error {
	s := v.Text
	if s == autoText || v.Kind == settings.KindMapping {
		*r = Rank{Auto: &AutoRank{}}
		if v.Kind == settings.KindMapping {
			return settings.Decode(v, r.Auto)
		}
		return nil
	}
	m := rankForm.FindStringSubmatch(s)
	if m == nil {
		return v.Errorf("%q is no rank; want k, k+1, 2k, a number or auto", s)
	}
	number := func(s string) int {
		x, _ := strconv.Atoi(s) // digits, by the pattern
		return x
	}
	*r = Rank{}
	if m[1] != "" {
		r.Fixed, r.Plus = true, number(m[1])
		if r.Plus < 1 {
			return v.Errorf("rank %s; it must be 1 or more", s)
		}
		return nil
	}
	if m[2] != "" {
		if r.Factor = number(m[2]); r.Factor < 1 {
			return v.Errorf("rank %q does not depend on k", s)
		}
	}
	r.Plus = number(m[4])
	if m[3] == "-" {
		r.Plus = -r.Plus
	}
	return nil
}

// Of returns the rank for k classes, and where it is chosen the largest that it can be.
func (r Rank) Of(k int) int {
	if r.Auto != nil {
		return r.Auto.Most()
	}
	if r.Fixed {
		return r.Plus
	}
	return max(r.Factor, 1)*k + r.Plus
}

// String returns what an experiment file would hold.
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
	switch {
	case r.Plus > 0:
		s += "+" + strconv.Itoa(r.Plus)
	case r.Plus < 0:
		s += strconv.Itoa(r.Plus)
	}
	return s
}
