package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/report"
)

// contents returns the content of all files of a folder, by path.
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

// compareFolder compares the content of a folder with the expected one.
func compareFolder(t *testing.T, what, dir string, want map[string]string) {
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

// place writes a file and creates its folders.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// refused runs a command that must fail with the text in its message, before it reads an image.
func refused(t *testing.T, text string, args ...string) {
	t.Helper()
	code, out, stderr := partwise(args...)
	if code == exitDone || out != "" || !strings.Contains(stderr, text) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("partwise %s: exit code %d, %q and %q, want %q", strings.Join(args, " "), code, out, stderr, text)
	}
}

// quick are the flags of a fast grouping.
var quick = []string{"-k", "3", "--features", "pixels=8", "--method", "nmf,iterations=3"}

func groupPhotos(out string) []string {
	return slices.Concat([]string{"cluster", "photos", "--out", out}, quick)
}

// TestClusterSparesFiles: a foreign file stays unchanged anywhere, and is named before an image is read.
func TestClusterSparesFiles(t *testing.T) {
	workplace(t)
	must(t, groupPhotos("written")...)
	for _, name := range []string{"index.html", "assignments.csv", "model.npz", "groups/mine.jpg", "pictures/mine.jpg", "bases/nmf.png", "patches/a/b.png", "words/1.png"} {
		// In a folder of the user's, which could hold sorted images.
		dir := filepath.Join("mine", strings.ReplaceAll(name, "/", "-"))
		place(t, filepath.Join(dir, "assignments.csv"), "mine too")
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		want := contents(t, dir)
		refused(t, "partwise: "+dir, groupPhotos(dir)...)
		compareFolder(t, name+" in a folder of the user's", dir, want)

		// Among results.
		if err := os.CopyFS(dir+"-written", os.DirFS("written")); err != nil {
			t.Fatal(err)
		}
		dir += "-written"
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		want = contents(t, dir)
		refused(t, filepath.Join(dir, filepath.FromSlash(name)), groupPhotos(dir)...)
		compareFolder(t, name+" is inside the results folder", dir, want)
	}
}

// TestClusterAgain: fewer groups leave none of the earlier files, and files with other names stay.
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
	compareFolder(t, "done again with fewer groups", "out", want)
}

// TestOutThroughLink: links cannot lead results among the images, or out of the results.
func TestOutThroughLink(t *testing.T) {
	workplace(t)
	if err := os.Symlink("photos", "link"); err != nil {
		t.Skip(err)
	}
	want := contents(t, "photos")
	for _, out := range []string{"link", "link/new/out", "photos", "photos/out"} {
		refused(t, "is inside the data folder", groupPhotos(out)...)
	}
	refused(t, "is inside the data folder", append([]string{"cluster", "link", "--out", "photos/out"}, quick...)...)
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "photos"), filepath.Join("out", "groups")); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join("out", "groups"), groupPhotos("out")...)
	compareFolder(t, "pictures", "photos", want)
}

