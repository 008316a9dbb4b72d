package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestArchives(t *testing.T) {
	r := &release{time: time.Unix(1_700_000_001, 0).UTC()}
	files := []file{{name: "x/program", content: []byte("program"), program: true}, {name: "x/LICENSE", content: []byte("licence")}}
	for name, pack := range map[string]func(io.Writer, []file) error{"tar": r.tarGz, "zip": r.zip} {
		var first, second bytes.Buffer
		if err := pack(&first, files); err != nil {
			t.Fatal(err)
		}
		if err := pack(&second, files); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: a second time other bytes are written (%v)", name, err)
		}
		if bytes.Contains(first.Bytes(), []byte(os.TempDir())) {
			t.Errorf("%s holds a path of this machine", name)
		}
		var got []string
		add := func(name string, mode os.FileMode, at time.Time, content io.Reader) {
			text, err := io.ReadAll(content)
			if err != nil || !at.UTC().Truncate(2*time.Second).Equal(r.time.Truncate(2*time.Second)) {
				t.Errorf("%s is of %v (%v)", name, at.UTC(), err)
			}
			got = append(got, name+" "+mode.String()+" "+string(text))
		}
		if name == "tar" {
			z, err := gzip.NewReader(&first)
			if err != nil {
				t.Fatal(err)
			}
			for a := tar.NewReader(z); ; {
				h, err := a.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				add(h.Name, h.FileInfo().Mode(), h.ModTime, a)
			}
		} else {
			z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range z.File {
				content, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				add(f.Name, f.Mode(), f.Modified, content)
			}
		}
		if want := "x/program -rwxr-xr-x program, x/LICENSE -rw-r--r-- licence"; strings.Join(got, ", ") != want {
			t.Errorf("%s holds %s, want %s", name, strings.Join(got, ", "), want)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	r := &release{version: "v1.2.3"}
	if err := r.describe(); err != nil || r.time.Unix() != 1_700_000_000 {
		t.Errorf("%v, %v", r.time, err)
	}
	r.version = "../v1"
	if err := r.describe(); err == nil {
		t.Error("no error for a version that is a path")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	r.version = "v1"
	if err := r.describe(); err == nil {
		t.Error("no error for a time that is none")
	}
}

// TestPapers: what is linked into this program has its licence in both papers.
func TestPapers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "v1.2.3"}
	bill, texts, err := r.papers(content)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(bill, []byte(sumOf(content))) || !bytes.Contains(bill, []byte(`"expression": "BSD-3-Clause"`)) || !bytes.Contains(texts, []byte("The Go Authors")) {
		t.Errorf("the bill of materials is %s", bill)
	}
	if _, _, err := r.papers([]byte("no program")); err == nil {
		t.Error("no error for what is no program")
	}
}

// TestPages: the manual pages are of the release's version and time.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	r := &release{version: "v1.2.3", time: time.Unix(1_700_000_000, 0)}
	pages, err := r.pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.name == "partwise-run.1" {
			if !strings.Contains(string(p.content), `"Nov 2023" "partwise v1.2.3"`) {
				t.Errorf("it begins with %.100s", p.content)
			}
			return
		}
	}
	t.Errorf("no page of run among %d", len(pages))
}
