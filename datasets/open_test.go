package datasets

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
)

func pngFile(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestOpenOptions(t *testing.T) {
	dir := t.TempDir()
	path, labels := filepath.Join(dir, "v.csv"), filepath.Join(dir, "labels.csv")
	writeFile(t, path, []byte("a,b,kind\n1,2,x\n3,4,y\n"))
	writeFile(t, labels, []byte("row,class\n1,q\n2,r\n"))
	s, err := Open(t.Context(), path, OpenOptions{Gnd: "kind"})
	if err != nil || !cmp.Equal(s.Classes, []string{"x", "y"}) {
		t.Errorf("labels from a column: %v, %v", s, err)
	}
	s, err = Open(t.Context(), path, OpenOptions{Gnd: "kind", Labels: labels})
	if err != nil || !cmp.Equal(s.Classes, []string{"q", "r"}) {
		t.Errorf("labels from a file: %v, %v", s, err)
	}
	if _, err = Open(t.Context(), path, OpenOptions{Gnd: "kind", Labels: dir + "/none.csv"}); err == nil {
		t.Error("no error for labels that are not there")
	}
	s, err = Open(t.Context(), "generated", OpenOptions{Seed: 7})
	if err != nil || !mat.Equal(s.Vectors, Generated(7).Vectors) {
		t.Errorf("the generated set does not come from the seed: %v", err)
	}
	if info, _ := catalogue.Lookup("generated"); s.Len() != info.Samples || len(s.Classes) != info.Classes {
		t.Errorf("%d samples of %d classes, known as %d of %d", s.Len(), len(s.Classes), info.Samples, info.Classes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, path, OpenOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v", err)
	}
	if s, err := Open(&endsNext{Context: ctx}, path, OpenOptions{Gnd: "kind"}); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while a file of vectors is read: got %v, %v", s, err)
	}
}

// endsNext is a cancelled context whose Err returns an error from the third call on.
type endsNext struct {
	context.Context
	looks atomic.Int32
}

func (c *endsNext) Err() error {
	if c.looks.Add(1) < 3 {
		return nil
	}
	return c.Context.Err()
}

func TestOpenFolder(t *testing.T) {
	picture := pngFile(t)
	folder := func(files ...string) string {
		dir := t.TempDir()
		for _, f := range files {
			path := filepath.Join(dir, filepath.FromSlash(f))
			writeFile(t, path, picture)
		}
		return dir
	}
	for _, test := range []struct {
		name, dir string
		opt       OpenOptions
		classes   []string
		samples   int
	}{
		{"class folders", folder("cat/1.png", "dog/1.png", "dog/2.png"), OpenOptions{}, []string{"cat", "dog"}, 3},
		{"pattern", folder("cat-1.png", "dog-1.png"), OpenOptions{Pattern: "{class}-*"}, []string{"cat", "dog"}, 2},
		{"like Yale", folder("subject01.normal", "subject02.normal"), OpenOptions{}, []string{"01", "02"}, 2},
		{"like COIL-20", folder("obj1__0.png", "obj1__1.png", "obj10__0.png"), OpenOptions{}, []string{"1", "10"}, 3},
		{"like Yale, other pattern", folder("subject01.normal", "subject02.normal"), OpenOptions{Pattern: "subject*.{class}"}, []string{"normal"}, 2},
		{"like Caltech", folder("BACKGROUND_Google/1.jpg", "airplanes/1.jpg", "bass/1.jpg"), OpenOptions{}, []string{"BACKGROUND_Google", "airplanes", "bass"}, 3},
		{"hardly like COIL-20", folder("obj1__0.png", "tree.png"), OpenOptions{}, nil, 2},
		{"scenes", folder("bedroom/1.png", "industrial/1.png", "store/1.png"), OpenOptions{}, []string{"bedroom", "industrial", "store"}, 3},
		{"a folder called like IDX files", folder("images-idx3/1.png", "b/2.png"), OpenOptions{}, []string{"b", "images-idx3"}, 2},
		{"IDX", idxSet(t), OpenOptions{}, []string{"0", "1", "2"}, 5},
		{"IDX part", idxSet(t), OpenOptions{Part: "test"}, []string{"1", "2"}, 2},
	} {
		s, err := Open(t.Context(), test.dir, test.opt)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !slices.Equal(s.Classes, test.classes) || s.Len() != test.samples || s.Name != filepath.Base(test.dir) {
			t.Errorf("%s: %s with %d samples of the classes %v, want %d of %v", test.name, s.Name, s.Len(), s.Classes, test.samples, test.classes)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		return writeFile(t, filepath.Join(dir, name), data)
	}
	idxPath := file("x-images-idx3-ubyte", writeIDX(8, []uint32{1, 1, 1}, []uint8{1}))
	cache := noDataDirs(t)
	for _, test := range []struct {
		name string
		opt  OpenOptions
		want []string
	}{
		{"yalle", OpenOptions{}, []string{`no known set, file or folder is called "yalle"; did you mean yale?`, "partwise datasets"}},
		{"set:yalle", OpenOptions{}, []string{`no known set is called "yalle"; did you mean yale?`}},
		{"scenes", OpenOptions{}, []string{"scenes13 or scenes15"}},
		{"mnist2", OpenOptions{}, []string{"did you mean mnist?"}},
		{"quite something else", OpenOptions{}, []string{"no known set, file or folder is called", `"partwise datasets" lists`}},
		{"", OpenOptions{}, []string{"no known set, file or folder is called"}},
		{filepath.Join(dir, "none"), OpenOptions{}, []string{"none", "no such file"}},
		{"yale", OpenOptions{Root: filepath.Join(dir, "data")}, []string{"the set yale was not found in ", filepath.Join(dir, "data"), filepath.Join(cache, "partwise"), "Yale_32x32.mat or a folder yale-gif", `"partwise datasets get yale" downloads it`}},
		{"feret", OpenOptions{}, []string{"ask NIST", "FERET_32x32.mat"}},
		{"mnist", OpenOptions{From: "mat"}, []string{`the set mnist has no form "mat", only raw`}},
		{"yale", OpenOptions{Part: "both"}, []string{`part "both": expected train or test`}},
		{idxPath, OpenOptions{Part: "train"}, []string{`has no part "train"; only folders of IDX files have parts`}},
		{file("a.png", pngFile(t)), OpenOptions{}, []string{"a.png: a single image; use the folder of images"}},
		{file("empty", nil), OpenOptions{}, []string{"the file is empty"}},
		{file("empty.gz", gzipped(t, nil)), OpenOptions{}, []string{"empty.gz"}},
		{file("short.gz", []byte("\x1f\x8b")), OpenOptions{}, []string{"short.gz"}},
		{file("noise", []byte{1, 2, 3, 0, 200, 0, 77}), OpenOptions{}, []string{"unknown format; expected MATLAB (saved with -v6 or -v7), IDX, NumPy, Parquet, Arrow, SVMlight or CSV"}},
		{file("h5.mat", append([]byte("\x89HDF\r\n\x1a\n"), make([]byte, 200)...)), OpenOptions{}, []string{"7.3", "-v7"}},
		{file("x.zip", []byte("PK\x03\x04 and so on")), OpenOptions{}, []string{"x.zip"}},
		{file("x.csv", []byte("1,2\n3,NaN\n")), OpenOptions{}, []string{"line 2: column 2"}},
	} {
		_, err := Open(t.Context(), test.name, test.opt)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want one with %q", test.name, err, want)
			}
		}
	}
	if _, err := Open(t.Context(), "yale", OpenOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a known set that is not there: got error %v, want fs.ErrNotExist", err)
	}
}

