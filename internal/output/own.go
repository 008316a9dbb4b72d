package output

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
)

// The names of what this package makes in a folder beside the manifest. Random
// digits tell them from everything else.
const (
	lockFile      = ".partwise.lock"
	ownPrefix     = ".partwise-"
	stagingSuffix = ".staging"
	randomDigits  = 16
)

// newName returns a name of this package's that no file has.
func newName(suffix string) string {
	var random [randomDigits / 2]byte
	rand.Read(random[:]) // never fails
	return ownPrefix + hex.EncodeToString(random[:]) + suffix
}

// hasDigits tells whether newName makes such a name.
func hasDigits(name, suffix string) bool {
	digits, ok := strings.CutPrefix(name, ownPrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, suffix)
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == randomDigits/2
}

// isStaging tells whether a folder of this name was made to stage results.
func isStaging(name string) bool { return hasDigits(name, stagingSuffix) }

// isOwn tells whether a name in a folder is this package's.
func isOwn(name string) bool {
	return name == ManifestFile || name == lockFile || isStaging(name) || atomicfile.IsTemporary(name)
}

// isIncidental tells whether a file is one that file managers leave wherever
// somebody looks. Such a file is neither touched nor in the way.
func isIncidental(name string) bool {
	return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || strings.HasPrefix(name, "._")
}
