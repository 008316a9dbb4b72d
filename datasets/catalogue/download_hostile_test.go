package catalogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/files/filelock"
)

// serveFunc serves all requests by f.
func serveFunc(t *testing.T, secure bool, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	start := httptest.NewServer
	if secure {
		start = httptest.NewTLSServer
	}
	s := start(f)
	t.Cleanup(s.Close)
	return s
}

// getToy downloads the set of one file with the published sum from the server, and returns the content of the data
// folder and the error.
func getToy(t *testing.T, s *httptest.Server, sum string, change func(*Downloader)) (map[string]string, error) {
	t.Helper()
	useKnown(t, toySet(t, sum))
	d := &Downloader{Client: s.Client(), Mirror: s.URL, Pause: time.Microsecond, Insecure: true}
	if change != nil {
		change(d)
	}
	dir := t.TempDir()
	err := d.Get(t.Context(), "toy", dir)
	return filesBelow(t, dir), err
}

func TestRedirects(t *testing.T) {
	const content = "content"
	give := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) }
	plain, secure := serveFunc(t, false, give), serveFunc(t, true, give)
	// Each server redirects /to/URL to URL, and serves content at any other path.
	forward := func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		give(w, r)
	}
	fromPlain, fromSecure := serveFunc(t, false, forward), serveFunc(t, true, forward)
	sum := sumOf([]byte(content))
	for _, test := range []struct {
		name     string
		from     *httptest.Server
		to, sum  string
		hosts    []string
		insecure bool
		want     string
	}{
		{"same host", fromSecure, "/other", "", nil, false, ""},
		{"https to plain http", fromSecure, plain.URL, sum, nil, true, "from https to plain http"},
		{"https to another host, sum not known", fromSecure, secure.URL, "", nil, true, "another host"},
		{"https to another host, sum known", fromSecure, secure.URL, sum, nil, false, ""},
		{"https to a host of the set", fromSecure, secure.URL, "", []string{strings.TrimPrefix(secure.URL, "https://")}, false, ""},
		{"http to https, sum known", fromPlain, secure.URL, sum, nil, false, ""},
		{"http to https of another host, sum not known", fromPlain, secure.URL, "", nil, true, "another host"},
		{"http to another host, sum known", fromPlain, plain.URL, sum, nil, false, "another host"},
		{"http to the same host, sum known", fromPlain, "/other", sum, nil, false, ""},
		{"file", fromSecure, "file:///etc/passwd", sum, nil, true, "redirected to a scheme other than http and https"},
		{"ftp", fromPlain, "ftp://127.0.0.1/x", sum, nil, true, "redirected to a scheme other than http and https"},
		{"for ever", fromPlain, "", sum, nil, false, "redirected more than 5 times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := toySet(t, test.sum)
			address := test.from.URL + "/toy.mat?to=" + test.to
			if test.to == "" {
				loop := serveFunc(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) })
				address = loop.URL
			}
			set.Forms[0].Files[0].URLs = []string{address}
			set.Forms[0].Files[0].Hosts = test.hosts
			useKnown(t, set)
			dir := t.TempDir()
			d := &Downloader{Client: fromSecure.Client(), Insecure: test.insecure, Pause: time.Microsecond}
			err := d.Get(t.Context(), "toy", dir)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got error %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got error %v, want one with %q", err, test.want)
			case test.want == "" && filesBelow(t, dir)["toy/toy.mat"] != content:
				t.Errorf("got the files %q", filesBelow(t, dir))
			}
			if test.want != "" && len(filesBelow(t, dir)) > 0 {
				t.Errorf("%q is left", filesBelow(t, dir))
			}
		})
	}
}

