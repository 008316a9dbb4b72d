package output

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// groups is a command that writes a page, a table and pictures.
var groups = Spec{Command: "groups", Names: []string{"index.html", "table.csv", "groups/", "parts/", "log.txt", "model.bin"}}

// unbroken is the interrupt of uninterrupted work.
func unbroken() error { return nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, groups)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(text), 0o666))
}

// publish replaces all results of the folder by the given files.
func publish(f *Folder, files map[string]string) error {
	s, err := f.Stage("index.html", "table.csv", "groups/", "parts/")
	if err != nil {
		return err
	}
	defer s.Discard()
	for name, text := range files {
		path := filepath.Join(s.Dir(), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return s.Publish()
}

// tree returns the contents of a folder by name; names of folders end in a slash.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil || name == "." {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case e.IsDir():
			found[name+"/"] = ""
		case e.Type()&fs.ModeSymlink != 0:
			found[name], err = os.Readlink(at)
		default:
			var text []byte
			text, err = os.ReadFile(at)
			found[name] = string(text)
		}
		return err
	}))
	return found
}

// results is tree without the manifest.
func results(t *testing.T, dir string) map[string]string {
	found := tree(t, dir)
	delete(found, ManifestFile)
	return found
}

func compare(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	names := slices.Sorted(maps.Keys(want))
	for name := range got {
		if _, ok := want[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if g, w := got[name], want[name]; g != w {
			t.Errorf("%s: %s holds %q, want %q", what, name, g, w)
		} else if _, ok := got[name]; !ok {
			t.Errorf("%s: there is no %s", what, name)
		} else if _, ok := want[name]; !ok {
			t.Errorf("%s: there is a %s", what, name)
		}
	}
}

var (
	before = map[string]string{"index.html": "old page", "table.csv": "a", "groups/1.png": "one", "groups/2.png": "two", "groups/3.png": "three", "parts/nmf.png": "parts"}
	after  = map[string]string{"index.html": "new page", "table.csv": "a", "groups/1.png": "uno", "groups/2.png": "due", "parts/deep/cf.png": "concepts"}
	// The same with the folders.
	standingBefore = withFolders(before, "groups/", "parts/")
	standingAfter  = withFolders(after, "groups/", "parts/", "parts/deep/")
)

func withFolders(files map[string]string, folders ...string) map[string]string {
	all := maps.Clone(files)
	for _, name := range folders {
		all[name] = ""
	}
	return all
}

func TestPublishReplacesItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "results")
	f := open(t, dir)
	must(t, publish(f, before))
	must(t, f.Close())
	compare(t, "first", results(t, dir), standingBefore)
	put(t, dir, "notes.txt", "mine")
	put(t, dir, "groups/.DS_Store", "of a file manager")
	f = open(t, dir)
	must(t, publish(f, after))
	must(t, f.Close())
	want := maps.Clone(standingAfter)
	want["notes.txt"], want["groups/.DS_Store"] = "mine", "of a file manager"
	compare(t, "second", results(t, dir), want)
	f = open(t, dir)
	must(t, f.Clear("index.html", "table.csv", "groups/", "parts/"))
	must(t, f.Close())
	compare(t, "cleared", results(t, dir), map[string]string{"notes.txt": "mine", "groups/": "", "groups/.DS_Store": "of a file manager"})
}

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	must(t, publish(f, before))
	s, err := f.Stage("index.html", "table.csv", "groups/", "parts/")
	must(t, err)
	put(t, s.Dir(), "index.html", "new page")
	put(t, s.Dir(), "parts/cf.png", "concepts")
	s.Keep("groups/")
	must(t, s.Publish())
	must(t, f.Close())
	want := withFolders(map[string]string{"index.html": "new page", "parts/cf.png": "concepts", "groups/1.png": "one", "groups/2.png": "two", "groups/3.png": "three"}, "groups/", "parts/")
	compare(t, "kept", results(t, dir), want)
	f = open(t, dir)
	must(t, publish(f, after))
	must(t, f.Close())
	compare(t, "replaced after it was kept", results(t, dir), standingAfter)
}

