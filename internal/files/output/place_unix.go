//go:build unix

package output

import (
	"errors"
	"syscall"
)

func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
