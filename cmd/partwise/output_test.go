package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/output"
)

// contents returns what all files of a folder hold, by their paths.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(at)
		found[filepath.ToSlash(at)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// same compares what a folder holds with what it should.
func same(t *testing.T, what, dir string, want map[string]string) {
	t.Helper()
	got := contents(t, dir)
	names := slices.Collect(maps.Keys(want))
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: there is %s now", what, name)
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if text, ok := got[name]; !ok || text != want[name] {
			t.Errorf("%s: %s is gone or changed", what, name)
		}
	}
}

// place writes a file and the folders on the way to it.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// refused runs a command that must fail with the text in its message, before it
// has read any picture.
func refused(t *testing.T, text string, args ...string) {
	t.Helper()
	code, out, stderr := partwise(args...)
	if code == exitDone || out != "" || !strings.Contains(stderr, text) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("partwise %s: exit code %d, %q and %q, want %q", strings.Join(args, " "), code, out, stderr, text)
	}
}

// quick are the flags of a grouping that takes no time.
var quick = []string{"-k", "3", "--features", "pixels=8", "--method", "nmf,iterations=3"}

func groupPhotos(out string) []string {
	return slices.Concat([]string{"cluster", "photos", "--out", out}, quick)
}

// TestClusterSparesFiles: a file that partwise did not write stands wherever it
// was, and is named before any picture is read.
func TestClusterSparesFiles(t *testing.T) {
	workplace(t)
	must(t, groupPhotos("written")...)
	for _, name := range []string{"index.html", "assignments.csv", "model.npz", "groups/mine.jpg", "bases/nmf.png", "patches/a/b.png", "words/1.png"} {
		// In a folder of the user's, where all pictures may have been sorted.
		dir := filepath.Join("mine", strings.ReplaceAll(name, "/", "-"))
		place(t, filepath.Join(dir, "assignments.csv"), "mine too")
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		want := contents(t, dir)
		refused(t, "partwise: "+dir, groupPhotos(dir)...)
		same(t, name+" in a folder of the user's", dir, want)

		// Among results.
		if err := os.CopyFS(dir+"-written", os.DirFS("written")); err != nil {
			t.Fatal(err)
		}
		dir += "-written"
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		want = contents(t, dir)
		refused(t, filepath.Join(dir, filepath.FromSlash(name)), groupPhotos(dir)...)
		same(t, name+" among results", dir, want)
	}
}

// TestClusterAgain: fewer groups leave none of the earlier ones, and files of
// other names stand.
func TestClusterAgain(t *testing.T) {
	workplace(t)
	must(t, append(groupPhotos("out"), "-k", "5")...)
	write(t, "out/notes.txt", "mine")
	must(t, groupPhotos("out")...)
	must(t, groupPhotos("fresh")...)
	want := map[string]string{"out/notes.txt": "mine"}
	for name, text := range contents(t, "fresh") {
		want["out"+strings.TrimPrefix(name, "fresh")] = text
	}
	same(t, "done again with fewer groups", "out", want)
}

// TestOutThroughLink: a link does not lead results among the pictures, nor does
// a link among results lead anything out of them.
func TestOutThroughLink(t *testing.T) {
	workplace(t)
	if err := os.Symlink("photos", "link"); err != nil {
		t.Skip(err)
	}
	want := contents(t, "photos")
	for _, out := range []string{"link", "link/new/out", "photos", "photos/out"} {
		refused(t, "among the pictures", groupPhotos(out)...)
	}
	refused(t, "among the pictures", append([]string{"cluster", "link", "--out", "photos/out"}, quick...)...)
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "photos"), filepath.Join("out", "groups")); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join("out", "groups"), groupPhotos("out")...)
	same(t, "pictures", "photos", want)
}

// TestFolderInUse: one folder, one writer, at once.
func TestFolderInUse(t *testing.T) {
	workplace(t)
	folder, err := output.Open("out", clusterOutput)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "out: another partwise is using this folder", groupPhotos("out")...)
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("out"); !os.IsNotExist(err) {
		t.Errorf("an empty folder is left: %v", err)
	}
	must(t, groupPhotos("out")...)
}

// TestNoFolderLeft: what fails leaves no folder behind.
func TestNoFolderLeft(t *testing.T) {
	workplace(t)
	write(t, "photos/broken.png", "no picture")
	refused(t, "broken.png", groupPhotos("deep/out")...)
	if _, err := os.Stat("deep"); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
	write(t, "file", "mine")
	refused(t, "file is a file", groupPhotos("file/out")...)
	refused(t, "file is a file", groupPhotos("file")...)
}