// TestOutAmongPictures: by default results are not written among the images, even if the program starts in their folder
// or in one above it, but beside them, with the folder's name. If --out names a place among the images, the suggestion
// in the message works.
func TestOutAmongPictures(t *testing.T) {
	workplace(t)
	if err := os.MkdirAll(filepath.Join("photos", "below", "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	want := contents(t, "photos")
	t.Chdir("photos")
	up := filepath.Join("..", "results", "photos-groups")
	run := strings.Fields("run --set .,pattern={class}-* --features pixels=8 --method kmeans --classes 2 --repeats 1")
	for _, c := range []struct {
		args []string
		out  string
	}{
		{append([]string{"cluster", "."}, quick...), up},
		{append([]string{"cluster", "./"}, quick...), up},
		{append([]string{"cluster", filepath.Join("..", "photos") + "/"}, quick...), up},
		{run, filepath.Join("..", "results", "photos")},
	} {
		if out := must(t, c.args...); !strings.Contains(out, filepath.Join(c.out, "index.html")) {
			t.Errorf("%v printed %q, want results in %s", c.args, out, c.out)
		}
	}
	code, _, stderr := partwise(append([]string{"cluster", ".", "--out", filepath.Join("results", "x")}, quick...)...)
	_, out, found := strings.Cut(strings.TrimSpace(stderr), "is inside the data folder; choose another, such as --out ")
	if code != exitUsage || !found {
		t.Fatalf("%d and %q", code, stderr)
	}
	must(t, append([]string{"cluster", ".", "--out", out}, quick...)...)
	t.Chdir(filepath.Join("below", "deep"))
	must(t, append([]string{"cluster", filepath.Join("..", "..")}, quick...)...)
	// The results name the images so that they can be sorted from any folder.
	t.Chdir(filepath.Join("..", "..", ".."))
	must(t, append([]string{"cluster", "photos/"}, quick...)...)
	t.Chdir("photos")
	must(t, append([]string{"cluster", "."}, quick...)...)
	t.Chdir("..")
	must(t, "sort", filepath.Join("results", "photos-groups"), "--to", "sorted", "--copy")
	compareFolder(t, "pictures", "photos", want)
}

// TestCacheAmongResults: a cache in a folder that results replace is refused before an image is read, and nothing is
// left.
func TestCacheAmongResults(t *testing.T) {
	workplace(t)
	refused(t, "the cache out/groups/cache is inside the results folder", append(groupPhotos("out"), "--cache", "out/groups/cache")...)
	refused(t, "the cache out/models is inside the results folder", append(tinyRun, "--out", "out", "--cache", "out/models")...)
	if _, err := os.Stat("out"); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
}

// TestFolderInUse: one folder allows one writer at a time.
func TestFolderInUse(t *testing.T) {
	workplace(t)
	folder, err := report.OpenGrouping("out", "", false)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "out: another partwise process is using this folder", groupPhotos("out")...)
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("out"); !os.IsNotExist(err) {
		t.Errorf("an empty folder is left: %v", err)
	}
	must(t, groupPhotos("out")...)
}

// TestFeaturesSparesFiles: an existing file is named before an image is read, and replaced only with --force.
func TestFeaturesSparesFiles(t *testing.T) {
	workplace(t)
	args := func(out string, more ...string) []string {
		return append([]string{"features", "photos", "--features", "sift={step: 4, bins: 2},words=5,grid=1x1", "--out", out}, more...)
	}
	for _, name := range []string{"mine.npz", "mine.mat", "mine.csv", "words.npz"} {
		write(t, name, "mine")
	}
	if err := os.Symlink("mine.npz", "link.npz"); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir("photos.npz", 0o777); err != nil {
		t.Fatal(err)
	}
	want := contents(t, ".")
	for _, name := range []string{"mine.npz", "mine.mat", "mine.csv", "link.npz"} {
		refused(t, name+" already exists; --force replaces it", args(name)...)
	}
	refused(t, "words.npz already exists; --force replaces it", args("new.npz", "--words", "words.npz")...)
	refused(t, "--out and --words are both ./new.npz", args("new.npz", "--words", "./new.npz")...)
	refused(t, "no such file or directory", args("none/new.npz")...)
	refused(t, "photos.npz cannot be written: it is a folder", args("photos.npz", "--words", "w.npz")...)
	compareFolder(t, "files in the way", ".", want)

	// The inputs are not replaced either.
	write(t, "vectors.csv", "1,2\n3,4\n")
	refused(t, "the input vectors.csv would be replaced", "features", "vectors.csv", "--out", "./vectors.csv", "--force")
	refused(t, "the input labels.csv would be replaced", "features", "photos", "--labels", "labels.csv", "--out", "labels.csv", "--force")
	if err := os.Remove("vectors.csv"); err != nil {
		t.Fatal(err)
	}

	const killed = ".partwise-0123456789abcdef.tmp"
	write(t, killed, "half")
	must(t, args("link.npz", "--words", "words.npz", "--force")...)
	if read(t, "mine.npz") != "mine" {
		t.Error("a link was followed")
	}
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("what a killed run left is there: %v", err)
	}
	first := read(t, "link.npz")
	must(t, args("link.npz", "--words", "words.npz", "--force")...)
	if read(t, "link.npz") != first {
		t.Error("the file of a second run differs")
	}
	// If the features cannot be written, the words of others stay.
	words := read(t, "words.npz")
	if err := os.CopyFS("spaced", os.DirFS("photos")); err != nil {
		t.Fatal(err)
	}
	write(t, "spaced/ x.pgm", "P2 32 32 9"+strings.Repeat(" 1 5 9 2", 256))
	refused(t, "white space", "features", "spaced", "--features", "sift={step: 4, bins: 2},words=7,grid=1x1", "--out", "f.csv", "--words", "words.npz", "--force")
	if read(t, "words.npz") != words {
		t.Error("the words are replaced without the features")
	}
}

