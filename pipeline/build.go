package pipeline

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Build says what computes numbers in this program, on this machine: the library
// of matrix products and the processor's instructions. Trials run by different
// ones differ in the last digits.
func Build() string {
	return fmt.Sprintf("%s, %s, %s", blas.Name, runtime.GOARCH, cmp.Or(simd.Instructions(), "no vector instructions"))
}

// MixedBuilds says of records that different builds made how many are of which;
// "" where all are of one. Records of earlier versions, which do not say, count
// as of any.
func MixedBuilds(records []Record) string {
	count := map[string]int{}
	var builds []string
	for _, r := range records {
		if r.Build == "" {
			continue
		}
		if count[r.Build]++; count[r.Build] == 1 {
			builds = append(builds, r.Build)
		}
	}
	if len(builds) < 2 {
		return ""
	}
	slices.Sort(builds)
	parts := make([]string, len(builds))
	for i, b := range builds {
		parts[i] = fmt.Sprintf("%d by %s", count[b], b)
	}
	return "the trials were run by different builds or processors, whose results differ in the last digits: " + strings.Join(parts, "; ")
}
