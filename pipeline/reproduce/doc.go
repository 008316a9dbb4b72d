// Package reproduce holds the protocols of papers as experiments, what the papers print of
// them, and the rules by which what was computed is held against that. It runs nothing:
// docs/reproducing.md says what a verdict means.
package reproduce
