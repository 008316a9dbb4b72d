package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// guarded holds, for each flag that names an output, command lines and their inputs, which the flag must not name.
// PICTURE is one of the images, and LINKS/mixed a folder of links to folders of images.
var guarded = map[string]map[string][]string{
	"apply --out": {
		"apply m.npz photos --labels labels.csv": {"m.npz", "photos/mine.npz"},
		"apply m.npz LINKS/mixed":                {"photos/mine.npz"},
	},
	"assign --out": {
		"assign groups photos":           {"PICTURE", "photos/mine.npz", "groups/model.npz", "groups/assignments.csv"},
		"assign groups/model.npz photos": {"groups/model.npz", "PICTURE"},
		"assign groups PICTURE":          {"PICTURE"},
	},
	"cluster --out": {
		"cluster photos -k 2 --features pixels=4":                                 {"photos"},
		"cluster photos -k 2 --features pixels=4 --labels groups/assignments.csv": {"groups"},
		"cluster LINKS/mixed -k 2 --features pixels=4":                            {"groups"},
	},
	"draws --out": {"draws docs/experiments/demo.yaml --set photos": {"photos"}},
	"features --out": {
		"features photos --features sift=dense,words={from:m.npz}": {"m.npz", "photos/mine.npz"},
		"features LINKS/mixed --labels labels.csv":                 {"photos/mine.npz", "labels.csv"},
	},
	"features --words": {"features photos --out new.csv --features sift=dense,words={from:m.npz}": {"m.npz", "photos/mine.npz"}},
	"fit --out":        {"fit photos --rank 2 --start m.npz --trace new.csv": {"m.npz", "photos/mine.npz"}},
	"fit --trace": {
		"fit photos --rank 2 --out new.npz --labels labels.csv --links links.csv": {"labels.csv", "links.csv", "PICTURE"},
		"fit t10k-images-idx3-ubyte --rank 2 --out new.npz":                       {"t10k-labels-idx1-ubyte", "t10k-images-idx3-ubyte"},
		"fit vectors.csv --rank 2 --out new.npz":                                  {"vectors.csv", "PICTURE", "new.npz"},
	},
	"impute --out":   {"impute vectors.csv --rank 2 --trace new.csv": {"vectors.csv"}},
	"impute --trace": {"impute vectors.csv --rank 2 --out new.npz": {"vectors.csv", "new.npz"}},
	"join --out":     {"join groups": {"groups"}},
	"merge --out":    {"merge m.npz groups": {"m.npz"}},
	"pass --out":     {"pass m.npz photos/rows-00000-of-00001.npz": {"photos"}},
	"vocab --out":    {"vocab photos --passes 1": {"photos/mine.npz"}},
	"reproduce --doc": {
		"reproduce tiny.yaml":              {"tiny.yaml", "tiny.paper.yaml"},
		"reproduce tiny.yaml --set photos": {"PICTURE"},
		"reproduce tiny.yaml --out n":      {"n/tables/mine.csv"},
	},
	"reproduce --out": {"reproduce tiny.yaml --set n/tables/mine.csv": {"n"}},
	"tag --csv":       {"tag groups": {"groups/assignments.csv", "PICTURE"}},
	"run --out": {
		"run --set photos --method kmeans --repeats 1 --name n":                                   {"photos"},
		"run --set vectors.csv --method kmeans --links file=n/tables/mine.csv --name n":           {"n"},
		"run --set vectors.csv --method kmeans --features crop={eyes:n/tables/mine.csv} --name n": {"n"},
	},
}

