// Package spec holds the settings of an experiment: data, features, methods, labels, links, ranks and
// clusterings. A type reads its form in an experiment file by DecodeSetting, and says in words what it is by
// String. Load reads whole files, whose form is in docs/experiments.md, and ParseShort the short forms of
// flags. Package input prepares the data, and package pipeline runs the trials.
package spec
