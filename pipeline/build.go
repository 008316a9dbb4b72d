package pipeline

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Build says what computes numbers in this program, on this machine: the library
// of matrix products and the processor's instructions. Trials run by different
// ones differ in the last digits.
func Build() string {
	return fmt.Sprintf("%s, %s", runtime.GOARCH, cmp.Or(simd.Instructions(), "no vector instructions"))
}

// Builds returns what made records, in the order of the letters. Records of earlier versions do
// not say.
func Builds(records []Record) []string {
	var builds []string
	for _, r := range records {
		if r.Build != "" && !slices.Contains(builds, r.Build) {
			builds = append(builds, r.Build)
		}
	}
	slices.Sort(builds)
	return builds
}

// MixedBuilds says of records that different builds made how many are of which;
// "" where all are of one. Records of earlier versions, which do not say, count
// as of any.
func MixedBuilds(records []Record) string {
	builds := Builds(records)
	if len(builds) < 2 {
		return ""
	}
	count := map[string]int{}
	for _, r := range records {
		count[r.Build]++
	}
	parts := make([]string, len(builds))
	for i, b := range builds {
		parts[i] = fmt.Sprintf("%d by %s", count[b], b)
	}
	return "the trials were run by different builds or processors, whose results differ in the last digits: " + strings.Join(parts, "; ")
}
