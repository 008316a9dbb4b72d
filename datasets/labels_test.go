package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// fileSet is a set of three image files that are never opened.
func fileSet() *Set {
	names := []string{"a.png", "b/1.png", "c, d.png"}
	return &Set{Name: "files", Names: names, Files: names, Labels: []int{-1, -1, -1}}
}

// inUTF16 returns a text in UTF-16, little-endian unless big is true.
func inUTF16(text string, big bool) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		if low, high := byte(unit), byte(unit>>8); big {
			out = append(out, high, low)
		} else {
			out = append(out, low, high)
		}
	}
	return string(out)
}

// TestLabelsByPath: a file of labels may name images by relative or absolute paths.
func TestLabelsByPath(t *testing.T) {
	dir := tree(t, "x/1.pgm", "y/1.pgm")
	t.Chdir(filepath.Dir(dir))
	file := writeFile(t, "labels.csv", []byte("file,class\n"+filepath.Join(dir, "x", "1.pgm")+",a\n./set/y/1.pgm,b\n"))
	set, err := Folder(t.Context(), "set", OpenOptions{Labels: file})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"x/1.pgm=a", "y/1.pgm=b"}, labelled(set)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestSkipUnknown: lines of unknown samples are skipped with a note.
func TestSkipUnknown(t *testing.T) {
	t.Chdir(t.TempDir())
	set, notes := fileSet(), []string(nil)
	set.SkipUnknown = func(note string) { notes = append(notes, note) }
	classes, err := set.ReadClasses(writeFile(t, "labels.csv", []byte("file,class\nb/1.png,y\ngone.png,x\n")))
	if err != nil || !slices.Equal(classes, []string{"", "y", ""}) {
		t.Errorf("classes %q, error %v", classes, err)
	}
	if len(notes) != 1 || !strings.HasSuffix(notes[0], "labels.csv: skipped 1 line of unknown samples: gone.png") {
		t.Errorf("notes %q", notes)
	}
}

func TestReadLabels(t *testing.T) {
	for _, test := range []struct {
		name string
		set  *Set
		csv  string
		want []string
	}{
		{"all", fileSet(), "a.png,x\nb/1.png,y\n\"c, d.png\",x\n", []string{"a.png=x", "b/1.png=y", "c, d.png=x"}},
		{"some", fileSet(), "b/1.png,y", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"header", fileSet(), "File,Class\nb/1.png,y\n", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"mark of Unicode", fileSet(), "\ufefffile,class\r\na.png,y\r\n", []string{"a.png=y", "b/1.png", "c, d.png"}},
		{"more columns", fileSet(), "file,group,confidence\nb/1.png,3,0.50\n", []string{"a.png", "b/1.png=3", "c, d.png"}},
		{"class among more", fileSet(), "file,group,class,confidence\nb/1.png,3,y,0.50\n", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"semicolons", fileSet(), "Datei;class\r\na.png;x\r\n\"c, d.png\";y\r\n", []string{"a.png=x", "b/1.png", "c, d.png=y"}},
		{"semicolons by the names", fileSet(), "c, d.png;y\n", []string{"a.png", "b/1.png", "c, d.png=y"}},
		{"a comma and no quotes", fileSet(), "a.png;x, y\nb/1.png;z\n", []string{"a.png=x, y", "b/1.png=z", "c, d.png"}},
		{"tabs", fileSet(), "file_name\tlabel\na.png\tx y\nc, d.png\tz\n", []string{"a.png=x y", "b/1.png", "c, d.png=z"}},
		{"more columns, semicolons", fileSet(), "File;Group;Class\nb/1.png;3;y\n", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"UTF-16", fileSet(), inUTF16("\ufefffile\tclass\r\na.png\tä\r\n", false), []string{"a.png=ä", "b/1.png", "c, d.png"}},
		{"UTF-16, the other way", fileSet(), inUTF16("\ufeffa.png,ä\n", true), []string{"a.png=ä", "b/1.png", "c, d.png"}},
		{"without a folder", fileSet(), "1.png,y\n", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"with the set's folder", fileSet(), "files/a.png,x\nfiles\\b\\1.png,y\n", []string{"a.png=x", "b/1.png=y", "c, d.png"}},
		{"blanks", fileSet(), " a.png ,  s 1 \n\n./b/1.png, \"y\"\n", []string{"a.png=s 1", "b/1.png=y", "c, d.png"}},
		{"empty class", fileSet(), "a.png,\nb/1.png,y\na.png,\n", []string{"a.png", "b/1.png=y", "c, d.png"}},
		{"twice the same", fileSet(), "a.png,x\na.png,x\n", []string{"a.png=x", "b/1.png", "c, d.png"}},
		{"rows", vectorSet(3, 1, 0, 0, 1, 2, 3), "row,class\n3,x\nv.csv row 1,y\n", []string{"v.csv row 1=y", "v.csv row 2", "v.csv row 3=x"}},
	} {
		file := writeFile(t, filepath.Join(t.TempDir(), "labels.csv"), []byte(test.csv))
		if err := test.set.ReadLabels(file); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if d := cmp.Diff(test.want, labelled(test.set)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, d)
		}
	}
	set := fileSet()
	file := writeFile(t, filepath.Join(t.TempDir(), "labels.csv"), []byte("a.png,s10\nb/1.png,s2\n"))
	if err := set.ReadLabels(file); err != nil || !slices.Equal(set.Classes, []string{"s2", "s10"}) || !slices.Equal(set.Labels, []int{1, 0, -1}) {
		t.Errorf("classes %q, labels %v, %v", set.Classes, set.Labels, err)
	}
}

