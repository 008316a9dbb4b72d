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

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/filelock"
)

// ErrInUse says that another process writes to the folder.
var ErrInUse = errors.New("another partwise is using this folder")

// ErrLost says that the folder was moved, removed or replaced while it was open, or
// that its lock was: what is at its path now may be another process's.
var ErrLost = errors.New("the folder or its " + lockFile + " was moved, removed or replaced while this partwise was using it, so nothing more is written there")

// Spec says what a command writes into its folder.
type Spec struct {
	// Command is the command whose results the folder holds. A folder that
	// holds those of another is refused.
	Command string
	// Data is what the results are of, as a path or a name, where the folder
	// shall say so. With SameData a folder that holds the results of other data
	// is refused.
	Data     string
	SameData bool
	// Names are the files and, with a slash at their ends, the folders that the
	// command may write. What partwise did not write may not stand there.
	Names []string
	// Adopt, if set, is asked where there is no manifest and something stands
	// under the names. It returns those files in dir that were surely written by
	// the command; all others under the names are foreign.
	Adopt func(dir string) ([]string, error)
}

// ForeignError says that a file stands in the way which partwise did not write
// or which was changed since.
type ForeignError struct {
	// Dir is the output folder and Name the file in it, with forward slashes.
	Dir, Name string
	// Changed says that partwise wrote the file, and that it was changed since.
	Changed bool
	// Unlisted says that the folder has no list of what partwise wrote.
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
	made     []string // folders that Open made, outermost first
	manifest *manifest
	written  bool // the manifest is on the disk
}

// Open makes the folder dir if need be and takes it for this process until
// Close; it returns an error with ErrInUse where another process has it. It
// finishes what a killed process was publishing and removes what one left behind.
// It is an error, and leaves nothing behind, where dir cannot be made or written to,
// holds the results of another command, or has a foreign file under one of the names
// (a *ForeignError).
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
	torn, err := f.load()
	if err != nil {
		return err
	}
	if torn {
		if err := f.saveManifest(); err != nil {
			return err
		}
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
		// A lock is empty; what is not is somebody's, and would be removed with the lock.
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

// samePlace tells whether two names of data are the same or lead to the same file: a, of the
// manifest in dir, from here or from the folder that holds results/NAME. In a manifest a byte
// that is no UTF-8 is U+FFFD.
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

// makeFolder makes the folder and remembers what was not there.
func (f *Folder) makeFolder() error {
	var missing []string
	for at := f.dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !isMissing(err) || filepath.Dir(at) == at {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	slices.Reverse(missing)
	f.made = missing
	return nil
}

// load reads the manifest, or takes the folder up without one.
func (f *Folder) load() (torn bool, err error) {
	m, torn, err := readManifest(f.dir)
	if err != nil {
		return false, err
	}
	if m != nil {
		if m.command != f.spec.Command {
			return false, fmt.Errorf("%s holds the results of partwise %s: choose another folder", f.dir, m.command)
		}
		if f.spec.SameData && m.data != "" && !samePlace(m.data, f.spec.Data, f.dir) {
			return false, fmt.Errorf("%s holds the results of %s, and these are of %s: choose another folder", f.dir, m.data, f.spec.Data)
		}
		f.manifest, f.written = m, true
		return torn, nil
	}
	f.manifest = newManifest(f.spec.Command)
	if f.spec.Adopt == nil {
		return false, nil
	}
	names, err := f.spec.Adopt(f.dir)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		c, err := sumOf(f.path(name))
		if err != nil {
			return false, err
		}
		f.manifest.files[name] = []content{c}
	}
	return false, nil
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

// Close gives the folder to others and removes it again if Open made it and
// nothing was written.
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

// leave gives the lock back and removes empty folders that Open made.
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
	for _, dir := range slices.Backward(f.made) {
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

// check returns what current does, and a *ForeignError if the file is there and is
// not as partwise wrote it.
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

// stat returns what is at a name, itself and not what a link leads to, and nil
// where there is nothing. A link or a file on the way to it is foreign.
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

// current returns what a file holds, or nil where there is none. What is no
// file is foreign. Files that are appended to have no content here, but count as
// known.
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

// Write writes a file of the folder in one step, in place of what partwise wrote
// there before. It returns a *ForeignError where anything else stands there.
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

// Remove removes a file that partwise wrote, if it is there. It returns a
// *ForeignError where anything else stands there.
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

// Append takes a file that the caller writes and appends to itself into the
// manifest. It returns a *ForeignError if the file is there and is not
// partwise's.
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

// mayWrite returns an error if a name is not among those that the folder was
// opened for, or if the folder is no longer this process's.
func (f *Folder) mayWrite(name string) error {
	if err := f.Held(); err != nil {
		return err
	}
	if !isName(name) || !under(name, f.spec.Names) {
		return fmt.Errorf("%s: partwise %s does not write a file of this name", f.path(name), f.spec.Command)
	}
	return nil
}

// announce adds to the manifest what a file will hold.
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

// saveManifest writes the whole manifest, if it is not there as it is.
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

// removeEmpty removes a folder and those that it lies in, as far as they are
// empty.
func (f *Folder) removeEmpty(name string) {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if step(func() error { return os.Remove(f.path(name)) }) != nil {
			return
		}
	}
}

// removeLeftovers removes what killed processes left: staging folders and
// temporary files. A temporary file that a process is writing stays: it may be that of
// a single file, which needs no folder of its own.
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

// sorted returns the keys of a map in their order, in which errors are found and
// steps are done.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
