package feedback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// history is the content of HistoryFile.
type history struct {
	Format  int    `json:"format"`
	Model   string `json:"model"`
	Changed bool   `json:"changed"` // the present groups are not yet in any results
	// States are Past states before the present one, the present one, and those after it.
	Past   int           `json:"past"`
	States []stateChange `json:"states"`
}

// stateChange is the difference between a state and the one before it. The first is the difference from a state without
// corrections whose pictures are all in group 0.
type stateChange struct {
	Words  string      `json:"words,omitempty"`
	Names  []string    `json:"names,omitempty"` // if they differ
	Groups map[int]int `json:"groups,omitempty"`
	Labels map[int]int `json:"labels,omitempty"`
	Must   pairsChange `json:"must,omitzero"`
	Cannot pairsChange `json:"cannot,omitzero"`
}

type pairsChange struct {
	Gone [][2]int `json:"gone,omitempty"`
	New  [][2]int `json:"new,omitempty"`
}

func (p pairsChange) apply(to [][2]int) [][2]int { return append(exceptPairs(to, p.Gone), p.New...) }

// exceptPairs returns the pairs that are not in others.
func exceptPairs(pairs, others [][2]int) [][2]int {
	return slices.DeleteFunc(slices.Clone(pairs), func(p [2]int) bool { return slices.Contains(others, p) })
}

func uncorrected(n int) *corrections {
	return &corrections{groups: make([]int, n), labels: slices.Repeat([]int{-1}, n)}
}

func (c *corrections) changeFrom(before *corrections) stateChange {
	differ := func(now, was []int) map[int]int {
		m := map[int]int{}
		for i, g := range now {
			if g != was[i] {
				m[i] = g
			}
		}
		return m
	}
	d := stateChange{
		Words: c.description, Groups: differ(c.groups, before.groups), Labels: differ(c.labels, before.labels),
		Must:   pairsChange{exceptPairs(before.must, c.must), exceptPairs(c.must, before.must)},
		Cannot: pairsChange{exceptPairs(before.cannot, c.cannot), exceptPairs(c.cannot, before.cannot)},
	}
	if !slices.Equal(c.names, before.names) {
		d.Names = c.names
	}
	return d
}

// apply returns the state after a change, and checks it.
func (c *corrections) apply(d stateChange) (*corrections, error) {
	next, n := c.clone(), len(c.groups)
	next.description, next.must, next.cannot = d.Words, d.Must.apply(c.must), d.Cannot.apply(c.cannot)
	if d.Names != nil {
		next.names = d.Names
	}
	for of, set := range map[*[]int]map[int]int{&next.groups: d.Groups, &next.labels: d.Labels} {
		for i, g := range set {
			if i < 0 || i >= n {
				return nil, fmt.Errorf("image %d; expected 0 to %d", i, n-1)
			}
			(*of)[i] = g
		}
	}
	for i, k := 0, len(next.names); i < n; i++ {
		if next.groups[i] < 0 || next.groups[i] >= k || next.labels[i] != -1 && next.labels[i] != next.groups[i] {
			return nil, fmt.Errorf("image %d is in group %d with label %d, but there are %d groups", i, next.groups[i], next.labels[i], k)
		}
	}
	if err := next.constraints().Check(n); err != nil {
		return nil, err
	}
	if must, cannot := next.dropWrong(); len(must)+len(cannot) > 0 {
		return nil, errors.New("the links contradict the groups")
	}
	return next, nil
}

func (s *Session) writeHistory(w *bytes.Buffer) error {
	h := history{Format: historyFormat, Model: s.opt.Model, Changed: s.changed, Past: s.present}
	before := uncorrected(len(s.current().groups))
	for _, c := range s.states {
		h.States = append(h.States, c.changeFrom(before))
		before = c
	}
	return json.NewEncoder(w).Encode(h)
}

// historyFormat is the format of a history. A history of an earlier version has no format, and counts as one of other
// groups.
const historyFormat = 2

func readHistory(dir string, text []byte) (h history, err error) {
	var of struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(text, &of) == nil && of.Format == 0 {
		return h, nil
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err = in.Decode(&h); err == nil && h.Format != historyFormat {
		err = fmt.Errorf("format %d; expected %d", h.Format, historyFormat)
	} else if err == nil && (h.Past < 0 || h.Past >= len(h.States)) {
		err = fmt.Errorf("%d past states, but %d states in all", h.Past, len(h.States))
	}
	return h, historyError(dir, err)
}

func historyError(dir string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w: move it away to continue without the history", filepath.Join(dir, HistoryFile), err)
	}
	return err
}

// resume continues from the history. It returns false if the store has no history of the same groups.
func (s *Session) resume() (bool, error) {
	text, err := s.opt.Store.Read(HistoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h, err := readHistory(s.opt.Store.Dir(), text)
	if err != nil || h.Format == 0 || h.Model != s.opt.Model {
		return false, err
	}
	states := make([]*corrections, len(h.States))
	before := uncorrected(len(s.current().groups))
	for at, d := range h.States {
		if states[at], err = before.apply(d); err != nil {
			return false, historyError(s.opt.Store.Dir(), fmt.Errorf("state %d: %w", at, err))
		}
		before = states[at]
	}
	s.states, s.present, s.changed = states, h.Past, h.Changed
	return true, nil
}

// Pending returns the path of the GroupsFile in dir, the folder of a store, if it holds corrected groups of this model
// that are not yet in any results. Otherwise groups is "", and unapplied reports whether the folder has corrections of
// another model's groups.
func Pending(dir, model string) (groups string, unapplied bool, err error) {
	text, err := output.ReadFile(filepath.Join(dir, HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	h, err := readHistory(dir, text)
	if err != nil {
		return "", false, err
	}
	exists := func(name string) bool {
		_, err := output.ReadFile(filepath.Join(dir, name))
		return err == nil
	}
	if h.Format == 0 || h.Model != model {
		return "", exists(LabelsFile) || exists(LinksFile), nil
	}
	if h.Changed && exists(GroupsFile) {
		groups = filepath.Join(dir, GroupsFile)
	}
	return groups, false, nil
}

// groupNumbers returns the number of each group among the k groups with pictures, −1 for empty groups.
func (s *Session) groupNumbers() (number []int, k int) {
	number = slices.Repeat([]int{-1}, len(s.current().names))
	for g := range number {
		if slices.Contains(s.current().groups, g) {
			number[g] = k
			k++
		}
	}
	return number, k
}

var numbered = regexp.MustCompile(`\bgroup (\d+)`)

// renumber renumbers the groups of all states as they are numbered in the results. Empty groups get the numbers after
// these.
func (s *Session) renumber() {
	to, k := s.groupNumbers()
	groups, most := 0, k
	for _, c := range s.states {
		groups = max(groups, len(c.names))
	}
	for g := range groups {
		if g == len(to) {
			to = append(to, -1)
		}
		if to[g] < 0 {
			to[g] = most
			most++
		}
	}
	for _, c := range s.states {
		names := make([]string, len(to))
		for g, name := range c.names {
			names[to[g]] = name
		}
		c.names = names
		for i := range c.groups {
			if c.groups[i] = to[c.groups[i]]; c.labels[i] >= 0 {
				c.labels[i] = to[c.labels[i]]
			}
		}
		c.description = numbered.ReplaceAllStringFunc(c.description, func(group string) string {
			if g, err := strconv.Atoi(group[len("group "):]); err == nil && g >= 1 && g <= len(to) {
				return placeholder(to[g-1])
			}
			return group
		})
	}
	s.current().names = s.current().names[:k]
	s.changed = false
}
