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
)

// history is what HistoryFile holds: all that Undo and Redo lead to.
type history struct {
	// Model is that of the groups, and Changed tells whether the present is in no results yet.
	Model   string `json:"model"`
	Changed bool   `json:"changed"`
	// States are those of the past, as many as Past says, the present, and those that Redo leads to.
	Past   int      `json:"past"`
	States []change `json:"states"`
}

// change is how a state differs from the one before it, the first from one in which nothing is
// told and all pictures are in group 0.
type change struct {
	Words  string      `json:"words,omitempty"`
	Names  []string    `json:"names,omitempty"` // where they differ
	Base   map[int]int `json:"base,omitempty"`
	Labels map[int]int `json:"labels,omitempty"`
	Must   pairsChange `json:"must,omitzero"`
	Cannot pairsChange `json:"cannot,omitzero"`
}

// pairsChange are links that went and came.
type pairsChange struct {
	Gone [][2]int `json:"gone,omitempty"`
	New  [][2]int `json:"new,omitempty"`
}

func (c pairsChange) apply(to [][2]int) [][2]int { return append(without(to, c.Gone), c.New...) }

// without returns the pairs of a list that are not in another.
func without(pairs, others [][2]int) [][2]int {
	return slices.DeleteFunc(slices.Clone(pairs), func(p [2]int) bool { return slices.Contains(others, p) })
}

func blank(n int) *told { return &told{base: make([]int, n), labels: slices.Repeat([]int{-1}, n)} }

// since returns how t differs from the state before.
func (t *told) since(before *told) change {
	differ := func(now, was []int) map[int]int {
		m := map[int]int{}
		for i, g := range now {
			if g != was[i] {
				m[i] = g
			}
		}
		return m
	}
	c := change{
		Words: t.words, Base: differ(t.base, before.base), Labels: differ(t.labels, before.labels),
		Must:   pairsChange{without(before.must, t.must), without(t.must, before.must)},
		Cannot: pairsChange{without(before.cannot, t.cannot), without(t.cannot, before.cannot)},
	}
	if !slices.Equal(t.names, before.names) {
		c.Names = t.names
	}
	return c
}

// after returns the state that a change makes of t.
func (t *told) after(c change) (*told, error) {
	next, n := t.clone(), len(t.base)
	next.words, next.must, next.cannot = c.Words, c.Must.apply(t.must), c.Cannot.apply(t.cannot)
	if c.Names != nil {
		next.names = c.Names
	}
	for _, of := range []struct {
		to  []int
		set map[int]int
	}{{next.base, c.Base}, {next.labels, c.Labels}} {
		for i, g := range of.set {
			if i < 0 || i >= n {
				return nil, fmt.Errorf("picture %d of %d", i, n)
			}
			of.to[i] = g
		}
	}
	for i := range n {
		if k := len(next.names); next.base[i] < 0 || next.base[i] >= k || next.labels[i] < -1 || next.labels[i] >= k {
			return nil, fmt.Errorf("picture %d is in group %d, labelled %d, of %d", i, next.base[i], next.labels[i], k)
		}
	}
	return next, next.known().Check(n)
}

// states returns all states of the session in their order.
func (s *Session) states() []*told {
	all := append(slices.Clone(s.past), s.now)
	for _, t := range slices.Backward(s.ahead) {
		all = append(all, t)
	}
	return all
}

func (s *Session) writeHistory(w *bytes.Buffer) error {
	h := history{Model: s.opt.Model, Changed: s.changed, Past: len(s.past)}
	before := blank(len(s.now.base))
	for _, t := range s.states() {
		h.States = append(h.States, t.since(before))
		before = t
	}
	return json.NewEncoder(w).Encode(h)
}

// resume goes on from the history, and tells whether there is one of the same groups.
func (s *Session) resume() (bool, error) {
	text, err := s.opt.Store.Read(HistoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same, err := s.readHistory(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w: move it away to go on without the history", filepath.Join(s.opt.Store.Dir(), HistoryFile), err)
	}
	return same, nil
}

func (s *Session) readHistory(text []byte) (same bool, err error) {
	var h history
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&h); err != nil {
		return false, err
	}
	if h.Model != s.opt.Model {
		return false, nil
	}
	if h.Past < 0 || h.Past >= len(h.States) {
		return false, fmt.Errorf("%d past states of %d", h.Past, len(h.States))
	}
	states := make([]*told, len(h.States))
	before := blank(len(s.now.base))
	for at, c := range h.States {
		if states[at], err = before.after(c); err != nil {
			return false, fmt.Errorf("state %d: %w", at, err)
		}
		before = states[at]
	}
	s.past, s.now, s.ahead = states[:h.Past:h.Past], states[h.Past], states[h.Past+1:]
	slices.Reverse(s.ahead)
	s.changed = h.Changed
	return true, nil
}

// numbers returns the number of each group among those that have pictures, −1 for others.
func (s *Session) numbers() (number []int, k int) {
	number = slices.Repeat([]int{-1}, len(s.now.names))
	for g := range number {
		if slices.Contains(s.found.Labels, g) {
			number[g] = k
			k++
		}
	}
	return number, k
}

// publish makes the groups of the session those of the results: in all states groups get the numbers
// that they have there, and those that are empty there the numbers after these.
func (s *Session) publish() {
	to, k := s.numbers()
	most := k
	for _, t := range s.states() {
		for len(to) < len(t.names) {
			to = append(to, -1)
		}
	}
	for g := range to {
		if to[g] < 0 {
			to[g] = most
			most++
		}
	}
	for _, t := range s.states() {
		t.renumber(to)
	}
	s.now.names = s.now.names[:k]
	for i, g := range s.found.Labels {
		s.now.base[i] = to[g]
	}
	s.changed = false
}

var numbered = regexp.MustCompile(`\bgroup (\d+)`)

// renumber gives group g the number to[g].
func (t *told) renumber(to []int) {
	names := make([]string, len(to))
	for g, name := range t.names {
		names[to[g]] = name
	}
	t.names = names
	for i := range t.base {
		if t.base[i] = to[t.base[i]]; t.labels[i] >= 0 {
			t.labels[i] = to[t.labels[i]]
		}
	}
	t.words = numbered.ReplaceAllStringFunc(t.words, func(group string) string {
		if g, err := strconv.Atoi(group[len("group "):]); err == nil && g >= 1 && g <= len(to) {
			return placeholder(to[g-1])
		}
		return group
	})
}
