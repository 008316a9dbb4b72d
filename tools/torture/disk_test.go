//go:build linux

package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// shortage is a way in which a disk stores no more. The job's folder is on it, or the cache alone.
type shortage struct {
	name  string
	cache bool
	most  int // the most sizes to try, until one is enough
	// short returns options of tmpfs that leave size beyond the used space, and mended those that leave enough.
	short  func(st syscall.Statfs_t, size int) string
	mended string
}

func fullDisk(st syscall.Statfs_t, size int) string {
	return fmt.Sprintf("size=%d", max(1, int64(st.Blocks-st.Bfree)+int64(size))*st.Bsize)
}

func fullOfFiles(st syscall.Statfs_t, size int) string {
	return fmt.Sprintf("nr_inodes=%d", int64(st.Files-st.Ffree)+int64(size))
}

func readOnly(syscall.Statfs_t, int) string { return "ro" }

// limitedFiles and readOnlyFolders need no separate disk.
const limitedFiles, readOnlyFolders = "files limited in size", "read-only folders"

var shortages = []shortage{
	{name: "disk full", most: 4000, short: fullDisk, mended: "size=1g"},
	{name: "no more files", most: 4000, short: fullOfFiles, mended: "nr_inodes=100000"},
	{name: "read-only", most: 1, short: readOnly, mended: "rw"},
	{name: "disk of the cache full", cache: true, most: 40, short: fullDisk, mended: "size=1g"},
	{name: "cache read-only", cache: true, most: 1, short: readOnly, mended: "rw"},
	{name: limitedFiles, most: 4000},
	{name: readOnlyFolders, most: 1},
}

// TestDisks runs the jobs on disks that are full at every possible size, that accept no more files, and that are
// read-only. The command must succeed, or end with one error that names a path and then succeed on the mended disk.
func TestDisks(t *testing.T) {
	for number, j := range jobs {
		for _, kind := range shortages {
			if j.disks || kind.cache && !j.caches {
				continue
			}
			t.Run(j.name+"/"+kind.name, func(t *testing.T) {
				t.Parallel()
				switch {
				case kind.short != nil && !mayMount():
					t.Skip("this process may not mount")
				case kind.name == readOnlyFolders && os.Geteuid() == 0:
					return // root writes into them
				}
				j.prepare(t)
				dir := j.state + "-" + strings.ReplaceAll(kind.name, " ", "-")
				tries, refused := 0, 0
				first := 0
				if *step == 0 && kind.most > 1 {
					first = 5 * (number % 2)
				}
				for size := first; size < kind.most && (tries == 0 || *step > 0); size += *step {
					tries++
					if kind.try(t, j, dir, size) {
						refused++
					} else if !kind.cache {
						break
					}
				}
				t.Logf("%d tries, %d refused", tries, refused)
			})
		}
	}
}

// try runs a job on a short disk and, if it fails there, again on the mended disk. It reports whether the job was
// refused.
func (kind shortage) try(t *testing.T, j *job, dir string, size int) (refused bool) {
	disk, work := dir, dir
	if kind.cache {
		disk = dir + "-cache"
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("size %d: %v", size, err)
		}
	}
	must(os.MkdirAll(disk, 0o777))
	defer os.RemoveAll(disk)
	if kind.short != nil {
		must(syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1g,nr_inodes=100000"))
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
	}
	x := j.start(t, work)
	defer os.RemoveAll(work)
	x.ignoresCache = true
	if kind.cache {
		x.cache = disk
	}
	before := readTree(t, work)
	switch kind.name {
	case limitedFiles:
		x.limit = strconv.Itoa(2 * size)
	case readOnlyFolders:
		must(chmodFolders(work, 0o555))
		defer chmodFolders(work, 0o755)
	default:
		var st syscall.Statfs_t
		must(syscall.Statfs(disk, &st))
		must(remount(disk, kind.short(st, size)))
	}
	o := x.run(j.args, patience)
	x.limit = ""
	if fault := kind.fault(o); fault != "" {
		t.Fatalf("size %d: %s: %s", size, fault, o.lastLines())
	}
	x.checkKept(before)
	switch {
	case kind.short != nil:
		must(remount(disk, kind.mended))
	case kind.name == readOnlyFolders:
		must(chmodFolders(work, 0o755))
	}
	if o.code == 0 {
		x.compare(j.want)
	} else {
		x.finish()
	}
	return o.code != 0
}