// TestFirstError checks that the error names the first by name of several unwritable files, for any order of a map.
func TestFirstError(t *testing.T) {
	f := open(t, t.TempDir())
	for range 20 {
		err := publish(f, map[string]string{"a.txt": "", "b.txt": "", "c.txt": "", "d.txt": "", "e.txt": ""})
		if err == nil || !strings.Contains(err.Error(), "a.txt: partwise") {
			t.Fatalf("got error %v, want one that names a.txt", err)
		}
	}
}

// TestForeignFiles checks that a changed or foreign file with the name of an output is named, and that nothing
// changes.
func TestForeignFiles(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "1.png", "far away")
	for name, place := range map[string]func(t *testing.T, dir string){
		"index.html":     func(t *testing.T, dir string) { put(t, dir, "index.html", "my page") },
		"table.csv":      func(t *testing.T, dir string) { put(t, dir, "table.csv", "b") }, // as long as ours
		"groups/me.png":  func(t *testing.T, dir string) { put(t, dir, "groups/me.png", "me") },
		"groups/a/b.png": func(t *testing.T, dir string) { put(t, dir, "groups/a/b.png", "me") },
		"parts":          func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, "parts")); put(t, dir, "parts", "me") },
		"groups": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "groups")))
			must(t, os.Symlink(outside, filepath.Join(dir, "groups")))
		},
		"groups/1.png": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "groups"), 0o777))
			os.Remove(filepath.Join(dir, "groups", "1.png"))
			must(t, os.Symlink(filepath.Join(outside, "1.png"), filepath.Join(dir, "groups", "1.png")))
		},
		"groups/2.png": func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "groups", "2.png"))
			must(t, os.MkdirAll(filepath.Join(dir, "groups", "2.png"), 0o777))
			put(t, dir, "groups/2.png/x", "me")
		},
	} {
		for _, written := range []bool{false, true} {
			dir := t.TempDir()
			if written {
				f := open(t, dir)
				must(t, publish(f, before))
				must(t, f.Close())
			}
			place(t, dir)
			there := tree(t, dir)
			_, err := Open(dir, groups)
			var foreign *ForeignError
			if !errors.As(err, &foreign) || !strings.HasPrefix(foreign.Name, name) || !strings.Contains(err.Error(), filepath.Join(dir, filepath.FromSlash(name))) {
				t.Errorf("%s in the way: %v", name, err)
			}
			compare(t, name+" already exists and was not written by partwise", tree(t, dir), there)

			// The same if the file appears while results are computed.
			dir = t.TempDir()
			f := open(t, dir)
			if written {
				must(t, publish(f, before))
			}
			place(t, dir)
			there = results(t, dir)
			delete(there, lockFile)
			if err := publish(f, after); !errors.As(err, &foreign) || !strings.HasPrefix(foreign.Name, name) {
				t.Errorf("%s appears: %v", name, err)
			}
			must(t, f.Close())
			compare(t, name+" appeared", results(t, dir), there)
		}
	}
	compare(t, "outside", tree(t, outside), map[string]string{"1.png": "far away"})
}

// TestForeignLock checks that a non-empty file with the lock's name is foreign. An empty one may be left by a killed
// process.
func TestForeignLock(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, lockFile, "mine")
	var foreign *ForeignError
	if _, err := Open(dir, groups); !errors.As(err, &foreign) || foreign.Name != lockFile {
		t.Errorf("a file with the name of the lock: got error %v, want a foreign file", err)
	}
	compare(t, "refused", tree(t, dir), map[string]string{lockFile: "mine"})
	put(t, dir, lockFile, "")
	must(t, open(t, dir).Close())
}

func TestWriteAndRemove(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	must(t, f.Write("model.bin", []byte("model")))
	must(t, f.Write("model.bin", []byte("model 2")))
	must(t, f.Write("parts/x", []byte("x")))
	must(t, f.Close())
	f = open(t, dir)
	must(t, f.Write("model.bin", []byte("model 3")))
	must(t, f.Clear("parts/x"))
	must(t, f.Clear("parts/x"))
	put(t, dir, "model.bin", "mine")
	var foreign *ForeignError
	if err := f.Write("model.bin", []byte("model 4")); !errors.As(err, &foreign) || !foreign.Changed {
		t.Errorf("a changed file is written: %v", err)
	}
	if err := f.Clear("model.bin"); !errors.As(err, &foreign) {
		t.Errorf("a changed file is removed: %v", err)
	}
	if err := f.Write("other", nil); err == nil {
		t.Error("a file that was not said is written")
	}
	if err := f.Write("../model.bin", nil); err == nil {
		t.Error("a file outside is written")
	}
	must(t, f.Close())
	compare(t, "at last", results(t, dir), map[string]string{"model.bin": "mine"})
}

