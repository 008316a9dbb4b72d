package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// shortages returns the ways in which a disk can be short here. Where this process may
// not mount, files are limited in size in place of a disk that is full.
func shortages(scratch string) ([]shortage, []string) {
	nothing := func(string) error { return nil }
	limit := shortage{
		name: "files limited in size", most: 4000, fileLimit: 2,
		disk: nothing, short: func(string, int) error { return nil }, mend: nothing, remove: nothing,
	}
	probe := filepath.Join(scratch, "probe")
	if err := os.MkdirAll(probe, 0o777); err != nil || mount(probe) != nil {
		// Whose permissions count is not root, who may mount.
		closed := shortage{
			name: "read-only folders", most: 1, disk: nothing,
			short:  func(dir string, _ int) error { return chmodFolders(dir, 0o555) },
			mend:   func(dir string) error { return chmodFolders(dir, 0o755) },
			remove: func(dir string) error { return chmodFolders(dir, 0o755) },
		}
		return []shortage{limit, closed}, []string{"This process may not mount, so files were limited in size where disks should have been full."}
	}
	unmount(probe)
	full := shortage{
		name: "disk full", most: 4000, disk: mount, remove: unmount, mend: func(dir string) error { return remount(dir, "size=1g") },
		short: func(dir string, size int) error {
			var st syscall.Statfs_t
			if err := syscall.Statfs(dir, &st); err != nil {
				return err
			}
			return remount(dir, fmt.Sprintf("size=%d", max(1, int64(st.Blocks-st.Bfree)+int64(size))*st.Bsize))
		},
	}
	files := full
	files.name = "no more files"
	files.mend = func(dir string) error { return remount(dir, "nr_inodes=100000") }
	files.short = func(dir string, size int) error {
		var st syscall.Statfs_t
		if err := syscall.Statfs(dir, &st); err != nil {
			return err
		}
		return remount(dir, fmt.Sprintf("nr_inodes=%d", int64(st.Files-st.Ffree)+int64(size)))
	}
	readOnly := full
	readOnly.name, readOnly.most = "read-only", 1
	readOnly.short = func(dir string, _ int) error { return remount(dir, "ro") }
	readOnly.mend = func(dir string) error { return remount(dir, "rw") }
	cacheFull, cacheReadOnly := full, readOnly
	cacheFull.name, cacheFull.cacheOnly, cacheFull.most = "disk of the cache full", true, 40
	cacheReadOnly.name, cacheReadOnly.cacheOnly = "cache read-only", true
	return []shortage{full, files, limit, readOnly, cacheFull, cacheReadOnly}, nil
}

func mount(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1g,nr_inodes=100000")
}

func remount(dir, options string) error {
	flags := uintptr(syscall.MS_REMOUNT)
	switch options {
	case "ro":
		return syscall.Mount("tmpfs", dir, "tmpfs", flags|syscall.MS_RDONLY, "")
	case "rw":
		options = ""
	}
	return syscall.Mount("tmpfs", dir, "tmpfs", flags, options)
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
