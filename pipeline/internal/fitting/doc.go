// Package fitting runs one method on some samples: it builds the method of the settings, fits it, groups or
// classifies what it finds, chooses ranks and numbers of groups, and estimates the memory of all that.
// Experiments and groupings share it.
package fitting