// TestReadFilesStay: no output of a command replaces an input file or a file in an input folder, for any flags and
// spelling. A new text flag fails the test until flagUse has it, and an output flag until it has a line above. Profiles
// replace no file at all (TestProfileReplacesNothing).
func TestReadFilesStay(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	write(t, "tiny.yaml", strings.Replace(read(t, "tiny.yaml"), ", samples: 120", "", 1))
	picture := filepath.Join("photos", firstFile(t, "photos"))
	must(t, groupPhotos("groups")...)
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	write(t, "photos/mine.npz", "mine")
	write(t, "t10k-images-idx3-ubyte", "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x01\x02\x03\x04")
	write(t, "t10k-labels-idx1-ubyte", "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x00")
	write(t, "vectors.csv", "file,a,b\n"+filepath.ToSlash(picture)+",1,2\nb,2,1\nc,2,3\n")
	place(t, "n/tables/mine.csv", read(t, "vectors.csv"))
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	if err := os.Mkdir(filepath.Join(links, "mixed"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"here": ".", "mixed/photos": "photos", "mixed/groups": "groups"} {
		if err := os.Symlink(filepath.Join(here, to), filepath.Join(links, link)); err != nil {
			t.Skip(err)
		}
	}
	named := strings.NewReplacer("PICTURE", picture, "LINKS", links)
	want := contents(t, ".")

	flags := map[string]bool{} // of outputs
	var gather func(c *cobra.Command)
	gather = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains([]string{"bool", "int", "uint", "uint16", "uint64", "float64", "duration"}, f.Value.Type()) {
				return
			}
			use, known := useOf(c, f)
			if !known {
				t.Errorf("what does --%s of %s name? flagUse does not say", f.Name, c.Name())
			}
			if use == writes && f.Name != "profile" || f.Name == "out" {
				flags[c.Name()+" --"+f.Name] = true
			}
		})
		for _, c := range c.Commands() {
			gather(c)
		}
	}
	gather(rootCommand())
	for flag := range flags {
		if guarded[flag] == nil {
			t.Errorf("%s: no line of guarded has it", flag)
		}
	}
	for flag, lines := range guarded {
		command, flag, _ := strings.Cut(flag, " ")
		for line, files := range lines {
			for _, file := range files {
				file = named.Replace(file)
				spellings := []string{file, "./" + file, filepath.Join(here, file), filepath.Join("photos", "..", file), filepath.Join(links, "here", file)}
				if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
					link, hard := filepath.Join(links, "link"+filepath.Ext(file)), filepath.Join(links, "hard"+filepath.Ext(file))
					if os.Symlink(filepath.Join(here, file), link) == nil {
						spellings = append(spellings, link)
					}
					if os.Link(file, hard) == nil && !strings.Contains(file, "mine") && !strings.HasPrefix(file, "groups") {
						spellings = append(spellings, hard)
					}
				}
				for _, spelling := range spellings {
					args := append(strings.Fields(named.Replace(line)), flag, spelling)
					if c, _, err := rootCommand().Find([]string{command}); err == nil && c.Flags().Lookup("force") != nil {
						args = append(args, "--force")
					}
					code, _, stderr := partwise(args...)
					if code != exitUsage || !strings.Contains(stderr, " would be replaced by --") && !strings.Contains(stderr, "is inside the data folder") && !strings.Contains(stderr, "are both") {
						t.Errorf("partwise %s: exit code %d, said %q", strings.Join(args, " "), code, stderr)
					}
					compareFolder(t, "partwise "+strings.Join(args, " "), ".", want)
				}
				for _, link := range []string{"link", "hard"} {
					os.Remove(filepath.Join(links, link+filepath.Ext(file)))
				}
			}
		}
	}
}

// mixed makes the folder mixed: the photos of each class but one in a folder of its own, and the others beside these
// folders. It returns their number, the total, and a file of all classes.
func mixed(t *testing.T) (beside, all int, truth string) {
	t.Helper()
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	last, _, _ := strings.Cut(entries[len(entries)-1].Name(), "-")
	text := "file,class\n"
	for _, e := range entries {
		class, _, _ := strings.Cut(e.Name(), "-")
		name := class + "/" + e.Name()
		if class == last {
			name = e.Name()
			beside++
		}
		file := filepath.Join("mixed", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, file, read(t, "photos", e.Name()))
		text += name + "," + class + "\n"
	}
	write(t, "truth.csv", text)
	return beside, len(entries), "truth.csv"
}

