package feedback

import (
	"cmp"
	"slices"
)

const (
	askedOf   = 100 // the most unsure pictures are candidates
	toldBy    = 500 // and an answer tells something of so many of these
	sureAt    = 0.9 // margin from which on an answer tells nothing
	mostAsked = 20  // questions of a State
)

// ask finds the pairs whose answers would tell most: a picture of no told group that is
// as near to two groups, and that many other unsure pictures are like, and a picture of
// the group that it is in, the nearest told one or else the typical one. There are none where all is
// told or sure.
func (s *Session) ask() []Question {
	linked := map[[2]int]bool{}
	for _, p := range append(slices.Clone(s.now.must), s.now.cannot...) {
		linked[p] = true
	}
	var unsure []int
	margin := make([]float64, len(s.found.Labels))
	told := make([][]int, len(s.now.names)) // of each group
	for i := range margin {
		if g := s.now.labels[i]; g >= 0 {
			told[g] = append(told[g], i)
		} else if margin[i] = s.margin(i); margin[i] < sureAt {
			unsure = append(unsure, i)
		}
	}
	slices.SortStableFunc(unsure, func(a, b int) int { return cmp.Compare(margin[a], margin[b]) })
	unsure = unsure[:min(len(unsure), toldBy)]
	type candidate struct {
		Question
		worth float64
	}
	var found []candidate
	for _, i := range unsure[:min(len(unsure), askedOf)] {
		b := s.partner(i, told[s.found.Labels[i]])
		if s.skipped[i] || b < 0 || linked[[2]int{min(i, b), max(i, b)}] {
			continue
		}
		worth := 0.0
		for _, j := range unsure {
			worth += (1 - margin[j]) * s.regroup.Covariance(i, j)
		}
		if worth *= 1 - margin[i]; worth > 0 {
			found = append(found, candidate{Question{A: i, B: b}, worth})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.worth, a.worth) })
	questions := make([]Question, min(len(found), mostAsked))
	for at := range questions {
		questions[at] = found[at].Question
	}
	return questions
}

// partner returns the picture that stands for the group of picture i, of which some are told:
// −1 where there is none but i.
func (s *Session) partner(i int, told []int) int {
	best, most := -1, -1.0
	for _, j := range told {
		if c := s.regroup.Covariance(i, j); c > most {
			best, most = j, c
		}
	}
	if typical := s.typical[s.found.Labels[i]]; best < 0 && typical != i {
		return typical
	}
	return best
}
