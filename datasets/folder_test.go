package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// tree makes a folder of files: a small image for a plain name, a broken image for a name with "!", a text for one with
// "?". The marks are dropped.
func tree(t testing.TB, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data := []byte("P5 7 5 255\n" + strings.Repeat("grey ", 7))
		switch {
		case strings.HasSuffix(file, "!"):
			data = data[:len(data)-3]
		case strings.HasSuffix(file, "?"):
			data = []byte("P2P is what this text is about\n")
		}
		writeFile(t, filepath.Join(dir, filepath.FromSlash(strings.TrimRight(file, "!?"))), data)
	}
	return dir
}

// labelled lists a set's samples as name=class.
func labelled(s *Set) []string {
	out := make([]string, s.Len())
	for i, name := range s.Names {
		out[i] = name
		if l := s.Labels[i]; l >= 0 {
			out[i] += "=" + s.Classes[l]
		}
	}
	return out
}

func TestFolder(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   []string
		opt     OpenOptions
		want    []string
		classes []string
	}{
		{
			name:    "a folder for each class",
			files:   []string{"s10/2.pgm", "s10/10.pgm", "s2/1.pgm", "s2/01.pgm", "README?", "s2/.DS_Store?", "s10/Thumbs.db?", "notes.txt?", ".git/a.pgm", "empty/x.txt?"},
			want:    []string{"s2/01.pgm=s2", "s2/1.pgm=s2", "s10/2.pgm=s10", "s10/10.pgm=s10"},
			classes: []string{"s2", "s10"},
		},
		{
			name:  "flat without classes",
			files: []string{"b", "a.pgm", "a10", "a9.txt", "c.csv?"},
			want:  []string{"a.pgm", "a9.txt", "a10", "b"},
		},
		{
			name:    "flat with a pattern",
			files:   []string{"subject10.sad", "subject02.sad", "subject02.normal.png"},
			opt:     OpenOptions{Pattern: "subject{class}.*"},
			want:    []string{"subject02.normal.png=02", "subject02.sad=02", "subject10.sad=10"},
			classes: []string{"02", "10"},
		},
		{
			name:    "a pattern over paths",
			files:   []string{"train/Cat/a.pgm", "test/Cat/a.pgm", "test/cat/b.pgm"},
			opt:     OpenOptions{Pattern: "*/{class}/*"},
			want:    []string{"test/Cat/a.pgm=Cat", "test/cat/b.pgm=cat", "train/Cat/a.pgm=Cat"},
			classes: []string{"Cat", "cat"},
		},
		{
			name:    "deeper class folders",
			files:   []string{"animals/cat/1.pgm", "animals/dog/1.pgm", "plants/tree/1.pgm"},
			want:    []string{"animals/cat/1.pgm=cat", "animals/dog/1.pgm=dog", "plants/tree/1.pgm=tree"},
			classes: []string{"cat", "dog", "tree"},
		},
		{
			name:    "pooled",
			files:   []string{"test/Coast/1.pgm", "train/Coast/1.pgm", "train/coast /2.pgm", "train/Forest/1.pgm"},
			opt:     OpenOptions{Pool: true},
			want:    []string{"test/Coast/1.pgm=Coast", "train/Coast/1.pgm=Coast", "train/Forest/1.pgm=Forest", "train/coast /2.pgm=Coast"},
			classes: []string{"Coast", "Forest"},
		},
		{
			name:    "blanks around a name",
			files:   []string{" cat/1.pgm", "dog /1.pgm"},
			want:    []string{" cat/1.pgm=cat", "dog /1.pgm=dog"},
			classes: []string{"cat", "dog"},
		},
		{
			name:    "beside class folders",
			files:   []string{"Cat/1.pgm", "Dog/1.pgm", "Dog/new/1.pgm", "cover.pgm"},
			want:    []string{"Cat/1.pgm=Cat", "Dog/1.pgm=Dog", "Dog/new/1.pgm=new", "cover.pgm"},
			classes: []string{"Cat", "Dog", "new"},
		},
		{
			name:  "folders that are no classes",
			files: []string{"test/Coast/1.pgm", "train/Coast/1.pgm", "cover.pgm"},
			opt:   OpenOptions{NoClasses: true},
			want:  []string{"cover.pgm", "test/Coast/1.pgm", "train/Coast/1.pgm"},
		},
		{
			name:    "a pattern of a number, without the extension",
			files:   []string{"cat12.pgm", "big dog3.PGM", "in/cat1"},
			opt:     OpenOptions{Pattern: "{class}{number}"},
			want:    []string{"big dog3.PGM=big dog", "cat12.pgm=cat", "in/cat1=cat"},
			classes: []string{"big dog", "cat"},
		},
		{
			name:    "broken images stay",
			files:   []string{"a/1.pgm!", "a/2!", "b/3.jpg?", "b/4.heic?"},
			want:    []string{"a/1.pgm=a", "a/2=a", "b/3.jpg=b", "b/4.heic=b"},
			classes: []string{"a", "b"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := tree(t, test.files...)
			set, err := Folder(t.Context(), dir, test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, labelled(set)); d != "" {
				t.Errorf("samples (-want +got)\n%s", d)
			}
			if !slices.Equal(set.Classes, test.classes) {
				t.Errorf("classes %q, want %q", set.Classes, test.classes)
			}
			if set.Name != "set" {
				t.Errorf("name %q, want set", set.Name)
			}
			for i, file := range set.Files {
				if want := filepath.Join(dir, filepath.FromSlash(set.Names[i])); file != want {
					t.Errorf("file %q, want %q", file, want)
				}
			}
		})
	}
}

