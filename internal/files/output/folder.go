package output

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filelock"
)

// ErrInUse says that another process writes to the folder.
var ErrInUse = errors.New("another partwise is using this folder")

// ErrLost says that the folder or its lock was moved, removed or replaced while it was open. The folder
// at its path may now be another process's.
var ErrLost = errors.New("the folder or its " + lockFile + " was moved, removed or replaced while this partwise was using it, so nothing more is written there")

// Spec says what a command writes into its folder.
type Spec struct {
	// Command is the command that writes the folder. A folder with results of another command is refused.
	Command string
	// Data is the path or the name of the data, or empty. With SameData a folder with results of other
	// data is refused.
	Data     string
	SameData bool
	// Names are the files and, with a slash at their ends, the folders that the command may write.
	// Foreign files may not stand there.
	Names []string
	// Adopt, if set, is called for a folder without a manifest. It returns the files in dir that the
	// command surely wrote; all others under the names are foreign.
	Adopt func(dir string) ([]string, error)
}

// ForeignError says that a file stands in the way that partwise did not write, or that was changed since.
type ForeignError struct {
	// Dir is the output folder and Name the file in it, with forward slashes.
	Dir, Name string
	// Changed says that partwise wrote the file, and that it was changed since.
	Changed bool
	// Unlisted says that the folder has no manifest.
	Unlisted bool
}

func (e *ForeignError) Error() string {
	at := filepath.Join(e.Dir, filepath.FromSlash(e.Name))
	switch {
	case e.Changed:
		return fmt.Sprintf("%s was changed since partwise wrote it and is not replaced: move it away, or choose another folder", at)
	case e.Unlisted:
		return fmt.Sprintf("%s is in the way, and %s has no list of the files that partwise wrote, as in a folder of an earlier version: choose another folder, or move it away", at, e.Dir)
	}
	return fmt.Sprintf("%s is in the way, and partwise did not write it: move it away, or choose another folder", at)
}

// Folder is an output folder that is open for writing. Its methods are not safe
// for use by several goroutines at once.
type Folder struct {
	dir      string
	spec     Spec
	lock     *filelock.Lock
	made     []string // folders that Open made, innermost first
	manifest *manifest
	written  bool // the manifest is on the disk
}

// Open makes the folder dir if need be and locks it until Close; it returns an error with ErrInUse
// where another process has it. It finishes the publication of a killed process and removes its
// remains. It refuses, and leaves unchanged, a folder that cannot be made or written to, that holds the
// results of another command, or that has a foreign file under one of the names (a *ForeignError).
func Open(dir string, s Spec) (*Folder, error) {
	if err := checkPlace(dir); err != nil {
		return nil, err
	}
	f := &Folder{dir: filepath.Clean(dir), spec: s}
	if err := f.open(); err != nil {
		f.leave()
		return nil, err
	}
	return f, nil
}

func (f *Folder) open() error {
	if err := f.take(); err != nil {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	if f.manifest.publishing != nil {
		if err := f.finish(); err != nil {
			return err
		}
	}
	if err := f.removeLeftovers(); err != nil {
		return err
	}
	return f.checkNames(f.spec.Names)
}

// take makes the folder and locks it.
func (f *Folder) take() error {
	for attempt := 0; ; attempt++ {
		if err := f.makeFolder(); err != nil {
			return err
		}
		// Locks are empty. Another file would be removed with the lock.
		if info, err := os.Lstat(f.path(lockFile)); err == nil && info.Size() > 0 {
			return &ForeignError{Dir: f.dir, Name: lockFile}
		}
		var err error
		f.lock, err = filelock.Acquire(filepath.Join(f.dir, lockFile))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, filelock.ErrLocked):
			return fmt.Errorf("%s: %w", f.dir, ErrInUse)
		case errors.Is(err, fs.ErrNotExist) && attempt < 10:
			continue // another process removed the empty folder that it had made
		}
		return fmt.Errorf("%s cannot be written: %w", f.dir, atomicfile.Cause(err))
	}
}

// samePlace tells whether two names of data are equal or lead to the same file. a comes from the
// manifest in dir: it is relative to the working directory or to the folder of results/NAME, and bytes
// that are not UTF-8 are U+FFFD in it.
func samePlace(a, b, dir string) bool {
	if string([]rune(a)) == string([]rune(b)) {
		return true
	}
	info, err := os.Stat(b)
	if err != nil {
		return false
	}
	for _, at := range []string{a, filepath.Join(dir, "..", "..", a)} {
		if infoA, err := os.Stat(at); err == nil && os.SameFile(infoA, info) {
			return true
		}
	}
	return false
}

// makeFolder makes the folder and its parents, and remembers which it made.
func (f *Folder) makeFolder() error {
	there, _, _ := existing(f.dir)
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	f.made = nil
	for at := f.dir; at != there; at = filepath.Dir(at) {
		f.made = append(f.made, at)
	}
	return nil
}

