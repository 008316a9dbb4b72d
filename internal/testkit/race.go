//go:build race

package testkit

// Race tells whether tests run under the race detector, which is ten times as slow and
// takes memory of its own that Allocated counts.
const Race = true
