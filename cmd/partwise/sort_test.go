package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/filing"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/report"
)

// listed returns what is below a folder.
func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestSort(t *testing.T) {
	workplace(t)
	// Two pictures of one name, and a name that no ASCII has.
	pictures := listed(t, "photos")
	for _, dir := range []string{"photos/früh", "photos/spät"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, dir+"/Bild 1.png", read(t, pictures[0]))
	}
	for i, file := range pictures { // all of them in folders
		if err := os.Rename(file, filepath.Join([]string{"photos/früh", "photos/spät"}[i%2], filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, "photos")
	write(t, "told.csv", "file,class\nfrüh/Bild 1.png,Früh am Tag\n")
	must(t, "cluster", "photos", "-k", "3", "--labels", "told.csv", "--method", "kmeans", "--out", "groups")

	out := must(t, "sort", "groups", "--to", "sorted", "--move")
	if want := "74 pictures moved into 3 folders of sorted; --undo takes it back.\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	if left := listed(t, "photos"); len(left) > 0 {
		t.Errorf("left among the pictures: %v", left)
	}
	sorted := listed(t, "sorted")
	for _, want := range []string{"sorted/Früh am Tag/Bild 1.png", "sorted/Früh am Tag/spät-Bild 1.png"} {
		if !slices.Contains(sorted, want) {
			t.Errorf("no %s in %v", want, sorted)
		}
	}
	if out := must(t, "sort", "groups", "--to", "sorted", "--undo"); out != "74 pictures moved back.\n" {
		t.Errorf("printed %q", out)
	}
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %v, want %v", after, before)
	}
	if _, err := os.Stat("sorted"); err == nil {
		t.Errorf("sorted is left, with %v", listed(t, "sorted"))
	}

	// Moved within their own folder, grouped by hand.
	list := "file,group\n"
	for _, name := range before {
		list += strings.TrimPrefix(name, "photos/") + ",12\n"
	}
	write(t, "groups/assignments.csv", list)
	must(t, "sort", "groups", "--to", "photos", "--move")
	if sorted := listed(t, "photos"); !slices.Contains(sorted, "photos/group-12/Bild 1.png") {
		t.Errorf("%v", sorted)
	}
	if err := os.RemoveAll("groups"); err != nil { // the journal is enough
		t.Fatal(err)
	}
	must(t, "sort", "groups", "--to", "photos", "--undo")
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %v, want %v", after, before)
	}
}

func TestSortMistakes(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--out", "groups")
	must(t, "cluster", "generated", "-k", "2", "--method", "kmeans", "--out", "vectors")
	list := read(t, "groups", "assignments.csv")
	photos := listed(t, "photos")
	mkdir := os.MkdirAll("taken/group-1", 0o777)
	if mkdir != nil {
		t.Fatal(mkdir)
	}
	for line, want := range map[string]string{
		"sort groups --copy":                                  "say it with --to",
		"sort groups --to sorted":                             "say one of --copy, --link and --move",
		"sort groups --to sorted --copy --link":               "say one of --copy, --link and --move",
		"sort groups --to sorted --copy --undo":               "leave out --copy",
		"sort photos --to sorted --copy":                      "photos is no folder of results",
		"sort groups --to taken --copy":                       filepath.Join("taken", "group-1") + " is there already",
		"sort groups --to photos/x --copy":                    "among the pictures",
		"sort groups --to sorted --copy --pictures elsewhere": `"elsewhere" is no known set, file or folder`,
		"sort groups --to sorted --undo":                      "no files were sorted into sorted",
		"sort vectors --to sorted --link":                     "no image files",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(list, ",1,", ",one,", 1):    `group "one"; want a number from 1`,
		list + "nobody.png,1,\n":                    `line 74: there is no picture "nobody.png"`,
		list + photos[3][len("photos/"):] + ",1,\n": "line 74: there is no picture",
		"name,group\nx,1\n":                         `there is no column "file"`,
		"file,group\n":                              "no sample is listed",
		"file,group\nx\n":                           "record on line 2",
		"":                                          "line 1",
	} {
		write(t, "groups/assignments.csv", text)
		if code, _, stderr := partwise("sort", "groups", "--to", "sorted", "--move"); code != exitFailed || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%.60q: exit code %d, said %q, want %q", text, code, stderr, want)
		}
	}
	if _, err := os.Stat("sorted"); err == nil {
		t.Error("a refusal made the folder sorted")
	}
	if after := listed(t, "photos"); !slices.Equal(photos, after) {
		t.Errorf("now there are %v", after)
	}
}

// TestSortCorrections: sort takes the corrections of an explore that is at work or was killed, and
// says where there are some of earlier groups.
func TestSortCorrections(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4", "--out", "groups")
	address, finish := exploring(t, "groups")
	state := post(t, address+"act", feedback.Act{Do: feedback.Move, Pictures: []int{0, 1}, Name: "Früh"})
	size := 0
	for _, g := range state.Groups {
		if g == state.Groups[0] {
			size++
		}
	}
	_, _, said := partwise("sort", "groups", "--to", "sorted", "--copy")
	if files := listed(t, filepath.Join("sorted", "Früh")); len(files) != size || !strings.Contains(said, filepath.Join("groups", "feedback", "groups.csv")) {
		t.Errorf("%d files of %d in the corrected group; said %q", len(files), size, said)
	}
	must(t, "sort", "--to", "sorted", "--undo")
	finish()
	must(t, "sort", "groups", "--to", "sorted", "--link") // silent, as they are in the results
	must(t, "sort", "--to", "sorted", "--undo")
	must(t, "cluster", "photos", "-k", "3", "--out", "groups")
	if code, _, said := partwise("sort", "groups", "--to", "sorted", "--copy"); code != exitDone || !strings.Contains(said, "partwise explore groups applies them") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

// TestSortWithoutResults: a stranger's journal without results moves images alone.
func TestSortWithoutResults(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"home", "sorted/g"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "sorted/g/evil", "evil")
	write(t, "sorted/g/a.jpg", "a")
	home, err := filepath.Abs("home")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "sorted/"+filing.JournalFile, fmt.Sprintf("{\"format\":1,\"way\":\"move\"}\n{\"from\":%q,\"to\":\"g/evil\"}\n{\"from\":%q,\"to\":\"g/a.jpg\"}\n",
		filepath.Join(home, ".profile"), filepath.Join(home, "a.jpg")))
	code, _, stderr := partwise("sort", "--to", "./sorted", "--undo")
	if files := listed(t, "home"); code != exitFailed || !strings.Contains(stderr, "--pictures") || !slices.Equal(files, []string{"home/a.jpg"}) {
		t.Errorf("exit code %d, said %q, and there are %v", code, stderr, files)
	}
}

// TestPlaces: folders are called as groups are, and no two as one on any file system.
func TestPlaces(t *testing.T) {
	files := map[string]string{}
	var assigned []report.Assignment
	for i, name := range []string{"Summer 2019", "summer 2019", "Café", "CAFE\u0301", "AC/DC", "", "夏休み"} {
		sample := fmt.Sprintf("%d.jpg", i)
		files[sample] = "/photos/" + sample
		assigned = append(assigned, report.Assignment{Sample: sample, Group: i + 1, Name: name})
	}
	items, err := places(assigned, files, "")
	var got []string
	for _, it := range items {
		got = append(got, path.Dir(it.To))
	}
	if want := []string{"Summer 2019", "summer 2019-2", "Café", "CAFE\u0301-2", "AC-DC", "group-6", "夏休み"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