// TestMixedFolder: images beside class folders have no class, which is reported. They are grouped and described with
// the others, and left out of experiments. The classes can also come from a file or from names, or be ignored.
func TestMixedFolder(t *testing.T) {
	workplace(t)
	beside, all, truth := mixed(t)
	note := fmt.Sprintf("partwise: %d images without a class, outside the class folders: ", beside)
	fast := []string{"--features", "pixels=8", "--method", "nmf,iterations=3"}
	experiment := []string{"run", "--features", "pixels=8", "--method", "kmeans", "--classes", "2", "--repeats", "1"}
	for _, c := range []struct {
		args            []string
		printed, stderr string
	}{
		{append([]string{"cluster", "mixed", "-k", "3"}, fast...), fmt.Sprintf("agreement with the classes, over the %d samples with a known class:\n  AC ", all-beside), note},
		{append([]string{"cluster", "mixed", "-k", "3", "--no-classes"}, fast...), fmt.Sprintf("%d images in 3 groups", all), ""},
		{append([]string{"cluster", "mixed", "--truth", truth}, fast...), "in 4 groups of ", ""},
		{append([]string{"cluster", "mixed", "--truth", truth}, fast...), "agreement with the classes of truth.csv:\n  AC ", ""},
		{append([]string{"cluster", "mixed", "--pattern", "{class}-*"}, fast...), "agreement with the classes:\n  AC ", ""},
		{[]string{"features", "mixed", "--features", "pixels=2", "--out", "mixed.csv"}, fmt.Sprintf("%d samples of ", all), note},
		{append(experiment, "--set", "mixed"), "curves: results/mixed/index.html", fmt.Sprintf("partwise: ignored: %d samples of unknown class\n", beside)},
		{append(experiment, "--set", "mixed,truth=truth.csv", "--name", "t"), "curves: results/t/index.html", ""},
		{append(experiment, "--set", "mixed,pattern={class}-*", "--name", "p"), "curves: results/p/index.html", ""},
	} {
		code, stdout, stderr := partwise(c.args...)
		if code != exitDone || !strings.Contains(filepath.ToSlash(stdout), c.printed) {
			t.Errorf("%v: exit code %d, printed %q", c.args, code, stdout)
		}
		if !strings.HasPrefix(stderr, c.stderr) || c.stderr == "" && stderr != "" {
			t.Errorf("%v: said %q, want %q", c.args, stderr, c.stderr)
		}
	}
	if out := must(t, append([]string{"cluster", "mixed", "-k", "3", "--no-classes", "--out", "none"}, fast...)...); strings.Contains(out, "agreement") {
		t.Errorf("printed %q", out)
	}

	// Refused before the first image is read; one is unreadable.
	write(t, "mixed/bad.png", "\x89PNG\r\n\x1a\nnot a picture")
	write(t, "nobody.csv", "nobody.png,x\n")
	before := contents(t, ".")
	for line, want := range map[string]string{
		"cluster mixed --no-classes --truth truth.csv":                          "both no-classes and truth",
		"cluster mixed --no-classes --pattern {class}-*":                        "both no-classes and pattern",
		"cluster mixed --no-classes --pool":                                     "both no-classes and pool",
		"cluster mixed --truth truth.csv --pattern {class}-*":                   "both truth and pattern",
		"cluster mixed --truth nobody.csv":                                      `truth nobody.csv: line 1: no sample is called "nobody.png"`,
		"cluster mixed --truth none.csv":                                        "truth: none.csv: no such file",
		"cluster mixed --pattern nothing{class}.*":                              `the pattern "nothing{class}.*" matches no name of the`,
		"cluster mixed --pattern nothing":                                       `pattern "nothing": it has no {class}`,
		"run --set mixed,no-classes=true --method nmf --name n":                 "mixed has no classes",
		"run --set mixed,truth=truth.csv,labels=labels.csv --method nmf":        "labels and truth both",
		"features mixed --labels labels.csv --truth truth.csv --out f.csv":      "--labels and --truth both",
		"run --set mixed,truth=truth.csv,no-classes=true --name n --method nmf": "both no-classes and truth",
		"features mixed --no-classes --truth truth.csv --out f.csv":             "both no-classes and truth",
		"cluster mixed -k 3 --labels truth.csv --pattern {class}-* --out away":  "both labels and pattern",
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d and %q, want %q", line, code, stderr, want)
		}
		compareFolder(t, "partwise "+line, ".", before)
	}
}

