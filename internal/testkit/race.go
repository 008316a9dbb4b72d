//go:build race

package testkit

// Race tells whether tests run under the race detector, which takes ten times as long, and memory of its own.
const Race = true