func TestReadLabelsErrors(t *testing.T) {
	for _, test := range []struct {
		name, csv string
		set       *Set
		want      []string
	}{
		{"unknown name", "a.png,x\nz.png,y\n", fileSet(), []string{"line 2", `"z.png"`}},
		{"unknown name first", "z.png,y\na.png,x\n", fileSet(), []string{"line 1", `"z.png"`}},
		{"header below", "a.png,x\nfile,class\n", fileSet(), []string{"line 2", `"file"`}},
		{"a number for a file", "1,x\n", fileSet(), []string{"line 1", `"1"`}},
		{"two classes", "a.png,x\n\nb/1.png,y\na.png,y\n", fileSet(), []string{"line 4", `"a.png"`, `"x"`, `"y"`, "line 1"}},
		{"one field", "a.png,x\nb/1.png\n", fileSet(), []string{"line 2", "1 field in", "b/1.png"}},
		{"bars", "a.png|x\n", fileSet(), []string{"line 1", "1 field in", "a.png|x", "separated by commas"}},
		{"semicolons, then commas", "file;class\na.png,x\n", fileSet(), []string{"line 2", "1 field in", "a.png,x", "separated by semicolons"}},
		{"ambiguous", "q;z.png,x\n", fileSet(), []string{"line 1", `"q;z.png"`}},
		{"two of one name", "1.png,x\n", &Set{Name: "s", Names: []string{"a/1.png", "b/1.png"}, Files: []string{"a/1.png", "b/1.png"}, Labels: []int{-1, -1}}, []string{"line 1", `"1.png"`, "a/1.png, b/1.png", "add the folder"}},
		{"another folder", "c/1.png,x\n", fileSet(), []string{"line 1", "no sample", `"c/1.png"`}},
		{"it looks like UTF-16 without a byte order mark: save the file as UTF-8", inUTF16("a.png,x\n", false), fileSet(), []string{"line 1", "is not UTF-8", "looks like UTF-16"}},
		{"three fields", "a.png,x,1\n", fileSet(), []string{"line 1", "3 fields", "a.png,x,1"}},
		{"fewer fields than the header", "file,group,class\na.png,1\n", fileSet(), []string{"line 2", "2 fields"}},
		{"a quotation mark not closed", "a.png,x\nb/1.png,\"y\n", fileSet(), []string{": line 2, column 12: ", "begins on line 2 is not closed"}},
		{"a quotation mark within", "a.png,x\nb/1\".png,y\n", fileSet(), []string{": line 2, column 4: a quotation mark in"}},
		{"empty", "", fileSet(), []string{"no sample has a class"}},
		{"header only", "file,class\n", fileSet(), []string{"no sample has a class"}},
		{"NUL", "a.png,x\nb/1.png,y\x00\n", fileSet(), []string{"line 2, column 9", `"y\x00"`, "is not UTF-8"}},
		{"Latin-1", "a.png,x\r\n\r\nb/1.png,caf\xe9\r\n", fileSet(), []string{"line 3", `"caf\xe9"`, "is not UTF-8"}},
		{"UTF-16 cut short", "\xff\xfea\x00.\x00p\x00n\x00g\x00", fileSet(), []string{"line 1", "1 field in", "a.png"}},
		{"a long name", "a.png,x\n" + strings.Repeat("n", 1<<19) + ",x\n", fileSet(), []string{"line 2", `nnn"…`}},
		{"a long line", "a.png,x\n" + strings.Repeat("n", 2<<20), fileSet(), []string{"line 2", "a record of more than 1048576 bytes"}},
		{"an open quote", "a.png,x\nb/1.png,\"" + strings.Repeat("y\n", 1<<20), fileSet(), []string{"line 2", "quotation mark missing"}},
		{"many fields", "a.png" + strings.Repeat(",", 1<<15), fileSet(), []string{"line 1", "more than 1024 fields"}},
		{"row 0", "0,x\n", vectorSet(2, 1, 0, 0, 1, 2), []string{"line 1", `"0"`}},
		{"row 3 of 2", "3,x\n", vectorSet(2, 1, 0, 0, 1, 2), []string{"line 1", `"3"`}},
	} {
		file := writeFile(t, filepath.Join(t.TempDir(), "labels.csv"), []byte(test.csv))
		before := slices.Clone(test.set.Labels)
		var err error
		if used := testkit.Allocated(func() { err = test.set.ReadLabels(file) }); used > 16<<20 {
			t.Errorf("%s: %d bytes of memory for a file of %d", test.name, used, len(test.csv))
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", test.name, len(err.Error()))
		}
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		for _, want := range append(test.want, file) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error lacks %q: %v", test.name, want, err)
			}
		}
		if !slices.Equal(test.set.Labels, before) {
			t.Errorf("%s: the set was changed", test.name)
		}
	}
	if err := fileSet().ReadLabels(filepath.Join(t.TempDir(), "none.csv")); err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("missing file: error %v", err)
	}
}

