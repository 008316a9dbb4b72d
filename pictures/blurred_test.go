package pictures

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// averaged returns img with each pixel replaced by the mean of the pixels at some offsets, after JPEG compression.
func averaged(img *image.RGBA, offsets []image.Point) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		for x := range w {
			var v [4]int
			for _, o := range offsets {
				at := img.PixOffset(min(max(x+o.X, 0), w-1), min(max(y+o.Y, 0), h-1))
				for c := range v {
					v[c] += int(img.Pix[at+c])
				}
			}
			for c := range v {
				out.Pix[out.PixOffset(x, y)+c] = uint8(v[c] / len(offsets))
			}
		}
	}
	return out
}

// disc and line return the offsets of an unfocused lens and of a moving camera.
func disc(radius float64) (offsets []image.Point) {
	r := int(radius)
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			if math.Hypot(float64(x), float64(y)) <= radius {
				offsets = append(offsets, image.Pt(x, y))
			}
		}
	}
	return offsets
}

func line(length int, angle float64) (offsets []image.Point) {
	for i := range length {
		t := float64(i) - float64(length-1)/2
		offsets = append(offsets, image.Pt(int(math.Round(t*math.Cos(angle))), int(math.Round(t*math.Sin(angle)))))
	}
	return offsets
}

// TestBlurredPhotographs blurs a twelfth of the photographs. Precision must be at least 90 % and recall at least 80 %.
// A sharp subject before an unfocused background is sharp.
func TestBlurredPhotographs(t *testing.T) {
	root := testkit.NeedFolder(t, testkit.DataFolder)
	var files []string
	for _, set := range []string{"caltech10", "corel5", "scenes13"} {
		var all []string
		err := filepath.WalkDir(filepath.Join(root, set), func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".jpg" {
				all = append(all, path)
			}
			return err
		})
		if err != nil || len(all) == 0 {
			t.Skipf("no photographs in %s: %v", set, err)
		}
		for i := range 8 {
			files = append(files, all[(2*i+1)*len(all)/16])
		}
	}
	sharp, soft := make([][]*Look, len(files)), make([][]*Look, len(files))
	err := parallel.Blocks(t.Context(), 0, len(files), 1, func(_, i, _ int) {
		img, err := (&datasets.Set{Names: []string{""}, Files: []string{files[i]}}).Image(0)
		if err != nil {
			t.Error(err)
			return
		}
		whole := features.Thumbnail(img, max(img.Bounds().Dx(), img.Bounds().Dy()))
		small := features.Thumbnail(img, whole.Rect.Dx()*2/3)
		look := func(img *image.RGBA) *Look {
			var file bytes.Buffer
			if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 90}); err != nil {
				t.Error(err)
			}
			again, err := jpeg.Decode(&file)
			if err != nil {
				t.Error(err)
				return &Look{}
			}
			l, _, err := New(again, again.Bounds().Size())
			if err != nil {
				t.Error(err)
			}
			return l
		}
		sharp[i] = append(sharp[i], look(whole), look(small))
		ground := averaged(whole, disc(4.5))
		middle := whole.Rect.Inset(min(whole.Rect.Dx(), whole.Rect.Dy()) / 3)
		if n := sharpness(features.Thumbnail(whole.SubImage(middle), workSide)); n > 0.4 { // a subject is there
			draw.Draw(ground, middle, whole, middle.Min, draw.Src)
			sharp[i] = append(sharp[i], look(ground))
		}
		twice := averaged(averaged(whole, disc(1.5)), disc(2.5)) // much like a Gaussian
		soft[i] = append(soft[i], look(twice), look(averaged(whole, disc(2.5))), look(averaged(small, disc(3.5))),
			look(averaged(whole, disc(6))), look(averaged(whole, line(9, float64(i)))), look(averaged(whole, line(14, float64(i)))))
	})
	if err != nil {
		t.Fatal(err)
	}
	share := func(of [][]*Look) float64 {
		called, n := 0, 0
		for _, looks := range of {
			for _, remark := range Remarks(looks) {
				n++
				if remark == Blurred {
					called++
				}
			}
		}
		return float64(called) / float64(n)
	}
	found, wrong := share(soft), share(sharp)
	precision := found / (found + 11*wrong)
	t.Logf("recall %.3f, precision %.3f, %.4f of the sharp ones called blurred", found, precision, wrong)
	if found < 0.8 || precision < 0.9 {
		t.Errorf("recall %.3f, precision %.3f", found, precision)
	}
}
