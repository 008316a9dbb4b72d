package phrase

import (
	"slices"
	"strings"
)

// Some lists names, only the first of many.
func Some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}