// Plain http is refused for files that cannot be verified.
func TestPlainHTTP(t *testing.T) {
	var requests atomic.Int32
	s := serveFunc(t, false, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1); io.WriteString(w, "content") })
	files, err := getToy(t, s, "", func(d *Downloader) { d.Insecure = false })
	if err == nil || !strings.Contains(err.Error(), "a plain HTTP download without a published checksum could be altered on the way; insecure allows it") || requests.Load() != 0 || len(files) != 0 {
		t.Errorf("got error %v after %d requests, and the files %q", err, requests.Load(), files)
	}
	if _, err := getToy(t, s, sumOf([]byte("content")), func(d *Downloader) { d.Insecure = false }); err != nil {
		t.Errorf("with a known sum: got error %v", err)
	}
	if _, err := getToy(t, s, "", func(d *Downloader) { d.Mirror = "file:///etc" }); err == nil || !strings.Contains(err.Error(), "expected an http or https URL") {
		t.Errorf("a file as mirror: got error %v", err)
	}
}

// Without a published sum, the first download's sum counts.
func TestFirstSumCounts(t *testing.T) {
	content := "first"
	s := serveFunc(t, true, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) })
	useKnown(t, toySet(t, ""))
	var reports []string
	d := &Downloader{Client: s.Client(), Mirror: s.URL, Report: func(m string) { reports = append(reports, m) }}
	dir := t.TempDir()
	get := func() error { return d.Get(t.Context(), "toy", dir) }
	if err := get(); err != nil {
		t.Fatal(err)
	}
	noted := filepath.Join(dir, "toy", "toy.mat.sha256")
	want := map[string]string{"toy/toy.mat": "first", "toy/toy.mat.sha256": sumOf([]byte("first")) + "  toy.mat\n"}
	if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
		t.Error(diff)
	}
	if len(reports) != 1 || !strings.Contains(reports[0], sumOf([]byte("first"))) || !strings.Contains(reports[0], noted) {
		t.Errorf("reported %q", reports)
	}
	// The existing file is checked against it.
	writeFile(t, filepath.Join(dir, "toy", "toy.mat"), []byte("changed"))
	if err := get(); err == nil || !strings.Contains(err.Error(), "is not the file of the set") {
		t.Errorf("a changed file: got error %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "toy", "toy.mat")); err != nil {
		t.Fatal(err)
	}
	if err := get(); err != nil || len(reports) != 1 {
		t.Errorf("the same file again: error %v, reported %q", err, reports)
	}
	// So is the next download.
	content = "second"
	if err := os.Remove(filepath.Join(dir, "toy", "toy.mat")); err != nil {
		t.Fatal(err)
	}
	if err := get(); err == nil || !strings.Contains(err.Error(), noted) || !strings.Contains(err.Error(), "earlier download") {
		t.Errorf("another file: got error %v", err)
	}
	writeFile(t, noted, []byte("has no published checksum; its SHA-256 is\n"))
	if err := get(); err == nil || !strings.Contains(err.Error(), noted+" has no SHA-256 checksum") {
		t.Errorf("a note that is none: got error %v", err)
	}
	if got := filesBelow(t, dir); !cmp.Equal(got, map[string]string{"toy/toy.mat.sha256": "has no published checksum; its SHA-256 is\n"}) {
		t.Errorf("left are %q", got)
	}
}

func TestMD5(t *testing.T) {
	set := toySet(t, "")
	set.Forms[0].Files[0].MD5 = "9a0364b9e99bb480dd25e1f0284c8555" // of "content"
	for content, ok := range map[string]bool{"content": true, "other": false} {
		s := serveFunc(t, false, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) })
		useKnown(t, set)
		dir := t.TempDir()
		err := (&Downloader{Client: s.Client(), Mirror: s.URL}).Get(t.Context(), "toy", dir)
		if ok != (err == nil) || !ok && !strings.Contains(err.Error(), "MD5") {
			t.Errorf("%s: got error %v", content, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		},
		"said before": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1001") },
	} {
		set := toySet(t, "")
		set.Forms[0].Files[0].MaxBytes = 1000
		useKnown(t, set)
		s, dir := serveFunc(t, false, f), t.TempDir()
		err := (&Downloader{Client: s.Client(), Mirror: s.URL, Insecure: true}).Get(t.Context(), "toy", dir)
		files := filesBelow(t, dir)
		if err == nil || !strings.Contains(err.Error(), "1000") || len(files) != 0 {
			t.Errorf("%s: got error %v and the files %q", name, err, files)
		}
	}
}

