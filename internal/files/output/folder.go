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
	"github.com/seed4492f2cd/partwise/internal/guard"
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
	err := guard.Try(func() {
		f.acquire()
		f.load()
		f.finish()
		f.removeLeftovers()
		f.states(s.Names)
	})
	if err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// acquire and most other methods below call guard.Fail.
func (f *Folder) acquire() {
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
				f.refuse(lockFile)
			}
			f.lock, err = filelock.Acquire(f.path(lockFile))
		}
		switch {
		case err == nil:
			return
		case errors.Is(err, filelock.ErrLocked):
			guard.Fail("%s: %w", f.dir, ErrInUse)
		case errors.Is(err, fs.ErrNotExist) && attempt < 10:
			continue // another process removed the empty folder that it had created
		}
		guard.Fail("%s cannot be written: %w", f.dir, atomicfile.Cause(err))
	}
}

func (f *Folder) load() {
	f.manifest = guard.Must(readManifest(f.dir))
	switch m := f.manifest; {
	case m == nil:
		f.manifest = newManifest(f.spec.Command)
		return
	case m.command != f.spec.Command:
		guard.Fail("%s has results of partwise %s: choose another folder", f.dir, m.command)
	case f.spec.SameData && m.data != "" && !samePlace(m.data, f.spec.Data, f.dir):
		guard.Fail("%s has results of %s, not of %s: choose another folder", f.dir, m.data, f.spec.Data)
	}
	f.written = true
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

// states returns the files under the names, which partwise wrote. The first foreign one is a *ForeignError.
func (f *Folder) states(names []string) map[string]state {
	guard.Check(f.Held())
	found := map[string]state{}
	for _, name := range names {
		bare, isFolder := strings.CutSuffix(name, "/")
		f.lookAt(bare, isFolder, found)
	}
	return found
}

// lookAt adds a file, or all files of a folder, to found, except appended files. Foreign files are an error.
func (f *Folder) lookAt(name string, isFolder bool, found map[string]state) {
	info, known := f.stat(name), f.manifest.contents(name)
	isSize := func(c content) bool { return c.Size == info.Size() }
	switch {
	case info == nil || info.Mode().IsRegular() && f.manifest.appended[name]:
		return
	case info.IsDir() && isFolder:
	case !info.Mode().IsRegular() || !slices.ContainsFunc(known, isSize):
		f.refuse(name)
	default:
		c := guard.Must(sumOf(f.path(name)))
		if !slices.Contains(known, c) {
			f.refuse(name)
		}
		found[name] = state{info, c}
		return
	}
	ours := false
	for _, e := range guard.Must(os.ReadDir(f.path(name))) {
		if atomicfile.IsTemporary(e.Name()) || isIncidental(e.Name()) {
			continue
		}
		inside := name + "/" + e.Name()
		f.lookAt(inside, len(f.manifest.contents(inside)) == 0, found)
		ours = ours || !e.IsDir()
	}
	if ours {
		guard.Check(atomicfile.CheckWritable(f.path(name), f.path(name)))
	}
}

// refuse ends with a *ForeignError.
func (f *Folder) refuse(name string) {
	guard.Check(&ForeignError{Dir: f.dir, Name: name, Changed: f.written && len(f.manifest.contents(name)) > 0})
}

// stat is os.Lstat of a name, or nil if it does not exist. A parent that is a link or a file is foreign.
func (f *Folder) stat(name string) fs.FileInfo {
	if parent := path.Dir(name); parent != "." {
		info := f.stat(parent)
		if info == nil {
			return nil
		}
		if !info.IsDir() {
			f.refuse(parent)
		}
	}
	info, err := os.Lstat(f.path(name))
	if isMissing(err) {
		return nil
	}
	return guard.Must(info, err)
}

func sumOf(path string) (content, error) {
	sum, size, err := atomicfile.Sum(context.Background(), path)
	return content{hex.EncodeToString(sum[:]), size}, err
}

// Write writes a file of the folder atomically. It replaces only a file that partwise wrote; otherwise it returns a
// *ForeignError.
func (f *Folder) Write(name string, text []byte) (err error) {
	defer guard.Catch(&err)
	f.checkOwned(name)
	sum := sha256.Sum256(text)
	c := content{hex.EncodeToString(sum[:]), int64(len(text))}
	if list := f.manifest.files[name]; !f.written || !slices.Contains(list, c) {
		f.manifest.files[name] = append(list, c)
		guard.Check(f.saveManifest())
	}
	f.makeParents(name)
	change(func() error { return atomicfile.Write(f.path(name), text) })
	f.manifest.files[name] = []content{c}
	return nil
}

// Append records in the manifest a file that the caller appends to, whose content is then not verified. A foreign
// file is a *ForeignError.
func (f *Folder) Append(name string) (err error) {
	defer guard.Catch(&err)
	f.checkOwned(name)
	if f.manifest.appended[name] && f.written {
		return nil
	}
	delete(f.manifest.files, name)
	f.manifest.appended[name] = true
	return f.saveManifest()
}

// checkOwned refuses a foreign file, and one that the command may not write.
func (f *Folder) checkOwned(name string) {
	guard.Check(f.Held())
	f.checkName(name)
	f.lookAt(name, false, map[string]state{})
}

// checkName refuses a name that is not among the names of the Spec.
func (f *Folder) checkName(name string) {
	if !isName(name) || !inNames(name, f.spec.Names) {
		guard.Fail("%s: partwise %s does not write a file of this name", f.path(name), f.spec.Command)
	}
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

func (f *Folder) makeParents(name string) {
	if f.stat(path.Dir(name)) == nil {
		change(func() error { return os.MkdirAll(f.path(path.Dir(name)), 0o777) })
	}
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
func (f *Folder) removeLeftovers() {
	for _, e := range guard.Must(os.ReadDir(f.dir)) {
		if isStaging(e.Name()) && e.IsDir() {
			change(func() error { return os.RemoveAll(f.path(e.Name())) })
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
		var info fs.FileInfo
		_ = guard.Try(func() { info = f.stat(folder) }) // states reports a name that is not a folder
		if info != nil && info.IsDir() {
			change(func() error { return atomicfile.RemoveStale(f.path(folder)) })
		}
	}
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

func change(do func() error) { guard.Check(interruptible(do)) }
