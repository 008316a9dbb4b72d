// Package filename converts names to valid names of files and folders.
package filename

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// longest is the largest length of a file name, in characters; systems allow 255 bytes.
const longest = 60

// device matches names that Windows reserves for devices, with any extension.
var device = lazyregexp.New(`^(con|prn|aux|nul|com\d|lpt\d)$`)

var separators = lazyregexp.New(`[^\p{L}\p{Nd}]+`)

// Safe converts a name to one that every file system and web server accepts: lower-case letters and digits, separated by
// single hyphens. A hyphen is appended to names of devices.
func Safe(name string) string {
	s := strings.TrimPrefix(separators().ReplaceAllString(strings.ToLower(name), "-"), "-")
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest])
	}
	s = strings.TrimSuffix(s, "-")
	switch {
	case s == "":
		return "unnamed"
	case device().MatchString(s):
		return s + "-"
	}
	return s
}

// longestFolder is the largest length of a folder name in bytes. Systems allow 255, and a number may be appended.
const longestFolder = 240

// reserved matches characters, and deviceFolder names, that Windows does not allow.
var (
	reserved     = lazyregexp.New(`[<>:"\\|?*]`)
	deviceFolder = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\..*)?$`)
)

// Folder returns a valid folder name. It replaces only characters and names that file systems, or Windows, do not allow.
func Folder(name string, windows bool) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsControl(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	if windows {
		name = deviceFolder().ReplaceAllString(reserved().ReplaceAllString(name, "-"), "$1-$2")
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

// Key returns equal keys for names that some file system treats as equal. It keeps slashes.
func Key(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
}
