package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one entry of an archive: a folder if its name ends with a slash, a
// link to its content if it is one, else a file.
type entry struct {
	name, content string
	link          byte
}

func writeTar(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		switch {
		case e.link != 0:
			h.Typeflag, h.Linkname, h.Size = e.link, e.content, 0
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeZip(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if e.link != 0 {
			h.SetMode(fs.ModeSymlink | 0o777)
		} else if strings.HasSuffix(e.name, "/") {
			h.SetMode(fs.ModeDir | 0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// filesBelow returns the files below dir with their content.
func filesBelow(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(path[len(dir)+1:])] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestUnpack(t *testing.T) {
	entries := []entry{
		{name: "./"}, {name: "set/"}, {name: "set/a/1.txt", content: "one"}, {name: "set/2.txt", content: "two"}, {name: "set/empty/"},
		{name: "__MACOSX/"}, {name: "__MACOSX/set/._2.txt", content: "macOS"}, {name: "set/../3.txt", content: "three"},
	}
	want := map[string]string{"set/a/1.txt": "one", "set/2.txt": "two", "3.txt": "three"}
	for name, data := range map[string][]byte{
		"x.zip": writeZip(t, entries...), "x.tar": writeTar(t, entries...), "x.tar.gz": gzipped(t, writeTar(t, entries...)),
		"no-suffix": writeZip(t, entries...),
	} {
		archive, dir := filepath.Join(t.TempDir(), name), t.TempDir()
		writeFile(t, archive, data)
		if err := unpack(t.Context(), archive, dir, 11); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if stat, err := os.Stat(filepath.Join(dir, "set/empty")); err != nil || !stat.IsDir() {
			t.Errorf("%s: no empty folder: %v", name, err)
		}
		if err := unpack(t.Context(), archive, t.TempDir(), 10); err == nil || !strings.Contains(err.Error(), "more bytes than it may") {
			t.Errorf("%s with a limit: got error %v", name, err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries []entry
		want    string
	}{
		{"climbs", []entry{{name: "../out.txt", content: "x"}}, "leads out"},
		{"climbs later", []entry{{name: "a/../../out.txt", content: "x"}}, "leads out"},
		{"absolute", []entry{{name: "/out.txt", content: "x"}}, "leads out"},
		{"backslash", []entry{{name: `..\out.txt`, content: "x"}}, "leads out"},
		{"folder", []entry{{name: "../out/"}}, "leads out"},
		{"link", []entry{{name: "a", content: "..", link: tar.TypeSymlink}, {name: "a/out.txt", content: "x"}}, "neither a file nor a folder"},
		{"file as folder", []entry{{name: "a", content: "x"}, {name: "a/b", content: "y"}}, `"a/b"`},
	} {
		for kind, data := range map[string][]byte{"zip": writeZip(t, test.entries...), "tar": writeTar(t, test.entries...)} {
			outer := t.TempDir()
			archive, dir := filepath.Join(outer, "x"), filepath.Join(outer, "in")
			writeFile(t, archive, data)
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := unpack(t.Context(), archive, dir, 1<<20); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %s: got error %v, want one with %q", test.name, kind, err, test.want)
			}
			for file := range filesBelow(t, outer) {
				if strings.Contains(file, "out") {
					t.Errorf("%s, %s: %s was written", test.name, kind, file)
				}
			}
		}
	}
	hard := writeTar(t, entry{name: "a", content: "/etc/passwd", link: tar.TypeLink})
	archive := filepath.Join(t.TempDir(), "x")
	writeFile(t, archive, hard)
	if err := unpack(t.Context(), archive, t.TempDir(), 1); err == nil {
		t.Error("a hard link is unpacked")
	}

	for name, data := range map[string][]byte{"nothing": nil, "text": []byte(strings.Repeat("no archive ", 100)), "PK": []byte("PK\x03\x04"), "gzip": []byte("\x1f\x8b")} {
		writeFile(t, archive, data)
		if err := unpack(t.Context(), archive, t.TempDir(), 1<<20); err == nil {
			t.Errorf("%s: unpacked without an error", name)
		}
	}
}

func TestUnpackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	archive := filepath.Join(t.TempDir(), "x")
	writeFile(t, archive, writeZip(t, entry{name: "a", content: "x"}))
	if err := unpack(ctx, archive, t.TempDir(), 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	entries := []entry{{name: "set/"}, {name: "set/1.txt", content: "one"}, {name: "../2.txt", content: "two"}}
	f.Add(writeZip(f, entries[:2]...))
	f.Add(writeTar(f, entries[:2]...))
	f.Add(gzipped(f, writeTar(f, entries[:2]...)))
	f.Add(writeZip(f, entries...))
	f.Add(writeTar(f, entries...))
	f.Add(writeTar(f, entry{name: "a", content: "..", link: tar.TypeSymlink}, entry{name: "a/x", content: "y"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		outer := t.TempDir()
		archive, dir := filepath.Join(outer, "x"), filepath.Join(outer, "in")
		writeFile(t, archive, data)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		const limit = 1 << 16
		err := unpack(t.Context(), archive, dir, limit)
		size := 0
		for name, content := range filesBelow(t, outer) {
			if name != "x" && !strings.HasPrefix(name, "in/") {
				t.Errorf("%s was written", name)
			}
			if name != "x" {
				size += len(content)
			}
		}
		if size > limit+1 || err == nil && size > limit {
			t.Errorf("%d bytes were written", size)
		}
	})
}
