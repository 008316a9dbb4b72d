package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server is a file server that can misbehave.
type server struct {
	mu       sync.Mutex
	files    map[string][]byte
	tag      string // the ETag of all files
	cut      int    // the first answer ends after this number of bytes
	noRanges bool
	fail     int // number of answers that are 503
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := path.Base(r.URL.Path)
	s.requests = append(s.requests, strings.TrimSpace(name+" "+r.Header.Get("Range")))
	data, ok := s.files[name]
	switch {
	case s.fail > 0:
		s.fail--
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	if s.noRanges {
		r.Header.Del("Range")
	}
	if s.cut > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:s.cut])
		s.cut = 0
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
}

// start serves s and returns a Downloader that asks it for all files.
func (s *server) start(t *testing.T) *Downloader {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return &Downloader{Client: h.Client(), Mirror: h.URL, Pause: time.Microsecond, Insecure: true}
}

// useKnown replaces the known sets.
func useKnown(t *testing.T, sets ...Info) {
	t.Helper()
	old := knownSets
	knownSets = func() []Info { return sets }
	t.Cleanup(func() { knownSets = old })
	noDataDirs(t)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// toySet is a known set with one MATLAB file.
func toySet(t *testing.T, sum string) Info {
	t.Helper()
	return Info{Name: "toy", Samples: 1, Classes: 1, Home: "toy's home", Forms: []Form{{
		From: fromMAT, VectorFile: "toy.mat", Files: []Download{{File: "toy.mat", URLs: []string{"http://nowhere.invalid/toy.mat"}, SHA256: sum}},
	}}}
}

func TestGet(t *testing.T) {
	data := []byte(strings.Repeat("0123456789", 100_000))
	for _, test := range []struct {
		name     string
		server   *server
		requests []string
	}{
		{"at once", &server{tag: `"1"`}, []string{"toy.mat"}},
		{"cut", &server{tag: `"1"`, cut: 700_000}, []string{"toy.mat", "toy.mat bytes=700000-"}},
		{"cut without a version", &server{cut: 700_000}, []string{"toy.mat", "toy.mat"}},
		{"cut with a weak version", &server{tag: `W/"1"`, cut: 700_000}, []string{"toy.mat", "toy.mat"}},
		{"cut without ranges", &server{tag: `"1"`, cut: 700_000, noRanges: true}, []string{"toy.mat", "toy.mat bytes=700000-"}},
		{"busy", &server{fail: 2}, []string{"toy.mat", "toy.mat", "toy.mat"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			useKnown(t, toySet(t, sumOf(data)))
			s := test.server
			s.files = map[string][]byte{"toy.mat": data}
			d := s.start(t)
			var last [2]int
			d.Progress = func(file string, done, total int) {
				if file != "toy.mat" || done > total {
					t.Errorf("progress %s %d of %d", file, done, total)
				}
				last = [2]int{done, total}
			}
			dir := t.TempDir()
			if err := d.Get(t.Context(), "toy", dir); err != nil {
				t.Fatal(err)
			}
			if got := filesBelow(t, dir); !cmp.Equal(got, map[string]string{"toy/toy.mat": string(data)}) {
				t.Errorf("%d files, want toy/toy.mat with all its bytes", len(got))
			}
			if !cmp.Equal(s.requests, test.requests) {
				t.Errorf("requests %q, want %q", s.requests, test.requests)
			}
			if want := len(data); last != [2]int{want, want} {
				t.Errorf("progress ends at %v", last)
			}

			// Existing files are unchanged, wherever in the folder they are.
			if err := os.Rename(filepath.Join(dir, "toy"), filepath.Join(dir, "mat")); err != nil {
				t.Fatal(err)
			}
			if err := d.Get(t.Context(), "toy", dir); err != nil {
				t.Error(err)
			}
			if len(s.requests) != len(test.requests) {
				t.Errorf("a set that is there is asked for again")
			}
			// A file that is not the set's belongs to the user.
			writeFile(t, filepath.Join(dir, "mat", "toy.mat"), data[:10])
			if err := d.Get(t.Context(), "toy", dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "mat", "toy.mat")+" exists but is not the file of the set:") {
				t.Errorf("a file of the user's: got error %v", err)
			}
			if got := filesBelow(t, dir); !cmp.Equal(got, map[string]string{"mat/toy.mat": string(data[:10])}) || len(s.requests) != len(test.requests) {
				t.Errorf("a file of the user's is not left alone: %d files, requests %q", len(got), s.requests)
			}
		})
	}
}