// TestAppended checks that a file may grow after Append, and that a foreign file of this name is an error.
func TestAppended(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	must(t, f.Append("log.txt"))
	put(t, dir, "log.txt", "a line")
	must(t, f.Close())
	put(t, dir, "log.txt", "a line and another")
	f = open(t, dir)
	must(t, f.Append("log.txt"))
	must(t, publish(f, before))
	must(t, f.Close())
	other := t.TempDir()
	put(t, other, "log.txt", "mine")
	if _, err := Open(other, groups); err == nil {
		t.Error("a foreign log is accepted")
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	if _, err := Open(dir, groups); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second writer: %v", err)
	}
	must(t, publish(f, before))
	must(t, f.Close())
	open(t, dir)
}

// TestLostFolder checks that a process that lost its folder or its lock writes nothing more, and does not overwrite
// the next process's files.
func TestLostFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names")
	}
	for what, lose := range map[string]func(dir string) error{
		"the folder is moved": func(dir string) error { return os.Rename(dir, dir+" of before") },
		"the lock is removed": func(dir string) error { return os.Remove(filepath.Join(dir, lockFile)) },
	} {
		dir := filepath.Join(t.TempDir(), "out")
		f := open(t, dir)
		must(t, publish(f, before))
		staged, err := f.Stage("index.html")
		must(t, err)
		put(t, staged.Dir(), "index.html", "late page")
		must(t, lose(dir))
		other := open(t, dir)
		must(t, publish(other, after))
		there := tree(t, dir)
		put(t, dir, staged.name+"/index.html", "late page") // where the other has not removed it
		for _, err := range []error{staged.Publish(), publish(f, before), f.Write("model.bin", nil), f.Clear("table.csv"), f.Append("log.txt"), f.Clear("groups/")} {
			if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", what, err)
			}
		}
		must(t, staged.Discard())
		must(t, f.Close())
		compare(t, what, tree(t, dir), there)
		if _, err := Open(dir, groups); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: the other's lock is gone: %v", what, err)
		}
		must(t, other.Close())
	}
}

// TestLostEmptyFolder checks that an empty folder that replaced Open's folder is not removed.
func TestLostEmptyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f := open(t, dir)
	if err := os.Rename(dir, dir+" of before"); err != nil {
		t.Skip(err) // Windows, where it holds an open file
	}
	must(t, os.Mkdir(dir, 0o777))
	must(t, f.Close())
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestFileBeingWritten checks that a file that a process is writing does not count as a leftover.
func TestFileBeingWritten(t *testing.T) {
	dir := t.TempDir()
	must(t, atomicfile.WriteFunc(filepath.Join(dir, "features.csv"), func(w io.Writer) error {
		must(t, open(t, dir).Close())
		_, err := w.Write([]byte("1,2,3"))
		return err
	}))
	compare(t, "written", results(t, dir), map[string]string{"features.csv": "1,2,3"})
}

func TestOtherCommand(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	must(t, publish(f, before))
	must(t, f.Close())
	other := Spec{Command: "run", Names: groups.Names}
	if _, err := Open(dir, other); err == nil || !strings.Contains(err.Error(), dir+" has results of partwise groups: choose another folder") {
		t.Errorf("a folder of another command: %v", err)
	}
}