// load reads the manifest, or makes a new one. It rewrites one that a killed process left torn.
func (f *Folder) load() error {
	m, torn, err := readManifest(f.dir)
	switch {
	case err != nil:
		return err
	case m == nil:
		f.manifest = newManifest(f.spec.Command)
		return f.adopt()
	case m.command != f.spec.Command:
		return fmt.Errorf("%s holds the results of partwise %s: choose another folder", f.dir, m.command)
	case f.spec.SameData && m.data != "" && !samePlace(m.data, f.spec.Data, f.dir):
		return fmt.Errorf("%s holds the results of %s, and these are of %s: choose another folder", f.dir, m.data, f.spec.Data)
	}
	f.manifest, f.written = m, true
	if torn {
		return f.saveManifest()
	}
	return nil
}

// adopt puts the files of Spec.Adopt into the manifest.
func (f *Folder) adopt() error {
	if f.spec.Adopt == nil {
		return nil
	}
	names, err := f.spec.Adopt(f.dir)
	for _, name := range names {
		if err != nil {
			break
		}
		var c content
		c, err = sumOf(f.path(name))
		f.manifest.files[name] = []content{c}
	}
	return err
}

// Dir returns the folder as it was given to Open.
func (f *Folder) Dir() string { return f.dir }

// Held returns an error with ErrLost if the folder is no longer this process's.
func (f *Folder) Held() error {
	if !f.lock.InPlace() {
		return fmt.Errorf("%s: %w", f.dir, ErrLost)
	}
	return nil
}

