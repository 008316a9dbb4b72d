// Package filelock keeps other processes out by a lock on a file. The operating system releases the
// lock when the process ends, so a killed process leaves no lock behind. The holder can write to the
// file, which a lock of gofrs/flock does not allow on Windows.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrLocked says that another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// errNoLocks says that the file system or the operating system has no locks.
var errNoLocks = errors.New("file locks are not supported")

// attempts bounds how often Acquire opens a lock file that another process removes at the same time.
const attempts = 1000

// Lock is a held lock.
type Lock struct {
	file *os.File
	held bool
}

// Acquire locks the file path, which it creates if need be, without waiting. It returns ErrLocked where
// another process holds the lock, and succeeds on a file system without locks.
func Acquire(path string) (*Lock, error) {
	for range attempts {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "lock", Path: path, Err: errors.New("not a regular file")}
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if errors.Is(err, fs.ErrPermission) { // a file that may be read alone
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
		// The previous holder may have removed the file before it was locked: then this lock keeps nobody out.
		if l := (&Lock{f, held}); l.InPlace() {
			return l, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s: the lock file is removed repeatedly", path)
}

// File returns the open file, which belongs to the lock.
func (l *Lock) File() *os.File { return l.file }

// Held tells whether the lock keeps others out. It does not where the system has no locks.
func (l *Lock) Held() bool { return l.held }

// InPlace tells whether the file is still the one at its path, else the lock keeps nobody out.
func (l *Lock) InPlace() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	current, err := os.Lstat(l.file.Name())
	return err == nil && os.SameFile(mine, current)
}

// Release unlocks and removes the file, if it is still in place.
func (l *Lock) Release() {
	if !l.InPlace() {
		l.file.Close()
		return
	}
	// Windows does not remove a file that is open, nor one that another process has opened since.
	// Everywhere else the file is removed while the lock is held, so that it is never another process's.
	err := os.Remove(l.file.Name())
	l.file.Close()
	if err != nil && removeWhenClosed {
		os.Remove(l.file.Name())
	}
}
