// Package bytesize parses and formats numbers of bytes with units.
package bytesize

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Parse parses a positive number of bytes with its unit: B, kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB
// powers of 1024, in upper or lower case.
func Parse(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	hasUnit := strings.HasSuffix(strings.ToLower(strings.TrimSpace(s)), "b")
	if err != nil || !hasUnit || n == 0 || n > math.MaxInt64 {
		return 0, fmt.Errorf("invalid size %q; expected a number and unit, such as 512MB or 4GB", s)
	}
	return int64(n), nil
}

// Format formats n ≥ 0 bytes with two or three digits and a decimal unit.
func Format(n int64) string { return humanize.Bytes(uint64(n)) }