// An interrupted download resumes only if the file on the server is unchanged.
func TestGetResumes(t *testing.T) {
	data := []byte("the whole file")
	for _, test := range []struct{ name, part, note, request string }{
		{"same version", "the whole", "%s/toy.mat\n\"1\"\n14\n", "toy.mat bytes=9-"},
		{"size not known", "the whole", "%s/toy.mat\n\"1\"\n-1\n", "toy.mat bytes=9-"},
		{"other version", "old words", "%s/toy.mat\n\"0\"\n14\n", "toy.mat bytes=9-"},
		{"other address", "old words", "http://elsewhere.invalid/toy.mat\n\"1\"\n14\n", "toy.mat"},
		{"no note", "old words", "", "toy.mat"},
		{"half a note", "old words", "%s/toy.mat\n\"1\"\n1", "toy.mat"},
		{"no version", "old words", "%s/toy.mat\n\n14\n", "toy.mat"},
		{"other size", "the whole", "%s/toy.mat\n\"1\"\n15\n", "toy.mat bytes=9-"},
		{"too long", "the whole file and more", "%s/toy.mat\n\"1\"\n14\n", "toy.mat"},
		{"too long for a size not known", "the whole file and more", "%s/toy.mat\n\"1\"\n-1\n", "toy.mat bytes=23-"},
		{"all there", "the whole file", "%s/toy.mat\n\"1\"\n14\n", ""},
		{"all there and wrong", "the wrong file", "%s/toy.mat\n\"1\"\n14\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			useKnown(t, toySet(t, sumOf(data)))
			s := &server{files: map[string][]byte{"toy.mat": data}, tag: `"1"`}
			d := s.start(t)
			dir := t.TempDir()
			work := filepath.Join(dir, "toy", workName)
			if err := os.MkdirAll(filepath.Join(work, unpackName, "left"), 0o777); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(work, "toy.mat.part"), []byte(test.part))
			if test.note != "" {
				writeFile(t, filepath.Join(work, "toy.mat.from"), []byte(strings.ReplaceAll(test.note, "%s", d.Mirror)))
			}
			if err := d.Get(t.Context(), "toy", dir); strings.Contains(test.part, "wrong") {
				if err == nil || !strings.Contains(err.Error(), "SHA-256") {
					t.Errorf("got error %v", err)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(work); err == nil {
				t.Errorf("%s is left", work)
			}
			if got := filesBelow(t, dir); !cmp.Equal(got, map[string]string{"toy/toy.mat": string(data)}) {
				t.Errorf("got %q", got)
			}
			if first := strings.Join(append(s.requests, "")[:1], ""); first != test.request {
				t.Errorf("asked for %q, want %q", first, test.request)
			}
		})
	}
}

