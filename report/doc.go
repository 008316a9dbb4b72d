// Package report turns finished trials into what people read: the paper's
// table with its tests of significance (as text, Markdown, CSV, LaTeX and
// HTML), curves, pictures of the learned parts, contact sheets of the groups,
// and a page that explains them.
//
// The entry points are [WriteExperiment], for an experiment's records, and
// [WriteClusters], for one grouping of somebody's own pictures. Both write a
// folder with an index.html in it that needs no network and no scripts. What
// they put together is there to be used alone: the tables of [NewTable],
// [NewBest] and [PerClass], the figures of [Curves], [SweepCurves],
// [Convergence], [Terms] and [Confusion], and the pictures of [Montage],
// [CoefficientPicture], [MarkPatches], [WordSheet] and [ContactSheet].
//
// Scores are shares, of at most 1, in the records and in the CSV files; where
// people read them they are percentages with one decimal.
//
// The same input gives the same bytes: nothing depends on the time, the
// machine or the order of a map. Files are written beside their place and
// renamed, so a reader never sees half of one.
package report
