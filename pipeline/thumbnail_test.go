package pipeline

import (
	"image"
	"strings"
	"testing"
)

// A thumbnail is of the picture that a row was made of: no more of a file that holds
// something else by now.
func TestThumbnail(t *testing.T) {
	set := photograph(t, 3)
	large := image.NewGray(image.Rect(0, 0, 640, 200))
	for p := range large.Pix {
		large.Pix[p] = uint8(p)
	}
	writePNG(t, set+"/across/00.png", large)
	in := prepare(t, "{name: x, methods: [nmf], features: {hog: true}}", set, PrepareOptions{})
	for i, row := range in.Rows {
		want := image.Pt(80, 70)
		if strings.HasSuffix(in.Set.Names[row], "across/00.png") {
			want = image.Pt(ThumbnailSide, 50)
		}
		small, err := in.Thumbnail(t.Context(), i)
		if err != nil || small.Bounds().Size() != want {
			t.Errorf("%s: %v, %v, want %v", in.Set.Names[row], small, err, want)
		}
	}
	path := in.Set.Files[in.Rows[1]]
	writePNG(t, path, image.NewGray(image.Rect(0, 0, 80, 70)))
	if _, err := in.Thumbnail(t.Context(), 1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want an error that names the changed file", err)
	}
}