// TestSubfolders: the first line says how subfolders were read and how to change that. Folders named by dates and
// cameras give no classes, and so no number of groups, without --pool.
func TestSubfolders(t *testing.T) {
	workplace(t)
	for i, file := range photos(t)[:24] {
		place(t, filepath.Join("classes", []string{"cat", "dog", "owl"}[i%3], file), read(t, "photos", file))
		place(t, filepath.Join("dated", []string{"2019", "2020-05 Trip", "100CANON", "Family"}[i%4], file), read(t, "photos", file))
	}
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	must(t, groupPhotos("groups")...)
	const (
		classes = "subfolders read as classes: 3 (cat, dog, owl); set no-classes to ignore them"
		dated   = "subfolders are not read as classes, because 3 of 4 look like dates or camera folders (100CANON, 2019, 2020-05 Trip); set pool to read them as classes"
		pooled  = "subfolders read as classes: 4 (100CANON, 2019, 2020-05 Trip, Family); set no-classes to ignore them"
		chosen  = " groups (chosen from "
	)
	for line, want := range map[string]struct{ first, later, never string }{
		"cluster classes --features pixels=4 --out a":                   {classes, "in 3 groups", chosen},
		"cluster dated -k 2..4 --features pixels=4 --out b":             {dated, chosen, "agreement with"},
		"cluster dated --features pixels=4 --pool --out c":              {pooled, "in 4 groups", chosen},
		"cluster dated --features pixels=4 --no-classes --out d":        {"", chosen, "subfolders"},
		"cluster dated --features pixels=4 --pattern {class}/* --out e": {"", "in 4 groups", "subfolders"},
		"features classes --features pixels=4 --out a.csv":              {classes, "samples of", ""},
		"features dated --features pixels=4 --out b.csv":                {dated, "samples of", ""},
		"apply m.npz dated --out c.csv":                                 {dated, "coefficients", ""},
		"assign groups dated":                                           {"file,group,name,confidence", "", "subfolders"},
	} {
		code, out, stderr := partwise(strings.Fields(line)...)
		first, _, _ := strings.Cut(out, "\n")
		if code != exitDone || want.first != "" && first != want.first || !strings.Contains(out, want.later) || want.never != "" && strings.Contains(out+stderr, want.never) {
			t.Errorf("partwise %s: exit code %d, printed\n%s\nsaid %q\nwant %q", line, code, out, stderr, want)
		}
	}
	if text := read(t, "b.csv"); strings.Contains(text, ",Family,") {
		t.Errorf("there are classes:\n%.200s", text)
	}
	if page := read(t, "b", "index.html"); !strings.Contains(page, "subfolders are not read as classes, because") {
		t.Error("the page does not say how subfolders were read")
	}
	refused(t, "dated has no classes, which an experiment needs; its subfolders look like dates", strings.Fields("run --set dated --features pixels=4 --method kmeans --repeats 1")...)
	must(t, strings.Fields("run --set dated,pool=true --features pixels=4 --method kmeans --repeats 1 --classes 2")...)
}

