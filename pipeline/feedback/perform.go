package feedback

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// checkAct refuses unknown pictures or groups, or a wrong number of them. It sorts the act's pictures. It and the
// functions below call guard.Fail.
func (s *Session) checkAct(a *Act) {
	n, k := len(s.current().groups), len(s.current().names)
	for _, i := range a.Pictures {
		guard.FailIf(i < 0 || i >= n, "image %d does not exist; there are %d", i, n)
	}
	for _, g := range a.Groups {
		guard.FailIf(g < 0 || g >= k, "group %d does not exist; there are %d", g+1, k)
	}
	slices.Sort(a.Pictures)
	a.Pictures = slices.Compact(a.Pictures)
	a.Name = strings.TrimSpace(a.Name)
	want, ok := map[Verb]struct{ pictures, groups [2]int }{
		Move:     {[2]int{1, n}, [2]int{0, 1}},
		Merge:    {[2]int{0, 0}, [2]int{2, k}},
		Split:    {[2]int{0, n}, [2]int{1, 1}},
		Name:     {[2]int{0, 0}, [2]int{1, 1}},
		Together: {[2]int{2, n}, [2]int{0, 0}},
		Apart:    {[2]int{2, n}, [2]int{0, 0}},
		Follow:   {[2]int{1, n}, [2]int{0, 0}},
		Decline:  {[2]int{0, 0}, [2]int{0, 0}},
		Skip:     {[2]int{1, n}, [2]int{0, 0}},
	}[a.Do]
	within := func(size int, limits [2]int) bool { return size >= limits[0] && size <= limits[1] }
	switch pictures, groups := len(a.Pictures), len(a.Groups); {
	case !ok:
		guard.Fail("unknown action %q", a.Do)
	case !within(pictures, want.pictures) || !within(groups, want.groups):
		guard.Fail("%s does not apply to %d images and %d groups", a.Do, pictures, groups)
	}
}

// perform applies an act to the corrections. It moves only pictures that the act names.
func (s *Session) perform(ctx context.Context, c *corrections, a *Act) {
	all := s.withCopies(a.Pictures)
	switch a.Do {
	case Move:
		s.move(c, a, all)
	case Merge:
		s.merge(c, a.Groups)
	case Split:
		if len(all) == 0 {
			s.split(ctx, c, a)
			return
		}
		if slices.ContainsFunc(all, func(i int) bool { return c.groups[i] != a.Groups[0] }) {
			guard.Fail("some of the images are not in %s", c.groupName(a.Groups[0]))
		}
		s.move(c, &Act{Name: a.Name}, all)
	case Name:
		s.nameGroup(c, a.Groups[0], a.Name)
	case Together:
		c.description = countPictures(len(all)) + " belong together"
		c.join(all)
	case Apart:
		c.description = countPictures(len(a.Pictures)) + " do not belong together"
		c.separate(a.Pictures, s.result.Shares)
	case Follow:
		s.follow(c, a.Pictures)
	}
}

// withCopies returns pictures and their copies in the same groups, sorted.
func (s *Session) withCopies(of []int) []int {
	if s.opt.Copies == nil || len(of) == 0 {
		return of
	}
	stack := map[[2]int]bool{} // a stack of copies and a group
	for _, i := range of {
		stack[[2]int{s.opt.Copies[i], s.current().groups[i]}] = true
	}
	return slices.DeleteFunc(matrix.Range(len(s.opt.Copies)), func(i int) bool {
		return !stack[[2]int{s.opt.Copies[i], s.current().groups[i]}]
	})
}

func (s *Session) move(c *corrections, a *Act, all []int) {
	g, to := -1, " moved to "
	if len(a.Groups) == 0 {
		guard.Check(c.checkName(a.Name, -1))
		g, to = c.addGroup(a.Name), " moved to a new group, "
	} else {
		g = a.Groups[0]
	}
	if !slices.ContainsFunc(all, func(i int) bool { return c.groups[i] != g }) {
		to = " confirmed in "
	}
	c.label(all, g)
	c.description = countPictures(len(all)) + to + c.groupName(g)
}

