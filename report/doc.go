// Package report turns finished trials into what people read.
//
// The entry points are [WriteExperiment], for an experiment's records, and
// [WriteClusters], for one grouping of somebody's own pictures. Both write a
// folder with an index.html in it that needs no network and no scripts. A page is a
// list of sections: adding one takes a file and a line of the list. Its tables are made
// by report/table and its pictures by report/figure, which can be used alone.
//
// The same input gives the same bytes: nothing depends on the time, the
// machine or the order of a map. Files are written beside their place and
// renamed, so a reader never sees half of one.
package report
