//go:build opencv

package features

import (
	"image"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// blob returns a round light with the standard deviation sigma.
func blob(width, height int, cx, cy, sigma float64) *image.Gray {
	return reducedGrey(grey(width, height, func(x, y int) float64 {
		dx, dy := float64(x)-cx, float64(y)-cy
		return 0.1 + 0.8*math.Exp(-(dx*dx+dy*dy)/(2*sigma*sigma))
	}), image.Pt(width, height))
}

// place is the position and the scale of a descriptor.
type place struct{ x, y, scale float32 }

func placesOf(d *Descriptors) map[place]bool {
	out := make(map[place]bool)
	for i := range d.Len() {
		out[place{d.X[i], d.Y[i], d.Scale[i]}] = true
	}
	return out
}

// The differences of Gaussians of a round light are largest at its centre and at the scale of its blur. Lowe's patches
// have bins of three times the scale.
func TestKeypointSIFTOfBlob(t *testing.T) {
	for _, test := range []struct {
		cx, cy, sigma float64
		k             KeypointSIFT
		within        float64
	}{
		{40, 30, 3, KeypointSIFT{}, 0.3},
		{33.5, 41.25, 5, KeypointSIFT{Root: true}, 0.3},
		// Reduced to a ninth.
		{100, 131, 12, KeypointSIFT{MaxPixels: 80 * 80}, 1},
	} {
		side := 80
		if test.k.MaxPixels > 0 {
			side = 240
		}
		got := keypointSIFT(t, test.k, blob(side, side, test.cx, test.cy, test.sigma))
		if got.Len() == 0 {
			t.Errorf("%+v: got no key points", test)
		}
		for i := range got.Len() {
			x, y, bin := float64(got.X[i]), float64(got.Y[i]), float64(got.Scale[i])
			if math.Abs(x-test.cx) > test.within || math.Abs(y-test.cy) > test.within || math.Abs(bin/(3*test.sigma)-1) > 0.25 {
				t.Errorf("%+v: found at (%v, %v), a bin of %v", test, x, y, bin)
			}
		}
	}
}

// A rotated image has the same descriptors.
func TestKeypointSIFTOfTurnedImage(t *testing.T) {
	img := reducedGrey(noise(400, 300, 3), image.Pt(200, 150))
	a, b := keypointSIFT(t, KeypointSIFT{}, img), keypointSIFT(t, KeypointSIFT{}, turned(img))
	if a.Len() < 100 {
		t.Fatalf("%d key points", a.Len())
	}
	found := 0
	for i := range a.Len() {
		best := math.MaxInt
		for j := range b.Len() {
			// (x, y) has become (y, 199−x).
			if math.Abs(float64(b.X[j]-a.Y[i])) > 1 || math.Abs(float64(b.Y[j]-(199-a.X[i]))) > 1 {
				continue
			}
			distance := 0
			for at, v := range a.Vector(i) {
				difference := int(v) - int(b.Vector(j)[at])
				distance += difference * difference
			}
			best = min(best, distance)
		}
		if best < 100*100 {
			found++
		}
	}
	if found < a.Len()*3/4 {
		t.Errorf("%d of %d key points are there in the turned image", found, a.Len())
	}
}

func TestKeypointSIFTSettings(t *testing.T) {
	img := noise(160, 120, 5)
	all := keypointSIFT(t, KeypointSIFT{}, img)
	same := keypointSIFT(t, KeypointSIFT{Contrast: 0.04, Edge: 10, Sigma: 1.6, MaxPixels: 1 << 20, MaxPoints: 1 << 20}, img)
	if all.Len() < 50 || !slices.Equal(same.Vectors, all.Vectors) || !slices.Equal(same.X, all.X) {
		t.Errorf("%d key points, %d with the settings named", all.Len(), same.Len())
	}
	places := placesOf(all)
	for _, k := range []KeypointSIFT{{Contrast: 0.1}, {Edge: 3}} {
		fewer := keypointSIFT(t, k, img)
		if fewer.Len() == 0 || fewer.Len() >= all.Len() {
			t.Errorf("%+v: %d key points, %d without", k, fewer.Len(), all.Len())
		}
		for p := range placesOf(fewer) {
			if !places[p] {
				t.Errorf("%+v: a key point of its own, %v", k, p)
			}
		}
	}
	for _, k := range []KeypointSIFT{{Contrast: 0.001}, {Edge: 100}, {Sigma: 0.8}} {
		if more := keypointSIFT(t, k, img); more.Len() <= all.Len() {
			t.Errorf("%+v: %d key points, %d without", k, more.Len(), all.Len())
		}
	}
	for _, most := range []int{1, 2, 7, 30, all.Len() + 1} {
		got := keypointSIFT(t, KeypointSIFT{MaxPoints: most}, img)
		n := min(most, all.Len())
		if got.Len() != n || !slices.Equal(got.Vectors, all.Vectors[:n*siftDim]) || !slices.Equal(got.Scale, all.Scale[:n]) {
			t.Errorf("%d key points with at most %d, or others", got.Len(), most)
		}
	}
	root := keypointSIFT(t, KeypointSIFT{Root: true}, img)
	for i := range all.Len() {
		want := [siftDim]uint8(all.Vector(i))
		rootVector(&want)
		if !slices.Equal(root.Vector(i), want[:]) {
			t.Fatalf("key point %d: got %v, want %v", i, root.Vector(i), want)
		}
	}
}

func TestKeypointSIFTWithoutKeypoints(t *testing.T) {
	for _, v := range []float64{0, 0.37, 1} {
		if got := keypointSIFT(t, KeypointSIFT{Contrast: 1e-9}, grey(50, 40, func(int, int) float64 { return v })); got.Len() != 0 {
			t.Errorf("%d key points of grey %v", got.Len(), v)
		}
	}
	for width := range 14 {
		for height := range 14 {
			got := keypointSIFT(t, KeypointSIFT{Contrast: 1e-9}, noise(width, height, 1))
			if min(width, height) < keypointSide && got.Len() != 0 {
				t.Errorf("%d×%d: %d key points", width, height, got.Len())
			}
		}
	}
	keypointSIFT(t, KeypointSIFT{}, noise(6, 1<<16, 1))
	keypointSIFT(t, KeypointSIFT{Sigma: 10}, noise(7, 7, 1))
}

// TestFindByOpenCVFails checks that a failure in OpenCV is an error, and not an image without key points.
func TestFindByOpenCVFails(t *testing.T) {
	if points, err := findByOpenCV(KeypointSIFT{}, image.NewGray(image.Rectangle{})); err == nil {
		t.Errorf("%d key points of no image", len(points))
	}
}

func TestKeypointSIFTConcurrently(t *testing.T) {
	var images []image.Image
	var want []*Descriptors
	for i := range 4 {
		images = append(images, noise(60+13*i, 90-11*i, uint64(i)))
		want = append(want, keypointSIFT(t, KeypointSIFT{}, images[i]))
	}
	var group sync.WaitGroup
	for worker := range 3 {
		group.Go(func() {
			for i := range 12 {
				i = (i*(worker+1) + worker) % len(images)
				got, err := KeypointSIFT{}.Extract(images[i])
				if err != nil || !slices.Equal(got.Vectors, want[i].Vectors) || !slices.Equal(got.X, want[i].X) {
					t.Errorf("image %d: another result than alone (error %v)", i, err)
				}
			}
		})
	}
	group.Wait()
}

func TestKeypointSIFTOfRealImages(t *testing.T) {
	dir := testkit.NeedFolder(t, testkit.DataFolder)
	files, err := filepath.Glob(filepath.Join(dir, "caltech10", "*", "image_000*.jpg"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d images, error %v", len(files), err)
	}
	for _, file := range files {
		img, err := (&datasets.Set{Names: []string{""}, Files: []string{file}}).Image(0)
		if err != nil {
			t.Fatal(err)
		}
		got := keypointSIFT(t, KeypointSIFT{}, img)
		if got.Len() < 20 {
			t.Errorf("%s: %d key points", file, got.Len())
		}
		for i := range got.Len() {
			if got.X[i] < 0 || got.Y[i] < 0 || got.X[i] >= float32(got.Width) || got.Y[i] >= float32(got.Height) || !(got.Scale[i] > 1) {
				t.Errorf("%s: a key point at (%v, %v), a bin of %v", file, got.X[i], got.Y[i], got.Scale[i])
			}
			sum := 0.0
			for _, v := range got.Vector(i) {
				sum += float64(v) * float64(v)
			}
			if length := math.Sqrt(sum); length < 450 || length > 530 {
				t.Errorf("%s: key point %d has the length %v", file, i, length)
			}
		}
	}
}