func TestSlowServer(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no byte": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"a byte now and then": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			for r.Context().Err() == nil {
				w.Write([]byte{'x'})
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		},
	} {
		_, err := getToy(t, serveFunc(t, false, f), "", func(d *Downloader) { d.window, d.leastBytes = 30*time.Millisecond, 1<<20 })
		if err == nil || !strings.Contains(err.Error(), "too slow") || !strings.Contains(err.Error(), "in 30ms") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// Servers that answer a range request with something else.
func TestLyingRanges(t *testing.T) {
	const whole, have = "the whole file", "the whole"
	for _, test := range []struct {
		name, tag, contentRange, body string
		code                          int
	}{
		{"another version", `"2"`, "bytes 9-13/14", " nose", http.StatusPartialContent},
		{"no version", "", "bytes 9-13/14", " nose", http.StatusPartialContent},
		{"a weak version", `W/"1"`, "bytes 9-13/14", " nose", http.StatusPartialContent},
		{"another start", `"1"`, "bytes 8-13/14", "e file", http.StatusPartialContent},
		{"another end", `"1"`, "bytes 9-12/14", " fil", http.StatusPartialContent},
		{"another size", `"1"`, "bytes 9-13/15", " file", http.StatusPartialContent},
		{"no size", `"1"`, "bytes 9-13/*", " file", http.StatusPartialContent},
		{"another length", `"1"`, "bytes 9-13/14", " fil", http.StatusPartialContent},
		{"no range", `"1"`, "", " file", http.StatusPartialContent},
		{"another unit", `"1"`, "lines 9-13/14", " file", http.StatusPartialContent},
		{"negative", `"1"`, "bytes -9-13/14", " file", http.StatusPartialContent},
		{"backwards", `"1"`, "bytes 9-8/14", "", http.StatusPartialContent},
		{"past the end", `"1"`, "bytes 9-14/14", " file!", http.StatusPartialContent},
		{"huge", `"1"`, "bytes 9-99999999999999999999/14", " file", http.StatusPartialContent},
		{"not satisfiable", `"1"`, "bytes */14", "", http.StatusRequestedRangeNotSatisfiable},
		{"all of it", `"1"`, "", whole, http.StatusOK},
		{"all of another", `"2"`, "", whole, http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ranges []string
			s := serveFunc(t, false, func(w http.ResponseWriter, r *http.Request) {
				ranges = append(ranges, r.Header.Get("Range"))
				if r.Header.Get("Range") == "" {
					io.WriteString(w, whole)
					return
				}
				if test.tag != "" {
					w.Header().Set("ETag", test.tag)
				}
				if test.contentRange != "" {
					w.Header().Set("Content-Range", test.contentRange)
				}
				w.WriteHeader(test.code)
				io.WriteString(w, test.body)
			})
			// The sum is unknown: only the answer shows the error.
			useKnown(t, toySet(t, ""))
			dir := t.TempDir()
			work := filepath.Join(dir, "toy", workName)
			if err := os.MkdirAll(work, 0o777); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(work, "toy.mat.part"), []byte(have))
			writeFile(t, filepath.Join(work, "toy.mat.from"), []byte(s.URL+"/toy.mat\n\"1\"\n14\n"))
			d := &Downloader{Client: s.Client(), Mirror: s.URL, Insecure: true, Pause: time.Microsecond}
			if err := d.Get(t.Context(), "toy", dir); err != nil {
				t.Fatal(err)
			}
			if got := filesBelow(t, dir)["toy/toy.mat"]; got != whole {
				t.Errorf("got %q", got)
			}
			if ranges[0] != "bytes=9-" || len(ranges) > 2 {
				t.Errorf("asked for the ranges %q", ranges)
			}
		})
	}

	t.Run("not asked for", func(t *testing.T) {
		s := serveFunc(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-3/14")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "the ")
		})
		if files, err := getToy(t, s, "", nil); err == nil || !strings.Contains(err.Error(), "the server sent part of the file instead of all of it") || len(files) != 0 {
			t.Errorf("got error %v and the files %q", err, files)
		}
	})
}

