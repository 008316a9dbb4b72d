package table

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/eval"
)

// formatValue is a value of a score for readers, without its unit: a percentage with one decimal, other
// numbers with three.
func formatValue(s eval.Score, v float64) string {
	decimals := 3
	if s.Unit == eval.UnitPercent {
		v, decimals = 100*v, 1
	}
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// WithUnit is formatValue with the unit after a separator.
func WithUnit(s eval.Score, v float64, separator string) string {
	return formatValue(s, v) + unit(s, separator)
}

// unit is the unit of a score after a separator; "" for plain numbers.
func unit(s eval.Score, separator string) string {
	if s.Unit == eval.UnitNone {
		return ""
	}
	return separator + string(s.Unit)
}

// inUnit is the unit in a sentence, as in " in percent".
func inUnit(s eval.Score) string {
	if s.Unit == eval.UnitPercent {
		return " in percent"
	}
	return unit(s, " in ")
}

// scoreLabel is the short name of a score for a column.
func scoreLabel(s eval.Score) string {
	first, size := utf8.DecodeRuneInString(s.Name)
	label := string(unicode.ToUpper(first)) + s.Name[size:]
	if s.Unlabelled {
		label = strings.TrimSuffix(label, eval.UnlabelledSuffix) + " of the unlabelled samples"
	}
	return label
}

// AxisLabel is scoreLabel with more words and the unit, for an axis.
func AxisLabel(s eval.Score, words string) string { return scoreLabel(s) + words + unit(s, ", ") }

// findScore returns the score of this name.
func findScore(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}
