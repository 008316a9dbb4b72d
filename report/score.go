package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// freeSuffix ends the names of the scores over the unlabelled samples.
const freeSuffix = " free"

// knownScores are the scores that have a longer name and an explanation, in
// the order in which they are shown.
var knownScores = []struct{ name, long, meaning string }{
	{"accuracy", "Accuracy",
		"The share of test samples whose class was found."},
	{classAccuracy, "Accuracy of each class",
		"The share of a class's test samples that were taken for what they are (its recall)."},
	{"AC", "Clustering accuracy (AC)",
		"The share of samples that are in the right group. Each group is matched with one class, and the matching that gives the most hits counts."},
	{"NMI", "Normalised mutual information (NMI)",
		"How much the group of a sample tells about its class: 0 is nothing, 100 is everything."},
	{"ARI", "Adjusted Rand index (ARI)",
		"How often the groups and the classes agree on whether two samples belong together: 100 is always, 0 is what chance would give."},
	{"purity", "Purity",
		"The share of samples whose class is the most frequent one of their group. It favours many small groups."},
	{"basis purity", "Purity of the parts",
		"How much of a part's whole use falls to the one class that uses it most: 100 is all of it."},
	{"basis sparsity", "Sparsity of the parts",
		"How few pixels or features a part is made of (Hoyer): 0 is all alike, 100 is a single one."},
	{"coefficient sparsity", "Sparsity of the coefficients",
		"How few samples use a part (Hoyer): 0 is all alike, 100 is a single one."},
}

// freeMeaning explains the scores over the unlabelled samples.
const freeMeaning = "Only the samples count whose class the method was not told."

// scoreTitle returns the long name of a score.
func scoreTitle(score string) string {
	base, free := strings.CutSuffix(score, freeSuffix)
	title := base
	for _, known := range knownScores {
		if known.name == base {
			title = known.long
		}
	}
	if free {
		title += " of the unlabelled samples"
	}
	return title
}

// scoreAxis is the name of a score at an axis or above a column, where there is
// little room.
func scoreAxis(score string) string {
	base, free := strings.CutSuffix(score, freeSuffix)
	first, size := utf8.DecodeRuneInString(base)
	name := string(unicode.ToUpper(first)) + base[size:]
	if free {
		name += " of the unlabelled samples"
	}
	return name
}

// scoreMeaning explains a score to somebody who has never heard of it. It is
// empty for a score that is not known.
func scoreMeaning(score string) string {
	base, free := strings.CutSuffix(score, freeSuffix)
	var sentences []string
	for _, known := range knownScores {
		if known.name == base {
			sentences = append(sentences, known.meaning)
		}
	}
	if free {
		sentences = append(sentences, freeMeaning)
	}
	return strings.Join(sentences, " ")
}

// scoreRank orders the scores: the known ones as they stand in knownScores,
// each over all samples before over the unlabelled ones, then the others.
func scoreRank(score string) int {
	base, free := strings.CutSuffix(score, freeSuffix)
	rank := 2 * len(knownScores)
	for i, known := range knownScores {
		if known.name == base {
			rank = 2 * i
		}
	}
	if free {
		rank++
	}
	return rank
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
	return slices.SortedFunc(maps.Keys(found), compareScores)
}

// compareScores orders scores as they are shown.
func compareScores(a, b string) int {
	return cmp.Or(cmp.Compare(scoreRank(a), scoreRank(b)), strings.Compare(a, b))
}

// isMinor reports whether a score is one of those that are shown last.
func isMinor(score string) bool {
	base := strings.TrimSuffix(score, freeSuffix)
	return !slices.Contains([]string{"accuracy", "AC", "NMI", "basis purity"}, base)
}
