package datasets

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/npz"
)

// TestPictures: vectors belong to the image files in their names, in a CSV file with and without a header and in an
// .npz file.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	files := []string{"a.png", "b/c d.png", "gone.png"}
	for _, name := range files[:2] {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rows := []string{"a.png,-1,2", "b/c d.png,3,-4", "gone.png,5,6"}
	arrays := filepath.Join(dir, "arrays.npz")
	f, err := os.Create(arrays)
	if err != nil {
		t.Fatal(err)
	}
	z := npz.NewWriter(f)
	x := mat.NewDense(3, 2, []float64{-1, 2, 3, -4, 5, 6})
	z.Floats("embeddings", []int{3, 2}, x.RawRowView)
	z.Words("paths", files)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(name, text string) *Set {
		t.Helper()
		path := arrays
		if text != "" {
			path = filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), path, OpenOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return s
	}
	for name, text := range map[string]string{
		"header.csv":    "Filename,x,y\n" + strings.Join(rows, "\n") + "\n",
		"bare.csv":      strings.Join(rows, "\n") + "\n",
		"semicolon.csv": strings.ReplaceAll("path,x,y\n"+strings.Join(rows, "\n")+"\n", ",", ";"),
		"arrays":        "",
	} {
		s := read(name, text)
		if !slices.Equal(s.Names, files) || !mat.Equal(s.Vectors, x) {
			t.Errorf("%s: %q, %v", name, s.Names, mat.Formatted(s.Vectors))
		}
		want := []string{filepath.Join(dir, "a.png"), filepath.Join(dir, "b", "c d.png"), ""}
		if !slices.Equal(s.Pictures, want) || !s.HasImages() || s.File(1) != want[1] {
			t.Errorf("%s: pictures %q", name, s.Pictures)
		}
		if img, err := s.PictureFiles().Image(1); err != nil || img.Bounds().Dx() != 7 {
			t.Errorf("%s: %v", name, err)
		}
		if part := s.Subset([]int{1}); !slices.Equal(part.Pictures, want[1:2]) {
			t.Errorf("%s: a part has %q", name, part.Pictures)
		}
	}
	for name, text := range map[string]string{
		"names.csv": "name,x\nred,1\nblue,2\n",
		"gone.csv":  "file,x\ngone.png,1\nx.jpg,2\n",
		"plain.csv": "1,2\n3,4\n",
	} {
		if s := read(name, text); s.Pictures != nil || s.HasImages() || s.File(0) != "" {
			t.Errorf("%s: pictures %q", name, s.Pictures)
		}
	}
}
