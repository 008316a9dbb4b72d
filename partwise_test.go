package partwise_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestClusterPhotographs checks that images of 64 pixels or more are described by the network and grouped by
// propagated k-means, as the command does, and that smaller ones are factorised by nmf.
func TestClusterPhotographs(t *testing.T) {
	for side, want := range map[int]string{64: "propagated-kmeans", 16: "nmf"} {
		dir := t.TempDir()
		for i := range 12 {
			img := image.NewGray(image.Rect(0, 0, side, side))
			for p := range img.Pix {
				img.Pix[p] = uint8((p%side/(2+6*(i%2))%2)*200 + i)
			}
			img.SetGray(i, i, color.Gray{255})
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%02d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, img); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		found, err := partwise.Cluster(t.Context(), dir, partwise.ClusterOptions{Count: spec.GroupCount{From: 2, To: 2}})
		if err != nil {
			t.Fatal(err)
		}
		if found.Method != want || len(found.Groups) != 12 || len(found.Names) != 12 {
			t.Errorf("%d pixels: %d groups by %s, want 12 by %s", side, len(found.Groups), found.Method, want)
		}
	}
}