func TestFolderErrors(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "file"), []byte("x"))
	for _, test := range []struct {
		name string
		dir  string
		opt  OpenOptions
		want []string
	}{
		{"missing", filepath.Join(t.TempDir(), "none"), OpenOptions{}, []string{"none"}},
		{"a file", file, OpenOptions{}, []string{"not a folder"}},
		{"empty", tree(t), OpenOptions{}, []string{"no files"}},
		{"no image", tree(t, "a/1.txt?", "b?"), OpenOptions{}, []string{"no images, only 2 files that are not images (a/1.txt, b)"}},
		{"only hidden", tree(t, ".git/1.pgm"), OpenOptions{}, []string{"no images, only 1 hidden file or folder (.git)"}},
		{"one class twice", tree(t, "test/Coast/1.pgm", "train/Coast/1.pgm"), OpenOptions{},
			[]string{`"test/Coast"`, `"train/Coast"`, "pool merges them"}},
		{"other case", tree(t, "Cat/1.pgm", "cat /1.pgm"), OpenOptions{}, []string{`"Cat"`, `"cat "`, "pool"}},
		{"a pattern that fits nothing", tree(t, "s1.pgm", "t1.pgm"), OpenOptions{Pattern: "x{class}.*"},
			[]string{"x{class}.*", "no name of the 2 images", "s1.pgm"}},
		{"no classes and truth", tree(t, "s1.pgm"), OpenOptions{NoClasses: true, Truth: "x"}, []string{"both no-classes and truth are set; use one of them"}},
		{"no classes and a pattern", tree(t, "s1.pgm"), OpenOptions{NoClasses: true, Pattern: "{class}1"}, []string{"both no-classes and pattern are set; use one of them"}},
		{"no classes and pool", tree(t, "s1.pgm"), OpenOptions{NoClasses: true, Pool: true}, []string{"both no-classes and pool are set; use one of them"}},
		{"truth and a pattern", tree(t, "s1.pgm"), OpenOptions{Truth: "x", Pattern: "{class}1"}, []string{"both truth and pattern are set; use one of them"}},
		{"no truth file", tree(t, "s1.pgm"), OpenOptions{Truth: "missing.csv"}, []string{"truth", "missing.csv"}},
		{"a pattern that does not fit", tree(t, "s1.pgm", "t1.pgm"), OpenOptions{Pattern: "s{class}.*"},
			[]string{"t1.pgm", "s{class}.*", "does not match this name and"}},
		{"no class in the pattern", tree(t, "s1.pgm"), OpenOptions{Pattern: "s*"}, []string{`"s*"`, "{class}"}},
		{"pattern and labels", tree(t, "s1.pgm"), OpenOptions{Pattern: "{class}", Labels: "x"}, []string{"both"}},
		{"no labels file", tree(t, "s1.pgm"), OpenOptions{Labels: "missing.csv"}, []string{"missing.csv"}},
	} {
		_, err := Folder(t.Context(), test.dir, test.opt)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		for _, want := range append(test.want, test.dir) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error lacks %q: %v", test.name, want, err)
			}
		}
	}
}

