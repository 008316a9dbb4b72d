//go:build !race

package alloctest

const Race = false
