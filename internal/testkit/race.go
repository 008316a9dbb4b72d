//go:build race

package testkit

// Race reports whether the race detector is on, which makes tests ten times slower and takes additional memory.
const Race = true