// TestParts: folders train and test that hold all images are the parts of a set.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		files []string
		want  []bool
	}{
		{[]string{"test/Coast/1.pgm", "train/Coast/1.pgm", "train/Forest/1.pgm"}, []bool{true, false, false}},
		{[]string{"Test/1.pgm", "Train/1.pgm"}, []bool{true, false}},
		{[]string{"train/Coast/1.pgm", "train/Forest/1.pgm"}, nil},
		{[]string{"cover.pgm", "test/a/1.pgm", "train/a/1.pgm"}, nil},
		{[]string{"test.pgm", "train.pgm"}, nil},
	} {
		set, err := Folder(t.Context(), tree(t, test.files...), OpenOptions{Pool: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(set.Test, test.want) {
			t.Errorf("%q: got %v, want %v", test.files, set.Test, test.want)
		}
	}
}

func TestFolderLinks(t *testing.T) {
	dir := tree(t, "a/1.pgm")
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	set, err := Folder(t.Context(), dir, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a/1.pgm=a", "b/1.pgm=b"}, labelled(set)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "b", "round")); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(t.Context(), dir, OpenOptions{}); err == nil || !strings.Contains(err.Error(), filepath.Join("a", "round")) {
		t.Errorf("a link to a folder around it: error %v", err)
	}
}

func TestPattern(t *testing.T) {
	for _, test := range []struct{ pattern, name, want string }{
		{"subject{class}.*", "subject01.glasses.png", "01"},
		{"subject{class}.*", "deep/subject01.glasses", "01"},
		{"obj{class}__*.png", "obj12__0.png", "12"},
		{"obj{class}__*.png", "obj1_2__3__4.png", "1_2"},
		{"*_{class}.png", "holiday_2019_cat.png", "cat"},
		{"{class}", "README", "README"},
		{"{class}/*", "a b /x/y.png", "a b"},
		{"{class}{number}", "cat12.jpg", "cat"},
		{"{class}{number}", "7up12.jpg", "7up"},
		{"{class}{number}", "cat.jpg", ""},
		{"{class}_{number}", "red_cat_012.jpg", "red_cat"},
		{"{class}_{number}", "cat_12b.jpg", ""},
		{"img{number}-{class}", "img12-cat.jpg", "cat"},
		{"{class}{number}.*", "cat12.5.jpg", "cat"},
		{"*/{class}", "x/cat.jpg", "cat"},
		{"*/{class}/*", "x/y/z.png", "y"},
		{"f({class}).*", "f(+).gif", "+"},
		{"{class}-*", "Füchse-1", "Füchse"},
		{"subject{class}.*", "subject.png", ""},
		{"subject{class}.*", "Subject1.png", ""},
		{"{class}_*", " _1.png", ""},
		{"{class}/*", "z.png", ""},
	} {
		p, err := parsePattern(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		if got := p.class(test.name); got != test.want {
			t.Errorf("%q on %q: got %q, want %q", test.pattern, test.name, got, test.want)
		}
	}
	for _, text := range []string{"", "*", "a*b", "{class}{class}", "{class}_{class}", "*{class}", "{class}*"} {
		if _, err := parsePattern(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("subject{class}.*", "subject01.sad")
	f.Add("*/{class}/*", "train/Coast/1.jpg")
	f.Add("({class})[*]+", "(a)[b]+")
	f.Add("{class}{number}", "cat12.jpg")
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := parsePattern(text)
		if err != nil {
			return
		}
		class := p.class(name)
		if strings.TrimSpace(class) != class || strings.Contains(class, "/") || !strings.Contains(name, class) {
			t.Errorf("%q on %q: class %q", text, name, class)
		}
	})
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"", "007", "07", "7", "7a", "08", "10", "a", "a-b", "a1", "a01b", "a1b", "a2", "a10", "a10b2", "a10b10", "a99999999999999999999", "a100000000000000000000", "b"}
	for i, a := range want {
		for j, b := range want {
			if got := naming.CompareNatural(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q against %q: %d", a, b, got)
			}
		}
	}
}

// realData returns the folder of real image sets, or skips the test.
func realData(t *testing.T, name string) string {
	dir := testkit.NeedFolder(t, testkit.DataFolder)
	return filepath.Join(dir, name)
}

func TestFolderOfRealImages(t *testing.T) {
	for _, test := range []struct {
		name         string
		opt          OpenOptions
		n, classes   int
		first, tenth string // classes
	}{
		{"orl-pgm", OpenOptions{}, 400, 40, "s1", "s10"},
		{"yale-gif", OpenOptions{Pattern: "subject{class}.*"}, 165, 15, "01", "10"},
		{"caltech10", OpenOptions{}, 800, 10, "Faces", "watch"},
		{"corel5", OpenOptions{}, 500, 5, "Buses", ""},
		{"scenes13", OpenOptions{Pool: true}, 2600, 13, "Bedroom", "OpenCountry"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := realData(t, test.name)
			set, err := Folder(t.Context(), dir, test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if set.Len() != test.n || len(set.Classes) != test.classes || set.Classes[0] != test.first ||
				test.tenth != "" && set.Classes[9] != test.tenth {
				t.Errorf("%d samples of the classes %q", set.Len(), set.Classes)
			}
			if slices.Contains(set.Labels, -1) {
				t.Error("a sample has no label")
			}
			for _, i := range []int{0, test.n / 2, test.n - 1} {
				if _, err := set.Image(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, err := Folder(t.Context(), realData(t, "scenes13"), OpenOptions{}); err == nil || !strings.Contains(err.Error(), "train/Bedroom") {
		t.Errorf("scenes13 without pool: error %v", err)
	}
}

// TestFolderOfDanglingLinks: a broken link stays in the set, and reading it fails with its name, so that it can be
// skipped.
func TestFolderOfDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nothing"), filepath.Join(dir, "x.png")); err != nil {
		t.Skip(err)
	}
	s, err := Folder(t.Context(), dir, OpenOptions{})
	if err != nil || s.Len() != 1 {
		t.Fatalf("%v, %v", s, err)
	}
	if _, err := s.Image(0); err == nil || !strings.Contains(err.Error(), "x.png") {
		t.Errorf("reading it: %v", err)
	}
}

// TestFolderLeftOut: files that are not samples are counted, except the labels file.
func TestFolderLeftOut(t *testing.T) {
	dir := tree(t, "1.pgm", "2.pgm", "a.txt?", "b.txt?", "c.txt?", "d.txt?", "labels.csv?", ".hidden/1.pgm", ".x?")
	if err := os.Symlink("nowhere", filepath.Join(dir, "e.txt")); err != nil {
		t.Fatal(err)
	}
	labels := writeFile(t, filepath.Join(dir, "labels.csv"), []byte("1.pgm,x\n"))
	set, err := Folder(t.Context(), dir, OpenOptions{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range set.LeftOut {
		got = append(got, l.String())
	}
	want := []string{"2 hidden files or folders (.hidden, .x)", "5 files that are not images (a.txt, b.txt, c.txt, …)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(set.LeftOut, set.Subset([]int{0}).LeftOut); d != "" {
		t.Errorf("LeftOut of a subset (-set +subset):\n%s", d)
	}
}

// TestFolderOfManyLinks: folders with two links each to the next are 2^n folders.
func TestFolderOfManyLinks(t *testing.T) {
	dir := t.TempDir()
	const deep = 12
	for i := range deep {
		here := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(here, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, link := range []string{"a", "b"} {
			if err := os.Symlink(filepath.Join("..", fmt.Sprint(i+1)), filepath.Join(here, link)); err != nil {
				t.Skip(err)
			}
		}
	}
	writeFile(t, filepath.Join(dir, fmt.Sprint(deep), "x.pgm"), []byte("P5 1 1 255\n\x01"))
	_, err := findImages(t.Context(), filepath.Join(dir, "0"), nil, 5000, false)
	if err == nil || !strings.Contains(err.Error(), "more than 5000 files and folders, at") {
		t.Errorf("error %v", err)
	}
	if found, err := findImages(t.Context(), filepath.Join(dir, "0"), nil, 1<<14, false); err != nil || len(found.images) != 1<<deep {
		t.Errorf("%v, %v", found, err)
	}
}

// TestFolderEnds: the search of a folder ends with its context, at any point.
func TestFolderEnds(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		writeFile(t, filepath.Join(dir, fmt.Sprint("class", i%4), fmt.Sprint(i, ".pgm")), []byte("P5 1 1 255\n\x01"))
	}
	for _, n := range []int{0, 1, 10, 23} {
		ctx := &endedAfter{t.Context(), n}
		if _, err := Folder(ctx, dir, OpenOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("ended after %d files: error %v", n, err)
		}
		if ctx.n != -1 {
			t.Errorf("ended after %d files: went on to %d more", n, -ctx.n-1)
		}
	}
	if s, err := Folder(&endedAfter{t.Context(), 24}, dir, OpenOptions{}); err != nil || s.Len() != 20 {
		t.Errorf("not ended: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, dir, OpenOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: error %v", err)
	}
}

// endedAfter is a context that ends after n calls of Err.
type endedAfter struct {
	context.Context
	n int
}

func (c *endedAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestTimeFolders: folders named by dates and cameras are no classes if they are at least half of the folders with
// images. Class folders are, whatever contains them.
func TestTimeFolders(t *testing.T) {
	for _, test := range []struct {
		folders string // divided by |
		times   int    // the number that look like dates or cameras, 0 if classes are read
	}{
		{"2019|2020|2021", 3},
		{"2019-05|2019-06|2020_01", 3},
		{"2019-05-12 Trip|2019-05-13|2020.01.01, New Year|20190512|20190512_wedding|201905", 6},
		{"12.05.2019|1-6-2020|05-2019|May 2019|2019 July|march 2001 snow", 6},
		{"2018/05|2019/05|2019/12", 3},
		{"2019/05|2019/06", 2},
		{"2019/01 January|2019/February|2019/03", 3},
		{"2018/Rome|2019/Wedding", 2},
		{"IMG_1000|IMG_2000|DSC00012", 3},
		{"100CANON|101CANON|102MSDCF|100APPLE|123_PANA|105_0512", 6},
		{"DCIM/100CANON|DCIM/Camera", 2},
		{"DCIM/Camera|Pictures/Screenshots|WhatsApp Images|Camera Roll|camera uploads", 5},
		{"2019|Camera Roll|Family|Screenshots", 3},
		{"2019|cat", 1},
		{"Camera", 1},
		{"2019|cat|dog", 0},
		{"cat|dog|IMG_1000|owl", 0},
		{"accordion|camera|cup", 0},
		{"camera|cup", 0},
		{"2019 pictures/cat|2019 pictures/dog", 0},
		{"DCIM/cat|DCIM/dog", 0},
		{"0|1|2|3|10", 0},
		{"s1|s2|s40", 0},
		{"001.ak47|002.american-flag", 0},
		{"n01440764|n02102040", 0},
		{"10012345|20012345", 0},
		{"1|2|12|31", 0},
		{"Coast|Forest|may|augusta", 0},
		{"20|19|1850|3000", 0},
		{"2019abc|2019def", 0},
		{"image_0001|img1|p002", 0},
		{"101_ObjectCategories/cat|101_ObjectCategories/dog", 0},
		{"train/cat|test/dog", 0},
	} {
		folders := strings.Split(test.folders, "|")
		files := []string{"beside.pgm"}
		for _, folder := range folders {
			files = append(files, folder+"/1.pgm")
		}
		dir := tree(t, files...)
		set, err := Folder(t.Context(), dir, OpenOptions{})
		if err != nil {
			t.Errorf("%s: %v", test.folders, err)
			continue
		}
		if classes := len(set.Classes); len(set.TimeFolders) != test.times || (classes == 0) != (test.times > 0) || set.FolderClasses == (test.times > 0) {
			t.Errorf("%s: %d classes, %q look like dates or cameras, want %d", test.folders, classes, set.TimeFolders, test.times)
		}
		if test.times > 0 && (set.Folders != len(folders) || set.Subset([]int{0}).Folders != len(folders)) {
			t.Errorf("%s: %d folders", test.folders, set.Folders)
		}
		pooled, err := Folder(t.Context(), dir, OpenOptions{Pool: true})
		if err != nil || pooled.TimeFolders != nil || !pooled.FolderClasses || len(pooled.Classes) == 0 {
			t.Errorf("%s with pool: classes %q, %q, %v", test.folders, pooled.Classes, pooled.TimeFolders, err)
		}
		if set, err := Folder(t.Context(), dir, OpenOptions{NoClasses: true}); err != nil || set.TimeFolders != nil || len(set.Classes) > 0 {
			t.Errorf("%s without classes: %q, %q, %v", test.folders, set.Classes, set.TimeFolders, err)
		}
	}
	if set, err := Folder(t.Context(), tree(t, "2019/1.pgm", "2020/1.pgm"), OpenOptions{Pattern: "{class}/*"}); err != nil || !slices.Equal(set.Classes, []string{"2019", "2020"}) {
		t.Errorf("by a pattern: %v, %v", set, err)
	}
}

// TestSkipBadFolders: with SkipBad a cyclic link is listed, and files beside it stay.
func TestSkipBadFolders(t *testing.T) {
	dir := tree(t, "a/1.pgm", "b/2.pgm")
	if err := os.Symlink("..", filepath.Join(dir, "a", "round")); err != nil {
		t.Skip(err)
	}
	set, err := Folder(t.Context(), dir, OpenOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Bad) != 1 || set.Bad[0].Name != "a/round" || set.Bad[0].Kind != imagefile.KindCircle || set.Len() != 2 || len(set.Subset([]int{0}).Bad) != 1 {
		t.Errorf("%d samples without %v", set.Len(), set.Bad)
	}
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a", "1.pgm")); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(t.Context(), dir, OpenOptions{SkipBad: true}); err == nil || !strings.Contains(err.Error(), "no usable image: 1 circular link") {
		t.Errorf("without an image: %v", err)
	}
}
