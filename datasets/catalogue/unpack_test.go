package catalogue

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// entry is one entry of an archive: a folder if its name ends with a slash, a link to its content if link is set, else
// a file.
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
		if err := unpack(t.Context(), archive, t.TempDir(), 10); err == nil || !strings.Contains(err.Error(), "the unpacked archive exceeds its size limit") {
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
		{"climbs", []entry{{name: "../out.txt", content: "x"}}, "the name points outside the archive's folder"},
		{"climbs later", []entry{{name: "a/../../out.txt", content: "x"}}, "the name points outside the archive's folder"},
		{"absolute", []entry{{name: "/out.txt", content: "x"}}, "the name points outside the archive's folder"},
		{"backslash", []entry{{name: `..\out.txt`, content: "x"}}, "the name points outside the archive's folder"},
		{"folder", []entry{{name: "../out/"}}, "the name points outside the archive's folder"},
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

// unpackBytes unpacks an archive into a new folder, and returns the number of its files and bytes.
func unpackBytes(t testing.TB, archive []byte, limit int64) (files int, size int64, err error) {
	outer := t.TempDir()
	path, dir := writeFile(t, filepath.Join(outer, "x"), archive), filepath.Join(outer, "in")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	err = unpack(t.Context(), path, dir, limit)
	for _, content := range filesBelow(t, dir) {
		files++
		size += int64(len(content))
	}
	if entries, _ := os.ReadDir(outer); size > limit+1 || len(entries) != 2 {
		t.Fatalf("%d bytes are written, and %d are allowed; beside the folder are %v", size, limit, entries)
	}
	return files, size, err
}

func TestUnpackNames(t *testing.T) {
	long := strings.Repeat("x", maxNameBytes+1)
	for _, test := range []struct {
		name  string
		files []string
		want  string
	}{
		{"NUL", []string{"a\x00b"}, "the name has the control character U+0000"},
		{"line end", []string{"a\nb"}, "the name has the control character U+000A"},
		{"escape", []string{"a\x1b[31m"}, "the name has the control character U+001B"},
		{"right to left", []string{"a\u202egpj.exe"}, "the name has the control character U+202E"},
		{"not UTF-8", []string{"caf\xe9"}, "not UTF-8"},
		{"drive", []string{"C:/x"}, "the name points outside the archive's folder"},
		{"drive of a relative path", []string{"c:x"}, "the name points outside the archive's folder"},
		{"long", []string{long}, "more than 1024 bytes"},
		{"no name", []string{"a/.."}, `"a/.."`},
		{"twice", []string{"a/b", "a/b"}, "file exists"},
		{"twice by another path", []string{"a/b", "a/c/../b"}, "file exists"},
		{"a file as folder", []string{"a", "a/b"}, `"a/b"`},
		{"a folder as file", []string{"a/b", "a"}, `"a"`},
		{"dots", []string{"a...", ".hidden", "a/..b"}, ""},
		{"many scripts", []string{"\u4e00/\U0001f600", "\u0391", "\u0431"}, ""},
	} {
		var entries []entry
		for _, f := range test.files {
			entries = append(entries, entry{name: f, content: "x"})
		}
		archives := map[string][]byte{"zip": writeZip(t, entries...)}
		if !strings.Contains(test.name, "NUL") {
			archives["tar"] = writeTar(t, entries...)
		}
		for kind, data := range archives {
			files, _, err := unpackBytes(t, data, 1<<20)
			if test.want == "" && (err != nil || files != len(test.files)) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%s, %s: got error %v, want one with %q", test.name, kind, err, test.want)
			}
		}
	}
}

// Entries of every other kind, each beside a valid file.
func TestUnpackKinds(t *testing.T) {
	for kind, name := range map[byte]string{
		tar.TypeLink: "hard link", tar.TypeSymlink: "symbolic link", tar.TypeChar: "character device", tar.TypeBlock: "block device",
		tar.TypeFifo: "pipe", tar.TypeCont: "contiguous", 'Z': "no kind",
	} {
		if _, _, err := unpackBytes(t, writeTar(t, entry{name: "x", content: "/etc/passwd", link: kind}), 1<<20); err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
			t.Errorf("tar, %s: got error %v", name, err)
		}
	}
	for _, mode := range []fs.FileMode{fs.ModeSymlink, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice, fs.ModeNamedPipe, fs.ModeSocket} {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		h := &zip.FileHeader{Name: "x"}
		h.SetMode(mode | 0o644)
		if _, err := z.CreateHeader(h); err != nil {
			t.Fatal(err)
		}
		z.Close()
		if _, _, err := unpackBytes(t, out.Bytes(), 1<<20); err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
			t.Errorf("zip, %v: got error %v", mode, err)
		}
	}

	encrypted := writeZip(t, entry{name: "x", content: "secret"})
	directory := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[directory+8] |= 1
	if _, _, err := unpackBytes(t, encrypted, 1<<20); err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Errorf("an encrypted file: got error %v", err)
	}

	if _, _, err := unpackBytes(t, gnuSparse(t), 1<<20); err == nil {
		t.Error("a sparse file is unpacked")
	}
}

