// Package filename makes names fit for files.
package filename

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// longest is the length of a file name, in characters, beyond which it is cut; systems stop at 255 bytes.
const longest = 60

// device is a name that Windows keeps for a device, whatever its extension.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d)$`)

var separators = regexp.MustCompile(`[^\p{L}\p{Nd}]+`)

// Safe turns any name into one that every file system and web server accepts: letters and digits in
// lower case, with single hyphens between them, and one after the name of a device.
func Safe(name string) string {
	s := strings.TrimPrefix(separators.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest])
	}
	s = strings.TrimSuffix(s, "-")
	switch {
	case s == "":
		return "unnamed"
	case device.MatchString(s):
		return s + "-"
	}
	return s
}

// longestFolder is the most bytes of a folder's name. Systems stop at 255, and a number may follow.
const longestFolder = 240

// reserved are characters, and deviceFolder names of devices, that Windows keeps for itself.
var (
	reserved     = regexp.MustCompile(`[<>:"\\|?*]`)
	deviceFolder = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\..*)?$`)
)

// Folder returns a name for a folder. It replaces only what file systems, or Windows, do not allow.
func Folder(name string, windows bool) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsControl(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	if windows {
		name = deviceFolder.ReplaceAllString(reserved.ReplaceAllString(name, "-"), "$1-$2")
	}
	for len(name) > longestFolder {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if windows {
		name = strings.TrimRight(name, ". ")
	}
	switch name {
	case "", ".", "..":
		return "unnamed"
	}
	return name
}

// Key returns the same key for names that some file system takes for the same. It keeps the slashes.
func Key(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
}
