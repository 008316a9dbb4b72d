// Package output manages the folders that results are written to. It never removes or overwrites a file that partwise did
// not write.
//
// A manifest in the folder lists the files that partwise wrote with their SHA-256 sums. A file may be replaced or
// removed only if its content has a sum of the manifest. Any other file under a name that a command writes is
// foreign, and so are symbolic links, which are never followed. A folder with a foreign file is refused with an error
// that names the file, both before any work is done and before anything is replaced.
//
// The files of a Stage replace everything that partwise wrote under its names. Publish first records the replacement
// in the manifest, then removes and renames files, and finally writes the new manifest. If the process is killed
// before the first step, nothing has changed; if it is killed later, the next Open completes the remaining steps.
// Open also removes staging folders of killed processes.
package output

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// ErrInUse is wrapped by the error of Open if another process has the folder open.
var ErrInUse = errors.New("another partwise process is using this folder")

// ErrLost is wrapped by errors after the folder or its lock was moved, removed or replaced while it was open.
var ErrLost = errors.New("the folder or its " + lockFile + " was moved, removed or replaced while partwise was using it; writing stopped")

// Spec describes the files that a command writes to its folder.
type Spec struct {
	// Command is the command that writes the folder. A folder with results of another command is refused.
	Command string
	// Data is the path or name of the data, or "". With SameData a folder with results of other data is refused.
	Data     string
	SameData bool
	// Names are the files and, with a trailing slash, the folders that the command may write.
	Names []string
}

// ForeignError reports a file that partwise did not write, or that was changed since, and that it would have to replace.
type ForeignError struct {
	Dir, Name string // the output folder, and the file in it, with forward slashes
	Changed   bool   // partwise wrote the file, and it was changed since
}

func (e *ForeignError) Error() string {
	why := "already exists and was not written by partwise"
	if e.Changed {
		why = "was changed since partwise wrote it"
	}
	return fmt.Sprintf("%s %s: move it away, or choose another results folder", filepath.Join(e.Dir, filepath.FromSlash(e.Name)), why)
}

// Folder is an output folder that is open for writing. It is not safe for concurrent use.
type Folder struct {
	dir      string
	spec     Spec
	lock     *filelock.Lock
	made     []string // folders that Open created, innermost first
	manifest *manifest
	written  bool // the manifest exists on disk
}

// Open creates the folder dir if necessary and locks it until Close. If another process has it open, the error wraps
// ErrInUse. Open completes the publication of a killed process and removes its temporary files. It refuses, and leaves
// unchanged, a folder that cannot be written, that holds results of another command, or that has a foreign file under one
// of the names (a *ForeignError).
func Open(dir string, s Spec) (*Folder, error) {
	f := &Folder{dir: filepath.Clean(dir), spec: s}
	check := func() error {
		_, err := f.states(s.Names)
		return err
	}
	for _, do := range []func() error{f.acquire, f.load, f.finish, f.removeLeftovers, check} {
		if err := do(); err != nil {
			f.release()
			return nil, err
		}
	}
	return f, nil
}

func (f *Folder) acquire() error {
	for attempt := 0; ; attempt++ {
		var missing []string
		for at := f.dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
			if _, err := os.Lstat(at); err == nil {
				break
			}
			missing = append(missing, at)
		}
		err := os.MkdirAll(f.dir, 0o777)
		if err == nil {
			f.made = missing
			// A lock file is empty. A foreign file of this name would be removed by Release.
			if info, err := os.Lstat(f.path(lockFile)); err == nil && info.Size() > 0 {
				return &ForeignError{Dir: f.dir, Name: lockFile}
			}
			f.lock, err = filelock.Acquire(f.path(lockFile))
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, filelock.ErrLocked):
			return fmt.Errorf("%s: %w", f.dir, ErrInUse)
		case errors.Is(err, fs.ErrNotExist) && attempt < 10:
			continue // another process removed the empty folder that it had created
		}
		return fmt.Errorf("%s cannot be written: %w", f.dir, atomicfile.Cause(err))
	}
}

func (f *Folder) load() (err error) {
	f.manifest, err = readManifest(f.dir)
	switch m := f.manifest; {
	case err != nil:
		return err
	case m == nil:
		f.manifest = newManifest(f.spec.Command)
		return nil
	case m.command != f.spec.Command:
		return fmt.Errorf("%s has results of partwise %s: choose another folder", f.dir, m.command)
	case f.spec.SameData && m.data != "" && !samePlace(m.data, f.spec.Data, f.dir):
		return fmt.Errorf("%s has results of %s, not of %s: choose another folder", f.dir, m.data, f.spec.Data)
	}
	f.written = true
	return nil
}

// Dir returns the folder as it was given to Open.
func (f *Folder) Dir() string { return f.dir }

