// Package pipeline runs experiments: which data, which features, which methods,
// how many classes, labels and repeats. An [Experiment] is a short YAML file;
// [Prepare] reads its data, [NewPlan] lists its trials, and [Run] works through
// them on all cores and appends each to a result log, from which it goes on
// when it is run again.
//
// Every random choice of a trial has a stream of its own, made from the
// experiment's seed and the trial's coordinates alone. So the results depend
// neither on the order of the trials nor on the number of workers nor on which
// methods run beside each other, and all methods of a trial see the same
// classes, the same labels and the same initial coefficients.
package pipeline
