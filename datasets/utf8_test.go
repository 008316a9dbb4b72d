package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/naming"
)

func TestReadable(t *testing.T) {
	for _, test := range []struct{ names, want []string }{
		{nil, nil},
		{[]string{"a", `b\xe9`, "é", ""}, []string{"a", `b\xe9`, "é", ""}},
		{[]string{"caf\xe9", `caf\xe9`, "caf\xe8", "café", ""}, []string{`caf\xe9`, `caf\x5cxe9`, `caf\xe8`, "café", ""}},
		{[]string{"\xe2\x82/\xff"}, []string{`\xe2\x82/\xff`}},
	} {
		if diff := cmp.Diff(test.want, naming.Readable(test.names)); diff != "" {
			t.Errorf("%q: %s", test.names, diff)
		}
	}
}

// byteFolder makes a folder of classes whose names are not UTF-8, if the file system allows that.
func byteFolder(t *testing.T, classes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, class := range classes {
		if err := os.Mkdir(filepath.Join(dir, class), 0o777); err != nil {
			t.Skip(err)
		}
		writeFile(t, filepath.Join(dir, class, "1.pgm"), []byte("P5 1 1 255\n\x01"))
	}
	return dir
}

func TestFolderOfByteNames(t *testing.T) {
	dir := byteFolder(t, "caf\xe9", "caf\xe8", `caf\xe9`)
	for _, pool := range []bool{false, true} {
		s, err := Folder(t.Context(), dir, OpenOptions{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{`caf\x5cxe9`, `caf\xe8`, `caf\xe9`}; !cmp.Equal(s.Classes, want) {
			t.Errorf("classes %q, want %q", s.Classes, want)
		}
		if want := []string{`caf\x5cxe9/1.pgm`, `caf\xe8/1.pgm`, `caf\xe9/1.pgm`}; !cmp.Equal(slices.Sorted(slices.Values(s.Names)), want) {
			t.Errorf("names %q, want %q", s.Names, want)
		}
		for i := range s.Names {
			if _, err := s.Image(i); err != nil {
				t.Error(err)
			}
		}
	}
	// Labels use the displayed names of samples.
	labels := writeFile(t, filepath.Join(t.TempDir(), "labels.csv"), []byte("caf\\xe9/1.pgm,a\ncaf\\xe8/1.pgm,b\n"))
	s, err := Folder(t.Context(), dir, OpenOptions{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{`caf\x5cxe9/1.pgm`, `caf\xe8/1.pgm=b`, `caf\xe9/1.pgm=a`}; !cmp.Equal(slices.Sorted(slices.Values(labelled(s))), want) {
		t.Errorf("labels %q, want %q", labelled(s), want)
	}
	s, err = Folder(t.Context(), dir, OpenOptions{Pattern: "c{class}/*"})
	if err != nil || !cmp.Equal(s.Classes, []string{`af\x5cxe9`, `af\xe8`, `af\xe9`}) {
		t.Errorf("with a pattern: %v, %v", s, err)
	}
}

// A set's own name, from a file or folder, is also readable.
func TestNameOfByteNames(t *testing.T) {
	dir := filepath.Join(byteFolder(t, "caf\xe9"), "caf\xe9")
	s, err := Folder(t.Context(), dir, OpenOptions{})
	if err != nil || s.Name != `caf\xe9` {
		t.Errorf("%v, %v", s, err)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add("caf\xe9", `caf\xe9`, "caf\xe8")
	f.Add("", "\x00", "\xff\xfe\\")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		names := []string{a, b, c}
		shown := naming.Readable(names)
		for i, name := range shown {
			if !utf8.ValidString(name) {
				t.Errorf("%q is shown as %q", names[i], name)
			}
			for j := range i {
				if (names[i] == names[j]) != (shown[i] == shown[j]) {
					t.Errorf("%q and %q are shown as %q and %q", names[i], names[j], shown[i], shown[j])
				}
			}
		}
	})
}
