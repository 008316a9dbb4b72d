package imagefile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/filename"
)

var (
	rawExtensions = []string{
		".cr2", ".cr3", ".nef", ".nrw", ".arw", ".sr2", ".dng", ".orf", ".rw2", ".rwl", ".pef", ".raf", ".srw", ".3fr", ".iiq",
	}
	videoExtensions   = []string{".mov", ".mp4", ".m4v", ".avi", ".mts", ".m2ts", ".mkv", ".3gp", ".webm", ".mpg", ".mpeg", ".wmv"}
	sidecarExtensions = []string{".xmp", ".aae", ".pp3", ".dop", ".thm"}
)

func hasExtension(name string, of []string) bool {
	return slices.Contains(of, strings.ToLower(filepath.Ext(name)))
}

// IsRaw reports whether a file's name has the extension of a camera's raw image.
func IsRaw(name string) bool { return hasExtension(name, rawExtensions) }

// IsVideo reports whether a file's name has the extension of a video.
func IsVideo(name string) bool { return hasExtension(name, videoExtensions) }

// IsSidecar reports whether a file's name has the extension of a file about an image, such as .xmp.
func IsSidecar(name string) bool { return hasExtension(name, sidecarExtensions) }

// IsPartner reports whether a file's name has an extension of a partner of an image.
func IsPartner(name string) bool { return IsRaw(name) || IsVideo(name) || IsSidecar(name) }

// Partners assigns files to images of the same folder. A partner is a raw image, a video or a sidecar whose stem is the
// stem or the name of the image, or a sidecar of a raw partner, such as a.cr2.xmp. Case does not count. Of several images
// with one stem, the first has the partners. images and files are base names; images among the files are no partners.
func Partners(images, files []string) (of map[string][]string) {
	owner, own := map[string]string{}, map[string]bool{}
	for _, name := range images {
		own[name] = true
		for _, key := range []string{filename.Key(name), Stem(name)} {
			if _, taken := owner[key]; !taken {
				owner[key] = name
			}
		}
	}
	of = map[string][]string{}
	for _, name := range files {
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		image, found := owner[filename.Key(stem)]
		if IsSidecar(name) && !found && IsRaw(stem) {
			image, found = owner[Stem(stem)]
		}
		if found && !own[name] && IsPartner(name) {
			of[image] = append(of[image], name)
		}
	}
	return of
}

// Stem returns a file's name without its extension, the same in upper and lower case.
func Stem(name string) string { return filename.Key(strings.TrimSuffix(name, filepath.Ext(name))) }
