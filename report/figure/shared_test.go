package figure

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
	"github.com/seed4492f2cd/partwise/report/table"
)

type failing = reporttest.Failing

// Shared with the tests of other packages.
var (
	errFailing = reporttest.ErrFailing

	sevenMethods, sweptMethods, lambdaSweep   = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep
	fakeRecords, sweptRecords, ranksAndSweeps = reporttest.Records, reporttest.SweptRecords, reporttest.RanksAndSweeps
	scored                                    = reporttest.Scored

	red                = reporttest.Red
	blue               = color.RGBA{0, 0, 200, 255}
	plain, goldenImage = reporttest.Plain, reporttest.GoldenImage
	threeClasses       = []string{"Coast", "Forest", "Highway"}
)

// must returns v; no error is expected.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// awkward is a table with all special cases.
func awkward() *table.Table {
	records, methods := reporttest.Awkward()
	t := table.New(records, "AC", methods, table.Tests{})
	t.Name = "Yale_32x32, 30 % labels"
	return t
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
