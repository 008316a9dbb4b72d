package output

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
)

// page is the file that people open. It is removed first and comes last, so that it never stands beside
// files of other results.
const page = "index.html"

// Stage is a hidden folder in which new results are completed before they replace the old ones.
type Stage struct {
	folder *Folder
	name   string
	names  []string
	kept   []string
	done   bool
}

// Stage starts a new set of results that replaces everything that partwise wrote
// under the names, files and, with a slash at their ends, folders.
func (f *Folder) Stage(names ...string) (*Stage, error) {
	if err := f.Held(); err != nil {
		return nil, err
	}
	s := &Stage{folder: f, name: atomicfile.NewName(stagingSuffix), names: names}
	if err := step(func() error { return os.Mkdir(s.Dir(), 0o777) }); err != nil {
		return nil, err
	}
	return s, nil
}

// Clear removes everything that partwise wrote under the names. If anything else stands there it
// returns a *ForeignError and removes nothing.
func (f *Folder) Clear(names ...string) error {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(f.manifest.files)), func(name string) bool { return under(name, names) }) {
		return f.checkNames(names)
	}
	s, err := f.Stage(names...)
	if err != nil {
		return err
	}
	defer s.Discard()
	return s.Publish()
}

// Dir returns the path of the staging folder.
func (s *Stage) Dir() string { return filepath.Join(s.folder.dir, s.name) }

// Keep leaves the files that partwise wrote under these names in place.
func (s *Stage) Keep(names ...string) { s.kept = append(s.kept, names...) }

// Discard removes the staging folder if it was not published.
func (s *Stage) Discard() error {
	if s.done {
		return nil
	}
	s.done = true
	return step(func() error { return os.RemoveAll(s.Dir()) })
}

// Publish replaces the old results with the staged ones. It returns a *ForeignError, and has changed
// nothing, if a file in the way is not as partwise wrote it. After any other error either nothing has
// changed or the next Open finishes.
func (s *Stage) Publish() error {
	f := s.folder
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, name := range sorted(f.manifest.files) {
		if _, replaced := files[name]; !replaced && under(name, s.kept) {
			if c, err := f.current(name); err != nil {
				return err
			} else if c != nil && slices.Contains(f.manifest.files[name], *c) {
				files[name] = *c
			}
		}
	}
	for _, name := range sorted(files) {
		if err := f.mayWrite(name); err != nil {
			return err
		}
		if !under(name, s.names) {
			return fmt.Errorf("%s: not among the results that are replaced", f.path(name))
		}
	}
	if err := f.checkNames(s.names); err != nil {
		return err
	}
	for _, name := range sorted(files) {
		if err := f.checkPlain(name); err != nil {
			return err
		}
	}
	f.manifest.data = f.spec.Data
	f.manifest.publishing = &publication{s.name, s.names, files}
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = nil
		return err
	}
	s.done = true // from here on it is no longer to be discarded
	return f.finish()
}

// files returns the staged files.
func (s *Stage) files() (map[string]content, error) {
	files := map[string]content{}
	dir := s.Dir()
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || atomicfile.IsTemporary(e.Name()) {
			return err
		}
		if !e.Type().IsRegular() {
			return fmt.Errorf("%s: not a regular file", at)
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = sumOf(at)
		return err
	})
	return files, err
}

// finish does or continues the publication in the manifest. It may be repeated after an interruption at
// any point.
func (f *Folder) finish() error {
	p := f.manifest.publishing
	// Everything is checked before anything is changed.
	now, seen := map[string]*content{}, map[string]fs.FileInfo{}
	var gone []string
	for _, name := range sorted(f.manifest.files) {
		if _, stays := p.files[name]; !stays && under(name, p.names) {
			gone = append(gone, name)
		}
	}
	arriving := sorted(p.files)
	for _, name := range append(slices.Clone(gone), arriving...) {
		if err := f.mayWrite(name); err != nil {
			return err
		}
		var err error
		if seen[name], err = f.stat(name); err != nil {
			return err
		}
		if now[name], err = f.check(name); err != nil {
			return err
		}
	}
	for _, name := range arriving {
		if err := f.checkPlain(p.staging + "/" + name); err != nil {
			return err
		}
	}
	// Checking many files takes time, in which somebody may change one.
	stillSeen := func(name string) error {
		info, err := f.stat(name)
		if err == nil && !sameState(info, seen[name]) {
			err = f.foreign(name)
		}
		return err
	}

	if at := slices.Index(arriving, page); at >= 0 {
		arriving = append(slices.Delete(arriving, at, at+1), page)
		if c := now[page]; c != nil && *c != p.files[page] {
			gone = slices.Insert(gone, 0, page)
		}
	} else if at := slices.Index(gone, page); at > 0 {
		gone = slices.Insert(slices.Delete(gone, at, at+1), 0, page)
	}
	folders := map[string]bool{".": true}
	for _, name := range gone {
		if now[name] == nil {
			continue
		}
		if err := stillSeen(name); err != nil {
			return err
		}
		if err := step(func() error { return os.Remove(f.path(name)) }); err != nil {
			return err
		}
		delete(seen, name)
		f.removeEmpty(path.Dir(name))
	}
	arrived := map[string]content{}
	for _, name := range arriving {
		want := p.files[name]
		if c := now[name]; c != nil && *c == want {
			arrived[name] = want
			continue
		}
		staged := f.path(p.staging + "/" + name)
		c, err := sumOf(staged)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if c != want {
			// Somebody removed it since. The old file stays ours.
			if now[name] != nil && !slices.Contains(gone, name) {
				arrived[name] = *now[name]
			}
			continue
		}
		if err := f.makeParents(name); err != nil {
			return err
		}
		if err := stillSeen(name); err != nil {
			return err
		}
		if err := step(func() error { return os.Rename(staged, f.path(name)) }); err != nil {
			return err
		}
		folders[path.Dir(name)] = true
		arrived[name] = want
	}
	for folder := range folders {
		_ = atomicfile.Sync(f.path(folder)) // else the next Open finishes after a power failure
	}
	for name := range f.manifest.files {
		if under(name, p.names) {
			delete(f.manifest.files, name)
		}
	}
	for name, c := range arrived {
		f.manifest.files[name] = []content{c}
	}
	f.manifest.publishing = nil
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = p
		return err
	}
	return step(func() error { return os.RemoveAll(filepath.Join(f.dir, p.staging)) })
}

// checkPlain returns a *ForeignError if there is something at a name that is no regular
// file, or a link on the way to it.
func (f *Folder) checkPlain(name string) error {
	info, err := f.stat(name)
	if err == nil && info != nil && !info.Mode().IsRegular() {
		err = f.foreign(name)
	}
	return err
}

// sameState tells whether a and b, nil for no file, are of the same unchanged file.
func sameState(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
