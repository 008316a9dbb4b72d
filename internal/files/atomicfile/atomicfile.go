// Package atomicfile writes files atomically: it writes a temporary file in the same folder, syncs it to disk and
// renames it. After a crash or on a full disk the file has either its old content or the complete new content.
//
// A temporary file is locked while it is written, so that RemoveStale removes only files of killed processes.
// Libraries for atomic writes (renameio, moby/sys/atomicwriter) do not lock and always replace the target.
package atomicfile

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/filelock"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

const (
	namePrefix      = ".partwise-"
	temporarySuffix = ".tmp"
	randomBytes     = 8
)

// NewName returns a random name for a hidden file of partwise that ends in suffix.
func NewName(suffix string) string {
	var random [randomBytes]byte
	rand.Read(random[:]) // never fails
	return namePrefix + hex.EncodeToString(random[:]) + suffix
}

// IsName reports whether name has the form of NewName(suffix).
func IsName(name, suffix string) bool {
	name, ok := strings.CutPrefix(name, namePrefix)
	digits, ok2 := strings.CutSuffix(name, suffix)
	random, err := hex.DecodeString(digits)
	return ok && ok2 && err == nil && len(random) == randomBytes
}

// IsTemporary reports whether name is the name of a temporary file of this package.
func IsTemporary(name string) bool { return IsName(name, temporarySuffix) }

// Write replaces the content of the file at path. Errors name the path.
func Write(path string, content []byte) error {
	return WriteFunc(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// UntilDone returns a writer to w that fails with the error of ctx after ctx ends.
func UntilDone(ctx context.Context, w io.Writer) io.Writer { return contextWriter{ctx, w} }

type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// WriteFunc replaces the content of the file at path with the output of write, unless write fails.
func WriteFunc(path string, write func(io.Writer) error) error { return Writer{}.Write(path, write) }

// CreateFunc is WriteFunc for a new file. It never replaces a file: if path exists, the error is fs.ErrExist.
func CreateFunc(path string, write func(io.Writer) error) error {
	return Writer{New: true}.Write(path, write)
}

// Writer holds how to write a file.
type Writer struct {
	New      bool        // as CreateFunc
	Unsynced bool        // does not sync to disk: after a power failure the file may be damaged
	Like     fs.FileInfo // a file whose permissions and, if the process is allowed to, owner to copy, or nil
	Time     time.Time   // of modification, if not zero
}

// RenameNew renames a file. If to exists, it returns an error that wraps fs.ErrExist.
func RenameNew(from, to string) error {
	err := os.Link(from, to) // unlike os.Rename, it never replaces a file
	switch {
	case err == nil:
		if err = os.Remove(from); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
		return err
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// The file system has no hard links. The check and the rename are not atomic.
	switch _, err := os.Lstat(to); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.Rename(from, to)
}

// Write writes the output of write to the file at path, unless write fails.
func (w Writer) Write(path string, write func(io.Writer) error) error {
	lock, err := createTemporary(filepath.Dir(path))
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: Cause(err)}
	}
	f := lock.File()
	moved := false
	defer func() {
		if !moved {
			lock.Release()
			_ = os.Remove(f.Name()) // if it was closed already, Release does not remove it
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err := write(buffered); err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == f.Name() {
			return &fs.PathError{Op: "write", Path: path, Err: at.Err}
		}
		return err
	}
	err = guard.Try(func() {
		guard.Check(buffered.Flush())
		if w.Like != nil {
			copyOwner(f, w.Like)
			guard.Check(f.Chmod(w.Like.Mode().Perm()))
		}
		if !w.Time.IsZero() {
			guard.Check(os.Chtimes(f.Name(), w.Time, w.Time))
		}
		if !w.Unsynced {
			guard.Check(f.Sync())
		}
		if runtime.GOOS == "windows" { // Windows cannot rename an open file
			guard.Check(f.Close())
		}
		move := os.Rename
		if w.New {
			move = RenameNew
		}
		guard.Check(move(f.Name(), path))
		moved = true
		if runtime.GOOS != "windows" {
			guard.Check(f.Close())
		}
	})
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: Cause(err)}
	}
	if !w.Unsynced {
		_ = Sync(filepath.Dir(path)) // makes the rename survive a power failure
	}
	return nil
}

// Sync flushes a file, or the entries of a folder, to disk if the system supports it. Windows does not sync folders, and
// syncs a file only through the handle that wrote it.
func Sync(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// CheckWritable returns an error that names path if no file can be created in dir. It creates and removes a temporary
// file.
func CheckWritable(dir, path string) error {
	lock, err := createTemporary(dir)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, Cause(err))
	}
	lock.Release()
	return nil
}

// createTemporary creates a locked temporary file in dir with default permissions.
func createTemporary(dir string) (*filelock.Lock, error) {
	for {
		lock, err := filelock.Acquire(filepath.Join(dir, NewName(temporarySuffix)))
		if !errors.Is(err, filelock.ErrLocked) { // RemoveStale of another process may have locked it first
			return lock, err
		}
	}
}

// RemoveStale removes the temporary files of killed processes in dir. It keeps files that are being written.
func RemoveStale(dir string) error { return eachStale(dir, (*filelock.Lock).Release) }

// Stale returns the paths of the temporary files that RemoveStale would remove.
func Stale(dir string) (paths []string, err error) {
	err = eachStale(dir, func(l *filelock.Lock) {
		paths = append(paths, l.File().Name())
		l.File().Close()
	})
	return paths, err
}

// eachStale calls do with each temporary file in dir that no process is writing. do must close the file.
func eachStale(dir string, do func(*filelock.Lock)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !IsTemporary(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		lock, err := filelock.Acquire(filepath.Join(dir, e.Name()))
		if errors.Is(err, filelock.ErrLocked) {
			continue
		}
		if err != nil {
			return err
		}
		if lock.Held() {
			do(lock)
		} else {
			lock.File().Close()
		}
	}
	return nil
}

// Sum returns the SHA-256 sum and the size of a file.
func Sum(ctx context.Context, path string) (sum [sha256.Size]byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(UntilDone(ctx, h), f)
	return [sha256.Size]byte(h.Sum(nil)), size, err
}

// Cause returns the operating system's error without the file name.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