// noDataDirs hides known sets outside of a test's own folders, and returns the user's cache folder, which is empty.
func noDataDirs(t *testing.T) string {
	t.Helper()
	t.Setenv("PARTWISE_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// An extract of a known set has another name than the set, and folders that are no classes are left out.
func TestOpenKnownExtract(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"caltech10/BACKGROUND_Google/image_0001.png", "caltech10/bass/image_0001.png", "caltech10/ketch/image_0001.png"} {
		path := filepath.Join(root, filepath.FromSlash(f))
		writeFile(t, path, pngFile(t))
	}
	s, err := Open(t.Context(), "caltech101", OpenOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "caltech10" || !cmp.Equal(s.Classes, []string{"bass", "ketch"}) || s.Len() != 2 {
		t.Errorf("%s with %d samples of the classes %v", s.Name, s.Len(), s.Classes)
	}
	if s.Known != "caltech101" || len(s.LeftOut) != 1 || s.LeftOut[0].String() != "1 image of the folder BACKGROUND_Google, which is not a class of the set" {
		t.Errorf("got known set %q without %v, want caltech101 without the background images", s.Known, s.LeftOut)
	}
	// By its path the folder is read completely.
	s, err = Open(t.Context(), filepath.Join(root, "caltech10"), OpenOptions{Root: root})
	if err != nil || !cmp.Equal(s.Classes, []string{"BACKGROUND_Google", "bass", "ketch"}) || s.Len() != 3 || s.LeftOut != nil || s.Known != "" {
		t.Errorf("by its path: %+v, %v", s, err)
	}
}

// TestOpenNamesake: a local folder and a known set of the same name are distinguished.
func TestOpenNamesake(t *testing.T) {
	noDataDirs(t)
	data, here := t.TempDir(), t.TempDir()
	t.Chdir(here)
	open := func(name string) (*Set, error) { return Open(t.Context(), name, OpenOptions{Root: data}) }
	writeFile(t, filepath.Join("orl", "mine.png"), pngFile(t))
	is := func(name, known string) {
		t.Helper()
		if s, err := open(name); err != nil || s.Known != known {
			t.Errorf("%s: %+v, %v; want the known set %q", name, s, err, known)
		}
	}
	refuses := func(name string, want ...string) {
		t.Helper()
		_, err := open(name)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got error %v, want one with %q", name, err, w)
			}
		}
	}
	// The folder alone.
	is("orl", "")
	is("./orl", "")
	refuses("set:orl", "the set orl was not found in ", "partwise datasets get orl")
	refuses("set:nothing", `no known set is called "nothing"`)
	// Both.
	writeFile(t, filepath.Join(data, "att_faces", "s1", "1.pgm"), pngFile(t))
	refuses("orl", `"orl" is both a folder here and a known set, in `+filepath.Join(data, "att_faces"), "./orl", "set:orl")
	is("./orl", "")
	is("set:orl", "orl")
	is(filepath.Join(data, "att_faces"), "")
	is("generated", "generated")
	is("set:generated", "generated")
	writeFile(t, "generated", []byte("1,2\n2,1\n"))
	refuses("generated", `"generated" is both a file here and a known set, generated`, "./generated", "set:generated")
	is("./generated", "")
	is("set:generated", "generated")
	// The known set alone, and in the current folder under its name.
	t.Chdir(t.TempDir())
	is("orl", "orl")
	writeFile(t, filepath.Join("orl", "s1", "1.pgm"), pngFile(t))
	data = "."
	is("orl", "orl")
	is("set:orl", "orl")
	is("./orl", "")
}

// A folder with some files of a known set is not read as the set.
func TestOpenPartOfKnownSet(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "mnist", "train-images-idx3-ubyte"), writeIDX(8, []uint32{2, 1, 2}, pixels(0, 4)))
	if _, err := Open(t.Context(), "mnist", OpenOptions{Root: root}); err == nil || !strings.Contains(err.Error(), "has 2 of its 70000 samples") {
		t.Errorf("got error %v", err)
	}
}
