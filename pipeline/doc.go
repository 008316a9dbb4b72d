// Package pipeline runs experiments. [input.Prepare] makes the inputs of a [spec.Experiment], [NewPlan] lists
// its trials, and [Plan.Run] runs them on all cores and gives each to a [Sink], which knows the trials of
// earlier runs. [spec.Load] reads an experiment from a file, and package results is the sink that keeps a log
// in a folder. Package grouping puts one set into groups.
//
// Every random choice of a trial has its own stream, made from the experiment's seed and the trial's
// coordinates alone. So the results do not depend on the order of the trials, the number of workers, or the
// other methods, and all methods of a trial see the same classes, labels and initial coefficients.
package pipeline
