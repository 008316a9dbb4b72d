package output

import (
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// The names of the files and folders that this package makes beside the manifest.
const (
	lockFile      = ".partwise.lock"
	stagingSuffix = ".staging"
)

// isStaging tells whether a folder of this name was made to stage results.
func isStaging(name string) bool { return atomicfile.IsName(name, stagingSuffix) }

// isOwn tells whether a name in a folder is this package's.
func isOwn(name string) bool {
	return name == ManifestFile || name == lockFile || isStaging(name) || atomicfile.IsTemporary(name)
}

// isIncidental tells whether file managers leave files of this name in folders. They are neither
// touched nor in the way.
func isIncidental(name string) bool {
	return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || strings.HasPrefix(name, "._")
}
