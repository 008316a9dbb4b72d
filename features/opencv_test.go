//go:build opencv

package features

import (
	"image"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gocv.io/x/gocv"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// byOpenCV returns OpenCV's descriptors of the patches of d, p×128, whose bins all have the same even number of
// pixels. It uses our blur, and the assumption that images are blurred by 0.5.
func byOpenCV(t *testing.T, img *image.Gray, d *Descriptors) []float32 {
	t.Helper()
	bin := float64(d.Scale[0])
	points := make([]gocv.KeyPoint, d.Len())
	for i := range points {
		points[i] = gocv.KeyPoint{X: float64(d.X[i]), Y: float64(d.Y[i]), Size: bin / keypointBin}
	}
	sift := newSIFT(0, math.Hypot(0.5, 0.67/4*bin), KeypointSIFT{})
	defer sift.Close()
	picture, err := gocv.ImageGrayToMatGray(img)
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	found, descriptors := sift.Compute(picture, gocv.Mat{}, points)
	defer descriptors.Close()
	if len(found) != d.Len() {
		t.Fatalf("OpenCV describes %d of %d points (error %v)", len(found), d.Len(), gocv.LastExceptionError())
	}
	values, err := siftVectors(descriptors, len(found))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(values)
}

// cosines returns the least and the mean cosine between our descriptors and OpenCV's, over the patches of an image that
// are not flat.
func cosines(t *testing.T, img *image.Gray, bin int) (least, mean float64) {
	t.Helper()
	ours := denseSIFT(t, DenseSIFT{Bins: []int{bin}}, img)
	theirs := byOpenCV(t, img, ours)
	least, n := 1, 0
	for i := range ours.Len() {
		var ab, aa, bb float64
		for j, a := range ours.Vector(i) {
			a, b := float64(a), float64(theirs[i*ours.Dim+j])
			ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
		}
		if (aa == 0) != (bb == 0) {
			t.Errorf("the patch at (%v, %v) is flat for one only", ours.X[i], ours.Y[i])
		}
		if aa == 0 || bb == 0 {
			continue
		}
		n++
		cosine := ab / math.Sqrt(aa*bb)
		mean += cosine
		least = min(least, cosine)
	}
	return least, mean / float64(n)
}

func TestDenseSIFTAgreesWithOpenCV(t *testing.T) {
	images := map[string]*image.Gray{
		"noise": noise(200, 160, 1),
		"waves": reducedGrey(waves(121, 170, 1), image.Pt(170, 121)),
		"disc": reducedGrey(grey(120, 90, func(x, y int) float64 {
			return 0.2 + 0.6/(1+math.Exp(math.Hypot(float64(x)-60, float64(y)-45)-30))
		}), image.Pt(120, 90)),
	}
	for name, img := range images {
		for _, bin := range []int{4, 6, 8} {
			if least, mean := cosines(t, img, bin); !(mean > 0.999) || !(least > 0.99) {
				t.Errorf("%s, bins of %d: cosines of %.4f, the least %.4f", name, bin, mean, least)
			}
		}
	}
}

func TestDenseSIFTAgreesWithOpenCVOnRealImages(t *testing.T) {
	dir := testkit.NeedFolder(t, testkit.DataFolder)
	for _, pattern := range []string{"scenes13/train/*/image_000*.jpg", "caltech10/*/image_0001.jpg", "corel5/*/*0.jpg"} {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Errorf("no images of %s (error %v)", pattern, err)
			continue
		}
		for _, file := range files {
			img, err := (&datasets.Set{Names: []string{""}, Files: []string{file}}).Image(0)
			if err != nil {
				t.Fatal(err)
			}
			if least, mean := cosines(t, reducedGrey(img, img.Bounds().Size()), 4); !(mean > 0.999) {
				t.Errorf("%s: cosines of %.4f, the least %.4f", file, mean, least)
			}
		}
	}
}
