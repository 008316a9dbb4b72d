package feedback

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// corrections is the state of a session after an act: the labels and links of n pictures.
type corrections struct {
	base         []int    // the group of each picture before any act
	names        []string // of each group, or ""
	labels       []int    // the group that each picture is labelled with, or −1
	must, cannot [][2]int // must and cannot are the links, each pair with the lower number first
	description  string   // describes the act that led to this state
}

func (c *corrections) clone() *corrections {
	return &corrections{
		base: slices.Clone(c.base), names: slices.Clone(c.names), labels: slices.Clone(c.labels),
		must: slices.Clone(c.must), cannot: slices.Clone(c.cannot),
	}
}

func (c *corrections) constraints() factor.Known {
	return factor.Known{Labels: c.labels, MustLink: c.must, CannotLink: c.cannot}
}

// groupName returns the name of group g, or a placeholder.
func (c *corrections) groupName(g int) string {
	if c.names[g] != "" {
		return c.names[g]
	}
	return placeholder(g)
}

// placeholder is the class name that files use for a group without a name.
func placeholder(g int) string { return fmt.Sprintf("group %d", g+1) }

var placeholders = regexp.MustCompile(`(?i)^\s*group\s*\d+\s*$`)

const (
	longestName = 200 // bytes
	mostApart   = 40  // the largest number of pictures in one Apart
)

// checkName returns an error if group g, −1 for a new one, cannot be called name.
func (c *corrections) checkName(name string, g int) error {
	switch {
	case len(name) > longestName:
		return fmt.Errorf("the name has %d bytes; at most %d are allowed", len(name), longestName)
	case strings.ContainsAny(name, "\n\r\x00"):
		return errors.New("a name must be a single line")
	case placeholders.MatchString(name):
		return fmt.Errorf("%q is reserved for groups without a name", name)
	}
	if other := slices.Index(c.names, name); name != "" && other >= 0 && other != g {
		return fmt.Errorf("group %d is already called %q: choose another name, or merge the groups", other+1, name)
	}
	return nil
}

func (c *corrections) addGroup(name string) int {
	c.names = append(c.names, name)
	return len(c.names) - 1
}

// label labels pictures with group g. It removes links that contradict two labels, and all links of the pictures if a
// contradiction through other pictures is left.
func (c *corrections) label(pictures []int, g int) {
	moved := make(map[int]bool, len(pictures))
	for _, i := range pictures {
		c.labels[i], moved[i] = g, true
	}
	wrong := func(must bool) func([2]int) bool {
		return func(p [2]int) bool {
			a, b := c.labels[p[0]], c.labels[p[1]]
			return (moved[p[0]] || moved[p[1]]) && a >= 0 && b >= 0 && (a == b) != must
		}
	}
	c.must, c.cannot = slices.DeleteFunc(c.must, wrong(true)), slices.DeleteFunc(c.cannot, wrong(false))
	if c.constraints().Check(len(c.labels)) != nil {
		any := func(p [2]int) bool { return moved[p[0]] || moved[p[1]] }
		c.must, c.cannot = slices.DeleteFunc(c.must, any), slices.DeleteFunc(c.cannot, any)
	}
}

// join links pictures of one group and removes cannot-links between them.
func (c *corrections) join(pictures []int) error {
	labelled := -1
	for _, i := range pictures {
		switch {
		case c.labels[i] < 0:
		case labelled < 0:
			labelled = i
		case c.labels[i] != c.labels[labelled]:
			return fmt.Errorf("two of the images are labelled with different groups, %s and %s: move one, or merge the groups",
				c.groupName(c.labels[labelled]), c.groupName(c.labels[i]))
		}
	}
	for at := 1; at < len(pictures); at++ {
		c.must = addPair(c.must, pictures[at-1], pictures[at])
	}
	unit, err := links.Close(len(c.labels), c.must, nil)
	if err != nil {
		return err
	}
	c.cannot = slices.DeleteFunc(c.cannot, func(p [2]int) bool {
		return unit[p[0]] == unit[p[1]] && unit[p[0]] == unit[pictures[0]]
	})
	return nil
}

// separate puts cannot-links between all of the pictures and removes must-links between them.
func (c *corrections) separate(pictures []int) error {
	if len(pictures) > mostApart {
		return fmt.Errorf("%d images selected: select at most %d to mark as different", len(pictures), mostApart)
	}
	c.must = slices.DeleteFunc(c.must, func(p [2]int) bool {
		return slices.Contains(pictures, p[0]) && slices.Contains(pictures, p[1])
	})
	for at, i := range pictures {
		for _, j := range pictures[:at] {
			if c.labels[i] >= 0 && c.labels[i] == c.labels[j] {
				return fmt.Errorf("two of the images are labelled with the same group, %s: move one", c.groupName(c.labels[i]))
			}
			c.cannot = addPair(c.cannot, i, j)
		}
	}
	return nil
}

// addPair returns pairs with the pair of i and j added, unless it is in the list.
func addPair(pairs [][2]int, i, j int) [][2]int {
	p := [2]int{min(i, j), max(i, j)}
	if i == j || slices.Contains(pairs, p) {
		return pairs
	}
	return append(pairs, p)
}

func countPictures(n int) string { return phrase.Count(n, "image", "images") }
