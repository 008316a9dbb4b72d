// Package bytesize reads and writes numbers of bytes as people write them.
package bytesize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the units by their names in lower case.
var units = map[string]float64{
	"b": 1, "byte": 1, "bytes": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// Parse reads a number of bytes above 0 with its unit: B, kB, MB, GB and TB are
// powers of 1000, KiB, MiB, GiB and TiB of 1024, in upper or lower case.
func Parse(s string) (int64, error) {
	at := strings.LastIndexAny(s, "0123456789.") + 1
	x, err := strconv.ParseFloat(strings.TrimSpace(s[:at]), 64)
	unit, known := units[strings.ToLower(strings.TrimSpace(s[at:]))]
	if err != nil || !known || !(x*unit >= 1) || x*unit >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size; want a number and its unit, such as 512MB or 4GB", s)
	}
	return int64(x * unit), nil
}

// Format writes n bytes, 0 or more, in units of a thousand, to two or three
// digits.
func Format(n int64) string {
	x, unit := float64(n), 0
	names := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for x >= 999.5 && unit < len(names)-1 {
		x, unit = x/1000, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " " + names[0]
	}
	digits := 0
	if x < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + " " + names[unit]
}
