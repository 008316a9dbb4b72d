//go:build unix

package pipeline

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock file at path, which ends with the process at the latest,
// or returns errLocked.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return func() {}, nil // a file system without locks
}
