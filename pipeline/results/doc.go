// Package results keeps the results of an experiment in a folder, and reads them again: the log of its
// trials, its summary, and the saved models with their samples and visual words. A [Folder] is locked by
// one process; it is the [pipeline.Sink] of a run, which continues from its content.
package results
