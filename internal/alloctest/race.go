//go:build race

package alloctest

// Race tells whether tests run under the race detector, which is ten times as slow and
// takes memory of its own that Bytes counts.
const Race = true
