package input

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestUnchangedFiles: a second run does not read unchanged files. It reads a file whose size and time are as before, but
// whose content is not.
func TestUnchangedFiles(t *testing.T) {
	defer func(before time.Duration) { settled = before }(settled)
	settled = 0
	dir := t.TempDir()
	write := func(name string, value uint8) {
		t.Helper()
		img := image.NewGray(image.Rect(0, 0, 80, 70))
		for i := range img.Pix {
			img.Pix[i] = value + uint8(i%7)
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(f, img)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	write("a.png", 10)
	write("b.png", 20)
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	prepare := func() *Inputs {
		t.Helper()
		e := &spec.Experiment{Data: spec.Data{Set: dir}, Features: spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 8, Width: 8}}}}
		in, err := Prepare(t.Context(), e, PrepareOptions{Cache: store, Pictures: true})
		if err == nil {
			_, err = in.Pictures(t.Context(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(in.Close)
		return in
	}
	in := prepare()
	info, err := os.Stat(in.Set.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := statusChange(info); !ok {
		t.Skip("this system does not tell when the status of a file changed")
	}
	before, _ := in.Images.Noted(1)
	write("b.png", 30)
	if err := os.Chtimes(in.Set.Files[1], info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	in = prepare()
	if _, known := in.Images.Known(0); !known {
		t.Error("the unchanged file was read again")
	}
	if now, _ := in.Images.Noted(1); now == before {
		t.Error("the changed file was not read")
	}
}
