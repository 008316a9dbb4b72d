package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// A mirrored copy is found and shown, moved away and back, and remembered to be another photo.
func TestClean(t *testing.T) {
	workplace(t)
	if err := os.RemoveAll("photos"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("photos", 0o777); err != nil {
		t.Fatal(err)
	}
	encoded := func(img image.Image) []byte {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 95}); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	const w, h = 200, 150
	mirrored := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range 6 {
		src, img := rand.New(rand.NewPCG(uint64(i), 1)), image.NewRGBA(mirrored.Rect)
		for range 80 {
			x, y := src.IntN(w), src.IntN(h)
			colour := color.RGBA{uint8(src.IntN(256)), uint8(src.IntN(256)), uint8(src.IntN(256)), 255}
			draw.Draw(img, image.Rect(x, y, x+10+src.IntN(40), y+10+src.IntN(40)), image.NewUniform(colour), image.Point{}, draw.Src)
		}
		write(t, fmt.Sprintf("photos/%d.jpg", i), string(encoded(img)))
		for p := range w * h {
			mirrored.Set(p%w, p/w, img.At(w-1-p%w, p/w))
		}
	}
	const first = "5.jpg"
	write(t, "photos/mirrored.jpg", string(testkit.WithEXIF(encoded(mirrored), time.Date(2020, 5, 17, 8, 30, 0, 0, time.UTC), "NIKON D80", 0, 0)))
	before := listed(t, "photos")
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--features", "pixels=16", "--out", "groups")
	if out := must(t, "clean", "groups"); !strings.HasPrefix(out, "1 copy in 1 stack") {
		t.Errorf("printed %q", out)
	}
	page := read(t, "groups/clean/index.html")
	for _, want := range []string{"<b>Keep</b> mirrored.jpg", "2020-05-17 08:30:00", "NIKON D80", `href="../../photos/mirrored.jpg"`, `src="../pictures/000`} {
		if !strings.Contains(page, want) { // the photo of a camera is kept
			t.Errorf("the page has no %q", want)
		}
	}
	if data := read(t, "groups/page/data.js"); !strings.Contains(data, `,"2020-05-17 08:30:00","NIKON D80",""]]`) {
		t.Error("the capture is not in the data of the page")
	}
	must(t, "clean", "groups", "--to", "removed")
	if got := listed(t, "removed"); !slices.Contains(got, "removed/copies/"+first) || len(listed(t, "photos")) != len(before)-1 {
		t.Errorf("moved %v", got)
	}
	must(t, "clean", "--to", "removed", "--undo")
	if after := listed(t, "photos"); !slices.Equal(before, after) {
		t.Errorf("after --undo there are %v, want %v", after, before)
	}
	must(t, "clean", "groups", "--not-same", "mirrored.jpg,"+first)
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--features", "pixels=16", "--out", "groups")
	if out := must(t, "clean", "groups", "--to", "removed"); !strings.HasSuffix(out, "No photo is moved.\n") {
		t.Errorf("after --not-same: printed %q", out)
	}
	for _, args := range [][]string{{"--not-same", "a.jpg"}, {"--kinds", "sharp"}, {"--not-same", "a.jpg,b.jpg"}, {"--undo"}} {
		if code, _, stderr := partwise(append([]string{"clean", "groups"}, args...)...); code == 0 {
			t.Errorf("%q: no error, %s", args, stderr)
		}
	}
}
