// Package input prepares what an experiment or a grouping works on: it opens a data set and makes the
// features of its samples. The features are a matrix of all samples, blocks that are read in turn, or visual
// words and scales that each draw learns from its training samples.
package input
