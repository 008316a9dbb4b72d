package filing

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// disks are two file systems in image files, mounted on the folders a and b of a folder.
type disks struct{ dir string }

func newDisks(t *testing.T) disks {
	d := disks{t.TempDir()}
	for _, name := range []string{"a", "b"} {
		image := filepath.Join(d.dir, name+".img")
		if err := errors.Join(os.Mkdir(filepath.Join(d.dir, name), 0o777), os.WriteFile(image, nil, 0o666), os.Truncate(image, 8<<20)); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mkfs.ext4", "-qF", image).CombinedOutput(); err != nil {
			t.Skipf("no disk of its own: mkfs.ext4: %v %s", err, out)
		}
	}
	t.Cleanup(d.unmount)
	d.mount(t)
	return d
}

func (d disks) mount(t *testing.T) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		at := filepath.Join(d.dir, name)
		if out, err := exec.Command("mount", "-o", "loop", at+".img", at).CombinedOutput(); err != nil {
			t.Skipf("no disk of its own: this process may not mount: %s", out)
		}
	}
}

func (d disks) unmount() {
	for _, name := range []string{"a", "b"} {
		_ = unix.Unmount(filepath.Join(d.dir, name), 0)
	}
}

// save saves the contents of the disks.
func (d disks) save(t *testing.T, as string) {
	for _, name := range []string{"a", "b"} {
		if out, err := exec.Command("cp", "--sparse=always", filepath.Join(d.dir, name+".img"), filepath.Join(d.dir, name+as)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// fail simulates a power failure: it keeps all changes of the disk from which files are moved, and only synced
// changes of the other.
func (d disks) fail(t *testing.T, from string) {
	f, err := os.Open(filepath.Join(d.dir, from))
	if err == nil {
		err = errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	d.save(t, ".off")
}

// load restores the saved contents of the disks.
func (d disks) load(t *testing.T, as string) {
	t.Helper()
	d.unmount()
	for _, name := range []string{"a", "b"} {
		at := filepath.Join(d.dir, name)
		if out, err := exec.Command("cp", "--sparse=always", at+as, at+".img").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	d.mount(t)
}

// TestPowerFailure simulates power failures before each file of a move and of its undo is written to the other disk or
// removed, and at the end of both. Undo then finds and restores all files.
func TestPowerFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("it mounts disks")
	}
	d := newDisks(t)
	photos, to := filepath.Join(d.dir, "a", "photos"), filepath.Join(d.dir, "b", "sorted")
	items := pictures(t, filepath.Join(d.dir, "a"))
	before := tree(t, photos)
	d.unmount()
	d.save(t, ".begin")
	d.mount(t)
	for last := 0; ; last++ {
		n, from, off := 0, "a", false
		stepping(t, func(what, _ string) error {
			if what != "flush" {
				n++
			}
			if n == last+1 && !off {
				d.fail(t, from)
				off = true
			}
			if off {
				return fs.ErrClosed
			}
			return nil
		})
		_, err := File(t.Context(), to, Move, items, in(photos), nil)
		err = errors.Join(err, step("end", ""))
		if from = "b"; err == nil {
			_, err = Undo(t.Context(), to, in(photos), nil)
			err = errors.Join(err, step("end", ""))
		}
		if !off {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		d.load(t, ".off")
		stepping(t, func(string, string) error { return nil })
		if exists(filepath.Join(to, JournalFile)) {
			if r, err := Undo(t.Context(), to, in(photos), nil); err != nil || r.Left != nil {
				t.Errorf("power failure after %d steps: %q, %v", last, r.Left, err)
			}
		}
		if after := tree(t, photos); after != before {
			t.Errorf("power failure after %d steps: there is\n%s\nwant\n%s", last, after, before)
		}
		d.load(t, ".begin")
	}
}
