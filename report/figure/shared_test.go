package figure

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
	"github.com/seed4492f2cd/partwise/report/table"
)

var errFailing = errors.New("disk full")

// failing is a writer on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

// Shared with the tests of other packages.
var (
	sevenMethods, sweptMethods, lambdaSweep = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep
	fakeRecords, ranksAndSweeps             = reporttest.Records, reporttest.RanksAndSweeps
	scored                                  = reporttest.Scored

	looks = NewLooks(slices.Concat(sevenMethods, sweptMethods[1:]), lambdaSweep)

	red          = color.RGBA{200, 0, 0, 255}
	blue         = color.RGBA{0, 0, 200, 255}
	threeClasses = []string{"Coast", "Forest", "Highway"}
)

// sweptRecords returns records of sweptMethods at several numbers of classes.
func sweptRecords(classes ...int) []record.Record { return fakeRecords(sweptMethods, classes, 6) }

// goldenImage compares a picture with one in testdata. Small differences in colour are allowed between processors.
func goldenImage(t *testing.T, name string, got image.Image) {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, got); err != nil {
		t.Fatal(err)
	}
	a, b := decode(t, reporttest.GoldenFile(t, name, file.Bytes())), decode(t, file.Bytes())
	far := 0
	for i := range min(len(a.Pix), len(b.Pix)) {
		if d := int(a.Pix[i]) - int(b.Pix[i]); d*d > 64 {
			far++
		}
	}
	if a.Rect != b.Rect || far*1000 > len(a.Pix) {
		path := filepath.Join(os.TempDir(), "partwise-golden-"+name)
		t.Errorf("testdata/%s differs; see %s, %v", name, path, os.WriteFile(path, file.Bytes(), 0o644))
	}
}

func decode(t *testing.T, file []byte) *image.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

// must returns v; no error is expected.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// awkward is a table with special characters and missing trials.
func awkward() *table.Table {
	methods := []string{"nmf_kl", "a & b %", "x<y|z {~}", "a method with a long name, λ = 100"}
	records := slices.DeleteFunc(fakeRecords(methods, []int{2, 5, 10}, 8), func(r record.Record) bool {
		return r.Classes == 10 && (r.Repeat > 3 || r.Method == methods[2])
	})
	return table.New(records, "AC", methods, table.Tests{})
}

// hills is a grey image with waves that gets lighter to the right; its corner is not at the origin.
func hills(width, height int) image.Image {
	img := image.NewGray(image.Rect(3, 2, 3+width, 2+height))
	for y := range height {
		for x := range width {
			v := 30 + 190*float64(x)/float64(width) + 20*math.Sin(float64(x+2*y)/5)
			img.SetGray(3+x, 2+y, color.Gray{uint8(v)})
		}
	}
	return img
}

// scattered returns marks anywhere on and around a picture.
func scattered(seed uint64, n, parts, width, height int) []models.Patch {
	r := rand.New(rand.NewPCG(seed, 9))
	marks := make([]models.Patch, n)
	for i := range marks {
		marks[i] = models.Patch{
			X: float32((1.4*r.Float64() - 0.2) * float64(width)), Y: float32((1.4*r.Float64() - 0.2) * float64(height)),
			Side: float32(1 + 30*r.Float64()), Part: r.IntN(parts), Share: 0.01 + 0.99*r.Float64(),
		}
	}
	return marks
}

// tinted returns the pixels of a picture that are not grey.
func tinted(img *image.RGBA) map[image.Point]bool {
	found := map[image.Point]bool{}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if c := img.RGBAAt(x, y); c.R != c.G || c.G != c.B {
				found[image.Pt(x, y)] = true
			}
		}
	}
	return found
}

// inClasses returns coefficients, samples×classes, in which class c uses mostly part c, shuffled, and the classes.
func inClasses(samples, classes int) Coefficients {
	values, of := mat.NewDense(samples, classes, nil), make([]int, samples)
	for i := range samples {
		of[i] = i % classes
		for j := range classes {
			values.Set(i, j, 0.3*(1+reporttest.Noise(i, j)))
		}
		values.Set(i, i%classes, 3+reporttest.Noise(i))
	}
	return Coefficients{Method: "nmf", Values: values, Classes: of}
}

// plain returns an image of one colour whose corner is not at the origin.
func plain(width, height int, c color.Color) image.Image {
	img := image.NewRGBA(image.Rect(7, 5, 7+width, 5+height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}
