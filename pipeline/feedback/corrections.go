package feedback

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// corrections is the state of a session after an act: the groups, labels and links of n pictures. Labels and links
// always agree with the groups.
type corrections struct {
	groups       []int    // of each picture
	names        []string // of each group, or ""
	labels       []int    // the picture's group if it is labelled, or −1
	must, cannot [][2]int // must and cannot are the links, each pair with the lower number first
	description  string   // describes the act that led to this state
}

func (c *corrections) clone() *corrections {
	return &corrections{
		groups: slices.Clone(c.groups), names: slices.Clone(c.names), labels: slices.Clone(c.labels),
		must: slices.Clone(c.must), cannot: slices.Clone(c.cannot),
	}
}

func (c *corrections) constraints() cluster.Known {
	return cluster.Known{Labels: c.labels, MustLink: c.must, CannotLink: c.cannot}
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

// label moves pictures to group g and labels them with it.
func (c *corrections) label(pictures []int, g int) {
	for _, i := range pictures {
		c.groups[i], c.labels[i] = g, g
	}
}

// touched reports of each picture whether it has a label or a link.
func (c *corrections) touched() []bool {
	out := lists.Map(c.labels, func(g int) bool { return g >= 0 })
	for _, p := range slices.Concat(c.must, c.cannot) {
		out[p[0]], out[p[1]] = true, true
	}
	return out
}

// dropWrong removes and returns the links that contradict the groups.
func (c *corrections) dropWrong() (must, cannot [][2]int) {
	drop := func(pairs *[][2]int, same bool) (gone [][2]int) {
		*pairs = slices.DeleteFunc(*pairs, func(p [2]int) bool {
			wrong := (c.groups[p[0]] == c.groups[p[1]]) != same
			if wrong {
				gone = append(gone, p)
			}
			return wrong
		})
		return gone
	}
	return drop(&c.must, true), drop(&c.cannot, false)
}

// join links pictures and moves them to one group: the group of a labelled picture, else the group of most of them.
func (c *corrections) join(pictures []int) error {
	to, most := -1, 0
	count := map[int]int{}
	for _, i := range pictures {
		if g := c.labels[i]; g >= 0 {
			if most == len(pictures) && g != to {
				return fmt.Errorf("two of the images are labelled with different groups, %s and %s: move one, or merge the groups",
					c.groupName(to), c.groupName(g))
			}
			to, most = g, len(pictures)
		}
		if count[c.groups[i]]++; count[c.groups[i]] > most {
			to, most = c.groups[i], count[c.groups[i]]
		}
	}
	for at, i := range pictures {
		c.groups[i] = to
		if at > 0 {
			c.must = addPair(c.must, pictures[at-1], i)
		}
	}
	return nil
}

// separate puts cannot-links between all of the pictures. If several are in one group, a labelled one stays there, else
// the one with the largest share, and the others move to the groups with the next largest shares.
func (c *corrections) separate(pictures []int, shares mat.Matrix) error {
	if len(pictures) > mostApart {
		return fmt.Errorf("%d images selected: select at most %d to mark as different", len(pictures), mostApart)
	}
	fit := func(i int) float64 {
		if c.labels[i] >= 0 {
			return 2
		}
		return shares.At(i, c.groups[i])
	}
	order := slices.Clone(pictures)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fit(b), fit(a)) })
	for at, i := range order {
		for _, j := range order[:at] {
			if c.labels[i] >= 0 && c.labels[i] == c.labels[j] {
				return fmt.Errorf("two of the images are labelled with the same group, %s: move one", c.groupName(c.labels[i]))
			}
			c.cannot = addPair(c.cannot, i, j)
		}
	}
	for at, i := range order {
		taken := map[int]bool{} // groups of pictures that i cannot join
		for _, p := range c.cannot {
			if other := p[0] + p[1] - i; (p[0] == i || p[1] == i) && !slices.Contains(order[at:], other) {
				taken[c.groups[other]] = true
			}
		}
		if !taken[c.groups[i]] {
			continue
		}
		best := -1
		for g := range c.names {
			if !taken[g] && slices.Contains(c.groups, g) && (best < 0 || shares.At(i, g) > shares.At(i, best)) {
				best = g
			}
		}
		if best < 0 {
			return fmt.Errorf("%s cannot separate all images marked as different: create a new group first", phrase.Count(len(c.names), "group", "groups"))
		}
		c.groups[i] = best
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