// TestNoFolderLeft: failures leave no folder behind.
func TestNoFolderLeft(t *testing.T) {
	workplace(t)
	write(t, "photos/broken.png", "no picture")
	refused(t, "broken.png", append(groupPhotos("deep/out"), "--strict")...)
	if _, err := os.Stat("deep"); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
	write(t, "file", "mine")
	refused(t, "file/out cannot be written: not a directory", groupPhotos("file/out")...)
	refused(t, "file cannot be written: not a directory", groupPhotos("file")...)
}

// tinyRun is a fast experiment.
var tinyRun = strings.Fields("run --name tiny --set generated,samples=200 --features pixels=8 --method nmf,iterations=3 --method gnmf,iterations=3 --classes 2 --repeats 2")

// TestRunSparesFiles: as TestClusterSparesFiles, for run and report.
func TestRunSparesFiles(t *testing.T) {
	workplace(t)
	must(t, append(tinyRun, "--out", "written")...)
	for _, name := range []string{"index.html", "results.jsonl", "experiment.json", "samples.csv", "models/mine.npz", "tables/mine.csv", "curves/ac.png", "bases/nmf.png", "coefficients/x/y.png", "confusion/1.png", "patches/1.png", "words/1.png", "photographs.json"} {
		dir := filepath.Join("mine", strings.ReplaceAll(name, "/", "-"))
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		place(t, filepath.Join(dir, "index.html"), "mine too")
		want := contents(t, dir)
		refused(t, "partwise: "+dir, append(tinyRun, "--out", dir)...)
		refused(t, dir, "report", dir)
		compareFolder(t, name+" in a folder of the user's", dir, want)

		if err := os.CopyFS(dir+"-written", os.DirFS("written")); err != nil {
			t.Fatal(err)
		}
		dir += "-written"
		place(t, filepath.Join(dir, filepath.FromSlash(name)), "mine")
		want = contents(t, dir)
		if name != "results.jsonl" { // which grows: see below
			refused(t, filepath.Join(dir, filepath.FromSlash(name)), append(tinyRun, "--out", dir)...)
			compareFolder(t, name+" is inside the results folder", dir, want)
		}
		switch strings.SplitN(name, "/", 2)[0] {
		case "index.html", "tables", "curves", "bases", "coefficients", "confusion", "patches", "words", "photographs.json":
			refused(t, filepath.Join(dir, filepath.FromSlash(name)), "report", dir)
			compareFolder(t, name+" among results that are reported", dir, want)
		}
	}
	// A log that was edited keeps every line.
	dir := filepath.Join("mine", "results.jsonl-written")
	write(t, filepath.Join(dir, "results.jsonl"), "mine\n"+read(t, "written", "results.jsonl"))
	code, _, stderr := partwise(append(tinyRun, "--out", dir)...)
	if code != exitDone || !strings.Contains(stderr, "has lines that are damaged or from another version of partwise,") {
		t.Errorf("a log with a note: %d, %q", code, stderr)
	}
	if log := read(t, dir, "results.jsonl"); log != read(t, "written", "results.jsonl")+"mine\n" {
		t.Errorf("a log with a note became\n%s", log)
	}
	// Groups are not written among an experiment's results, nor results among groups.
	refused(t, "written has results of partwise run: choose another folder", groupPhotos("written")...)
	must(t, groupPhotos("groups")...)
	refused(t, "groups has results of partwise cluster: choose another folder", append(tinyRun, "--out", "groups")...)
}

