package filing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// tree lists what is below dir: files with what they hold, links with their targets.
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
		items = append(items, Item{from, fmt.Sprintf("group-%d/%d.jpg", i%2+1, i)})
	}
	return items
}

func TestFileAndUndo(t *testing.T) {
	for way := Copy; way <= Move; way++ {
		t.Run(way.String(), func(t *testing.T) {
			root := t.TempDir()
			items := pictures(t, root)
			before := tree(t, root)
			to := filepath.Join(root, "sorted")
			if err := File(t.Context(), to, way, items, nil); err != nil {
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
			if err := File(t.Context(), to, way, items, nil); err == nil {
				t.Error("sorted twice into one folder")
			}
			u, err := Undo(t.Context(), to, filepath.Join(root, "photos"), nil)
			if err != nil || u.Back != len(items) || u.Left != nil || u.Way != way {
				t.Errorf("%+v, %v", u, err)
			}
			if after := tree(t, root); after != before {
				t.Errorf("after Undo there is\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// What somebody changed or put there meanwhile stays.
// TestUndoOfBytes: names that are no text in UTF-8 go there and back.
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
			items = append(items, Item{write(t, filepath.Join(photos, name), name), fmt.Sprintf("group-%d/%s", i, filepath.Base(name))})
		}
		before := tree(t, root)
		if err := File(t.Context(), to, way, items, nil); err != nil {
			t.Fatal(err)
		}
		u, err := Undo(t.Context(), to, photos, nil)
		if err != nil || u.Back != len(items) || len(u.Left) > 0 {
			t.Errorf("%v: %+v, %v", way, u, err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%v: after undoing there is\n%s\nbefore it was\n%s", way, after, before)
		}
	}
}

func TestUndoSpares(t *testing.T) {
	for way := Copy; way <= Move; way++ {
		t.Run(way.String(), func(t *testing.T) {
			root := t.TempDir()
			items := pictures(t, root)
			to := filepath.Join(root, "sorted")
			if err := File(t.Context(), to, way, items, nil); err != nil {
				t.Fatal(err)
			}
			mine := write(t, filepath.Join(to, "group-1", "mine.jpg"), "mine")
			changed := filepath.Join(to, filepath.FromSlash(items[0].To))
			if err := os.Remove(changed); err != nil {
				t.Fatal(err)
			}
			write(t, changed, "another")
			write(t, items[0].From, "in the place of the original")
			u, err := Undo(t.Context(), to, root, nil)
			if err != nil || u.Back != 2 || len(u.Left) != 1 || !strings.Contains(u.Left[0], changed) {
				t.Errorf("%+v, %v", u, err)
			}
			for path, want := range map[string]string{mine: "mine", changed: "another", items[0].From: "in the place of the original", items[1].From: "a/2.jpg"} {
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

// A stop after any file leaves what Undo takes back.
func TestUndoOfHalf(t *testing.T) {
	for way := Copy; way <= Move; way++ {
		for stop := range 3 {
			root := t.TempDir()
			items := pictures(t, root)
			before := tree(t, root)
			to := filepath.Join(root, "sorted")
			ctx, cancel := context.WithCancel(t.Context())
			err := File(ctx, to, way, items, func(done, _ int) {
				if done == stop {
					cancel()
				}
			})
			if stop > 0 && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel()
			if _, err := Undo(t.Context(), to, root, nil); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, root); after != before {
				t.Errorf("%v stopped after %d files and taken back:\n%s\nwant\n%s", way, stop, after, before)
			}
		}
	}
}

// A move that was stopped between its two names of the file.
func TestUndoOfTwoNames(t *testing.T) {
	root := t.TempDir()
	items := pictures(t, root)
	to := filepath.Join(root, "sorted")
	if err := File(t.Context(), to, Move, items, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(to, filepath.FromSlash(items[1].To)), items[1].From); err != nil {
		t.Skip(err)
	}
	if u, err := Undo(t.Context(), to, root, nil); err != nil || u.Left != nil {
		t.Errorf("%+v, %v", u, err)
	}
	if text, err := os.ReadFile(items[1].From); string(text) != "a/2.jpg" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFileRefuses(t *testing.T) {
	for name, change := range map[string]func(root string, items []Item) []Item{
		"there already": func(root string, items []Item) []Item {
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
		"no regular file": func(_ string, items []Item) []Item {
			items[2].From = filepath.Dir(items[2].From)
			return items
		},
		"is a symbolic link": func(root string, items []Item) []Item {
			link := filepath.Join(root, "photos", "link.jpg")
			os.Symlink("a/1.jpg", link)
			items[2].From = link
			return items
		},
		"no place in a folder": func(_ string, items []Item) []Item {
			items[2].To = "../group/1.jpg"
			return items
		},
	} {
		root := t.TempDir()
		items := change(root, pictures(t, root))
		before := tree(t, root)
		err := File(t.Context(), filepath.Join(root, "sorted"), Move, items, nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%s: a refusal left\n%s\nwant\n%s", name, after, before)
		}
	}
}

// A journal from a stranger moves nothing to places outside of the pictures' folder.
func TestUndoRefuses(t *testing.T) {
	root := t.TempDir()
	to := filepath.Join(root, "sorted")
	write(t, filepath.Join(to, "group-1", "x"), "x")
	outside := filepath.Join(root, "elsewhere", "x")
	for text, want := range map[string]string{
		`{"format":1,"way":"move"}` + "\n" + fmt.Sprintf(`{"from":%q,"to":"group-1/x"}`, outside):                  "was not moved out of",
		`{"format":1,"way":"move"}` + "\n" + fmt.Sprintf(`{"from":%q,"to":"../x"}`, filepath.Join(root, "p", "x")): "line 2",
		`{"format":1,"way":"move"}` + "\n" + `{"from":"p/x","to":"group-1/x"}`:                                     "line 2",
		`{"format":2,"way":"move"}`: "format 2",
		`{"format":1,"way":"burn"}`: "line 1",
		`[]`:                        "line 1",
		``:                          "not a list",
	} {
		write(t, filepath.Join(to, JournalFile), text)
		before := tree(t, root)
		if _, err := Undo(t.Context(), to, filepath.Join(root, "p"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if after := tree(t, root); after != before {
			t.Errorf("%s: now there is\n%s\nwant\n%s", text, after, before)
		}
	}
	if _, err := Undo(t.Context(), root, root, nil); err == nil || !strings.Contains(err.Error(), "no files were sorted") {
		t.Error(err)
	}
}
