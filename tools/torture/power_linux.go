package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// onDisks are the folders of a job that are disks of their own, each an image in a file beside the
// job's folder.
var onDisks = []string{"photos", "out"}

// mountDisks makes the disks.
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

// unmountDisks ends the disks.
func unmountDisks(dir string) {
	for _, name := range onDisks {
		_ = unmount(filepath.Join(dir, name))
		_ = os.Remove(dir + "." + name)
	}
}

// syncDisk brings to a disk all that was done to it.
func syncDisk(at string) error {
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// failPower starts the disks again with what is on them, and all that was done to the one called
// whole: the other has what was brought to it.
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
