package report

import (
	"fmt"
	"strings"
	"unicode"
)

// longestName is the length of a file name, in characters, beyond which it is
// cut; systems stop at 255 bytes.
const longestName = 60

// safeName turns any name into one that every file system and web server
// takes: letters and digits in lower case, with single hyphens between them.
func safeName(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
			n++
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
			n++
		}
		if n == longestName {
			break
		}
	}
	if s := strings.TrimSuffix(b.String(), "-"); s != "" {
		return s
	}
	return "unnamed"
}

// safeNames turns names into as many different safe ones.
func safeNames(names []string) []string {
	safe := make([]string, len(names))
	taken := map[string]bool{}
	for i, name := range names {
		base := safeName(name)
		safe[i] = base
		for n := 2; taken[safe[i]]; n++ {
			safe[i] = fmt.Sprintf("%s-%d", base, n)
		}
		taken[safe[i]] = true
	}
	return safe
}
