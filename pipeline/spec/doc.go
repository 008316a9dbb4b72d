// Package spec holds the settings of an experiment: data, features, methods, labels, links, ranks and
// clusterings. A type reads its form in an experiment file by DecodeSetting, and says in words what it is by
// String. Package experimentfile reads whole files, package input prepares the data, and package pipeline runs
// the trials.
package spec
