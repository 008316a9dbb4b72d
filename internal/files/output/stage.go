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

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// page is the file that people open. It is removed first and added last, so that it never shows other results.
const page = "index.html"

// Stage is a hidden folder in which new results are written before they replace the old ones.
type Stage struct {
	folder *Folder
	name   string
	names  []string
	kept   []string
	done   bool
}

// Stage creates a staging folder for results that replace the files with these names and in these folders, which end in a
// slash.
func (f *Folder) Stage(names ...string) (*Stage, error) {
	if err := f.Held(); err != nil {
		return nil, err
	}
	s := &Stage{folder: f, name: atomicfile.NewName(stagingSuffix), names: names}
	if err := interruptible(func() error { return os.Mkdir(s.Dir(), 0o777) }); err != nil {
		return nil, err
	}
	return s, nil
}

// Clear removes everything that partwise wrote under the names. With a foreign file it removes nothing and returns a
// *ForeignError.
func (f *Folder) Clear(names ...string) error {
	if found, err := f.states(names); err != nil || len(found) == 0 {
		return err
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

// Keep excludes the files that partwise wrote under these names from removal.
func (s *Stage) Keep(names ...string) { s.kept = append(s.kept, names...) }

// Discard removes the staging folder if it was not published.
func (s *Stage) Discard() error {
	if s.done {
		return nil
	}
	s.done = true
	return interruptible(func() error { return os.RemoveAll(s.Dir()) })
}

// Publish replaces the old results by the staged ones. It changes nothing and returns a *ForeignError if a file to
// replace is foreign. After any other error either nothing has changed or the next Open completes the publication.
func (s *Stage) Publish() error {
	f := s.folder
	files, err := s.files()
	if err != nil {
		return err
	}
	there, err := f.states(s.names)
	if err != nil {
		return err
	}
	for name, is := range there {
		if _, replaced := files[name]; !replaced && inNames(name, s.kept) {
			files[name] = is.content
		}
	}
	p := &publication{s.name, s.names, files}
	if err := f.checkPublication(p, there); err != nil {
		return err
	}
	f.manifest.data, f.manifest.publishing = f.spec.Data, p
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = nil
		return err
	}
	s.done = true // Discard must not remove it from here on
	return f.publish(there)
}

func (s *Stage) files() (map[string]content, error) {
	files := map[string]content{}
	err := fs.WalkDir(os.DirFS(s.Dir()), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || atomicfile.IsTemporary(e.Name()) {
			return err
		}
		if !e.Type().IsRegular() {
			return fmt.Errorf("%s: not a regular file", s.folder.path(s.name+"/"+name))
		}
		files[name], err = sumOf(s.folder.path(s.name + "/" + name))
		return err
	})
	return files, err
}

// finish completes the publication of a killed process, if there is one.
func (f *Folder) finish() error {
	p := f.manifest.publishing
	if p == nil {
		return nil
	}
	there, err := f.states(p.names)
	if err == nil {
		err = f.checkPublication(p, there)
	}
	if err != nil {
		return err
	}
	return f.publish(there)
}

// checkPublication returns an error if a file to add or remove may not be written or is not regular.
func (f *Folder) checkPublication(p *publication, there map[string]state) error {
	for _, name := range slices.Concat(sortedKeys(there), sortedKeys(p.files)) {
		if err := f.mayWrite(name); err != nil {
			return err
		}
		if !inNames(name, p.names) {
			return fmt.Errorf("%s: not a result that partwise replaces", f.path(name))
		}
	}
	for _, name := range sortedKeys(p.files) {
		for _, at := range []string{name, p.staging + "/" + name} {
			if info, err := f.stat(at); err != nil {
				return err
			} else if info != nil && !info.Mode().IsRegular() {
				return f.foreignError(at)
			}
		}
	}
	return nil
}

// publish performs the publication in the manifest. It is idempotent: it can be repeated after any interruption.
func (f *Folder) publish(there map[string]state) error {
	p := f.manifest.publishing
	if err := f.removeOld(p, there); err != nil {
		return err
	}
	arrived, err := f.moveStaged(p, there)
	if err != nil {
		return err
	}
	maps.DeleteFunc(f.manifest.files, func(name string, _ []content) bool { return inNames(name, p.names) })
	for name, c := range arrived {
		f.manifest.files[name] = []content{c}
	}
	f.manifest.publishing = nil
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = p
		return err
	}
	return interruptible(func() error { return os.RemoveAll(f.path(p.staging)) })
}

// removeOld removes the files that are not published again, and a page with other content, from disk and from there.
func (f *Folder) removeOld(p *publication, there map[string]state) error {
	gone := slices.DeleteFunc(sortedKeys(there), func(name string) bool {
		c, stays := p.files[name]
		return stays && (name != page || c == there[name].content)
	})
	if at := slices.Index(gone, page); at > 0 {
		gone = slices.Insert(slices.Delete(gone, at, at+1), 0, page)
	}
	for _, name := range gone {
		if err := f.checkUnchanged(name, there); err != nil {
			return err
		}
		if err := interruptible(func() error { return os.Remove(f.path(name)) }); err != nil {
			return err
		}
		delete(there, name)
		f.removeEmpty(path.Dir(name))
	}
	return nil
}

// moveStaged moves the staged files to the folder, and returns the files that are present afterwards.
func (f *Folder) moveStaged(p *publication, there map[string]state) (map[string]content, error) {
	arriving := sortedKeys(p.files)
	if at := slices.Index(arriving, page); at >= 0 {
		arriving = append(slices.Delete(arriving, at, at+1), page)
	}
	arrived, folders := map[string]content{}, map[string]bool{".": true}
	for _, name := range arriving {
		want := p.files[name]
		old, exists := there[name]
		if exists && old.content == want {
			arrived[name] = want
			continue
		}
		staged := f.path(p.staging + "/" + name)
		c, err := sumOf(staged)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if c != want { // the staged file was removed or changed; the old file is kept
			if exists {
				arrived[name] = old.content
			}
			continue
		}
		if err := f.makeParents(name); err != nil {
			return nil, err
		}
		if err := f.checkUnchanged(name, there); err != nil {
			return nil, err
		}
		if err := interruptible(func() error { return os.Rename(staged, f.path(name)) }); err != nil {
			return nil, err
		}
		folders[path.Dir(name)], arrived[name] = true, want
	}
	for folder := range folders {
		_ = atomicfile.Sync(f.path(folder)) // without it the next Open completes the publication
	}
	return arrived, nil
}

// checkUnchanged returns a *ForeignError if a file was changed or created since states listed them.
func (f *Folder) checkUnchanged(name string, there map[string]state) error {
	info, err := f.stat(name)
	if err != nil {
		return err
	}
	old, exists := there[name]
	same := info == nil && !exists || info != nil && exists && os.SameFile(info, old.info) &&
		info.Size() == old.info.Size() && info.ModTime().Equal(old.info.ModTime())
	if !same {
		return f.foreignError(name)
	}
	return nil
}
