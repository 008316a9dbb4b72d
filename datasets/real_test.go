package datasets

import (
	"image"
	"image/color"
	"math"
	"testing"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/stat"
)

func TestOpenRealSets(t *testing.T) {
	root := realData(t, "")
	for _, test := range []struct {
		name, from              string
		n, m, classes, perFirst int // samples of the first class
		height                  int
		largest                 float64
	}{
		{"yale", "", 165, 1024, 15, 11, 32, 255},
		{"orl", "", 400, 1024, 40, 10, 32, 255},
		{"coil20", "", 1440, 1024, 20, 72, 32, 1},
		{"feret", "", 1400, 1024, 200, 7, 32, 255},
		{"newsgroups", "", 18846, 26214, 20, 799, 0, 0},
		{"mnist", "", 70000, 784, 10, 6903, 28, 255},
		{"yale", "raw", 165, 0, 15, 11, 0, 0},
		{"orl", "raw", 400, 0, 40, 10, 0, 0},
		{"scenes13", "", 2600, 0, 13, 200, 0, 0},
	} {
		s, err := Open(t.Context(), test.name, OpenOptions{Root: root, From: test.from})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		first := 0
		for _, l := range s.Labels {
			if l == 0 {
				first++
			}
		}
		if s.Name != test.name || s.Len() != test.n || len(s.Classes) != test.classes || first != test.perFirst || s.Height != test.height {
			t.Errorf("%s %s: %s with %d samples of %d classes, %d of the first, images of height %d", test.name, test.from, s.Name, s.Len(), len(s.Classes), first, s.Height)
		}
		if test.m == 0 {
			continue
		}
		checkSet(t, s)
		if n, m := s.Vectors.Dims(); n != test.n || m != test.m {
			t.Errorf("%s: %d×%d vectors", test.name, n, m)
		}
		if test.largest > 0 {
			largest := 0.0
			for i := range min(s.Len(), 100) {
				for j := range test.m {
					largest = max(largest, s.Vectors.At(i, j))
				}
			}
			if largest > test.largest || largest < 0.9*test.largest {
				t.Errorf("%s: the largest value is %v", test.name, largest)
			}
		}
	}
}

// A picture of the MATLAB file is upright, as the original.
func TestMATUpright(t *testing.T) {
	root := realData(t, "")
	small, err := Open(t.Context(), "orl", OpenOptions{Root: root, From: "mat"})
	if err != nil {
		t.Fatal(err)
	}
	original, err := Open(t.Context(), "orl", OpenOptions{Root: root, From: "raw"})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < small.Len(); i += 150 {
		img, err := small.Image(i)
		if err != nil {
			t.Fatal(err)
		}
		// The MATLAB file holds cropped faces in another order: find the most similar part of the person's pictures.
		upright, turned := -1.0, -1.0
		for j := range original.Len() {
			if original.Classes[original.Labels[j]] != "s"+small.Classes[small.Labels[i]] {
				continue
			}
			large, err := original.Image(j)
			if err != nil {
				t.Fatal(err)
			}
			const side = 76
			for x := 0; x <= large.Bounds().Dx()-side; x += 4 {
				for y := 8; y <= large.Bounds().Dy()-side; y += 4 {
					scaled := image.NewGray(image.Rect(0, 0, 32, 32))
					draw.ApproxBiLinear.Scale(scaled, scaled.Rect, large, image.Rect(x, y, x+side, y+side), draw.Src, nil)
					upright = max(upright, correlation(img, scaled, false))
					turned = max(turned, correlation(img, scaled, true))
				}
			}
		}
		if upright < 0.5 || upright < turned+0.2 {
			t.Errorf("picture %d: correlation %.2f with the original, %.2f with the transposed one", i+1, upright, turned)
		}
	}
}

// correlation returns the correlation of the grey values of a and b, or of a and the transpose of b.
func correlation(a, b image.Image, transposed bool) float64 {
	var x, y []float64
	for r := range 32 {
		for c := range 32 {
			x = append(x, float64(color.GrayModel.Convert(a.At(c, r)).(color.Gray).Y))
			if transposed {
				r, c = c, r
			}
			y = append(y, float64(color.GrayModel.Convert(b.At(c, r)).(color.Gray).Y))
			if transposed {
				r, c = c, r
			}
		}
	}
	return math.Max(-1, stat.Correlation(x, y, nil))
}
