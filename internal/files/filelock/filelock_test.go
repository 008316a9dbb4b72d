package filelock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// held is the environment variable with which a test starts this program again. It holds the lock of a file until it
// is killed.
const held = "FILELOCK_TEST_HELD"

func TestMain(m *testing.M) {
	if path := os.Getenv(held); path != "" {
		if _, err := Acquire(path); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("locked\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second holder: %v", err)
	}
	first.Release()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is left behind: %v", err)
	}
	second, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// TestKilledHolder checks that a lock excludes others until its process is killed.
func TestKilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self)
	other.Env = append(os.Environ(), held+"="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("locked by another process: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	other.Wait()
	l, err := Acquire(path)
	if err != nil {
		t.Fatalf("after the other process was killed: %v", err)
	}
	l.Release()
}

// TestManyHolders checks that no two processes hold the lock at once, while the file is removed and created.
func TestManyHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var taken atomic.Int64
	var guard sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				l, err := Acquire(path)
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if !guard.TryLock() {
					t.Error("two hold the lock")
					l.Release()
					return
				}
				taken.Add(1)
				guard.Unlock()
				l.Release()
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("the lock was never taken")
	}
}

// TestMovedLock checks that a lock whose file was moved away excludes nobody, and does not touch the next holder's
// file.
func TestMovedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if !first.InPlace() {
		t.Error("a lock is not in place")
	}
	if err := os.Rename(path, path+" of before"); err != nil {
		t.Skip(err) // Windows, where an open file keeps its name
	}
	second, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.InPlace() || !second.InPlace() {
		t.Errorf("in place: %v the moved one, %v the other", first.InPlace(), second.InPlace())
	}
	first.Release()
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("after the release of the moved lock: %v", err)
	}
	second.Release()
}

func TestLockErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Acquire(filepath.Join(dir, "none", "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if _, err := Acquire(dir); err == nil {
		t.Error("a folder was locked")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Skip(err)
	}
	if _, err := Acquire(link); err == nil {
		t.Error("a symbolic link was followed")
	}
}
