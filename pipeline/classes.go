package pipeline

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Classes are numbers of classes, rising: 5, 2..10, or [2, 5, 10].
type Classes []int

// maxClasses bounds what a range may spell out.
const maxClasses = 100_000

// UnmarshalYAML reads a number, a range or a list.
func (c *Classes) UnmarshalYAML(node ast.Node) error {
	*c = nil
	if list, ok := node.(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			if err := c.add(v); err != nil {
				return err
			}
		}
		return nil
	}
	return c.add(node)
}

func (c *Classes) add(node ast.Node) error {
	s, ok := text(node)
	if !ok {
		return refuse(node, "want a number of classes, a range such as 2..10, or a list")
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "..")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil {
			return refuse(node, "%q is no number of classes and no range such as 2..10", s)
		}
		if a < 2 || b < a || b > maxClasses {
			return refuse(node, "classes %q: there must be from 2 to %d, and a range must rise", s, maxClasses)
		}
		for k := a; k <= b; k++ {
			if n := len(*c); n > 0 && (*c)[n-1] >= k {
				return refuse(node, "classes must rise, and %d follows %d", k, (*c)[n-1])
			}
			*c = append(*c, k)
		}
	}
	return nil
}
