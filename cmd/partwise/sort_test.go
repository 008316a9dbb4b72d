package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
)

// listed returns the paths below a folder.
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
	// Two images with one name, and a name outside of ASCII.
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
	write(t, "given.csv", "file,class\nfrüh/Bild 1.png,Früh am Tag\n")
	must(t, "cluster", "photos", "-k", "3", "--labels", "given.csv", "--method", "kmeans", "--out", "groups")

	out := must(t, "sort", "groups", "--to", "sorted", "--move")
	if want := "74 images moved into 3 folders in sorted; --undo reverses this.\n"; out != want {
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
	if out := must(t, "sort", "groups", "--to", "sorted", "--undo"); out != "74 files moved back.\n" {
		t.Errorf("printed %q", out)
	}
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %v, want %v", after, before)
	}
	if _, err := os.Stat("sorted"); err == nil {
		t.Errorf("sorted is left, with %v", listed(t, "sorted"))
	}

	// Moved within their own folder, with groups edited by hand.
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

// TestSortPartners: sidecars, raw images and live videos go with their image and come back, and nothing else does.
func TestSortPartners(t *testing.T) {
	workplace(t)
	var pictures []string
	for _, name := range listed(t, "photos")[:6] {
		pictures = append(pictures, read(t, name))
	}
	if err := os.RemoveAll("photos"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a/IMG_1.PNG": pictures[0], "a/img_1.xmp": "1", "a/IMG_1.PNG.xmp": "2", "a/IMG_1.CR2": "II*\x00 raw", "a/IMG_1.cr2.XMP": "3", "a/IMG_1.mov": "live",
		"b/IMG_1.PNG": pictures[1], "b/IMG_1.AAE": "4",
		"b/img_1.jpg": pictures[2], // an image, no partner
		"b/2.png":     pictures[3], "b/20.mov": "another", "b/2.txt": "notes", "b/alone.MP4": "video", "b/3.png": pictures[4], "b/4.png": pictures[5],
	} {
		if err := os.MkdirAll(filepath.Dir("photos/"+name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, "photos/"+name, text)
	}
	before := listed(t, "photos")
	_, _, said := partwise("cluster", "photos", "-k", "2", "--method", "kmeans", "--out", "groups")
	if want := "ignored: 1 raw image beside an image of the same name (a/IMG_1.CR2), 4 sidecars (a/IMG_1.PNG.xmp, a/IMG_1.cr2.XMP, a/img_1.xmp, …), " +
		"3 videos (a/IMG_1.mov, b/20.mov, b/alone.MP4), 1 file that is not an image (b/2.txt)\n"; !strings.Contains(said, want) {
		t.Errorf("cluster said %q, want %q", said, want)
	}
	write(t, "groups/assignments.csv", "file,group\na/IMG_1.PNG,1\nb/IMG_1.PNG,1\nb/img_1.jpg,1\nb/2.png,1\nb/3.png,1\nb/4.png,1\n")
	sorted := []string{"2.png", "3.png", "4.png", "IMG_1.CR2", "IMG_1.PNG", "IMG_1.PNG.xmp", "IMG_1.cr2.XMP", "IMG_1.mov", "IMG_1.xmp", "b-IMG_1.AAE", "b-IMG_1.PNG", "img_1.jpg"}
	for i := range sorted {
		sorted[i] = "sorted/group-1/" + sorted[i]
	}
	for way, did := range map[string]string{"--copy": "copied", "--link": "linked", "--move": "moved"} {
		out := must(t, "sort", "groups", "--to", "sorted", way)
		if want := "6 images with 6 partner files " + did + " into 1 folder in sorted; --undo reverses this.\n"; out != want {
			t.Errorf("%s printed %q, want %q", way, out, want)
		}
		got := slices.DeleteFunc(listed(t, "sorted"), func(name string) bool { return strings.Contains(name, filing.JournalFile) })
		if !slices.Equal(got, sorted) || read(t, "sorted/group-1/IMG_1.cr2.XMP") != "3" || read(t, "sorted/group-1/b-IMG_1.AAE") != "4" {
			t.Errorf("%s made %q, want %q", way, got, sorted)
		}
		must(t, "sort", "--to", "sorted", "--undo")
		if after := listed(t, "photos"); !slices.Equal(before, after) {
			t.Errorf("after %s and --undo there are %q, want %q", way, after, before)
		}
	}

	// The partner of an image that stays stays too.
	if err := os.Rename("photos/a/IMG_1.PNG", "elsewhere.png"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../elsewhere.png", "photos/a/IMG_1.PNG"); err != nil {
		t.Fatal(err)
	}
	_, _, said = partwise("sort", "groups", "--to", "sorted", "--move")
	if left := listed(t, "photos/a"); len(left) != 6 || !strings.Contains(said, "IMG_1.mov is not moved: it stays with ") {
		t.Errorf("left are %q; said %q", left, said)
	}
}

// TestTag: sidecars get the names of groups, and come back as they were.
func TestTag(t *testing.T) {
	workplace(t)
	photos := listed(t, "photos")
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--out", "groups")
	stem := strings.TrimSuffix(photos[0], ".png")
	const old = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>`
	write(t, stem+".XMP", old)
	write(t, stem+".cr2", "raw")
	write(t, stem+".cr2.xmp", old)
	list := "file,group,name\n"
	for i, name := range photos {
		list += fmt.Sprintf("%s,%d,%s\n", filepath.Base(name), min(i, 2), []string{"none of these", "Früh", ""}[min(i, 2)])
	}
	list = strings.Replace(list, ",0,none of these", ",2,", 1)
	list = strings.Replace(list, "png,1,Früh", "png,0,none of these", 1)
	write(t, "groups/assignments.csv", list)
	before := listed(t, "photos")
	if out := must(t, "tag", "groups"); out != "71 sidecars written in photos, of which 1 existed before; --undo reverses this.\n" {
		t.Errorf("printed %q", out)
	}
	if text := read(t, stem+".XMP"); !strings.Contains(text, ">group-2<") || !strings.Contains(text, ">partwise|group-2<") || read(t, stem+".cr2.xmp") != old {
		t.Errorf("wrote %s", text)
	}
	if _, err := os.Stat(photos[1] + ".xmp"); err == nil {
		t.Error("a photo in no group has a keyword")
	}
	refused(t, "photos has keywords of partwise already; undo these first", "tag", "groups")
	if out := must(t, "tag", "groups", "--undo"); out != "71 sidecars removed or restored.\n" || read(t, stem+".XMP") != old {
		t.Errorf("printed %q", out)
	}
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %q, want %q", after, before)
	}
	refused(t, "photos has no keywords of partwise", "tag", "groups", "--undo")
	must(t, "tag", "groups", "--csv", "tags.csv")
	if table := read(t, "tags.csv"); strings.Count(table, "\n") != 72 || !strings.Contains(table, filepath.ToSlash(photos[0])+",group-2,partwise|group-2\n") {
		t.Errorf("listed %s", table)
	}
	refused(t, "tags.csv already exists; --force replaces it", "tag", "groups", "--csv", "tags.csv")
	refused(t, "photos is not a results folder", "tag", "photos")
	refused(t, "photos is not a results folder of partwise: it has no .partwise.jsonl; set --pictures", "tag", "photos", "--undo")
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
		"sort groups --copy":                                  "--to is missing",
		"sort groups --to sorted":                             "one of --copy, --link, --move, --undo is missing",
		"sort groups --to sorted --copy --link":               "--copy and --link cannot be used together",
		"sort groups --to sorted --copy --undo":               "--copy and --undo cannot be used together",
		"sort photos --to sorted --copy":                      "photos is not a results folder",
		"sort groups --to taken --copy":                       filepath.Join("taken", "group-1") + " already exists",
		"sort groups --to photos/x --copy":                    "is inside the folder of the photos; choose another with --to",
		"sort groups --to sorted --copy --pictures elsewhere": `no known set, file or folder is called "elsewhere"`,
		"sort groups --to sorted --undo":                      "sorted has no sorted files: no",
		"sort vectors --to sorted --link":                     "are not image files",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(list, ",1,", ",one,", 1):    `group "one": expected a number from 1`,
		list + "nobody.png,1,\n":                    `line 74: no photo is called "nobody.png"`,
		list + photos[3][len("photos/"):] + ",1,\n": "line 74: no photo is called",
		"name,group\nx,1\n":                         `no column "file"`,
		"file,group\n":                              "the file lists no samples",
		"file,group\nx\n":                           "record on line 2",
		"":                                          "line 1",
	} {
		write(t, "groups/assignments.csv", text)
		if code, _, stderr := partwise("sort", "groups", "--to", "sorted", "--move"); code != exitFailed || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%.60q: exit code %d, said %q, want %q", text, code, stderr, want)
		}
	}
	if _, err := os.Stat("sorted"); err == nil {
		t.Error("a rejected command created the folder sorted")
	}
	if after := listed(t, "photos"); !slices.Equal(photos, after) {
		t.Errorf("now there are %v", after)
	}
}

// TestSortCorrections: sort uses the corrections of a running or killed explore, and reports corrections of earlier
// groups.
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

// TestSortWithoutResults: a foreign journal without results moves images only.
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

// assignments returns the groups and the confidence of the samples of a list.
func assignments(t *testing.T, text string) (group map[string]string, confidence map[string]float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	group, confidence = map[string]string{}, map[string]float64{}
	at := slices.Index(lines[0], "confidence")
	for _, line := range lines[1:] {
		c, err := strconv.ParseFloat(line[at], 64)
		if err != nil || c < 0 || c > 1 {
			t.Errorf("the confidence of %s is %q", line[0], line[at])
		}
		group[line[0]], confidence[line[0]] = line[1], c
	}
	return group, confidence
}

// TestAssign: with every kind of features and methods, a grouped image gets its group again, also under another name,
// and so does a nearly equal one.
func TestAssign(t *testing.T) {
	workplace(t)
	names := photos(t)
	labels := ""
	for i, name := range names {
		if class := strings.SplitN(name, "-", 2)[0]; i%3 == 0 && class < "l" && class != "cat" {
			labels += name + "," + class + "\n"
		}
	}
	write(t, "given.csv", labels)
	for i, line := range []string{
		"--method kmeans",
		"--method nmf,iterations=20 --features hog",
		"--method nmf-kl,iterations=20 --features pixels=12,colour=true,normalise=l1,power=0.5,crop=square",
		"--method cnmf,iterations=20 --labels given.csv",
		"--method cf,iterations=20 --cluster by=ncut",
		"--method kmeans --features {sift:{at:dense,step:4,bins:[2,3]},words:{count:9,nearest:2},grid:1x1+2x2,idf:true,power:0.5}",
		"--method nmf,iterations=20 --features [{sift:{at:dense,step:4,bins:2},words:9,grid:2x2},{colour:hsv,grid:2x2,weight:0.2}]",
		"--method nmf,iterations=20 --cluster largest --rank 3",
		"--method ss-nmf,iterations=20 --labels given.csv --rank 3", "--method pca", "--method cf,iterations=20,kernel=rbf", "--method sparse-coding,iterations=3",
		"--method nmf,iterations=2 --batch 30 --features pixels=8",
	} {
		line = strings.NewReplacer(":", ": ").Replace(line)
		var args []string
		for _, word := range strings.Split(line, " --") {
			flag, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), " ")
			args = append(args, "--"+flag, value)
		}
		dir := "groups" + strconv.Itoa(i)
		if code, _, stderr := partwise(append([]string{"cluster", "photos", "-k", "3", "--out", dir}, args...)...); code != exitDone {
			t.Errorf("%s: %s", line, stderr)
			continue
		}
		want, sure := assignments(t, read(t, dir, "assignments.csv"))
		out := must(t, "assign", dir, "photos", "--out", "again.csv", "--force")
		if !strings.Contains(out, "72 samples in 3 groups:") || !strings.Contains(out, "72 were clustered before") {
			t.Errorf("%s: printed %q", line, out)
		}
		got, _ := assignments(t, read(t, "again.csv"))
		if len(got) != len(want) {
			t.Errorf("%s: %d samples", line, len(got))
		}
		for name, group := range want {
			if got[name] != group {
				t.Errorf("%s: %s is in group %s, and was in %s", line, name, got[name], group)
			}
		}
		// With one more byte an image is another file, and looks the same.
		if err := os.RemoveAll("new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir("new", 0o777); err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, name := range names {
			if sure[name] > 0.1 {
				write(t, filepath.Join("new", name), read(t, "photos", name)+"\x00")
				checked++
			}
		}
		_, list, stderr := partwise("assign", filepath.Join(dir, "model.npz"), "new", "--reject", "0")
		if !strings.HasSuffix(stderr, "0 in no group.\n") {
			t.Errorf("%s: said %q", line, stderr)
		}
		got, _ = assignments(t, list)
		wrong := 0
		for name, group := range got {
			if group != want[name] {
				wrong++
			}
		}
		most := checked / 10
		if strings.Contains(line, "ss-nmf") {
			most = checked / 2 // it factorises similarities and has no model for new samples
		}
		if checked < 20 || wrong > most {
			t.Errorf("%s: %d of %d pictures that look the same are in another group", line, wrong, checked)
		}
	}
}

// TestAssignNone: images unlike all grouped ones get no group, and assignments can be sorted.
func TestAssignNone(t *testing.T) {
	workplace(t)
	if err := os.MkdirAll("strange", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range photos(t) {
		if strings.HasPrefix(name, "cat") {
			if err := os.Rename(filepath.Join("photos", name), filepath.Join("strange", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, "given.csv", "aeroplane-010.png,=Aero\n")
	must(t, "cluster", "photos", "-k", "3", "--method", "kmeans", "--features", "hog", "--labels", "given.csv", "--out", "groups")
	must(t, "assign", "groups", "strange", "--out", "strange.csv")
	group, _ := assignments(t, read(t, "strange.csv"))
	none := 0
	for _, g := range group {
		if g == "0" {
			none++
		}
	}
	if none < len(group)*3/4 || none == 0 {
		t.Errorf("%d of %d strange pictures belong to none of the groups", none, len(group))
	}
	out := must(t, "sort", "strange.csv", "--pictures", "strange", "--to", "sorted", "--copy")
	if sorted := listed(t, "sorted"); !slices.ContainsFunc(sorted, func(f string) bool { return strings.HasPrefix(f, "sorted/none of these/cat-") }) {
		t.Errorf("printed %q, made %v", out, sorted)
	}
	text := must(t, "assign", "groups", "photos", "--out", "known.csv")
	if list := read(t, "known.csv"); !strings.Contains(list, ",'=Aero,") || strings.Contains(list, "none of these") || !strings.Contains(text, "0 in no group") {
		t.Errorf("printed %q, listed\n%s", text, list)
	}
	out = must(t, "assign", "groups", "photos/aeroplane-010.png", "--out", "one.csv")
	if list := read(t, "one.csv"); !strings.Contains(out, "1 sample in 3 groups") || strings.Count(list, "\n") != 2 {
		t.Errorf("printed %q, listed %q", out, list)
	}
}

// TestAssignMistakes: impossible input is one error before an image is read.
func TestAssignMistakes(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--out", "groups")
	must(t, "cluster", "generated", "-k", "2", "--method", "kmeans", "--out", "vectors")
	must(t, "run", "docs/experiments/demo.yaml", "--classes", "2", "--repeats", "1", "--out", "ran")
	model := read(t, "groups", "model.npz")
	write(t, "photos/broken.png", "no picture")
	write(t, "damaged.npz", model[:len(model)/2])
	write(t, "there.csv", "mine")
	write(t, "numbers.csv", "1,2\n3,4\n")
	for line, want := range map[string]string{
		"assign groups":                               "partwise assign MODEL PICTURES",
		"assign groups photos --reject 2":             "--reject 2: expected a fraction from 0 to 1",
		"assign photos photos":                        "photos is not a results folder",
		"assign ran photos":                           "ran holds results of partwise run, which have no groups; use partwise apply with a file in",
		"assign there.csv photos":                     "there.csv: not a usable model:",
		"assign damaged.npz photos":                   "damaged.npz: not a usable model:",
		"assign missing.npz photos":                   "missing.npz",
		"assign groups photos --out there.csv":        "there.csv already exists",
		"assign groups photos --out none/there.csv":   "none",
		"assign groups nothing":                       `no known set, file or folder is called "nothing"`,
		"assign groups generated":                     "the samples of generated are images of 32×32 pixels in vectors, but the model needs image files",
		"assign vectors photos":                       "the samples of photos are image files, but the model needs images of 32×32 pixels in vectors",
		"assign vectors numbers.csv":                  "vectors of 2 values, but",
		"assign groups/model.npz photos --strict":     "broken.png",
		"assign groups photos --out groups/model.npz": "a file of the input groups would be replaced by --out groups/model.npz; choose another",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
	if code, _, stderr := partwise("assign", "groups", "photos"); code != exitDone || !strings.Contains(stderr, "skipped 1 of 73 files: 1 ") {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	if read(t, "there.csv") != "mine" || read(t, "groups", "model.npz") != model {
		t.Error("a refusal changed a file")
	}
}

// A mirrored copy is found and shown, moved away and back, and remembered to be another photo.
func TestClean(t *testing.T) {
	workplace(t)
	if err := os.RemoveAll("photos"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("photos", 0o777); err != nil {
		t.Fatal(err)
	}
	encoded := func(img image.Image) []byte {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 95}); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	const w, h = 200, 150
	mirrored := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range 6 {
		src, img := rand.New(rand.NewPCG(uint64(i), 1)), image.NewRGBA(mirrored.Rect)
		for range 80 {
			x, y := src.IntN(w), src.IntN(h)
			colour := color.RGBA{uint8(src.IntN(256)), uint8(src.IntN(256)), uint8(src.IntN(256)), 255}
			draw.Draw(img, image.Rect(x, y, x+10+src.IntN(40), y+10+src.IntN(40)), image.NewUniform(colour), image.Point{}, draw.Src)
		}
		write(t, fmt.Sprintf("photos/%d.jpg", i), string(encoded(img)))
		for p := range w * h {
			mirrored.Set(p%w, p/w, img.At(w-1-p%w, p/w))
		}
	}
	const first = "5.jpg"
	// An EXIF block in big-endian order, with the camera and, in a directory of its own, the time.
	const capture = "\xff\xe1\x00\x5eExif\x00\x00MM\x00*\x00\x00\x00\x08" +
		"\x00\x02\x01\x10\x00\x02\x00\x00\x00\x0a\x00\x00\x00\x26\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x30\x00\x00\x00\x00" + "NIKON D80\x00" +
		"\x00\x01\x90\x03\x00\x02\x00\x00\x00\x14\x00\x00\x00\x42\x00\x00\x00\x00" + "2020:05:17 08:30:00\x00"
	photo := string(encoded(mirrored))
	write(t, "photos/mirrored.jpg", photo[:2]+capture+photo[2:])
	before := listed(t, "photos")
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--features", "pixels=16", "--out", "groups")
	if out := must(t, "clean", "groups"); !strings.HasPrefix(out, "1 copy in 1 stack") {
		t.Errorf("printed %q", out)
	}
	page := read(t, "groups/clean/index.html")
	for _, want := range []string{"<b>Keep</b> mirrored.jpg", "2020-05-17 08:30:00", "NIKON D80", `href="../../photos/mirrored.jpg"`, `src="../pictures/000`} {
		if !strings.Contains(page, want) { // the photo of a camera is kept
			t.Errorf("the page has no %q", want)
		}
	}
	if data := read(t, "groups/page/data.js"); !strings.Contains(data, `,"2020-05-17 08:30:00","NIKON D80",""]]`) {
		t.Error("the capture is not in the data of the page")
	}
	must(t, "clean", "groups", "--to", "removed")
	if got := listed(t, "removed"); !slices.Contains(got, "removed/copies/"+first) || len(listed(t, "photos")) != len(before)-1 {
		t.Errorf("moved %v", got)
	}
	// Other commands leave out the moved photo.
	const left = "partwise: left out: 1 photo, listed by partwise clean and no longer in photos\n"
	for _, args := range []string{"sort groups --to sorted --copy", "tag groups --csv tags.csv", "clean groups --to more"} {
		code, stdout, stderr := partwise(strings.Fields(args)...)
		if code != exitDone || stderr != left || !strings.HasPrefix(stdout, "6 ") && !strings.HasSuffix(stdout, "No photo is moved.\n") {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
	explored := func(photos int, acts ...feedback.Act) string {
		address, finish := exploring(t, "groups")
		for _, a := range acts {
			post(t, address+"act", a)
		}
		p := browsertest.Open(t, address)
		p.Run(fmt.Sprintf(`
await until(() => $("#work").hidden);
const state = await (await fetch("state")).json();
check(state.groups.length === %d && partwise.pictures.length === %[1]d, state.groups.length, "photos in groups");
check(partwise.pictures.every((p, i) => p.group === state.groups[i]), "the page shows other groups");`, photos), nil)
		p.Go("about:blank")
		return finish()
	}
	if said := explored(6); !strings.Contains(said, "No corrections") {
		t.Errorf("explore printed %q", said)
	}
	must(t, "clean", "--to", "removed", "--undo")
	explored(7, feedback.Act{Do: feedback.Move, Pictures: []int{4, 5}, Name: "both"})
	must(t, "clean", "groups", "--to", "removed")
	explored(6, feedback.Act{Do: feedback.Apart, Pictures: []int{0, 1}})
	if list := read(t, "groups/assignments.csv"); strings.Count(list, "\n") != 7 || !strings.Contains(list, "both") {
		t.Errorf("after corrections: %s", list)
	}
	must(t, "clean", "--to", "removed", "--undo")
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %v, want %v", after, before)
	}
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--features", "pixels=16", "--out", "groups")
	must(t, "clean", "groups", "--not-same", "mirrored.jpg,"+first)
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--features", "pixels=16", "--out", "groups")
	if list := read(t, "groups/pictures.csv"); strings.Contains(list, ",near,") {
		t.Errorf("after --not-same, cluster finds %s", list)
	}
	if out := must(t, "clean", "groups", "--to", "removed"); !strings.HasSuffix(out, "No photo is moved.\n") {
		t.Errorf("after --not-same: printed %q", out)
	}
	write(t, "groups/not-same.csv", "file\n")
	if code, _, stderr := partwise("cluster", "photos", "-k", "2", "--out", "groups"); code == 0 || !strings.Contains(stderr, `not-same.csv: line 1: no column "other"`) {
		t.Errorf("a list without pairs: %s", stderr)
	}
	for _, args := range [][]string{{"--not-same", "a.jpg"}, {"--to", "photos/removed"}, {"--kinds", "sharp"}, {"--not-same", "a.jpg,b.jpg"}, {"--undo"}} {
		if code, _, stderr := partwise(append([]string{"clean", "groups"}, args...)...); code == 0 {
			t.Errorf("%q: no error, %s", args, stderr)
		}
	}
}
