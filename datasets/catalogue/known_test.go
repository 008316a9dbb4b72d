package catalogue

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKnown(t *testing.T) {
	var names []string
	for _, info := range Known() {
		names = append(names, info.Name)
		if got, ok := Lookup(info.Name); !ok || got.Title != info.Title {
			t.Errorf("%s: looked up as %q, %v", info.Name, got.Title, ok)
		}
		if info.Title == "" || info.Samples <= 0 || info.Classes <= 0 || info.Content == "" || info.Licence == "" {
			t.Errorf("%s: something is missing in %+v", info.Name, info)
		}
		if info.Name == Generated {
			continue
		}
		if info.Citation == "" || info.Home == "" || len(info.Forms) == 0 {
			t.Errorf("%s: something is missing in %+v", info.Name, info)
		}
		for _, f := range info.Forms {
			if (f.From != fromMAT) != (f.VectorFile == "") || f.From != fromRaw && f.From != fromMAT || (f.VectorFile == "") == (len(f.Places) == 0) {
				t.Errorf("%s: form %+v", info.Name, f)
			}
			if len(f.Files) == 0 && info.How == "" {
				t.Errorf("%s: no instructions to get it", info.Name)
			}
			for _, d := range f.Files {
				if sum, err := hex.DecodeString(d.SHA256); err != nil || len(sum) != 0 && len(sum) != 32 {
					t.Errorf("%s: sum %q", d.File, d.SHA256)
				}
				if d.SHA256 == "" && !d.Unpack {
					t.Errorf("%s: neither its sum nor its form tells whether it is whole", d.File)
				}
				for _, u := range d.URLs {
					if p, err := url.Parse(u); err != nil || p.Scheme != "https" && p.Scheme != "http" || p.Host == "" {
						t.Errorf("%s: address %q", d.File, u)
					}
				}
			}
		}
	}
	want := []string{"yale", "orl", "coil20", "mnist", "feret", "caltech101", "scenes13", "scenes15", "newsgroups", "generated"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if _, ok := Lookup("no such set"); ok {
		t.Error("a set that does not exist is known")
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

// A known set is found in every usual layout.
func TestFind(t *testing.T) {
	noDataDirs(t)
	for _, test := range []struct {
		name, from string
		files      []string
		want       string
	}{
		{"yale", "", []string{"Yale_32x32.mat"}, "Yale_32x32.mat"},
		{"yale", "", []string{"mat/Yale_32x32.mat", "yale-gif/subject01.normal"}, "mat/Yale_32x32.mat"},
		{"yale", "mat", []string{"yale/Yale_32x32.mat"}, "yale/Yale_32x32.mat"},
		{"yale", "raw", []string{"mat/Yale_32x32.mat", "yale-gif/subject01.normal"}, "yale-gif"},
		{"yale", "", []string{"yalefaces/subject01.normal"}, "yalefaces"},
		{"yale", "", []string{"yale/raw/yalefaces/subject01.normal.gif"}, "yale/raw/yalefaces"},
		{"yale", "", []string{"subject01.normal"}, "."},
		{"yale", "", []string{"other/subject01.normal", "yale/readme"}, ""},
		{"orl", "", []string{"orl-pgm/s1/1.pgm"}, "orl-pgm"},
		{"orl", "", []string{"att_faces/s1/1.pgm"}, "att_faces"},
		{"orl", "", []string{"orl/s1/1.pgm"}, "orl"},
		{"orl", "", []string{"orl/raw/s1/1.pgm"}, "orl/raw"},
		{"coil20", "", []string{"coil-20-proc/obj1__0.png"}, "coil-20-proc"},
		{"coil20", "", []string{"coil20/raw/coil-20-proc/obj1__0.png"}, "coil20/raw/coil-20-proc"},
		{"mnist", "", []string{"mnist/train-images-idx3-ubyte.gz"}, "mnist"},
		{"mnist", "", []string{"MNIST/raw/t10k-images-idx3-ubyte"}, "MNIST/raw"},
		{"mnist", "", []string{"train-images.idx3-ubyte"}, "."},
		{"caltech101", "", []string{"101_ObjectCategories/BACKGROUND_Google/1.jpg"}, "101_ObjectCategories"},
		{"caltech101", "", []string{"caltech101/raw/caltech-101/101_ObjectCategories/airplanes/image_0001.jpg"}, "caltech101/raw/caltech-101/101_ObjectCategories"},
		{"caltech101", "", []string{"caltech10/airplanes/image_0001.jpg"}, "caltech10"},
		{"scenes13", "", []string{"scenes13/train/Bedroom/1.jpg", "scenes13/test/Bedroom/1.jpg"}, "scenes13"},
		{"scenes13", "", []string{"scenes13/raw/scene_categories/bedroom/1.jpg"}, "scenes13/raw/scene_categories"},
		{"scenes13", "", []string{"scenes15/bedroom/1.jpg"}, "scenes15"},
		{"scenes15", "", []string{"scene_categories/bedroom/1.jpg"}, "scene_categories"},
		{"scenes15", "", []string{"15-Scene/14/1.jpg"}, "15-Scene"},
		{"scenes15", "", []string{"scenes13/train/Bedroom/1.jpg"}, ""},
		{"newsgroups", "", []string{"mat/20Newsgroups.mat"}, "mat/20Newsgroups.mat"},
		{"feret", "", []string{"FERET_32x32.mat"}, "FERET_32x32.mat"},
	} {
		root := filepath.Join(t.TempDir(), "a [root] folder*") // what would be a pattern is none
		for _, f := range test.files {
			path := filepath.Join(root, filepath.FromSlash(f))
			writeFile(t, path, nil)
		}
		got, err := Find(test.name, root, test.from)
		if test.want == "" {
			if err == nil {
				t.Errorf("%s in %v: found as %s", test.name, test.files, got)
			}
			continue
		}
		if want := filepath.Join(root, filepath.FromSlash(test.want)); err != nil || got != want {
			t.Errorf("%s in %v: got %s, %v, want %s", test.name, test.files, got, err, want)
		}
	}
}

func TestFindOrder(t *testing.T) {
	root, env, cache := t.TempDir(), t.TempDir(), noDataDirs(t)
	t.Setenv("PARTWISE_DATA", env)
	for _, place := range []string{filepath.Join(cache, "partwise"), env, root} { // the last one wins
		path := filepath.Join(place, "Yale_32x32.mat")
		writeFile(t, path, nil)
		if got, err := Find("yale", root, ""); err != nil || got != path {
			t.Errorf("got %s, %v, want %s", got, err, path)
		}
	}
	if got, err := DataDir(); err != nil || got != env {
		t.Errorf("the data folder is %s, %v, want %s", got, err, env)
	}
	t.Setenv("PARTWISE_DATA", "")
	if got, err := DataDir(); err != nil || got != filepath.Join(cache, "partwise") {
		t.Errorf("the data folder is %s, %v, want partwise in %s", got, err, cache)
	}
	if got, err := Find("generated", "", ""); got != "" || err != nil {
		t.Errorf("the generated set is found at %q, %v", got, err)
	}
	if _, err := Find("yalee", "", ""); err == nil || !strings.Contains(err.Error(), "did you mean yale?") {
		t.Errorf("got error %v", err)
	}
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
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