// fault describes a wrong end of a command on such a disk, or returns "".
func (kind shortage) fault(o outcome) string {
	last := o.printed[max(0, strings.LastIndex("\n"+o.printed, "\npartwise: ")):]
	switch {
	case strings.Contains(o.printed, "panic:") || strings.Contains(o.printed, "goroutine ") || strings.Contains(o.printed, "runtime error"):
		return "a trace"
	case o.code == 0:
		return ""
	case kind.cache:
		return "refused for the cache's sake"
	case o.code != 1 && o.code != 2:
		return "another exit code"
	case !strings.HasPrefix(last, "partwise: ") || !strings.Contains(last, "out"):
		return "the error names no path"
	}
	return ""
}

// checkKept reports an earlier file that is neither unchanged nor as an unbroken run leaves it. An appended file must
// begin as before.
func (x *trial) checkKept(before tree) {
	x.Helper()
	now := readTree(x.T, x.dir)
	for name, old := range before {
		switch {
		case now[name] == old || now[name] == x.want[name] || inCache(name) || filepath.Base(name) == output.ManifestFile:
		case x.keeps != "" && name != x.keeps && name != noteFile:
		case x.takeBack != nil && strings.HasPrefix(name, "photos"): // finish checks whether they come back
		case !strings.HasPrefix(now[name], old):
			x.Fatalf("lost: %s has neither its old nor its new content", name)
		}
	}
}

// chmodFolders changes the permissions of a folder and of all folders below it.
func chmodFolders(dir string, mode os.FileMode) error {
	err := os.Chmod(dir, mode|0o200)
	return errors.Join(err, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	}))
}

// remount changes the options of a disk in memory. A program that a parallel test starts holds that test's open files
// for a moment, until it runs; such a disk is busy, and is tried again.
func remount(dir, options string) error {
	flags := uintptr(syscall.MS_REMOUNT)
	switch options {
	case "ro":
		flags, options = flags|syscall.MS_RDONLY, ""
	case "rw":
		options = ""
	}
	for tries := 0; ; tries++ {
		err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options)
		if err != syscall.EBUSY || tries == 100 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// mayMount reports whether this process may mount disks in memory, and mayLoop whether in files.
var (
	mayMount = sync.OnceValue(func() bool {
		probe := filepath.Join(scene.dir, "probe")
		err := os.MkdirAll(probe, 0o777)
		defer syscall.Unmount(probe, syscall.MNT_DETACH)
		return err == nil && syscall.Mount("tmpfs", probe, "tmpfs", 0, "") == nil
	})
	mayLoop = sync.OnceValue(func() bool {
		probe := filepath.Join(scene.dir, "loops")
		defer unmountDisks(probe)
		return mountDisks(probe) == nil
	})
)

// onDisks are the folders of a job that are disks, each an image file beside the job's folder.
var onDisks = []string{"photos", "out"}

func mountDisks(dir string) error {
	for _, name := range onDisks {
		at, image := filepath.Join(dir, name), dir+"."+name
		if err := errors.Join(os.MkdirAll(at, 0o777), os.WriteFile(image, nil, 0o666), os.Truncate(image, 16<<20)); err != nil {
			return err
		}
		if err := exec.Command("mkfs.ext4", "-qF", image).Run(); err != nil {
			return err
		}
		if err := mountImage(image, at); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(at, "lost+found")); err != nil {
			return err
		}
	}
	return nil
}

func mountImage(image, at string) error { return exec.Command("mount", "-o", "loop", image, at).Run() }

func unmountDisks(dir string) {
	for _, name := range onDisks {
		_ = syscall.Unmount(filepath.Join(dir, name), syscall.MNT_DETACH)
		_ = os.Remove(dir + "." + name)
	}
}

// syncDisk syncs all changes to a disk.
func syncDisk(at string) error {
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// failPower restarts the disks with their content. The disk called whole has all changes, which is the worst case, the
// other only synced ones.
func failPower(dir, whole string) error {
	if err := syncDisk(filepath.Join(dir, whole)); err != nil {
		return err
	}
	for _, name := range onDisks {
		image := dir + "." + name
		if err := exec.Command("cp", "--sparse=always", image, image+".off").Run(); err != nil {
			return err
		}
	}
	for _, name := range onDisks {
		at, image := filepath.Join(dir, name), dir+"."+name
		if err := errors.Join(syscall.Unmount(at, 0), os.Rename(image+".off", image), mountImage(image, at)); err != nil {
			return err
		}
	}
	return nil
}
