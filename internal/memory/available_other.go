//go:build !linux && !darwin && !windows

package memory

func installed() int64 { return 0 }