// follow moves pictures of the offer without labelling them.
func (s *Session) follow(c *corrections, pictures []int) {
	for _, i := range pictures {
		at := slices.Index(s.offer.Pictures, i)
		guard.FailIf(at < 0, "some of the images are no longer offered")
		c.groups[i] = s.offer.Groups[at]
	}
	c.description = countPictures(len(pictures)) + " moved too"
}

// merge joins groups to the first, and links their typical pictures.
func (s *Session) merge(c *corrections, groups []int) {
	first := groups[0]
	slices.Sort(groups[1:])
	for _, g := range slices.Compact(groups[1:]) {
		guard.FailIf(g == first, "a group cannot be merged with itself")
		c.description = fmt.Sprintf("%s merged with %s", c.groupName(first), c.groupName(g))
		for _, of := range [][]int{c.groups, c.labels} {
			for i := range of {
				if of[i] == g {
					of[i] = first
				}
			}
		}
		if c.names[first] == "" {
			c.names[first] = c.names[g]
		}
		c.names[g] = ""
		if a, b := s.typical[first], s.typical[g]; a >= 0 && b >= 0 {
			c.must = addPair(c.must, a, b)
		}
	}
}

// nameGroup names a group. It labels the group's typical picture, so that the name stays with the group.
func (s *Session) nameGroup(c *corrections, g int, name string) {
	guard.Check(c.checkName(name, g))
	c.description = fmt.Sprintf("%s called %s", c.groupName(g), name)
	if name == "" {
		c.description = "the name " + c.names[g] + " removed"
	}
	c.names[g] = name
	if name != "" && !slices.Contains(c.labels, g) && s.typical[g] >= 0 {
		c.label(s.withCopies([]int{s.typical[g]}), g)
	}
}

// split splits a group in two by k-means. The larger half keeps its number.
func (s *Session) split(ctx context.Context, c *corrections, a *Act) {
	g := a.Groups[0]
	guard.Check(c.checkName(a.Name, -1))
	members := lists.Indices(c.groups, func(of int) bool { return of == g })
	if len(members) < 2 {
		guard.Fail("%s cannot be split: it has %s; expected 2 or more", c.groupName(g), countPictures(len(members)))
	}
	points := mat.DenseCopyOf(matrix.SelectRows(s.points, members))
	halves := guard.Must(cluster.KMeans{K: 2, Distance: cluster.DistanceCosine, Restarts: 10, Seed: rng.Seed(0, "split")}.Fit(ctx, points))
	near := guard.Must(cluster.Memberships(ctx, cluster.DistanceCosine, points, halves.Labels))
	second := 0
	if ones := lists.Indices(halves.Labels, func(half int) bool { return half == 1 }); 2*len(ones) <= len(members) {
		second = 1
	}
	to := c.addGroup(a.Name)
	typical, distance := [2]int{-1, -1}, [2]float64{}
	for at, i := range members {
		half := halves.Labels[at]
		if half == second {
			if c.labels[i] == g {
				continue // the label keeps the picture in the group
			}
			c.groups[i] = to
		}
		if d := near[at].Distance; typical[half] < 0 || d < distance[half] {
			typical[half], distance[half] = i, d
		}
	}
	c.description = c.groupName(g) + " split in two"
	if slices.Min(typical[:]) < 0 {
		guard.Fail("%s cannot be split: all images of one half are labelled with it", c.groupName(g))
	}
	c.cannot = addPair(c.cannot, typical[0], typical[1])
}

// Act is a correction. Pictures are rows of the session's inputs. Groups are numbered from 0; a number stays the same
// during a session, even if its group loses all pictures.
type Act struct {
	Do       Verb   `json:"do"`
	Pictures []int  `json:"pictures,omitempty"`
	Groups   []int  `json:"groups,omitempty"`
	Name     string `json:"name,omitempty"` // of a new or renamed group
}

// Verb is the kind of an act.
type Verb string