// TestOtherData checks that the folder of other data is rejected if the data must be the same, with any spelling of
// its path.
func TestOtherData(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, data := range []string{"photos", "other/photos"} {
		must(t, os.MkdirAll(data, 0o777))
	}
	spec := groups
	spec.Data, spec.SameData = "photos", true
	may := func(dir string) {
		t.Helper()
		f, err := Open(dir, spec)
		must(t, err)
		must(t, f.Close())
	}
	f, err := Open("out", spec)
	must(t, err)
	must(t, publish(f, before))
	must(t, f.Close())
	spec.Data = "./photos"
	may("out")
	spec.Data = "caf\xe9"
	f, err = Open("bytes", spec)
	must(t, err)
	must(t, publish(f, before))
	must(t, f.Close())
	may("bytes")
	spec.Data = filepath.Join("other", "photos")
	if _, err := Open("out", spec); err == nil || !strings.Contains(err.Error(), "out has results of photos, not of "+spec.Data) {
		t.Errorf("other data: %v", err)
	}
	spec.SameData = false
	f, err = Open("out", spec)
	must(t, err)
	must(t, publish(f, after))
	must(t, f.Close())
	spec.SameData = true
	may("out")
}

// TestNothingLeft checks that opening and staging leave no files.
func TestNothingLeft(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	f := open(t, dir)
	s, err := f.Stage("groups/")
	must(t, err)
	put(t, s.Dir(), "groups/1.png", "half")
	must(t, s.Discard())
	must(t, f.Close())
	compare(t, "closed", tree(t, top), map[string]string{})
}

// TestPlacesRefused checks that Open reports unwritable places with their path.
func TestPlacesRefused(t *testing.T) {
	top := t.TempDir()
	put(t, top, "file", "mine")
	must(t, os.Symlink(filepath.Join(top, "nothing"), filepath.Join(top, "dangling")))
	there := tree(t, top)
	places := map[string]string{
		filepath.Join(top, "file"):                   "not a directory",
		filepath.Join(top, "file", "results"):        "not a directory",
		filepath.Join(top, "dangling"):               "file exists",
		filepath.Join(top, "dangling", "result"):     "file exists",
		filepath.Join(top, strings.Repeat("x", 300)): "name too long",
	}
	if info, err := os.Stat("/proc/self"); err == nil && info.IsDir() {
		places["/proc/partwise/results"] = "cannot be written"
		places["/proc"] = "cannot be written"
	}
	for dir, want := range places {
		if _, err := Open(dir, groups); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), top) && !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
	compare(t, "refused", tree(t, top), there)
}

func TestCheckFile(t *testing.T) {
	top := t.TempDir()
	put(t, top, "there.npz", "mine")
	must(t, os.Mkdir(filepath.Join(top, "folder.npz"), 0o777))
	must(t, CheckFile(filepath.Join(top, "new.npz"), false))
	must(t, CheckFile(filepath.Join(top, "there.npz"), true))
	for _, bad := range []string{"there.npz", "folder.npz", "none/new.npz", "there.npz/new.npz"} {
		path := filepath.Join(top, filepath.FromSlash(bad))
		if err := CheckFile(path, false); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	compare(t, "checked", tree(t, top), map[string]string{"there.npz": "mine", "folder.npz/": ""})
}

func TestInside(t *testing.T) {
	top := t.TempDir()
	photos := filepath.Join(top, "photos")
	must(t, os.MkdirAll(filepath.Join(photos, "a"), 0o777))
	must(t, os.Symlink(photos, filepath.Join(top, "link")))
	must(t, os.Symlink(filepath.Join(photos, "a"), filepath.Join(top, "deep")))
	for path, want := range map[string]bool{
		"photos": true, "photos/new/x": true, "link": true, "link/out": true, "deep/out/x": true,
		"out": false, "photos-out": false, "link/../out": false,
	} {
		for _, dir := range []string{photos, filepath.Join(top, "link")} {
			got, err := Inside(dir, filepath.Join(top, filepath.FromSlash(path)))
			if err != nil || got != want {
				t.Errorf("%s in %s: %v, %v", path, dir, got, err)
			}
		}
	}
}

// TestCrashes stops the work at every change of the file system, as kill -9 would. Opening the folder then gives the
// old or the new results, and repeating the work gives the bytes of an uninterrupted run.
func TestCrashes(t *testing.T) {
	work := func(dir string) error {
		f, err := Open(dir, groups)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Append("log.txt"); err != nil {
			return err
		}
		if err := f.Write("model.bin", []byte("new model")); err != nil {
			return err
		}
		if err := publish(f, after); err != nil {
			return err
		}
		return f.Close()
	}
	first := t.TempDir()
	f := open(t, first)
	must(t, f.Write("model.bin", []byte("model")))
	must(t, publish(f, before))
	must(t, f.Close())
	put(t, first, "notes.txt", "mine")
	prepare := func() string {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(first)))
		return dir
	}
	whole := prepare()
	must(t, work(whole))
	want := tree(t, whole)

	errCrash := errors.New("killed")
	points := 0
	for ; ; points++ {
		dir := prepare()
		calls := 0
		interrupt = func() error {
			if calls++; calls > points {
				return errCrash
			}
			return nil
		}
		err := work(dir)
		interrupt = unbroken
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("killed at change %d: %v", points, err)
		}
		freeLock(t, dir)
		f, err := Open(dir, groups)
		if err != nil {
			t.Fatalf("killed at change %d and opened: %v", points, err)
		}
		must(t, f.Close())
		got := results(t, dir)
		if page := got["index.html"]; page == "new page" {
			delete(got, "model.bin")
			delete(got, "notes.txt")
			compare(t, "killed and opened", got, standingAfter)
		} else {
			delete(got, "model.bin")
			delete(got, "notes.txt")
			compare(t, "killed and opened", got, standingBefore)
		}
		must(t, work(dir))
		compare(t, "killed and done again", tree(t, dir), want)
		if t.Failed() {
			t.Fatalf("killed at change %d", points)
		}
	}
	if points < 25 {
		t.Errorf("only %d points to be killed at", points)
	}
}