// A gzipped file that is cut off, too long or unpacks to too much is refused.
func TestDamagedGzip(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 1000)
	packed := gzipped(t, content)
	bomb := gzipped(t, make([]byte, 1<<20))
	for name, data := range map[string][]byte{
		"cut": packed[:len(packed)-9], "has no published checksum; its SHA-256 is": packed[:len(packed)-1], "more behind": append(bytes.Clone(packed), "more"...), "none": []byte("not gzip"), "empty": nil, "bomb": bomb,
	} {
		useKnown(t, Info{Name: "digits", Forms: []Form{{From: fromRaw, Places: []string{"digits"}, Marks: []string{"x-idx3*"}, IDX: true,
			Files: []Download{{File: "x-idx3.gz", SHA256: sumOf(content), MaxUnpacked: 10_000}}}}})
		s := serveFunc(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
		dir := t.TempDir()
		err := (&Downloader{Client: s.Client(), Mirror: s.URL}).Get(t.Context(), "digits", dir)
		if err == nil || len(filesBelow(t, dir)) != 0 {
			t.Errorf("%s: got error %v and the files %v", name, err, len(filesBelow(t, dir)))
		}
	}
}

// toyArchive is a known set in an archive without a published sum.
func toyArchive() Info {
	return Info{Name: "toys", Samples: 1, Classes: 1, Forms: []Form{{
		From: fromRaw, Places: []string{"toys"}, Marks: []string{"a/1.pgm"},
		Files: []Download{{File: "toys.zip", Unpack: true, URLs: []string{"https://nowhere.invalid/toys.zip"}, MaxUnpacked: 1 << 20}},
	}}}
}