// Held returns an error that wraps ErrLost if this process no longer holds the lock.
func (f *Folder) Held() error {
	if !f.lock.InPlace() {
		return fmt.Errorf("%s: %w", f.dir, ErrLost)
	}
	return nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// Close unlocks the folder, and removes it if Open created it and nothing was written.
func (f *Folder) Close() (err error) {
	if f.lock == nil {
		return nil
	}
	if f.written && f.manifest.publishing == nil && f.Held() == nil {
		err = f.saveManifest()
	}
	f.release()
	return err
}

// release releases the lock and removes empty folders that Open created.
func (f *Folder) release() {
	if interrupt() != nil {
		return // a test simulates the end of the process here
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

type state struct {
	info    fs.FileInfo
	content content
}

// states returns the files under the names, which partwise wrote, or a *ForeignError for the first foreign one.
func (f *Folder) states(names []string) (map[string]state, error) {
	err := f.Held()
	found := map[string]state{}
	for _, name := range names {
		if err == nil {
			bare, isFolder := strings.CutSuffix(name, "/")
			err = f.lookAt(bare, isFolder, found)
		}
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// lookAt adds a file, or all files of a folder, to found, except appended files. Foreign files are an error.
func (f *Folder) lookAt(name string, isFolder bool, found map[string]state) error {
	info, err := f.stat(name)
	if err != nil || info == nil {
		return err
	}
	known := f.manifest.contents(name)
	switch isSize := func(c content) bool { return c.Size == info.Size() }; {
	case info.IsDir() && isFolder:
	case info.Mode().IsRegular() && f.manifest.appended[name]:
		return nil
	case !info.Mode().IsRegular() || !slices.ContainsFunc(known, isSize):
		return f.foreignError(name)
	default:
		c, err := sumOf(f.path(name))
		if err == nil && !slices.Contains(known, c) {
			err = f.foreignError(name)
		}
		found[name] = state{info, c}
		return err
	}
	entries, err := os.ReadDir(f.path(name))
	if err != nil {
		return err
	}
	ours := false
	for _, e := range entries {
		if atomicfile.IsTemporary(e.Name()) || isIncidental(e.Name()) {
			continue
		}
		inside := name + "/" + e.Name()
		if err := f.lookAt(inside, len(f.manifest.contents(inside)) == 0, found); err != nil {
			return err
		}
		ours = ours || !e.IsDir()
	}
	if ours {
		return atomicfile.CheckWritable(f.path(name), f.path(name))
	}
	return nil
}

func (f *Folder) foreignError(name string) error {
	return &ForeignError{Dir: f.dir, Name: name, Changed: f.written && len(f.manifest.contents(name)) > 0}
}

// stat is os.Lstat of a name, or nil if it does not exist. A parent that is a link or a file is foreign.
func (f *Folder) stat(name string) (fs.FileInfo, error) {
	if parent := path.Dir(name); parent != "." {
		info, err := f.stat(parent)
		if err != nil || info == nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, f.foreignError(parent)
		}
	}
	info, err := os.Lstat(f.path(name))
	if isMissing(err) {
		return nil, nil
	}
	return info, err
}

func sumOf(path string) (content, error) {
	sum, size, err := atomicfile.Sum(context.Background(), path)
	return content{hex.EncodeToString(sum[:]), size}, err
}

// Write writes a file of the folder atomically. It replaces only a file that partwise wrote; otherwise it returns a
// *ForeignError.
func (f *Folder) Write(name string, text []byte) error {
	if err := f.checkOwned(name); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	c := content{hex.EncodeToString(sum[:]), int64(len(text))}
	if list := f.manifest.files[name]; !f.written || !slices.Contains(list, c) {
		f.manifest.files[name] = append(list, c)
		if err := f.saveManifest(); err != nil {
			return err
		}
	}
	if err := f.makeParents(name); err != nil {
		return err
	}
	if err := interruptible(func() error { return atomicfile.Write(f.path(name), text) }); err != nil {
		return err
	}
	f.manifest.files[name] = []content{c}
	return nil
}

// Append records in the manifest a file that the caller appends to, whose content is then not verified. A foreign
// file is a *ForeignError.
func (f *Folder) Append(name string) error {
	if err := f.checkOwned(name); err != nil || f.manifest.appended[name] && f.written {
		return err
	}
	delete(f.manifest.files, name)
	f.manifest.appended[name] = true
	return f.saveManifest()
}

// checkOwned returns an error for a foreign file, and for one that the command may not write.
func (f *Folder) checkOwned(name string) error {
	if err := cmp.Or(f.Held(), f.mayWrite(name)); err != nil {
		return err
	}
	return f.lookAt(name, false, map[string]state{})
}

// mayWrite returns an error if a name is not among the names of the Spec.
func (f *Folder) mayWrite(name string) error {
	if !isName(name) || !inNames(name, f.spec.Names) {
		return fmt.Errorf("%s: partwise %s does not write a file of this name", f.path(name), f.spec.Command)
	}
	return nil
}

// saveManifest writes the manifest if it differs from the one on disk.
func (f *Folder) saveManifest() error {
	at, text := f.path(ManifestFile), f.manifest.encode()
	old, err := ReadFile(at)
	if err != nil || string(old) != string(text) {
		if err := interruptible(func() error { return atomicfile.Write(at, text) }); err != nil {
			return err
		}
	}
	f.written = true
	return nil
}

func (f *Folder) makeParents(name string) error {
	if info, err := f.stat(path.Dir(name)); err != nil || info != nil {
		return err
	}
	return interruptible(func() error { return os.MkdirAll(f.path(path.Dir(name)), 0o777) })
}

// removeEmpty removes a folder and its parents while they are empty.
func (f *Folder) removeEmpty(name string) {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if interruptible(func() error { return os.Remove(f.path(name)) }) != nil {
			return
		}
	}
}

// removeLeftovers removes the staging folders and temporary files of killed processes.
func (f *Folder) removeLeftovers() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isStaging(e.Name()) && e.IsDir() {
			if err := interruptible(func() error { return os.RemoveAll(f.path(e.Name())) }); err != nil {
				return err
			}
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
	for _, folder := range sortedKeys(folders) {
		// A name that is not a folder is reported by states.
		if info, err := f.stat(folder); err == nil && info != nil && info.IsDir() {
			if err := interruptible(func() error { return atomicfile.RemoveStale(f.path(folder)) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortedKeys returns the keys of a map in order, so that errors and steps have a fixed order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// interrupt is called before and after each change of files. Tests set it to return an error, which stops the work there.
var interrupt = func() error { return nil }

func interruptible(change func() error) error {
	if err := interrupt(); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return interrupt()
}
