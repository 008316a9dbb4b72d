// Package table gathers the scores of finished trials into tables as papers print
// them, with tests of significance, and writes these in several formats.
//
// [New], [NewBest], [PerClass] and [NewComparison] make tables of records. What a
// table shows is a [Document], one or more grids of words with a caption, and
// [Formats] lists what can be written of any document: adding a format takes a file
// and a line of that list.
//
// Scores have the unit of the records in CSV, and where people read them that of
// [eval.Score.Format].
package table