const (
	// Move moves Pictures to Groups[0], or to a new group called Name if Groups is empty, and labels them. It confirms
	// pictures that are already in the group.
	Move Verb = "move"
	// Merge joins Groups into the first of them.
	Merge Verb = "merge"
	// Split moves Pictures of Groups[0] into a new group called Name. Without Pictures it splits the group in two by
	// k-means.
	Split Verb = "split"
	// Name gives Groups[0] the name Name, which no other group may have.
	Name Verb = "name"
	// Together must-links Pictures, and Apart puts a cannot-link between any two of them.
	Together Verb = "together"
	Apart    Verb = "apart"
	// Follow moves Pictures of the Offer to their offered groups, and Decline drops the offer. Decline is not saved.
	Follow  Verb = "follow"
	Decline Verb = "decline"
	// Skip drops the questions about Pictures. It is not saved.
	Skip Verb = "skip"
)

// State is a session as a page shows it. Values by picture are in the order of the inputs' rows.
type State struct {
	// Groups holds the group of each picture, Names the name of each group or "", and Confidence the certainty of each
	// picture's group in percent.
	Groups     []int    `json:"groups"`
	Names      []string `json:"names"`
	Confidence []int    `json:"confidence"`
	// Labelled are the labelled pictures, and Must and Cannot the linked pairs.
	Labelled []int    `json:"labelled"`
	Must     [][2]int `json:"must"`
	Cannot   [][2]int `json:"cannot"`
	Offer    Offer    `json:"offer"`
	// Questions are about uncertain pictures, the most informative first.
	Questions []Question `json:"questions"`
	Model     string     `json:"model"` // as in Options; another model numbers its groups differently
	// Acts is the number of acts in force. Undo and Redo describe the act that they would undo or redo, or are "".
	Acts   int    `json:"acts"`
	Undo   string `json:"undo"`
	Redo   string `json:"redo"`
	Effect string `json:"said"` // the effect of the last call in a sentence or two
}

// Offer lists untouched pictures that resemble the pictures of an act, each with the group that it could move to.
type Offer struct {
	Pictures []int `json:"pictures"`
	Groups   []int `json:"groups"`
}

// Question asks which of Groups a picture belongs to. The first is its present group.
type Question struct {
	Picture int   `json:"picture"`
	Groups  []int `json:"groups"`
}

// MistakeError is the error for an impossible act, with a message for the person. The act changed nothing.
type MistakeError struct{ Err error }

func (e *MistakeError) Error() string { return e.Err.Error() }

func (e *MistakeError) Unwrap() error { return e.Err }

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
func (c *corrections) checkName(name string, g int) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(len(name) > longestName, "the name has %d bytes; at most %d are allowed", len(name), longestName)
	guard.FailIf(strings.ContainsAny(name, "\n\r\x00"), "a name must be a single line")
	guard.FailIf(placeholders.MatchString(name), "%q is reserved for groups without a name", name)
	if other := slices.Index(c.names, name); name != "" && other >= 0 && other != g {
		return fmt.Errorf("group %d is already called %q: choose another name, or merge the groups", other+1, name)
	}
	return nil
}

func (c *corrections) addGroup(name string) int {
	c.names = append(c.names, name)
	return len(c.names) - 1
}

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
func (c *corrections) join(pictures []int) {
	to, most := -1, 0
	count := map[int]int{}
	for _, i := range pictures {
		if g := c.labels[i]; g >= 0 {
			if most == len(pictures) && g != to {
				guard.Fail("two of the images are labelled with different groups, %s and %s: move one, or merge the groups", c.groupName(to), c.groupName(g))
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
}

// separate puts cannot-links between all of the pictures. If several are in one group, a labelled one stays there, else
// the one with the largest share, and the others move to the groups with the next largest shares.
func (c *corrections) separate(pictures []int, shares mat.Matrix) {
	guard.FailIf(len(pictures) > mostApart,
		"%d images selected: select at most %d to mark as different", len(pictures), mostApart)
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
				guard.Fail("two of the images are labelled with the same group, %s: move one", c.groupName(c.labels[i]))
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
		guard.FailIf(best < 0,
			"%s cannot separate all images marked as different: create a new group first", phrase.Count(len(c.names), "group", "groups"))
		c.groups[i] = best
	}
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
