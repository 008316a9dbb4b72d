package filing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/filelock"
	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// in returns a function that reports whether a path is in dir.
func in(dir string) func(string) (bool, error) {
	return func(name string) (bool, error) { return output.Inside(dir, name) }
}

func anywhere(string) (bool, error) { return true, nil }

// write makes a file with its folders.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree lists the files below dir with their contents, and links with their targets.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			name += " -> " + target
		case d.IsDir():
			name += "/"
		default:
			text, _ := os.ReadFile(path)
			name += "=" + string(text)
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// pictures makes three files to be sorted, and returns their items.
func pictures(t *testing.T, root string) []Item {
	t.Helper()
	var items []Item
	for i, name := range []string{"a/1.jpg", "a/2.jpg", "b/1.jpg"} {
		from := write(t, filepath.Join(root, "photos", name), name)
		items = append(items, Item{From: from, To: fmt.Sprintf("group-%d/%d.jpg", i%2+1, i)})
	}
	return items
}

func TestFileAndUndo(t *testing.T) {
	for _, way := range []Way{Copy, Link, Move} {
		t.Run(string(way), func(t *testing.T) {
			root := t.TempDir()
			items := pictures(t, root)
			before := tree(t, root)
			to := filepath.Join(root, "sorted")
			if _, err := File(t.Context(), to, way, items, anywhere, nil); err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				at := filepath.Join(to, filepath.FromSlash(it.To))
				text, err := os.ReadFile(at)
				if name, _ := filepath.Rel(filepath.Join(root, "photos"), it.From); err != nil || string(text) != filepath.ToSlash(name) {
					t.Errorf("%s holds %q: %v", it.To, text, err)
				}
				if _, err := os.Stat(it.From); (err == nil) != (way != Move) {
					t.Errorf("the original %s: %v", it.From, err)
				}
				if info, _ := os.Stat(at); info.Mode().Perm() != 0o640 {
					t.Errorf("%s has the permissions %v", it.To, info.Mode())
				}
			}
			if _, err := File(t.Context(), to, way, items, anywhere, nil); err == nil {
				t.Error("sorted twice into one folder")
			}
			u, err := Undo(t.Context(), to, in(filepath.Join(root, "photos")), nil)
			if err != nil || u.Files != len(items) || u.Left != nil || u.Way != way {
				t.Errorf("%+v, %v", u, err)
			}
			if after := tree(t, root); after != before {
				t.Errorf("after Undo there is\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// TestUndoOfBytes checks that names that are not UTF-8 are unchanged after filing and Undo.
func TestUndoOfBytes(t *testing.T) {
	for _, way := range []Way{Copy, Link, Move} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "\xff"), nil, 0o644); err != nil {
			t.Skip(err)
		}
		if err := os.Remove(filepath.Join(root, "\xff")); err != nil {
			t.Fatal(err)
		}
		photos, to := filepath.Join(root, "photos"), filepath.Join(root, "sorted")
		var items []Item
		for i, name := range []string{"caf\xe9.jpg", "caf\xe8/\xff.jpg", "café.jpg"} {
			items = append(items, Item{From: write(t, filepath.Join(photos, name), name), To: fmt.Sprintf("group-%d/%s", i, filepath.Base(name))})
		}
		before := tree(t, root)
		if _, err := File(t.Context(), to, way, items, anywhere, nil); err != nil {
			t.Fatal(err)
		}
		u, err := Undo(t.Context(), to, in(photos), nil)
		if err != nil || u.Files != len(items) || len(u.Left) > 0 {
			t.Errorf("%v: %+v, %v", way, u, err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%v: after undoing there is\n%s\nbefore it was\n%s", way, after, before)
		}
	}
}

// TestUndoSpares checks that Undo leaves files that were changed or added after filing.
func TestUndoSpares(t *testing.T) {
	for _, way := range []Way{Copy, Link, Move} {
		t.Run(string(way), func(t *testing.T) {
			root := t.TempDir()
			items := pictures(t, root)
			to := filepath.Join(root, "sorted")
			if _, err := File(t.Context(), to, way, items, anywhere, nil); err != nil {
				t.Fatal(err)
			}
			mine := write(t, filepath.Join(to, "group-1", "mine.jpg"), "mine")
			changed := filepath.Join(to, filepath.FromSlash(items[0].To))
			if err := os.Remove(changed); err != nil {
				t.Fatal(err)
			}
			write(t, changed, "another")
			write(t, items[0].From, "another original")
			u, err := Undo(t.Context(), to, in(root), nil)
			if err != nil || u.Files != 2 || len(u.Left) != 1 || !strings.Contains(u.Left[0], changed) {
				t.Errorf("%+v, %v", u, err)
			}
			for path, want := range map[string]string{mine: "mine", changed: "another", items[0].From: "another original", items[1].From: "a/2.jpg"} {
				if text, err := os.ReadFile(path); string(text) != want {
					t.Errorf("%s holds %q: %v", path, text, err)
				}
			}
			if _, err := os.Stat(filepath.Join(to, JournalFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

// After a stop at any file, Undo restores all files.
func TestUndoOfHalf(t *testing.T) {
	for _, way := range []Way{Copy, Link, Move} {
		for stop := range 3 {
			root := t.TempDir()
			items := pictures(t, root)
			before := tree(t, root)
			to := filepath.Join(root, "sorted")
			ctx, cancel := context.WithCancel(t.Context())
			_, err := File(ctx, to, way, items, anywhere, func(done, _ int) {
				if done == stop {
					cancel()
				}
			})
			if stop > 0 && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel()
			if _, err := Undo(t.Context(), to, in(root), nil); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, root); after != before {
				t.Errorf("%v stopped after %d files and taken back:\n%s\nwant\n%s", way, stop, after, before)
			}
		}
	}
}

// A move that stopped while the file had two names.
func TestUndoOfTwoNames(t *testing.T) {
	root := t.TempDir()
	items := pictures(t, root)
	to := filepath.Join(root, "sorted")
	if _, err := File(t.Context(), to, Move, items, anywhere, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(to, filepath.FromSlash(items[1].To)), items[1].From); err != nil {
		t.Skip(err)
	}
	if u, err := Undo(t.Context(), to, in(root), nil); err != nil || u.Left != nil {
		t.Errorf("%+v, %v", u, err)
	}
	if text, err := os.ReadFile(items[1].From); string(text) != "a/2.jpg" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFileRefuses(t *testing.T) {
	for name, change := range map[string]func(root string, items []Item) []Item{
		"already exists": func(root string, items []Item) []Item {
			os.MkdirAll(filepath.Join(root, "sorted", "group-2"), 0o777)
			return items
		},
		"no such file": func(_ string, items []Item) []Item {
			os.Remove(items[2].From)
			return items
		},
		"would both become": func(_ string, items []Item) []Item {
			items[2].To = items[0].To
			return items
		},
		"is not a regular file": func(_ string, items []Item) []Item {
			items[2].From = filepath.Dir(items[2].From)
			return items
		},
		"is not a path in a folder of": func(_ string, items []Item) []Item {
			items[2].To = "../group/1.jpg"
			return items
		},
	} {
		root := t.TempDir()
		items := change(root, pictures(t, root))
		before := tree(t, root)
		_, err := File(t.Context(), filepath.Join(root, "sorted"), Move, items, anywhere, nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%s: a refusal left\n%s\nwant\n%s", name, after, before)
		}
	}
}

// TestUndoRefuses checks that Undo rejects files that are not journals.
func TestUndoRefuses(t *testing.T) {
	root := t.TempDir()
	to := filepath.Join(root, "sorted")
	write(t, filepath.Join(to, "group-1", "x"), "x")
	for text, want := range map[string]string{
		`{"format":1,"way":"move"}` + "\n" + fmt.Sprintf(`{"from":%q,"to":"../x"}`, filepath.Join(root, "p", "x")): "line 2",
		`{"format":1,"way":"move"}` + "\n" + `{"from":"p/x","to":"group-1/x"}`:                                     "line 2",
		`{"format":2,"way":"move"}`: "format 2",
		`{"format":1,"way":"burn"}`: "line 1",
		`[]`:                        "line 1",
		``:                          "not a list",
	} {
		write(t, filepath.Join(to, JournalFile), text)
		before := tree(t, root)
		if _, err := Undo(t.Context(), to, in(filepath.Join(root, "p")), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%s: now there is\n%s\nwant\n%s", text, after, before)
		}
	}
	if _, err := Undo(t.Context(), root, in(root), nil); err == nil || !strings.Contains(err.Error(), "has no sorted files: no") {
		t.Error(err)
	}
}

// Links and files behind links stay, and the other files are moved and restored.
func TestMoveLeavesLinks(t *testing.T) {
	root := t.TempDir()
	items := pictures(t, root)
	photos, to := filepath.Join(root, "photos"), filepath.Join(root, "sorted")
	write(t, filepath.Join(root, "elsewhere", "x.jpg"), "x")
	for link, target := range map[string]string{"far": "../elsewhere", "link.jpg": "a/1.jpg", "loop.jpg": "loop.jpg", "none.jpg": "none"} {
		if err := os.Symlink(target, filepath.Join(photos, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"far/x.jpg", "link.jpg", "loop.jpg", "none.jpg"} {
		items = append(items, Item{From: filepath.Join(photos, filepath.FromSlash(name)), To: "group-1/" + filepath.Base(name)})
	}
	before := tree(t, root)
	r, err := File(t.Context(), to, Move, items, in(photos), nil)
	if err != nil || r.Files != 3 || len(r.Left) != 4 || !strings.Contains(r.Left[0], filepath.Join("far", "x.jpg")) {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := Undo(t.Context(), to, in(photos), nil); err != nil || r.Files != 3 || r.Left != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if after := tree(t, root); after != before {
		t.Errorf("there and back there is\n%s\nwant\n%s", after, before)
	}

	// An earlier version also moved files behind links. Undo restores the other files.
	if _, err := File(t.Context(), to, Move, items[:4], anywhere, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := Undo(t.Context(), to, in(photos), nil); err != nil || r.Files != 3 || len(r.Left) != 1 || !strings.Contains(r.Left[0], "x.jpg") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := Undo(t.Context(), to, in(root), nil); err != nil || r.Left != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if after := tree(t, root); after != before {
		t.Errorf("with the folder of all there is\n%s\nwant\n%s", after, before)
	}
}

// stepping calls do before each step until the test ends.
func stepping(t *testing.T, do func(what, name string) error) {
	step = do
	t.Cleanup(func() { step = func(string, string) error { return nil } })
}

// TestMoveOrder checks for moves to another disk, back, and on one disk that no file is removed before the journal,
// its copy, and the folders of both are on the disk.
func TestMoveOrder(t *testing.T) {
	for _, other := range []error{nil, syscall.EXDEV} {
		root := t.TempDir()
		items := pictures(t, root)
		to := filepath.Join(root, "new", "sorted")
		flushed, removed := map[string]bool{}, 0
		twin := map[string]string{}
		for _, it := range items {
			place := filepath.Join(to, filepath.FromSlash(it.To))
			twin[it.From], twin[place] = place, it.From
		}
		stepping(t, func(what, name string) error {
			switch what {
			case "link":
				if _, err := os.Lstat(filepath.Join(to, JournalFile)); err != nil || !flushed[to] || !flushed[filepath.Dir(to)] || !flushed[root] {
					t.Errorf("%s is made before the journal is on the disk: %v", name, err)
				}
				delete(flushed, filepath.Dir(name))
				return other
			case "flush":
				flushed[name] = true
			case "remove":
				removed++
				if !flushed[twin[name]] && other != nil || !flushed[filepath.Dir(twin[name])] || !flushed[filepath.Dir(filepath.Dir(twin[name]))] {
					t.Errorf("%s is removed before %s is on the disk", name, twin[name])
				}
			}
			return nil
		})
		if r, err := File(t.Context(), to, Move, items, anywhere, nil); err != nil || r.Left != nil {
			t.Fatal(r, err)
		}
		if err := os.RemoveAll(filepath.Join(root, "photos")); err != nil { // so that Undo makes its folders
			t.Fatal(err)
		}
		clear(flushed)
		flushed[to], flushed[filepath.Dir(to)], flushed[root] = true, true, true
		if r, err := Undo(t.Context(), to, anywhere, nil); err != nil || r.Left != nil {
			t.Fatal(r, err)
		}
		if removed != 2*len(items) {
			t.Errorf("%d files removed", removed)
		}
	}
}

// TestStopAtEachStep stops a move to another disk, and its undo, at each step. Each file keeps its permissions and its
// time, and the next Undo completes the operation.
func TestStopAtEachStep(t *testing.T) {
	stop := errors.New("stop")
	for last, ended := 0, false; !ended; last++ {
		root := t.TempDir()
		items := pictures(t, root)
		to, at := filepath.Join(root, "sorted"), time.Date(2001, 2, 3, 4, 5, 6, 7000, time.Local)
		for _, it := range items {
			if err := errors.Join(os.Chmod(it.From, 0o400), os.Chtimes(it.From, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, root)
		check := func() {
			t.Helper()
			_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if info, _ := d.Info(); filepath.Ext(path) == ".jpg" && (info.Mode() != 0o400 || !info.ModTime().Equal(at)) {
					t.Errorf("stopped after %d steps: %s is %v of %v", last, path, info.Mode(), info.ModTime())
				}
				return err
			})
			for _, it := range items {
				if !exists(it.From) && !exists(filepath.Join(to, filepath.FromSlash(it.To))) {
					t.Errorf("stopped after %d steps: %s is lost", last, it.From)
				}
			}
		}
		n := 0
		ended = true
		stepping(t, func(what, _ string) error {
			if n++; n == last+1 {
				ended = false
				return stop
			}
			if what == "link" {
				return syscall.EXDEV
			}
			return nil
		})
		_, err := File(t.Context(), to, Move, items, anywhere, nil)
		check()
		if err == nil || exists(filepath.Join(to, JournalFile)) {
			_, err = Undo(t.Context(), to, anywhere, nil)
			check()
		}
		if err != nil {
			if _, err = Undo(t.Context(), to, anywhere, nil); err != nil {
				t.Fatal(err)
			}
			check()
		}
		if after := tree(t, root); after != before {
			t.Errorf("stopped after %d steps: there is\n%s\nwant\n%s", last, after, before)
		}
	}
}

// TestUndoGivesBack checks that a temporary file becomes the file of which a power failure left nothing else, in
// either folder. Other temporary files are removed if no file is missing.
func TestUndoGivesBack(t *testing.T) {
	const temporary = ".partwise-0123456789abcdef.tmp"
	for _, folder := range []string{"photos/a", "sorted/group-2"} {
		root := t.TempDir()
		items := pictures(t, root)
		before := tree(t, root)
		to := filepath.Join(root, "sorted")
		if _, err := File(t.Context(), to, Move, items, anywhere, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(to, "group-2", "1.jpg"), filepath.Join(root, filepath.FromSlash(folder), temporary)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, "group-1", temporary), "half")
		if r, err := Undo(t.Context(), to, in(root), nil); err != nil || r.Files != 3 || r.Left != nil {
			t.Errorf("%+v, %v", r, err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("from %s: there is\n%s\nwant\n%s", folder, after, before)
		}
	}
	// Two candidates cannot be distinguished.
	root := t.TempDir()
	items := pictures(t, root)
	to := filepath.Join(root, "sorted")
	if _, err := File(t.Context(), to, Move, items, anywhere, nil); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"0.jpg", "2.jpg"} {
		if err := os.Rename(filepath.Join(to, "group-1", name), filepath.Join(to, "group-1", strings.ReplaceAll(temporary, "0", fmt.Sprint(i)))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Undo(t.Context(), to, in(root), nil)
	if err != nil || len(r.Left) != 3 || !strings.Contains(r.Left[0], "stays: it may be any of 2 missing files") {
		t.Errorf("%q, %v", r.Left, err)
	}
	if found, err := filepath.Glob(filepath.Join(to, "group-1", ".*.tmp")); len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestKilledBeforeJournal checks that the next start removes the files of a process that was killed before it wrote a
// journal.
func TestKilledBeforeJournal(t *testing.T) {
	for _, undo := range []bool{false, true} {
		root := t.TempDir()
		items := pictures(t, root)
		before := tree(t, root)
		to := filepath.Join(root, "sorted")
		write(t, filepath.Join(to, ".partwise-0123456789abcdef.tmp"), "half")
		lock, err := filelock.Acquire(filepath.Join(to, lockFile))
		if err != nil {
			t.Fatal(err)
		}
		lock.File().Close() // as of a killed process
		if !undo {
			if _, err := File(t.Context(), to, Copy, items, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Undo(t.Context(), to, nil, nil); (err != nil) != undo {
			t.Error(err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("there is\n%s\nwant\n%s", after, before)
		}
	}
}
