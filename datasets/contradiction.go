package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// CheckLinks returns an error where links contradict each other or, with labels, the classes
// of the samples, directly or through others. It names the samples and the lines of the
// shortest way.
func (s *Set) CheckLinks(l *Links, labels bool) error {
	if err := s.checkLinks(l, labels); err != nil {
		return fmt.Errorf("links %s: %w", l.File, err)
	}
	return nil
}

// A step leads from a sample, or a class, to one that belongs to the same group. Classes are
// numbered behind the samples.
type step struct{ to, link int }

func (s *Set) checkLinks(l *Links, labels bool) error {
	n := s.Len()
	// Each points to an earlier one of its group, the first to itself.
	group := make([]int, n+len(s.Classes))
	for i := range group {
		group[i] = i
	}
	first := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	join := func(i, j int) {
		a, b := first(i), first(j)
		group[max(a, b)] = min(a, b)
	}
	for _, p := range l.Must {
		join(p[0], p[1])
	}
	if labels {
		for i, c := range s.Labels {
			if c >= 0 {
				join(i, n+c)
			}
		}
		class := map[int]int{} // of a group
		for c := range s.Classes {
			if other, ok := class[first(n+c)]; ok {
				return s.joined(l, s.way(s.steps(l, labels), n+other, n+c))
			}
			class[first(n+c)] = c
		}
	}
	for at, p := range l.Cannot {
		if p[0] == p[1] {
			return fmt.Errorf("%scannot-link (%s, %s) parts a sample from itself", lineOf(l.CannotLines, at), s.Names[p[0]], s.Names[p[1]])
		}
		if first(p[0]) == first(p[1]) {
			return fmt.Errorf("%scannot-link (%s, %s) contradicts %s", lineOf(l.CannotLines, at), s.Names[p[0]], s.Names[p[1]], s.along(l, p[0], s.way(s.steps(l, labels), p[0], p[1])))
		}
	}
	return nil
}

// steps returns the steps from each sample and class.
func (s *Set) steps(l *Links, labels bool) [][]step {
	n := s.Len()
	next := make([][]step, n+len(s.Classes))
	for at, p := range l.Must {
		next[p[0]], next[p[1]] = append(next[p[0]], step{p[1], at}), append(next[p[1]], step{p[0], at})
	}
	if labels {
		for i, c := range s.Labels {
			if c >= 0 {
				next[i], next[n+c] = append(next[i], step{n + c, -1}), append(next[n+c], step{i, -1})
			}
		}
	}
	return next
}

// lineOf begins a message about a link.
func lineOf(lines []int, at int) string {
	if lines == nil {
		return ""
	}
	return fmt.Sprintf("line %d: ", lines[at])
}

// way returns the shortest way from one to another of the same group.
func (s *Set) way(next [][]step, from, to int) []step {
	back := map[int]step{to: {to, -1}} // towards to
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		if _, ok := back[from]; ok {
			break
		}
		for _, p := range next[queue[0]] {
			if _, ok := back[p.to]; !ok {
				back[p.to] = step{queue[0], p.link}
				queue = append(queue, p.to)
			}
		}
	}
	var way []step
	for at := from; at != to; at = back[at].to {
		way = append(way, back[at])
	}
	return way
}

// along says what the steps of a way from a sample are.
func (s *Set) along(l *Links, from int, way []step) string {
	var said []string
	add := func(lines []int, at int, what string) {
		if lines != nil {
			what += fmt.Sprintf(" of line %d", lines[at])
		}
		said = append(said, what)
	}
	for len(way) > 0 {
		if to := way[0]; to.link >= 0 {
			add(l.MustLines, to.link, fmt.Sprintf("must-link (%s, %s)", s.Names[from], s.Names[to.to]))
			from, way = to.to, way[1:]
			continue
		}
		class, to := way[0].to, way[1].to // in and out of a class
		said = append(said, fmt.Sprintf("the class %s of %s and %s%s", s.Classes[class-s.Len()], s.Names[from], s.Names[to], s.labelLines(from, to)))
		from, way = to, way[2:]
	}
	const most = 6
	if len(said) > most {
		said = append(said[:most:most], "…")
	}
	return strings.Join(said, ", ")
}

// joined returns the error of a way from one class to another, whose number is way's last.
func (s *Set) joined(l *Links, way []step) error {
	first, last := way[0].to, way[len(way)-2].to
	one, other := s.Labels[first], way[len(way)-1].to-s.Len()
	return fmt.Errorf("%s contradicts the class %s of %s and the class %s of %s%s", s.along(l, first, slices.Clone(way[1:len(way)-1])),
		s.Classes[one], s.Names[first], s.Classes[other], s.Names[last], s.labelLines(first, last))
}

// labelLines says where the classes of two samples stand, if in a file.
func (s *Set) labelLines(one, other int) string {
	if s.LabelLines == nil || s.LabelLines[one] == 0 || s.LabelLines[other] == 0 {
		return ""
	}
	return fmt.Sprintf(" in lines %d and %d of %s", s.LabelLines[one], s.LabelLines[other], s.LabelsFile)
}
