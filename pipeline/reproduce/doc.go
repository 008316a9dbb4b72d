// Package reproduce runs the protocols of papers as experiments and judges what the papers print of
// them: recipe.go reads a recipe, run.go makes its draws, judge.go gives the verdicts by
// records.go, and write.go and document.go write the outcomes. docs/reproducing.md says what a verdict means.
package reproduce