// path returns the path of a file of the folder.
func (f *Folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// Close unlocks the folder, and removes it if Open made it and nothing was written.
func (f *Folder) Close() error {
	if f.lock == nil {
		return nil
	}
	var err error
	if f.written && f.manifest.publishing == nil && f.Held() == nil {
		err = f.saveManifest()
	}
	f.leave()
	return err
}

// leave releases the lock and removes empty folders that Open made.
func (f *Folder) leave() {
	if step(func() error { return nil }) != nil {
		return // the process ends here, in a test
	}
	if f.lock != nil {
		lost := f.Held() != nil
		f.lock.Release()
		f.lock = nil
		if lost {
			return
		}
	}
	for _, dir := range f.made {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// checkNames returns a *ForeignError for the first foreign file under the names.
func (f *Folder) checkNames(names []string) error {
	for _, name := range names {
		bare, folder := strings.CutSuffix(name, "/")
		info, err := f.stat(bare)
		switch {
		case err != nil:
			return err
		case info == nil:
		case info.IsDir() && folder:
			err = f.checkFolder(bare)
		default:
			_, err = f.check(bare)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFolder checks everything in a folder.
func (f *Folder) checkFolder(name string) error {
	entries, err := os.ReadDir(f.path(name))
	if err != nil {
		return err
	}
	ours := false
	for _, e := range entries {
		inside := name + "/" + e.Name()
		switch {
		case atomicfile.IsTemporary(e.Name()) || isIncidental(e.Name()):
			continue
		case e.IsDir() && len(f.manifest.known(inside)) == 0:
			err = f.checkFolder(inside)
		default:
			_, err = f.check(inside)
			ours = true
		}
		if err != nil {
			return err
		}
	}
	if ours {
		return checkWritable(f.path(name), f.path(name))
	}
	return nil
}

// check is current, with a *ForeignError for a file that is not as partwise wrote it.
func (f *Folder) check(name string) (*content, error) {
	c, err := f.current(name)
	if err == nil && c != nil && !slices.Contains(f.manifest.known(name), *c) {
		return nil, f.foreign(name)
	}
	return c, err
}

func (f *Folder) foreign(name string) error {
	return &ForeignError{
		Dir: f.dir, Name: name, Unlisted: !f.written,
		Changed: f.written && len(f.manifest.known(name)) > 0,
	}
}

// stat is os.Lstat of a name, or nil where there is nothing. A link or a file in place of a parent
// folder is foreign.
func (f *Folder) stat(name string) (fs.FileInfo, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(f.path(name[:i]))
		if isMissing(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, f.foreign(name[:i])
		}
	}
	info, err := os.Lstat(f.path(name))
	if isMissing(err) {
		return nil, nil
	}
	return info, err
}

// current returns the content of a file, or nil where there is none. Anything but a regular file is
// foreign. Files that are appended to count as known and have no content here.
func (f *Folder) current(name string) (*content, error) {
	info, err := f.stat(name)
	if err != nil || info == nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, f.foreign(name)
	}
	if f.manifest.appended[name] {
		return nil, nil
	}
	known := f.manifest.known(name)
	if !slices.ContainsFunc(known, func(c content) bool { return c.size == info.Size() }) {
		return nil, f.foreign(name)
	}
	c, err := sumOf(f.path(name))
	return &c, err
}

// sumOf digests a file.
func sumOf(path string) (content, error) {
	file, err := os.Open(path)
	if err != nil {
		return content{}, err
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	if err != nil {
		return content{}, err
	}
	return content{hex.EncodeToString(h.Sum(nil)), n}, nil
}

// Write writes a file of the folder atomically. It replaces only what partwise wrote there; anything
// else is a *ForeignError.
func (f *Folder) Write(name string, text []byte) error {
	if err := f.mayWrite(name); err != nil {
		return err
	}
	if _, err := f.check(name); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	c := content{hex.EncodeToString(sum[:]), int64(len(text))}
	if err := f.announce(name, c); err != nil {
		return err
	}
	if err := f.makeParents(name); err != nil {
		return err
	}
	if err := step(func() error { return atomicfile.Write(f.path(name), text) }); err != nil {
		return err
	}
	f.manifest.files[name] = []content{c}
	return nil
}

// Remove removes a file that partwise wrote, if it is there. Anything else is a *ForeignError.
func (f *Folder) Remove(name string) error {
	if err := f.mayWrite(name); err != nil {
		return err
	}
	if c, err := f.check(name); err != nil || c == nil {
		return err
	}
	if err := step(func() error { return os.Remove(f.path(name)) }); err != nil {
		return err
	}
	delete(f.manifest.files, name)
	f.removeEmpty(path.Dir(name))
	return nil
}

// Append lists a file in the manifest that the caller itself appends to. A foreign file of that name is
// a *ForeignError.
func (f *Folder) Append(name string) error {
	if err := f.mayWrite(name); err != nil {
		return err
	}
	if _, err := f.check(name); err != nil {
		return err
	}
	if f.manifest.appended[name] && f.written {
		return nil
	}
	delete(f.manifest.files, name)
	f.manifest.appended[name] = true
	return f.saveManifest()
}

// mayWrite returns an error if a name is not among the names of the Spec, or if the folder is lost.
func (f *Folder) mayWrite(name string) error {
	if err := f.Held(); err != nil {
		return err
	}
	if !isName(name) || !under(name, f.spec.Names) {
		return fmt.Errorf("%s: partwise %s does not write a file of this name", f.path(name), f.spec.Command)
	}
	return nil
}

// announce adds the coming content of a file to the manifest.
func (f *Folder) announce(name string, c content) error {
	if list := f.manifest.files[name]; f.written && slices.Contains(list, c) {
		return nil
	}
	f.manifest.files[name] = append(f.manifest.files[name], c)
	if !f.written {
		return f.saveManifest()
	}
	return step(func() error {
		return appendLine(filepath.Join(f.dir, ManifestFile), fileLine{File: name, SHA256: c.sum, Size: c.size})
	})
}

// saveManifest writes the whole manifest if it differs from the one on the disk.
func (f *Folder) saveManifest() error {
	at := filepath.Join(f.dir, ManifestFile)
	text := f.manifest.encode()
	if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(text)) {
		if old, err := os.ReadFile(at); err == nil && string(old) == string(text) {
			f.written = true
			return nil
		}
	}
	if err := step(func() error { return atomicfile.Write(at, text) }); err != nil {
		return err
	}
	f.written = true
	return nil
}

// makeParents makes the folders on the way to a file.
func (f *Folder) makeParents(name string) error {
	parent := path.Dir(name)
	if parent == "." {
		return nil
	}
	if info, err := f.stat(parent); err != nil {
		return err
	} else if info != nil {
		if !info.IsDir() {
			return f.foreign(parent)
		}
		return nil
	}
	return step(func() error { return os.MkdirAll(f.path(parent), 0o777) })
}

// removeEmpty removes a folder and its parents, as far as they are empty.
func (f *Folder) removeEmpty(name string) {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if step(func() error { return os.Remove(f.path(name)) }) != nil {
			return
		}
	}
}

// removeLeftovers removes the staging folders and temporary files of killed processes. A temporary file
// that a process is writing stays.
func (f *Folder) removeLeftovers() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !isStaging(e.Name()) || !e.IsDir() {
			continue
		}
		if err := step(func() error { return os.RemoveAll(f.path(e.Name())) }); err != nil {
			return err
		}
	}
	folders := map[string]bool{".": true}
	for name := range f.manifest.files {
		folders[path.Dir(name)] = true
	}
	for _, name := range f.spec.Names {
		if bare, ok := strings.CutSuffix(name, "/"); ok {
			folders[bare] = true
		}
	}
	for _, folder := range sorted(folders) {
		info, err := f.stat(folder)
		if err != nil || info == nil || !info.IsDir() {
			continue // found by what checks the names
		}
		if err := step(func() error { return atomicfile.RemoveStale(f.path(folder)) }); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the keys of a map in order, so that errors and steps come in a fixed order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
