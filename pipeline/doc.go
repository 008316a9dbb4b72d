// Package pipeline runs experiments: which data, which features, which methods,
// how many classes, labels and repeats. [Experiment.Prepare] reads the data of an
// [Experiment], [NewPlan] lists its trials, and [Plan.Run] works through them on all
// cores and gives each to a [Sink], which knows what an earlier run did. Package
// experimentfile reads an experiment from a file, and package results is the sink that
// keeps a log in a folder. [Groups.Find] puts one set into groups.
//
// Every random choice of a trial has a stream of its own, made from the
// experiment's seed and the trial's coordinates alone. So the results depend
// neither on the order of the trials nor on the number of workers nor on which
// methods run beside each other, and all methods of a trial see the same
// classes, the same labels and the same initial coefficients.
package pipeline
