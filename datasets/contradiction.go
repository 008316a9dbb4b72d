package datasets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// CheckLinks returns an error where links contradict each other or, with labels, the classes of the
// samples, directly or through others. It names the samples and the lines of the shortest way.
func (s *Set) CheckLinks(l *Links, labels bool) error {
	if err := s.contradiction(l, labels); err != nil {
		return fmt.Errorf("links %s: %w", l.File, err)
	}
	return nil
}

func (s *Set) contradiction(l *Links, labels bool) error {
	// Classes are numbered behind the samples, and a sample must link its class.
	n, must := s.Len(), slices.Clip(l.Must)
	if labels {
		for i, c := range s.Labels {
			if c >= 0 {
				must = append(must, [2]int{i, n + c})
			}
		}
	}
	group, err := links.Close(n+len(s.Classes), must, nil)
	if err != nil {
		return err
	}
	if labels {
		class := map[int]int{} // of a group
		for c := range s.Classes {
			if other, ok := class[group[n+c]]; ok {
				return s.joined(l, wayBetween(len(group), must, n+other, n+c))
			}
			class[group[n+c]] = c
		}
	}
	for at, p := range l.Cannot {
		from := ""
		if l.CannotLines != nil {
			from = fmt.Sprintf("line %d: ", l.CannotLines[at])
		}
		if p[0] == p[1] {
			return fmt.Errorf("%scannot-link (%s, %s) parts a sample from itself", from, s.Names[p[0]], s.Names[p[1]])
		}
		if group[p[0]] == group[p[1]] {
			return fmt.Errorf("%scannot-link (%s, %s) contradicts %s", from, s.Names[p[0]], s.Names[p[1]], s.along(l, p[0], wayBetween(len(group), must, p[0], p[1])))
		}
	}
	return nil
}

// A step leads from a sample, or a class, to one that belongs to the same group, by a must-link.
type step struct{ to, link int }

// wayBetween returns the shortest way from one of n samples and classes to another of the same group.
func wayBetween(n int, must [][2]int, from, to int) (way []step) {
	next := make([][]step, n)
	for at, p := range must {
		next[p[0]], next[p[1]] = append(next[p[0]], step{p[1], at}), append(next[p[1]], step{p[0], at})
	}
	back := map[int]step{to: {}} // towards to
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		for _, p := range next[queue[0]] {
			if _, ok := back[p.to]; !ok {
				back[p.to] = step{queue[0], p.link}
				queue = append(queue, p.to)
			}
		}
	}
	for at := from; at != to; at = back[at].to {
		way = append(way, back[at])
	}
	return way
}

// along says what the steps of a way from a sample are.
func (s *Set) along(l *Links, from int, way []step) string {
	var said []string
	for len(way) > 0 {
		to := way[0]
		if to.link < len(l.Must) {
			what := fmt.Sprintf("must-link (%s, %s)", s.Names[from], s.Names[to.to])
			if l.MustLines != nil {
				what += fmt.Sprintf(" of line %d", l.MustLines[to.link])
			}
			said, from, way = append(said, what), to.to, way[1:]
			continue
		}
		class, other := to.to, way[1].to // in and out of a class
		said = append(said, fmt.Sprintf("the class %s of %s and %s%s", s.Classes[class-s.Len()], s.Names[from], s.Names[other], s.labelLines(from, other)))
		from, way = other, way[2:]
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
	return fmt.Errorf("%s contradicts the class %s of %s and the class %s of %s%s", s.along(l, first, way[1:len(way)-1]),
		s.Classes[one], s.Names[first], s.Classes[other], s.Names[last], s.labelLines(first, last))
}

// labelLines says where the classes of two samples stand, if in a file.
func (s *Set) labelLines(one, other int) string {
	if s.LabelLines == nil || s.LabelLines[one] == 0 || s.LabelLines[other] == 0 {
		return ""
	}
	return fmt.Sprintf(" in lines %d and %d of %s", s.LabelLines[one], s.LabelLines[other], s.LabelsFile)
}