// TestFolderWithTruth: a file of truth gives the classes regardless of folders, and is not counted as left out; with
// labels it gives the set's own classes.
func TestFolderWithTruth(t *testing.T) {
	dir := tree(t, "x/1.pgm", "y/1.pgm", "2.pgm")
	truth := writeFile(t, filepath.Join(dir, "truth.csv"), []byte("file,class\nx/1.pgm,left\n2.pgm,right\n"))
	labels := writeFile(t, filepath.Join(dir, "labels.csv"), []byte("file,class\n2.pgm,given\n"))
	opt := OpenOptions{Truth: truth, Labels: labels}
	set, err := Open(t.Context(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"2.pgm=given", "x/1.pgm", "y/1.pgm"}, labelled(set)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if !slices.Equal(set.OwnClasses, []string{"left", "right"}) || !slices.Equal(set.OwnLabels, []int{1, 0, -1}) || set.LeftOut != nil {
		t.Errorf("own classes %q, labels %v; left out %v", set.OwnClasses, set.OwnLabels, set.LeftOut)
	}
	opt.Labels = ""
	if set, err = Open(t.Context(), dir, opt); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"2.pgm=right", "x/1.pgm=left", "y/1.pgm"}, labelled(set)); d != "" || set.OwnLabels != nil || set.FolderClasses {
		t.Errorf("%v, %v (-want +got)\n%s", set.OwnLabels, set.FolderClasses, d)
	}
	if part := set.Labelled(); part.Len() != 2 || len(part.LeftOut) != 2 || part.LeftOut[1].Reason != Unlabelled || part.LeftOut[1].Count != 1 {
		t.Errorf("%d samples of known class, left out %v", part.Len(), part.LeftOut)
	}
}

// TestVectorsWithTruth: truth replaces the classes of vectors, and NoClasses removes them.
func TestVectorsWithTruth(t *testing.T) {
	vectors := writeFile(t, filepath.Join(t.TempDir(), "v.csv"), []byte("a,class\n1,x\n2,x\n3,y\n"))
	truth := writeFile(t, filepath.Join(t.TempDir(), "truth.csv"), []byte("1,p\n3,q\n"))
	for _, test := range []struct {
		opt  OpenOptions
		want []string
	}{
		{OpenOptions{Truth: truth}, []string{"v.csv row 1=p", "v.csv row 2", "v.csv row 3=q"}},
		{OpenOptions{NoClasses: true}, []string{"v.csv row 1", "v.csv row 2", "v.csv row 3"}},
	} {
		set, err := Open(t.Context(), vectors, test.opt)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.want, labelled(set)); d != "" || set.OwnLabels != nil {
			t.Errorf("%+v: own %v (-want +got)\n%s", test.opt, set.OwnLabels, d)
		}
	}
}

func TestFolderWithLabelsFile(t *testing.T) {
	dir := tree(t, "x/1.pgm", "y/1.pgm", "2.pgm")
	file := writeFile(t, filepath.Join(dir, "labels.csv"), []byte("file,class\nx/1.pgm,left\n2.pgm,right\n"))
	set, err := Folder(t.Context(), dir, OpenOptions{Labels: file})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"2.pgm=right", "x/1.pgm=left", "y/1.pgm"}, labelled(set)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := os.WriteFile(file, []byte("3.pgm,left"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(t.Context(), dir, OpenOptions{Labels: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}

func writeFile(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