// gnuSparse returns a tar archive with a sparse file of a gigabyte without data.
func gnuSparse(t testing.TB) []byte {
	data := writeTar(t, entry{name: "x"})
	header := data[:512]
	header[156] = tar.TypeGNUSparse
	copy(header[257:], "ustar  \x00")
	for i := 345; i < 512; i++ {
		header[i] = 0
	}
	copy(header[386:], "10000000000\x0000000000000\x00")
	copy(header[483:], "10000000000\x00")
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return data
}

func TestUnpackBombs(t *testing.T) {
	const limit = 1 << 20
	zeros := strings.Repeat("\x00", limit+1)
	tooLarge := map[string][]byte{
		"zip":             writeZip(t, entry{name: "x", content: zeros}),
		"tar.gz":          gzipped(t, writeTar(t, entry{name: "x", content: zeros})),
		"in two files":    writeZip(t, entry{name: "x", content: zeros[:limit]}, entry{name: "y", content: "1"}),
		"in two of a tar": gzipped(t, writeTar(t, entry{name: "x", content: zeros[:limit]}, entry{name: "y", content: "1"})),
	}
	// A zip with a false smaller size.
	lying := writeZip(t, entry{name: "x", content: zeros})
	directory := bytes.Index(lying, []byte("PK\x01\x02"))
	copy(lying[directory+24:], []byte{1, 0, 0, 0})
	for name, data := range tooLarge {
		if _, _, err := unpackBytes(t, data, limit); err == nil || !strings.Contains(err.Error(), "the unpacked archive exceeds its size limit") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if _, size, err := unpackBytes(t, lying, limit); err == nil || size > limit {
		t.Errorf("a lying zip: error %v, %d bytes", err, size)
	}
	if _, size, err := unpackBytes(t, writeZip(t, entry{name: "x", content: zeros[:limit]}), limit); err != nil || size != limit {
		t.Errorf("a file of just the limit: error %v, %d bytes", err, size)
	}
}

func TestUnpackTooManyEntries(t *testing.T) {
	before := maxEntries
	maxEntries = 100
	t.Cleanup(func() { maxEntries = before })
	var zipped, tarred bytes.Buffer
	z, w := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
	for i := range maxEntries + 1 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"zip": zipped.Bytes(), "tar": tarred.Bytes()} {
		if _, _, err := unpackBytes(t, data, 1); err == nil || !strings.Contains(err.Error(), "the archive has more than 100 files and folders, or more than") {
			t.Errorf("%s: got error %v", name, err)
		}
	}

	// Long names, and a directory that exceeds the limit.
	var long bytes.Buffer
	z = zip.NewWriter(&long)
	for i := range zipfile.MaxDirectory/1000 + 1 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i), Comment: strings.Repeat("x", 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	if _, _, err := unpackBytes(t, long.Bytes(), 1); err == nil || !strings.Contains(err.Error(), "directory of the archive is larger") {
		t.Errorf("a large directory: got error %v", err)
	}
	deep := make([]entry, 0, 5)
	for i := range cap(deep) {
		deep = append(deep, entry{name: fmt.Sprintf("%d%s/x", i, strings.Repeat("/y", 30))})
	}
	if _, _, err := unpackBytes(t, gzipped(t, writeTar(t, deep...)), 1); err == nil || !strings.Contains(err.Error(), "files and folders") {
		t.Errorf("many folders: got error %v", err)
	}
}

// A tar.gz that is cut off or damaged after the end of the tar is refused.
func TestUnpackDamagedEnd(t *testing.T) {
	sound := gzipped(t, writeTar(t, entry{name: "x", content: strings.Repeat("content", 100)}))
	if _, _, err := unpackBytes(t, sound, 1<<20); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(sound)
	flipped[len(flipped)-6] ^= 1
	for name, data := range map[string][]byte{
		"cut": sound[:len(sound)-8], "half": sound[:len(sound)/2], "wrong sum": flipped, "more behind": append(bytes.Clone(sound), "more"...),
	} {
		if _, _, err := unpackBytes(t, data, 1<<20); err == nil {
			t.Errorf("%s: unpacked without an error", name)
		}
	}
}

// No archive overwrites a file, or writes through a link or outside of the folder.
func TestUnpackOverNothing(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "in")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "mine"), []byte("mine"))
	if err := os.Symlink(outer, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"mine", "link/out"} {
		archive := filepath.Join(t.TempDir(), "x.zip")
		writeFile(t, archive, writeZip(t, entry{name: name, content: "x"}))
		if err := unpack(t.Context(), archive, dir, 10); err == nil || !strings.Contains(err.Error(), "unpack x.zip into "+dir) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "mine")); err != nil || string(got) != "mine" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if _, err := os.Lstat(filepath.Join(outer, "out")); err == nil {
		t.Error("a file is written through a link")
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
	f.Add(writeZip(f, entry{name: "a", content: "x"}, entry{name: "A", content: "y"}))
	f.Add(gnuSparse(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = unpackBytes(t, data, 1<<16)
	})
}