func TestUsersFilesStay(t *testing.T) {
	good := writeZip(t, entry{name: "a/1.pgm", content: "P2 1 1 255 1"})
	var requests atomic.Int32
	s := serveFunc(t, true, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1); w.Write(good) })
	get := func(t *testing.T, files map[string]string) (string, error) {
		useKnown(t, toyArchive())
		dir := t.TempDir()
		for name, content := range files {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, name), []byte(content))
		}
		err := (&Downloader{Client: s.Client(), Mirror: s.URL}).Get(t.Context(), "toys", dir)
		got := filesBelow(t, dir)
		for name, content := range files {
			if got[name] != content {
				t.Errorf("%s is gone or changed", name)
			}
		}
		return dir, err
	}
	t.Run("a folder of the set's name", func(t *testing.T) {
		dir, err := get(t, map[string]string{"toys/notes.txt": "mine", "toys/toys.zip.part": "mine", "toys/raw.part/x": "mine"})
		if err != nil || filesBelow(t, dir)["toys/raw/a/1.pgm"] == "" {
			t.Errorf("error %v, files %q", err, filesBelow(t, dir))
		}
	})
	t.Run("a folder raw in it", func(t *testing.T) {
		requests.Store(0)
		dir, err := get(t, map[string]string{"toys/raw/mine.txt": "mine"})
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "toys", "raw")+" exists but does not contain") || requests.Load() != 0 {
			t.Errorf("got error %v after %d requests", err, requests.Load())
		}
	})
	t.Run("a file of the set's name", func(t *testing.T) {
		if _, err := get(t, map[string]string{"toys": "mine"}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("the archive", func(t *testing.T) {
		requests.Store(0)
		dir, err := get(t, map[string]string{"toys/toys.zip": string(good)})
		if err != nil || requests.Load() != 0 || filesBelow(t, dir)["toys/raw/a/1.pgm"] == "" {
			t.Errorf("error %v after %d requests, files %d", err, requests.Load(), len(filesBelow(t, dir)))
		}
	})
	t.Run("a damaged archive", func(t *testing.T) {
		if _, err := get(t, map[string]string{"toys/toys.zip": string(good[:len(good)-1])}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a link instead of the work folder", func(t *testing.T) {
		useKnown(t, toyArchive())
		dir, elsewhere := t.TempDir(), t.TempDir()
		writeFile(t, filepath.Join(elsewhere, "mine.txt"), []byte("mine"))
		if err := os.Mkdir(filepath.Join(dir, "toys"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, filepath.Join(dir, "toys", workName)); err != nil {
			t.Skip(err)
		}
		err := (&Downloader{Client: s.Client(), Mirror: s.URL}).Get(t.Context(), "toys", dir)
		if err == nil || !cmp.Equal(filesBelow(t, elsewhere), map[string]string{"mine.txt": "mine"}) {
			t.Errorf("error %v, and elsewhere are %q", err, filesBelow(t, elsewhere))
		}
	})
}

// A bad archive is removed; an archive that met a full disk stays.
func TestArchiveKept(t *testing.T) {
	const name = "this name has more bytes than the disk allows, "
	for _, test := range []struct {
		name    string
		archive []byte
		kept    bool
	}{
		{"disk", writeZip(t, entry{name: "a/1.pgm", content: "x"}, entry{name: strings.Repeat(name, 6), content: "x"}), true},
		{"archive", writeZip(t, entry{name: "../1.pgm", content: "x"}), false},
	} {
		var requests atomic.Int32
		s := serveFunc(t, true, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1); w.Write(test.archive) })
		useKnown(t, toyArchive())
		dir := t.TempDir()
		for i := range 2 {
			if err := (&Downloader{Client: s.Client(), Mirror: s.URL}).Get(t.Context(), "toys", dir); err == nil {
				t.Errorf("%s: no error", test.name)
			}
			want := map[string]string{}
			if test.kept {
				want["toys/"+workName+"/toys.zip"] = string(test.archive)
			}
			if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
			if n := int(requests.Load()); test.kept && n != 1 || !test.kept && n != i+1 {
				t.Errorf("%s: %d requests in %d attempts", test.name, n, i+1)
			}
		}
	}
}

// Several processes get the same set: one downloads it, the others wait.
func TestGetAtOnce(t *testing.T) {
	zip := writeZip(t, entry{name: "a/1.pgm", content: "P2 1 1 255 1"}, entry{name: "a/2.pgm", content: strings.Repeat("x", 1<<16)})
	var requests, waited atomic.Int32
	began := make(chan bool)
	s := serveFunc(t, true, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			<-began
		}
		w.Write(zip)
	})
	useKnown(t, toyArchive())
	dir := t.TempDir()
	const processes = 5
	var group sync.WaitGroup
	for range processes {
		group.Go(func() {
			d := &Downloader{Client: s.Client(), Mirror: s.URL, Report: func(m string) {
				if strings.Contains(m, "waiting for another process that downloads into") && waited.Add(1) == processes-1 {
					close(began) // all but one wait
				}
			}}
			if err := d.Get(t.Context(), "toys", dir); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	got := filesBelow(t, dir)
	delete(got, "toys/toys.zip.sha256")
	if diff := cmp.Diff(map[string]string{"toys/raw/a/1.pgm": "P2 1 1 255 1", "toys/raw/a/2.pgm": strings.Repeat("x", 1<<16)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWaitingCanBeEnded(t *testing.T) {
	useKnown(t, toyArchive())
	dir := t.TempDir()
	lock, err := filelock.Acquire(lockOf(dir, filepath.Join(dir, "toys")))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, cancel := context.WithCancel(t.Context())
	d := &Downloader{Report: func(string) { cancel() }}
	if err := d.Get(ctx, "toys", dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// killed names the variable with which TestGetKilled starts this program as a downloader, with a server and a folder.
const killed = "DATASETS_TEST_GET"

// TestGetKilled: after a kill at any moment, the next start ends with the same bytes.
func TestGetKilled(t *testing.T) {
	useKnown(t, toyArchive())
	if where := os.Getenv(killed); where != "" {
		server, dir, _ := strings.Cut(where, " ")
		if err := (&Downloader{Mirror: server, Insecure: true}).Get(t.Context(), "toys", dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	entries := []entry{{name: "a/1.pgm", content: "P2 1 1 255 1"}}
	want := map[string]string{"toys/raw/a/1.pgm": "P2 1 1 255 1"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		content := make([]byte, 1+r.IntN(4000))
		for j := range content {
			content[j] = byte(r.IntN(256))
		}
		name := fmt.Sprintf("a/%d.bin", i)
		entries = append(entries, entry{name: name, content: string(content)})
		want["toys/raw/"+name] = string(content)
	}
	archive := writeZip(t, entries...)
	want["toys/toys.zip.sha256"] = sumOf(archive) + "  toys.zip\n"
	s := serveFunc(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, slowReader{bytes.NewReader(archive)})
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	start := func() *exec.Cmd {
		c := exec.Command(self, "-test.run", "^TestGetKilled$")
		c.Env = append(os.Environ(), killed+"="+s.URL+" "+dir)
		return c
	}
	for range 25 {
		c := start()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		if raw := filepath.Join(dir, "toys", rawName); r.IntN(3) == 0 {
			if got := filesBelow(t, dir); got["toys/raw/a/1.pgm"] != "" {
				if err := os.RemoveAll(raw); err != nil { // once more
					t.Fatal(err)
				}
			}
		}
	}
	if out, err := start().CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(filepath.Join(dir, "toys", workName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the work folder is left: %v", err)
	}
}

// TestGetRemovesStale: files of a process that was killed while it noted a sum are removed, and a user's file of a
// similar name stays.
func TestGetRemovesStale(t *testing.T) {
	useKnown(t, toyArchive())
	archive := writeZip(t, entry{name: "a/1.pgm", content: "P2 1 1 255 1"})
	s := serveFunc(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) })
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "toys"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".partwise-0123456789abcdef.tmp", ".partwise-notes.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, "toys", name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Downloader{Mirror: s.URL, Insecure: true}).Get(t.Context(), "toys", dir); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"toys/.partwise-notes.tmp": "half", "toys/raw/a/1.pgm": "P2 1 1 255 1", "toys/toys.zip.sha256": sumOf(archive) + "  toys.zip\n",
	}
	if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// slowReader returns few bytes at a time.
type slowReader struct{ *bytes.Reader }

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(200 * time.Microsecond)
	return s.Reader.Read(p[:min(len(p), 8<<10)])
}

// WriteTo hides the method of bytes.Reader.
func (s slowReader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

func TestKnownSums(t *testing.T) {
	for _, set := range knownSets() {
		for _, f := range set.Forms {
			for _, d := range f.Files {
				if d.MaxBytes == 0 || d.Unpack && d.MaxUnpacked == 0 {
					t.Errorf("%s: %s has no bound of its size", set.Name, d.File)
				}
				if n := len(d.SHA256); n != 0 && n != 64 {
					t.Errorf("%s: %s has a SHA-256 sum of %d digits", set.Name, d.File, n)
				}
				if n := len(d.MD5); n != 0 && n != 32 {
					t.Errorf("%s: %s has an MD5 sum of %d digits", set.Name, d.File, n)
				}
			}
		}
	}
}

// A disk that cannot store the file gives one error with its path, and no other address is tried.
func TestDiskFails(t *testing.T) {
	var requests atomic.Int32
	s := serveFunc(t, true, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1); io.WriteString(w, "content") })
	set := toySet(t, "")
	set.Forms[0].Files[0].URLs = []string{s.URL + "/1", s.URL + "/2"}
	useKnown(t, set)
	dir := t.TempDir()
	part := filepath.Join(dir, "toy", workName, "toy.mat.part")
	if err := os.MkdirAll(part, 0o777); err != nil { // blocks the file's name
		t.Fatal(err)
	}
	err := (&Downloader{Client: s.Client()}).Get(t.Context(), "toy", dir)
	if err == nil || strings.Count(err.Error(), part) != 1 || strings.Contains(err.Error(), "\n") || requests.Load() != 1 {
		t.Errorf("got error %v after %d requests", err, requests.Load())
	}
}
