//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the largest memory, in bytes, of a process that has ended and of those
// that it started, or 0 where it is not known.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
