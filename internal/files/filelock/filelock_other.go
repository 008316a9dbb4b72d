//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import "os"

const removeWhenClosed = false

func tryLock(*os.File) error { return errNoLocks }
