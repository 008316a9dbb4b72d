//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// copyOwner gives f the group and the owner of like, if the process is allowed to.
func copyOwner(f *os.File, like fs.FileInfo) {
	if of, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(-1, int(of.Gid))
		_ = f.Chown(int(of.Uid), -1)
	}
}
