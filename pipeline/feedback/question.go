package feedback

import (
	"cmp"
	"slices"
)

const (
	askedOf   = 100 // the most unsure pictures are candidates
	worthOf   = 500 // an answer is worth what it says about these most unsure pictures
	sureAt    = 0.9 // margin from which on an answer is worth nothing
	mostAsked = 20  // questions of a State
)

// ask finds the most useful questions. A is an unlabelled picture that is about as near to another group,
// and similar to many other unsure pictures. B is the nearest labelled picture of its group, or the typical
// one. There are none if all pictures are labelled or sure.
func (s *Session) ask() []Question {
	now := s.now()
	linked := map[[2]int]bool{}
	for _, p := range slices.Concat(now.must, now.cannot) {
		linked[p] = true
	}
	var unsure []int
	margin := make([]float64, len(s.found.Labels))
	labelled := make([][]int, len(now.names)) // of each group
	for i := range margin {
		if g := now.labels[i]; g >= 0 {
			labelled[g] = append(labelled[g], i)
		} else if margin[i] = s.margin(i); margin[i] < sureAt {
			unsure = append(unsure, i)
		}
	}
	slices.SortStableFunc(unsure, func(a, b int) int { return cmp.Compare(margin[a], margin[b]) })
	unsure = unsure[:min(len(unsure), worthOf)]
	worth := map[Question]float64{}
	var found []Question
	for _, i := range unsure[:min(len(unsure), askedOf)] {
		b := s.partner(i, labelled[s.found.Labels[i]])
		if s.skipped[i] || b < 0 || linked[[2]int{min(i, b), max(i, b)}] {
			continue
		}
		sum := 0.0
		for _, j := range unsure {
			sum += (1 - margin[j]) * s.regroup.Covariance(i, j)
		}
		if sum *= 1 - margin[i]; sum > 0 {
			q := Question{A: i, B: b}
			found, worth[q] = append(found, q), sum
		}
	}
	slices.SortStableFunc(found, func(a, b Question) int { return cmp.Compare(worth[b], worth[a]) })
	return append([]Question{}, found[:min(len(found), mostAsked)]...)
}

// partner returns the picture that stands for the group of picture i, −1 if that is i alone.
func (s *Session) partner(i int, labelled []int) int {
	best, most := -1, -1.0
	for _, j := range labelled {
		if c := s.regroup.Covariance(i, j); c > most {
			best, most = j, c
		}
	}
	if typical := s.typical[s.found.Labels[i]]; best < 0 && typical != i {
		return typical
	}
	return best
}
