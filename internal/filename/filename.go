// Package filename makes names fit for files.
package filename

import (
	"regexp"
	"strings"
	"unicode"
)

// longest is the length of a file name, in characters, beyond which it is cut;
// systems stop at 255 bytes.
const longest = 60

// device is a name that Windows keeps for a device, whatever its extension.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d)$`)

// Safe turns any name into one that every file system and web server takes:
// letters and digits in lower case, with single hyphens between them, and one after
// the name of a device.
func Safe(name string) string {
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
		if n == longest {
			break
		}
	}
	s := strings.TrimSuffix(b.String(), "-")
	switch {
	case s == "":
		return "unnamed"
	case device.MatchString(s):
		return s + "-"
	}
	return s
}
