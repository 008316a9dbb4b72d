//go:build native && gocv_specific_modules && gocv_features2d && matprofile

package features

import (
	"image"
	"testing"

	"gocv.io/x/gocv"
)

// OpenCV's memory is not the collector's: with the tag matprofile gocv counts
// what is not closed.
func TestKeypointSIFTClosesMats(t *testing.T) {
	for _, img := range []*image.Gray{noise(90, 70, 1), image.NewGray(image.Rect(0, 0, 30, 20)), image.NewGray(image.Rectangle{})} {
		findByOpenCV(KeypointSIFT{}, img)
		if n := gocv.MatProfile.Count(); n != 0 {
			t.Errorf("%v: %d are open", img.Rect.Size(), n)
		}
	}
}
