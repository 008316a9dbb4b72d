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
	"github.com/seed4492f2cd/partwise/internal/guard"
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
	s := &Stage{folder: f, name: atomicfile.NewName(stagingSuffix), names: names}
	err := f.Held()
	if err == nil {
		err = interruptible(func() error { return os.Mkdir(s.Dir(), 0o777) })
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Clear removes everything that partwise wrote under the names. With a foreign file it removes nothing and returns a
// *ForeignError.
func (f *Folder) Clear(names ...string) (err error) {
	defer guard.Catch(&err)
	if len(f.states(names)) == 0 {
		return nil
	}
	s := guard.Must(f.Stage(names...))
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
func (s *Stage) Publish() (err error) {
	defer guard.Catch(&err)
	f, files := s.folder, guard.Must(s.files())
	there := f.states(s.names)
	for name, is := range there {
		if _, replaced := files[name]; !replaced && inNames(name, s.kept) {
			files[name] = is.content
		}
	}
	p := &publication{s.name, s.names, files}
	f.checkPublication(p, there)
	f.manifest.data, f.manifest.publishing = f.spec.Data, p
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = nil
		return err
	}
	s.done = true // Discard must not remove it from here on
	f.publish(there)
	return nil
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
func (f *Folder) finish() {
	if p := f.manifest.publishing; p != nil {
		there := f.states(p.names)
		f.checkPublication(p, there)
		f.publish(there)
	}
}

// checkPublication refuses to add or remove a file that may not be written or is not regular.
func (f *Folder) checkPublication(p *publication, there map[string]state) {
	for _, name := range slices.Concat(sortedKeys(there), sortedKeys(p.files)) {
		if f.checkName(name); !inNames(name, p.names) {
			guard.Fail("%s: not a result that partwise replaces", f.path(name))
		}
	}
	for _, name := range sortedKeys(p.files) {
		for _, at := range []string{name, p.staging + "/" + name} {
			if info := f.stat(at); info != nil && !info.Mode().IsRegular() {
				f.refuse(at)
			}
		}
	}
}

// publish performs the publication in the manifest. It is idempotent: it can be repeated after any interruption.
func (f *Folder) publish(there map[string]state) {
	p := f.manifest.publishing
	f.removeOld(p, there)
	arrived := f.moveStaged(p, there)
	maps.DeleteFunc(f.manifest.files, func(name string, _ []content) bool { return inNames(name, p.names) })
	for name, c := range arrived {
		f.manifest.files[name] = []content{c}
	}
	f.manifest.publishing = nil
	if err := f.saveManifest(); err != nil {
		f.manifest.publishing = p
		guard.Check(err)
	}
	change(func() error { return os.RemoveAll(f.path(p.staging)) })
}

// removeOld removes the files that are not published again, and a page with other content, from disk and from there.
func (f *Folder) removeOld(p *publication, there map[string]state) {
	for _, name := range pageFirst(there) {
		if c, stays := p.files[name]; stays && (name != page || c == there[name].content) {
			continue
		}
		f.checkUnchanged(name, there)
		change(func() error { return os.Remove(f.path(name)) })
		delete(there, name)
		f.removeEmpty(path.Dir(name))
	}
}

// pageFirst returns the keys of a map in order, the page first.
func pageFirst[V any](m map[string]V) []string {
	names := sortedKeys(m)
	if at := slices.Index(names, page); at > 0 {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, page)
	}
	return names
}

// moveStaged moves the staged files to the folder, the page last, and returns the files that are present afterwards.
func (f *Folder) moveStaged(p *publication, there map[string]state) map[string]content {
	arrived, folders := map[string]content{}, map[string]bool{".": true}
	for _, name := range slices.Backward(pageFirst(p.files)) {
		want := p.files[name]
		old, exists := there[name]
		if exists && old.content == want {
			arrived[name] = want
			continue
		}
		staged := f.path(p.staging + "/" + name)
		c, err := sumOf(staged)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			guard.Check(err)
		}
		if c != want { // the staged file was removed or changed; the old file is kept
			if exists {
				arrived[name] = old.content
			}
			continue
		}
		f.makeParents(name)
		f.checkUnchanged(name, there)
		change(func() error { return os.Rename(staged, f.path(name)) })
		folders[path.Dir(name)], arrived[name] = true, want
	}
	for folder := range folders {
		_ = atomicfile.Sync(f.path(folder)) // without it the next Open completes the publication
	}
	return arrived
}

// checkUnchanged refuses a file that was changed or created since states listed them.
func (f *Folder) checkUnchanged(name string, there map[string]state) {
	info := f.stat(name)
	old, exists := there[name]
	same := info == nil && !exists || info != nil && exists && os.SameFile(info, old.info) &&
		info.Size() == old.info.Size() && info.ModTime().Equal(old.info.ModTime())
	if !same {
		f.refuse(name)
	}
}
