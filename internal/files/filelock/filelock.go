// Package filelock implements exclusive file locks between processes. The operating system releases a lock when its
// process ends, so a killed process leaves no lock. The holder can write to the file, which gofrs/flock does not
// allow on Windows.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrLocked is returned if another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// errNoLocks means that the file system or operating system does not support locks.
var errNoLocks = errors.New("file locks are not supported")

// attempts bounds the retries of Acquire when other processes remove the lock file concurrently.
const attempts = 1000

// Lock is a held lock.
type Lock struct {
	file *os.File
	held bool
}

// Acquire locks the file at path without waiting and creates it if necessary. It returns ErrLocked if another process
// holds the lock. On a file system without locks it succeeds; see Held.
func Acquire(path string) (*Lock, error) {
	for range attempts {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "lock", Path: path, Err: errors.New("not a regular file")}
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if errors.Is(err, fs.ErrPermission) { // the file may be read-only
			if readable, readErr := os.Open(path); readErr == nil {
				f, err = readable, nil
			}
		}
		if err != nil {
			return nil, err
		}
		err = tryLock(f)
		held := err == nil
		if err != nil && err != errNoLocks {
			f.Close()
			return nil, err
		}
		// The previous holder may have removed the file in the meantime; the lock would then have no effect.
		if l := (&Lock{f, held}); l.InPlace() {
			return l, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s: other processes keep removing the lock file", path)
}

// File returns the open file, which Release closes.
func (l *Lock) File() *os.File { return l.file }

// Held reports whether the lock is effective. It is false if the system does not support locks.
func (l *Lock) Held() bool { return l.held }

// InPlace reports whether the file is still the one at its path. Otherwise the lock has no effect.
func (l *Lock) InPlace() bool { return InPlace(l.file) }

// InPlace reports whether an open file is still the one at its path.
func InPlace(file *os.File) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	current, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(mine, current)
}

// Release unlocks and removes the file, if it is still in place.
func (l *Lock) Release() {
	if !l.InPlace() {
		l.file.Close()
		return
	}
	// Windows cannot remove an open file, even if only another process has it open. On other systems the file is
	// removed while the lock is held, so that it cannot be another process's lock.
	err := os.Remove(l.file.Name())
	l.file.Close()
	if err != nil && removeWhenClosed {
		os.Remove(l.file.Name())
	}
}
