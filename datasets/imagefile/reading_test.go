package imagefile

import (
	"image"
	"image/jpeg"
	"io"
	"testing"
)

// A reduced image takes less memory than the whole one.
func TestReadingMemory(t *testing.T) {
	content := Encoded(t, func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, nil) }, Waves(1600, 1200))
	use := func(least int, size image.Point) Use {
		return Use{Least: least, Memory: func(width, height int) int64 {
			if width != size.X || height != size.Y {
				t.Errorf("memory of %d×%d, want %v", width, height, size)
			}
			return 1000
		}, Do: func(img image.Image, whole image.Point) error {
			if whole != image.Pt(1600, 1200) {
				t.Errorf("the whole is %v", whole)
			}
			return nil
		}}
	}
	whole, half, quarter := use(0, image.Pt(1600, 1200)), use(600, image.Pt(800, 600)), use(300, image.Pt(400, 300))
	r, err := NewReading(content, false)
	if err != nil {
		t.Fatal(err)
	}
	const ofHalf, ofQuarter = 3*800*600 + smallDecoding, 3*400*300 + smallDecoding
	for _, test := range []struct {
		uses []Use
		want int64
	}{
		{[]Use{whole}, r.Header.Memory + 1000}, {[]Use{half}, ofHalf + 1000}, {[]Use{quarter, quarter}, ofQuarter + 1000},
		{[]Use{quarter, half, whole}, r.Header.Memory + ofHalf + ofQuarter + 1000},
	} {
		if got := r.Memory(test.uses); got != test.want {
			t.Errorf("%d uses need %d bytes, want %d", len(test.uses), got, test.want)
		}
	}
}

// Decoding any file to a reduced image allocates at most the stated memory, and refuses what decoding the whole image
// refuses.
func FuzzReading(f *testing.F) {
	for _, name := range []string{"jpeg grey", "jpeg colour", "jpeg progressive", "jpeg upright", "png colour"} {
		f.Add(manyImages(f)[name], 20)
	}
	f.Fuzz(func(t *testing.T, content []byte, least int) {
		r, err := NewReading(content, false)
		if err != nil || len(content) > mostFuzzed || r.Header.Width*r.Header.Height > 1<<15 {
			return
		}
		var img image.Image
		var size image.Point
		checkMemory(t, r.Memory([]Use{{Least: least}})+1<<13*int64(len(content)), func() { img, size, err = r.Image(least) })
		whole, wholeErr := DecodeBytes(content)
		if (err == nil) != (wholeErr == nil) {
			t.Fatalf("error %v, and %v for the whole image", err, wholeErr)
		}
		if err != nil {
			return
		}
		if want := whole.Bounds().Size(); size != want {
			t.Errorf("a whole of %v, want %v", size, want)
		}
		if least > 0 {
			whole = Reduced(whole, least)
		}
		if img.Bounds().Size() != whole.Bounds().Size() {
			t.Errorf("got %v, want %v", img.Bounds(), whole.Bounds())
		}
	})
}