// freeLock simulates the end of the process that holds the lock: it removes the lock
// file, so that the lock is on an unreachable file.
func freeLock(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, lockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestCrashAndForeign checks that recovery does not overwrite another program's file with the name of a file that was
// being published.
func TestCrashAndForeign(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	must(t, publish(f, before))
	s, err := f.Stage("index.html", "groups/")
	must(t, err)
	put(t, s.Dir(), "groups/1.png", "uno")
	put(t, s.Dir(), "groups/9.png", "nove")
	f.manifest.publishing = &publication{s.name, s.names, map[string]content{}}
	f.manifest.publishing.files, err = s.files()
	must(t, err)
	must(t, f.saveManifest())
	freeLock(t, dir)
	put(t, dir, "groups/9.png", "mine")
	there := tree(t, dir)
	var foreign *ForeignError
	if _, err := Open(dir, groups); !errors.As(err, &foreign) || foreign.Name != "groups/9.png" {
		t.Errorf("a file put there since: %v", err)
	}
	compare(t, "refused", tree(t, dir), there)
	must(t, os.Remove(filepath.Join(dir, "groups", "9.png")))
	// Without the staged files, the files of the folder stay partwise's.
	must(t, os.RemoveAll(s.Dir()))
	f = open(t, dir)
	must(t, publish(f, after))
	must(t, f.Close())
	compare(t, "at last", results(t, dir), standingAfter)
}

// TestChangedWhilePublishing checks that a file that changes or appears after the check, when the first files are
// already replaced, stays and is named.
func TestChangedWhilePublishing(t *testing.T) {
	defer func() { interrupt = unbroken }()
	for _, name := range []string{"groups/3.png", "groups/1.png", "parts/deep/cf.png", "index.html"} {
		dir := t.TempDir()
		f := open(t, dir)
		must(t, publish(f, before))
		changed := false
		interrupt = func() error {
			// The page goes first.
			if _, err := os.Stat(filepath.Join(dir, "index.html")); !changed && errors.Is(err, fs.ErrNotExist) {
				changed = true
				put(t, dir, name, "mine")
			}
			return nil
		}
		err := publish(f, after)
		interrupt = unbroken
		var foreign *ForeignError
		if !errors.As(err, &foreign) || foreign.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		must(t, f.Close())
		for range 2 {
			if _, err := Open(dir, groups); !errors.As(err, &foreign) || foreign.Name != name {
				t.Errorf("%s, opened again: %v", name, err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); string(text) != "mine" {
				t.Errorf("%s holds %q, %v", name, text, err)
			}
		}
		must(t, os.Remove(filepath.Join(dir, filepath.FromSlash(name))))
		f = open(t, dir)
		must(t, publish(f, after))
		must(t, f.Close())
		compare(t, name+" moved away", results(t, dir), standingAfter)
	}
}

// TestHostileManifest checks that a foreign manifest affects nothing outside of its folder.
func TestHostileManifest(t *testing.T) {
	head := `{"format":1,"command":"groups","version":""}` + "\n"
	const sum = "0000000000000000000000000000000000000000000000000000000000000000"
	for _, text := range []string{
		"", "\n", "{}\n", "nonsense", `{"format":2,"command":"groups","version":"9"}` + "\n", `{"format":1}` + "\n",
		head + `{"file":"../x","sha256":"` + sum + `","size":1}` + "\n",
		head + `{"file":"/etc/passwd","sha256":"` + sum + `","size":1}` + "\n",
		head + `{"file":"a/../../x","sha256":"` + sum + `","size":1}` + "\n",
		head + `{"file":".partwise.lock","sha256":"` + sum + `","size":1}` + "\n",
		head + `{"file":"a","sha256":"12","size":1}` + "\n",
		head + `{"file":"a","sha256":"` + sum + `","size":-1}` + "\n",
		head + `{"publishing":"../x","replaces":[]}` + "\n",
		head + `{"publishing":".partwise-0123456789abcdef.staging","replaces":["../"]}` + "\n",
		head + "null\n",
	} {
		dir := t.TempDir()
		put(t, dir, ManifestFile, text)
		if _, err := Open(dir, groups); err == nil || !strings.Contains(err.Error(), ManifestFile) {
			t.Errorf("%q: %v", text, err)
		}
		compare(t, text, tree(t, dir), map[string]string{ManifestFile: text})
	}
	// A publication is not completed through links, and replaces only files that the
	// command writes.
	const staging = ".partwise-0123456789abcdef.staging"
	text := sha256.Sum256([]byte("mine"))
	line := `{"file":"%s","sha256":"` + hex.EncodeToString(text[:]) + `","size":4}` + "\n"
	outside := t.TempDir()
	put(t, outside, "1.png", "mine")
	for what, forge := range map[string]func(t *testing.T, dir string){
		"a link in the staging folder": func(t *testing.T, dir string) {
			put(t, dir, ManifestFile, head+`{"publishing":"`+staging+`","replaces":["groups/"]}`+"\n"+fmt.Sprintf(line, "groups/1.png"))
			must(t, os.Mkdir(filepath.Join(dir, staging), 0o777))
			must(t, os.Symlink(outside, filepath.Join(dir, staging, "groups")))
		},
		"a link for the staging folder": func(t *testing.T, dir string) {
			put(t, dir, ManifestFile, head+`{"publishing":"`+staging+`","replaces":["groups/"]}`+"\n"+fmt.Sprintf(line, "groups/1.png"))
			must(t, os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o777))
			must(t, os.Symlink(outside, filepath.Join(dir, "elsewhere", "groups")))
			must(t, os.Symlink("elsewhere", filepath.Join(dir, staging)))
		},
		"a link for a staged file": func(t *testing.T, dir string) {
			put(t, dir, ManifestFile, head+`{"publishing":"`+staging+`","replaces":["index.html"]}`+"\n"+fmt.Sprintf(line, "index.html"))
			must(t, os.Mkdir(filepath.Join(dir, staging), 0o777))
			must(t, os.Symlink(filepath.Join(outside, "1.png"), filepath.Join(dir, staging, "index.html")))
		},
		"files that the command does not write": func(t *testing.T, dir string) {
			put(t, dir, "notes.txt", "mine")
			put(t, dir, ManifestFile, head+fmt.Sprintf(line, "notes.txt")+`{"publishing":"`+staging+`","replaces":["notes.txt"]}`+"\n")
		},
	} {
		dir := t.TempDir()
		forge(t, dir)
		there := tree(t, dir)
		if _, err := Open(dir, groups); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", what, err)
		}
		compare(t, what, tree(t, dir), there)
	}
	compare(t, "outside", tree(t, outside), map[string]string{"1.png": "mine"})
}
