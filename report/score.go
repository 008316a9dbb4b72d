package report

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// scoreText prints a value of a score: a share as a percentage with one decimal,
// others with three.
func scoreText(s eval.Score, v float64) string {
	if s.Unit == eval.UnitPercent {
		return percent(v)
	}
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return withoutMinusZero(strconv.FormatFloat(v, 'f', 3, 64))
}

// inUnit says in what unit people are shown a score: " in percent", for instance.
func inUnit(s eval.Score) string {
	switch s.Unit {
	case eval.UnitPercent:
		return " in percent"
	case eval.UnitNone:
		return ""
	}
	return " in " + string(s.Unit)
}

// withUnit is the unit behind a heading or a value: behind a comma or a space.
func withUnit(s eval.Score, separator string) string {
	if s.Unit == eval.UnitNone {
		return ""
	}
	return separator + string(s.Unit)
}

// scoreOf returns the score of this name.
func scoreOf(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}

// scoresOf returns the names of all scores in the records, in the order in
// which they are shown.
func scoresOf(records []pipeline.Record) []string {
	found := map[string]bool{}
	for _, r := range records {
		for name := range r.Scores {
			found[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), eval.CompareScores)
}