// TestRunInUse: a folder with a running run is refused at once, without messages about trials.
func TestRunInUse(t *testing.T) {
	workplace(t)
	must(t, tinyRun...)
	folder, err := output.Open(filepath.Join("results", "tiny"), output.Spec{Command: "run"})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, args := range [][]string{tinyRun, {"report", filepath.Join("results", "tiny")}} {
		code, _, stderr := partwise(args...)
		if want := "partwise: " + filepath.Join("results", "tiny") + ": another partwise process is using this folder\n"; code != exitFailed || stderr != want {
			t.Errorf("%v: %d and %q, want %q", args, code, stderr, want)
		}
	}
}

// TestOneNameTwice: two experiments with one default folder are distinguished before any work.
func TestOneNameTwice(t *testing.T) {
	workplace(t)
	if err := os.CopyFS("b/photos", os.DirFS("photos")); err != nil {
		t.Fatal(err)
	}
	flags := strings.Fields("--features pixels=8 --method nmf,iterations=3 --classes 2 --repeats 1")
	must(t, slices.Concat([]string{"run", "--set", "photos,pattern='{class}-*'"}, flags)...)
	want := contents(t, "results")
	refused(t, filepath.Join("results", "photos")+" has results of the experiment photos (data: photos, pattern {class}-*), not of photos (data: b/photos, pattern {class}-*",
		slices.Concat([]string{"run", "--set", "b/photos,pattern='{class}-*'"}, flags)...)
	compareFolder(t, "the first experiment", "results", want)
	must(t, slices.Concat([]string{"run", "--set", "./photos,pattern='{class}-*'"}, flags, []string{"--repeats", "2"})...)
}

// TestGroupsOfOneName: by default, groups do not replace the groups of another folder with the same name.
func TestGroupsOfOneName(t *testing.T) {
	workplace(t)
	if err := os.CopyFS("b/photos", os.DirFS("photos")); err != nil {
		t.Fatal(err)
	}
	must(t, append([]string{"cluster", "photos"}, quick...)...)
	want := contents(t, "results")
	refused(t, filepath.Join("results", "photos-groups")+" has results of photos, not of b/photos: choose another folder",
		append([]string{"cluster", "b/photos"}, quick...)...)
	compareFolder(t, "the first groups", "results", want)
	must(t, append([]string{"cluster", "./photos/", "-k", "4"}, quick[2:]...)...)
}

// TestModelOfAnotherShape: a model that does not fit the images is left out of the page, with a note.
func TestModelOfAnotherShape(t *testing.T) {
	workplace(t)
	must(t, tinyRun...)
	must(t, append(tinyRun, "--name", "larger", "--features", "pixels=9")...)
	model := func(name string) string {
		found, err := filepath.Glob(filepath.Join("results", name, "models", "nmf-*.npz"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	write(t, model("tiny"), read(t, model("larger")))
	code, out, stderr := partwise("report", "results/tiny")
	if code != exitDone || !strings.Contains(stderr, model("tiny")+" have 81 values") || !strings.Contains(out, "4 of 4 trials") {
		t.Errorf("%d, %q, %q", code, out, stderr)
	}
	page := read(t, "results", "tiny", "index.html")
	if !strings.Contains(page, "the parts of nmf are not shown") || strings.Contains(page, "bases/nmf.png") || !strings.Contains(page, "bases/gnmf.png") {
		t.Error("the page must leave out the parts of nmf only, and say so")
	}
	if _, err := os.Stat("results/tiny/bases/nmf.png"); !os.IsNotExist(err) {
		t.Errorf("the picture of before is still there: %v", err)
	}
}
