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

// told is all that is known of n pictures.
type told struct {
	base   []int    // the group that each was in before anything was told
	names  []string // of each group, or ""
	labels []int    // the group that is told of each, or −1
	// must and cannot are the links, each pair with the lower number first.
	must, cannot [][2]int
	words        string // the act that led here
}

func (t *told) clone() *told {
	return &told{
		base: slices.Clone(t.base), names: slices.Clone(t.names), labels: slices.Clone(t.labels),
		must: slices.Clone(t.must), cannot: slices.Clone(t.cannot),
	}
}

func (t *told) known() factor.Known {
	return factor.Known{Labels: t.labels, MustLink: t.must, CannotLink: t.cannot}
}

// group is what a group is called.
func (t *told) group(g int) string {
	if t.names[g] != "" {
		return t.names[g]
	}
	return placeholder(g)
}

// placeholder is the class that stands in files for a group without a name.
func placeholder(g int) string { return fmt.Sprintf("group %d", g+1) }

var placeholders = regexp.MustCompile(`(?i)^\s*group\s*\d+\s*$`)

const (
	longestName = 200 // bytes
	mostApart   = 40  // pictures of which no two belong together, in one act
)

// checkName reports a name that group g, −1 for a new one, cannot have.
func (t *told) checkName(name string, g int) error {
	switch {
	case len(name) > longestName:
		return fmt.Errorf("the name is %d bytes long, and can be of %d at most", len(name), longestName)
	case strings.ContainsAny(name, "\n\r\x00"):
		return errors.New("a name is a single line")
	case placeholders.MatchString(name):
		return fmt.Errorf("%q is what a group without a name is called", name)
	}
	if other := slices.Index(t.names, name); name != "" && other >= 0 && other != g {
		return fmt.Errorf("group %d is called %q already: merge the two groups, if they are one", other+1, name)
	}
	return nil
}

// add adds a group, and returns its number.
func (t *told) add(name string) int {
	t.names = append(t.names, name)
	return len(t.names) - 1
}

// label tells that pictures are of group g. Links that say otherwise go: those between two
// labelled pictures, and if through others the rest still contradicts that, all of the pictures.
func (t *told) label(pictures []int, g int) {
	moved := make(map[int]bool, len(pictures))
	for _, i := range pictures {
		t.labels[i], moved[i] = g, true
	}
	wrong := func(must bool) func([2]int) bool {
		return func(p [2]int) bool {
			a, b := t.labels[p[0]], t.labels[p[1]]
			return (moved[p[0]] || moved[p[1]]) && a >= 0 && b >= 0 && (a == b) != must
		}
	}
	t.must, t.cannot = slices.DeleteFunc(t.must, wrong(true)), slices.DeleteFunc(t.cannot, wrong(false))
	if t.known().Check(len(t.labels)) != nil {
		any := func(p [2]int) bool { return moved[p[0]] || moved[p[1]] }
		t.must, t.cannot = slices.DeleteFunc(t.must, any), slices.DeleteFunc(t.cannot, any)
	}
}

// join links pictures as those of one group. Links between them that say otherwise go.
func (t *told) join(pictures []int) error {
	labelled := -1
	for _, i := range pictures {
		switch {
		case t.labels[i] < 0:
		case labelled < 0:
			labelled = i
		case t.labels[i] != t.labels[labelled]:
			return fmt.Errorf("two of the pictures are labelled as of different groups, %s and %s: move one, or merge the groups", t.group(t.labels[labelled]), t.group(t.labels[i]))
		}
	}
	for at := 1; at < len(pictures); at++ {
		t.must = with(t.must, pictures[at-1], pictures[at])
	}
	unit, err := links.Close(len(t.labels), t.must, nil)
	if err != nil {
		return err
	}
	t.cannot = slices.DeleteFunc(t.cannot, func(p [2]int) bool {
		return unit[p[0]] == unit[p[1]] && unit[p[0]] == unit[pictures[0]]
	})
	return nil
}

// part links pictures as those of which no two are of one group.
func (t *told) part(pictures []int) error {
	if len(pictures) > mostApart {
		return fmt.Errorf("%d pictures that do not belong together: at most %d at once", len(pictures), mostApart)
	}
	among := func(p [2]int) bool { return slices.Contains(pictures, p[0]) && slices.Contains(pictures, p[1]) }
	t.must = slices.DeleteFunc(t.must, among)
	for at, i := range pictures {
		for _, j := range pictures[:at] {
			if t.labels[i] >= 0 && t.labels[i] == t.labels[j] {
				return fmt.Errorf("two of the pictures are labelled as of one group, %s: move one", t.group(t.labels[i]))
			}
			t.cannot = with(t.cannot, i, j)
		}
	}
	return nil
}

// merge makes two groups one, the first. The links are between the typical pictures of both.
func (t *told) merge(a, b int, typical [2]int) error {
	for _, of := range [][]int{t.base, t.labels} {
		for i, g := range of {
			if g == b {
				of[i] = a
			}
		}
	}
	if t.names[a] == "" {
		t.names[a] = t.names[b]
	}
	t.names[b] = ""
	t.cannot = slices.DeleteFunc(t.cannot, func(p [2]int) bool { return t.labels[p[0]] == a && t.labels[p[1]] == a })
	if typical[0] < 0 || typical[1] < 0 || typical[0] == typical[1] {
		return nil
	}
	return t.join(typical[:])
}

// with returns pairs and one more, unless it is among them.
func with(pairs [][2]int, i, j int) [][2]int {
	p := [2]int{min(i, j), max(i, j)}
	if i == j || slices.Contains(pairs, p) {
		return pairs
	}
	return append(pairs, p)
}

func pictures(n int) string { return phrase.Count(n, "picture", "pictures") }
