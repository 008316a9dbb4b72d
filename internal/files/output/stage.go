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

// finish does or continues the publication in the manifest. It may be repeated after an interruption
// at any point.
func (f *Folder) finish() error {
	p := f.manifest.publishing
	m, err := f.planMoves(p)
	if err != nil {
		return err
	}
	if err := m.remove(); err != nil {
		return err
	}
	arrived, err := m.bring(p)
	if err != nil {
		return err
	}
	maps.DeleteFunc(f.manifest.files, func(name string, _ []content) bool { return under(name, p.names) })
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

// moves are the changes of files that a publication makes.
type moves struct {
	*Folder
	gone, arriving []string // in the order of the steps
	// now and seen are the contents and states of the files when the moves were planned.
	now  map[string]*content
	seen map[string]fs.FileInfo
}

// planMoves plans a publication, and checks all of its files before anything is changed.
func (f *Folder) planMoves(p *publication) (*moves, error) {
	m := &moves{Folder: f, arriving: sorted(p.files), now: map[string]*content{}, seen: map[string]fs.FileInfo{}}
	for _, name := range sorted(f.manifest.files) {
		if _, stays := p.files[name]; !stays && under(name, p.names) {
			m.gone = append(m.gone, name)
		}
	}
	for _, name := range slices.Concat(m.gone, m.arriving) {
		if err := f.mayWrite(name); err != nil {
			return nil, err
		}
		var err error
		if m.seen[name], err = f.stat(name); err != nil {
			return nil, err
		}
		if m.now[name], err = f.check(name); err != nil {
			return nil, err
		}
	}
	for _, name := range m.arriving {
		if err := f.checkPlain(p.staging + "/" + name); err != nil {
			return nil, err
		}
	}
	if at := slices.Index(m.arriving, page); at >= 0 {
		m.arriving = append(slices.Delete(m.arriving, at, at+1), page)
		if c := m.now[page]; c != nil && *c != p.files[page] {
			m.gone = slices.Insert(m.gone, 0, page)
		}
	} else if at := slices.Index(m.gone, page); at > 0 {
		m.gone = slices.Insert(slices.Delete(m.gone, at, at+1), 0, page)
	}
	return m, nil
}

// checkUnchanged returns a *ForeignError if somebody changed a file since the moves were planned.
func (m *moves) checkUnchanged(name string) error {
	info, err := m.stat(name)
	if err == nil && !sameState(info, m.seen[name]) {
		err = m.foreign(name)
	}
	return err
}

// remove removes the files that go.
func (m *moves) remove() error {
	for _, name := range m.gone {
		if m.now[name] == nil {
			continue
		}
		if err := m.checkUnchanged(name); err != nil {
			return err
		}
		if err := step(func() error { return os.Remove(m.path(name)) }); err != nil {
			return err
		}
		delete(m.seen, name)
		m.removeEmpty(path.Dir(name))
	}
	return nil
}

// bring moves the staged files to their places, and returns the files that are there then.
func (m *moves) bring(p *publication) (map[string]content, error) {
	arrived, folders := map[string]content{}, map[string]bool{".": true}
	for _, name := range m.arriving {
		want := p.files[name]
		if c := m.now[name]; c != nil && *c == want {
			arrived[name] = want
			continue
		}
		staged := m.path(p.staging + "/" + name)
		c, err := sumOf(staged)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if c != want {
			// Somebody removed it since. The old file stays ours.
			if m.now[name] != nil && !slices.Contains(m.gone, name) {
				arrived[name] = *m.now[name]
			}
			continue
		}
		if err := m.makeParents(name); err != nil {
			return nil, err
		}
		if err := m.checkUnchanged(name); err != nil {
			return nil, err
		}
		if err := step(func() error { return os.Rename(staged, m.path(name)) }); err != nil {
			return nil, err
		}
		folders[path.Dir(name)] = true
		arrived[name] = want
	}
	for folder := range folders {
		_ = atomicfile.Sync(m.path(folder)) // else the next Open finishes after a power failure
	}
	return arrived, nil
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
