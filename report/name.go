package report

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/filename"
)

// safeNames turns names into as many different safe ones.
func safeNames(names []string) []string {
	safe := make([]string, len(names))
	taken := map[string]bool{}
	for i, name := range names {
		base := filename.Safe(name)
		safe[i] = base
		for n := 2; taken[safe[i]]; n++ {
			safe[i] = fmt.Sprintf("%s-%d", base, n)
		}
		taken[safe[i]] = true
	}
	return safe
}
