package memory

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

// unknown is the memory that is assumed where the system does not report it.
const unknown = 4 << 30

// Available returns the bytes that the process may use: the least of the machine's memory and cgroup limits.
func Available() int64 {
	least := uint64(math.MaxInt64)
	for _, limit := range []memlimit.Provider{memlimit.FromSystem, memlimit.FromCgroup, containerLimit} {
		if n, err := limit(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return unknown
	}
	return int64(least)
}

// containerLimit returns the limit of the outermost control group of version 2 that the process sees.
// FromCgroup does not find it where the process is in a group outside of its container's.
func containerLimit() (uint64, error) {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// Parse reads a limit of Least or more: a size such as 4GB, or a share of the available memory such as 50%.
func Parse(s string) (int64, error) {
	n, err := bytesize.Parse(s)
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(x > 0 && x <= 100) {
			return 0, fmt.Errorf("%q is no share of the memory; want one above 0%% and up to 100%%", s)
		}
		n = int64(x / 100 * float64(Available()))
	} else if err != nil {
		return 0, fmt.Errorf("%w, or a share such as 50%%", err)
	}
	if n < Least {
		return 0, fmt.Errorf("%s of memory are too few; want %s or more", bytesize.Format(n), bytesize.Format(Least))
	}
	return n, nil
}
