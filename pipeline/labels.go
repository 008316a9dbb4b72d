package pipeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Labels says how many samples of each class are labelled: none, a share such
// as 30%, or a count.
type Labels struct {
	// Share is the share of a class, from 0 to 1, or Count the number.
	Share float64
	Count int
	// Min is the least number in a class where there is a share, 0 for 2: one
	// label ties nothing.
	Min int
}

// UnmarshalYAML reads none, 30%, 3, or {share: 10%, min: 2}.
func (l *Labels) UnmarshalYAML(node ast.Node) error {
	*l = Labels{}
	if s, ok := text(node); ok {
		return l.parse(node, s)
	}
	return fields(node, func(key string, value ast.Node) error {
		switch key {
		case "share", "count":
			s, ok := text(value)
			if !ok {
				return refuse(value, "want a share such as 30%%, or a count")
			}
			return l.parse(value, s)
		case "min":
			var err error
			l.Min, err = positive(value)
			return err
		}
		return errUnknownKey
	})
}

func (l *Labels) parse(node ast.Node, s string) error {
	if s == "none" || s == "0" {
		return nil
	}
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(x >= 0 && x <= 100) {
			return refuse(node, "%q is not a share from 0%% to 100%%", s)
		}
		l.Share = x / 100
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return refuse(node, "%q is neither none, nor a share such as 30%%, nor a count", s)
	}
	l.Count = n
	return nil
}

// None tells whether nothing is labelled.
func (l Labels) None() bool { return l.Share == 0 && l.Count == 0 }

// String returns what an experiment file would hold.
func (l Labels) String() string {
	switch {
	case l.Count > 0:
		return strconv.Itoa(l.Count) + " a class"
	case l.Share > 0:
		return fmt.Sprintf("%.4g%%, at least %d a class", 100*l.Share, l.min())
	}
	return "none"
}

func (l Labels) min() int {
	if l.Min == 0 {
		return 2
	}
	return l.Min
}

// of returns how many of a class's samples are labelled.
func (l Labels) of(size int) (int, error) {
	if l.Count > size {
		return 0, fmt.Errorf("%d labels are asked for, and it has %d samples", l.Count, size)
	}
	if l.Share == 0 {
		return l.Count, nil
	}
	return min(size, max(l.min(), int(math.Round(l.Share*float64(size))))), nil
}
