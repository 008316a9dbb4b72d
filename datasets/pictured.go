package datasets

import (
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
)

// findPictures takes the names of the samples of a set of vectors, which were read of path, for
// those of image files, if there is one of the first that end as such do.
func (s *Set) findPictures(path string) {
	if s.Height > 0 {
		return // the vectors are images
	}
	const tried = 100
	found := make([]string, s.Len())
	any, images := false, 0
	for i, name := range s.Names {
		if !imagefile.HasExtension(name) {
			continue
		}
		if images++; images > tried && !any {
			return
		}
		file := filepath.FromSlash(name)
		for _, at := range []string{filepath.Join(filepath.Dir(path), file), file} {
			if filepath.IsAbs(file) {
				at = file
			}
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				found[i], any = at, true
				break
			}
		}
	}
	if any {
		s.Pictures = found
	}
}

// File returns the image file that sample i is, or that its vector is of, "" where there is none.
func (s *Set) File(i int) string {
	switch {
	case s.Files != nil:
		return s.Files[i]
	case s.Pictures != nil:
		return s.Pictures[i]
	}
	return ""
}

// HasImages tells whether there is something to see of the samples: they are images, or some have
// image files.
func (s *Set) HasImages() bool { return s.Files != nil || s.Height > 0 || s.Pictures != nil }

// PictureFiles returns the samples as a set of their Pictures.
func (s *Set) PictureFiles() *Set { return &Set{Name: s.Name, Names: s.Names, Files: s.Pictures} }
