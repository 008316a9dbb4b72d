package heif

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func files(t testing.TB) (all [][]byte) {
	t.Helper()
	names, err := filepath.Glob("../../datasets/imagefile/testdata/heif/*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content)
	}
	return all
}

// TestDamaged decodes damaged files. Each is an image or one error.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, content := range files(t) {
		for n := range 12 {
			damaged := bytes.Clone(content)
			for range 1 + n/2 {
				damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			}
			if h, err := ReadHeader(bytes.NewReader(damaged)); err != nil || h.Width*h.Height > 1<<20 {
				continue
			}
			if img, turn, err := Decode(damaged); err == nil && (img.Bounds().Empty() || turn < 1 || turn > 8) {
				t.Errorf("%v, turned by %d", img.Bounds(), turn)
			}
		}
	}
}

// FuzzHeader: a size is positive, and the metadata lies in the file.
func FuzzHeader(f *testing.F) {
	for _, content := range files(f) {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if h, err := ReadHeader(bytes.NewReader(content)); err == nil && (h.Width < 1 || h.Height < 1 || h.end > int64(len(content)) || h.start > h.end) {
			t.Errorf("%+v", h)
		}
	})
}
