// Package bytesize reads and writes numbers of bytes as people write them.
package bytesize

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Parse reads a number of bytes above 0 with its unit: B, kB, MB, GB and TB are powers of 1000,
// KiB, MiB, GiB and TiB of 1024, in upper or lower case.
func Parse(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	hasUnit := strings.HasSuffix(strings.ToLower(strings.TrimSpace(s)), "b")
	if err != nil || !hasUnit || n == 0 || n > math.MaxInt64 {
		return 0, fmt.Errorf("invalid size %q; expected a number and unit, such as 512MB or 4GB", s)
	}
	return int64(n), nil
}

// Format writes n bytes, 0 or more, in units of a thousand, to two or three digits.
func Format(n int64) string { return humanize.Bytes(uint64(n)) }