func TestGetFails(t *testing.T) {
	data := []byte("content")
	t.Run("sum", func(t *testing.T) {
		useKnown(t, toySet(t, sumOf([]byte("other content"))))
		s := &server{files: map[string][]byte{"toy.mat": data}}
		dir := t.TempDir()
		err := s.start(t).Get(t.Context(), "toy", dir)
		if err == nil || !strings.Contains(err.Error(), sumOf(data)) || !strings.Contains(err.Error(), "SHA-256") {
			t.Errorf("got error %v, want one with the sum", err)
		}
		if got := filesBelow(t, dir); len(got) != 0 {
			t.Errorf("%v is left", got)
		}
	})
	t.Run("not found", func(t *testing.T) {
		useKnown(t, toySet(t, ""))
		s := &server{}
		err := s.start(t).Get(t.Context(), "toy", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "/toy.mat") || len(s.requests) != 1 {
			t.Errorf("got error %v after %d requests, want one with 404 and the address after 1", err, len(s.requests))
		}
	})
	t.Run("busy for long", func(t *testing.T) {
		useKnown(t, toySet(t, ""))
		s := &server{fail: 100}
		err := s.start(t).Get(t.Context(), "toy", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "503") || len(s.requests) != attempts {
			t.Errorf("got error %v after %d requests", err, len(s.requests))
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		useKnown(t, toySet(t, ""))
		ctx, cancel := context.WithCancel(t.Context())
		s := &server{files: map[string][]byte{"toy.mat": []byte(strings.Repeat("x", 1<<20))}, tag: `"1"`}
		d := s.start(t)
		d.Progress = func(string, int, int) { cancel() }
		dir := t.TempDir()
		if err := d.Get(ctx, "toy", dir); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		for name := range filesBelow(t, dir) {
			if !strings.Contains(name, "/"+workName+"/toy.mat.") {
				t.Errorf("%s is there after a download that was cancelled", name)
			}
		}
	})
	t.Run("other names", func(t *testing.T) {
		useKnown(t, toySet(t, ""), Info{Name: "locked", How: "ask the owner", Forms: []Form{{From: fromMAT, VectorFile: "locked.mat"}}})
		d := (&server{}).start(t)
		for _, test := range []struct{ name, from, want string }{
			{"tot", "", "did you mean toy?"},
			{"toy", "raw", `has no form "raw", only mat`},
			{"locked", "", "no automatic download: ask the owner"},
		} {
			d.From = test.from
			if err := d.Get(t.Context(), test.name, t.TempDir()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
			}
		}
		if err := d.Get(t.Context(), "generated", t.TempDir()); err != nil {
			t.Error(err)
		}
		d.Mirror = ":"
		d.From = ""
		if err := d.Get(t.Context(), "toy", t.TempDir()); err == nil {
			t.Error("no error for a mirror that is no address")
		}
	})
}

func TestGetNextAddress(t *testing.T) {
	data := []byte("content")
	set := toySet(t, sumOf(data))
	bad := httptest.NewServer(&server{files: map[string][]byte{"toy.mat": []byte("spoilt")}})
	good := httptest.NewServer(&server{files: map[string][]byte{"toy.mat": data}})
	t.Cleanup(bad.Close)
	t.Cleanup(good.Close)
	set.Forms[0].Files[0].URLs = []string{bad.URL + "/gone/none.mat", bad.URL + "/toy.mat", good.URL + "/toy.mat"}
	useKnown(t, set)
	dir := t.TempDir()
	if err := new(Downloader).Get(t.Context(), "toy", dir); err != nil {
		t.Fatal(err)
	}
	if got := filesBelow(t, dir); !cmp.Equal(got, map[string]string{"toy/toy.mat": string(data)}) {
		t.Errorf("got %q", got)
	}
}

func TestGetArchive(t *testing.T) {
	inner := gzipped(t, writeTar(t, entry{name: "pictures/a/1.pgm", content: "P2 1 1 255 1"}, entry{name: "pictures/b/1.pgm", content: "P2 1 1 255 2"}))
	outer := writeZip(t, entry{name: "toys/inner.tar.gz", content: string(inner)}, entry{name: "toys/readme", content: "hello"})
	set := func(mark string) Info {
		return Info{Name: "toys", Samples: 2, Classes: 2, Forms: []Form{{
			From: fromRaw, Places: []string{"toys"}, Marks: []string{mark},
			Files: []Download{{File: "toys.zip", SHA256: sumOf(outer), Unpack: true, Inner: "toys/inner.tar.gz"}},
		}}}
	}
	want := map[string]string{"toys/raw/toys/pictures/a/1.pgm": "P2 1 1 255 1", "toys/raw/toys/pictures/b/1.pgm": "P2 1 1 255 2", "toys/raw/toys/readme": "hello"}
	useKnown(t, set("a/1.pgm"))
	s := &server{files: map[string][]byte{"toys.zip": outer}}
	d := s.start(t)
	dir := t.TempDir()
	for range 2 {
		if err := d.Get(t.Context(), "toys", dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	if len(s.requests) != 1 {
		t.Errorf("requests %q, want one", s.requests)
	}
	if found, err := Find("toys", dir, ""); err != nil || found != filepath.Join(dir, "toys", "raw", "toys", "pictures") {
		t.Errorf("found at %s, %v", found, err)
	}

	useKnown(t, set("other.pgm"))
	dir = t.TempDir()
	if err := d.Get(t.Context(), "toys", dir); err == nil || !strings.Contains(err.Error(), "toys.zip does not contain a folder toys with other.pgm") {
		t.Errorf("an archive without the data: got error %v", err)
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("%v is left", got)
	}

	evil := writeZip(t, entry{name: "../../evil", content: "x"})
	info := set("a/1.pgm")
	info.Forms[0].Files[0].SHA256 = ""
	useKnown(t, info)
	s.files["toys.zip"] = evil
	if err := d.Get(t.Context(), "toys", dir); err == nil || !strings.Contains(err.Error(), "the name points outside the archive's folder") {
		t.Errorf("an archive that climbs out: got error %v", err)
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("%v is left", got)
	}
}

func TestGetIDX(t *testing.T) {
	images, labels := []byte("two images"), []byte("their labels")
	useKnown(t, Info{Name: "digits", Samples: 2, Classes: 2, Forms: []Form{{
		From: fromRaw, Places: []string{"digits"}, Marks: []string{"images-idx3*"}, IDX: true,
		Files: []Download{{File: "images-idx3.gz", SHA256: sumOf(images)}, {File: "labels-idx1.gz", SHA256: sumOf(labels)}},
	}}})
	// The checksums are of the unpacked content.
	s := &server{files: map[string][]byte{"images-idx3.gz": gzipped(t, images), "labels-idx1.gz": gzipped(t, labels)}}
	d := s.start(t)
	dir := t.TempDir()
	if err := d.Get(t.Context(), "digits", dir); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "digits", "images-idx3"), images)
	for _, gone := range []string{"images-idx3.gz", "labels-idx1.gz"} {
		if err := os.Remove(filepath.Join(dir, "digits", gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Get(t.Context(), "digits", dir); err != nil {
		t.Error(err)
	}
	if want := []string{"images-idx3.gz", "labels-idx1.gz", "labels-idx1.gz"}; !cmp.Equal(s.requests, want) {
		t.Errorf("requests %q, want %q", s.requests, want)
	}
	if _, err := Find("digits", t.TempDir(), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a set that is not there: got error %v", err)
	}
}
