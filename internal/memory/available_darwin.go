package memory

import (
	"math"

	"golang.org/x/sys/unix"
)

func installed() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil || n > math.MaxInt64 {
		return 0
	}
	return int64(n)
}
