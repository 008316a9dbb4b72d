// Package results keeps the results of an experiment in a folder, and reads them
// again: the log of its trials, its summary, the saved models with the samples that
// they are of, and their visual words. A [Folder] belongs to one process at a time;
// it is the [pipeline.Sink] of a run, which goes on from what the folder holds.
package results