// noise is a JPEG file whose parts take about equally many bytes.
func noise(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.Uint32())
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestSkipped: unusable files are skipped, counted by kind in one line and listed beside the output, also if features
// come from the cache. With --strict the first is an error; if no file is usable, that is an error.
func TestSkipped(t *testing.T) {
	workplace(t)
	for _, name := range photos(t)[24:] {
		if err := os.Remove(filepath.Join("photos", name)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, groupPhotos("groups")...)
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	whole := noise(t)
	write(t, "photos/whole.jpg", whole)
	write(t, "photos/cut.jpg", whole[:len(whole)*3/4])
	for i := range 30 {
		place(t, fmt.Sprintf("photos/phone/%d.heic", i), "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")
	}
	place(t, "photos/phone/short.jpg", whole[:len(whole)/3])
	place(t, "photos/phone/=text.png", "no picture")
	bad := [][]string{{"phone/=text.png", "not an image"}, {"phone/short.jpg", "truncated"}, {"cut.jpg", "truncated, partly used"}}
	want := "skipped 32 of 58 files: 31 truncated, 1 not an image; used 1 truncated JPEG file in part"
	if os.Symlink("..", "photos/phone/round") == nil {
		bad = append(bad, []string{"phone/round", "circular link"})
		want = "skipped 33 of 59 files: 31 truncated, 1 circular link, 1 not an image; used 1 truncated JPEG file in part"
	}
	for line, list := range map[string]string{
		"cluster photos -k 3 --features pixels=4 --out found":             "found/skipped.csv",
		"cluster photos -k 3 --features network --out network":            "network/skipped.csv",
		"cluster photos -k 3 --features hog+colour --out both":            "both/skipped.csv",
		"cluster photos -k 3 --features sift,words=9 --out words":         "words/skipped.csv",
		"cluster photos -k 3 --features pixels=4 --batch 10 --out blocks": "blocks/skipped.csv",
		"features photos --features pixels=4 --out f.csv":                 "f.csv.skipped.csv",
		"fit photos --rank 2 --features pixels=4 --out f.npz":             "f.npz.skipped.csv",
		"apply m.npz photos --out a.npz":                                  "a.npz.skipped.csv",
		"assign groups photos --out a.csv":                                "a.csv.skipped.csv",
		"assign groups photos":                                            "",
	} {
		args := strings.Fields(line)
		for range 2 { // the second time from the cache
			code, out, stderr := partwise(args...)
			warning := want
			if list != "" {
				warning += "; see " + filepath.FromSlash(list)
			}
			if code != exitDone || strings.Count(stderr, warning+"\n") != 1 || strings.Contains(stderr, ".heic") {
				t.Errorf("partwise %s: exit code %d, printed %q, said %q, want %q", line, code, out, stderr, warning)
			}
			if list == "" {
				continue
			}
			rows, err := csv.NewReader(strings.NewReader(read(t, list))).ReadAll()
			if err != nil || len(rows) != 1+30+len(bad) || strings.Join(rows[0], " ") != "file kind reason" {
				t.Errorf("%s: %d rows, %v", list, len(rows), err)
			}
			for _, b := range bad {
				if !slices.ContainsFunc(rows, func(row []string) bool {
					return strings.TrimPrefix(row[0], "'") == b[0] && row[1] == b[1] && row[2] != ""
				}) {
					t.Errorf("%s has no %q:\n%s", list, b, read(t, list))
				}
			}
			if !strings.HasPrefix(line, "cluster") && !slices.Contains(args, "--force") {
				refused(t, "already exists; --force replaces it", args...)
				args = append(args, "--force")
			}
		}
		before := contents(t, "groups")
		if code, _, stderr := partwise(append(slices.Clone(args), "--strict")...); code != exitFailed || strings.Contains(stderr, "skipped") {
			t.Errorf("partwise %s --strict: exit code %d, said %q", line, code, stderr)
		}
		compareFolder(t, line, "groups", before)
	}
	// A list of an earlier run does not stay beside a complete output, and is not replaced without --force.
	if err := os.Rename("photos/phone", "phone"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("photos/cut.jpg"); err != nil {
		t.Fatal(err)
	}
	must(t, strings.Fields("features photos --features pixels=4 --out f.csv --force")...)
	if text := read(t, "f.csv.skipped.csv"); text != "file,kind,reason\n" {
		t.Errorf("the list is %q", text)
	}
	if err := os.Remove("f.csv"); err != nil {
		t.Fatal(err)
	}
	refused(t, "f.csv.skipped.csv already exists", strings.Fields("features photos --features pixels=4 --out f.csv")...)
	must(t, strings.Fields("cluster photos -k 3 --features pixels=4 --out found")...)
	if _, err := os.Stat("found/skipped.csv"); err == nil {
		t.Error("the list of an earlier time stays")
	}
	if err := os.RemoveAll("phone/round"); err != nil {
		t.Fatal(err)
	}
	refused(t, "features: none of the 32 samples of phone is usable (31 truncated, 1 not an image); the first: ", strings.Fields("cluster phone -k 2 --features pixels=4 --out none")...)
	if _, err := os.Stat("none"); err == nil {
		t.Error("got results without usable images")
	}
}

// TestSortSkips: images grouped beside a cyclic link are sorted.
func TestSortSkips(t *testing.T) {
	workplace(t)
	if err := os.Mkdir("photos/in", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", "photos/in/round"); err != nil {
		t.Skip(err)
	}
	if code, _, stderr := partwise(groupPhotos("groups")...); code != exitDone {
		t.Fatal(stderr)
	}
	must(t, "sort", "groups", "--to", "sorted", "--copy")
}
