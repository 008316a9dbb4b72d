package report

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"testing"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

// Shared with the tests of other packages.
var (
	errFailing = errors.New("disk full")

	sevenMethods, sweptMethods, lambdaSweep, hostile = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep, reporttest.Hostile

	fakeRecords, ranksAndSweeps = reporttest.Records, reporttest.RanksAndSweeps
	scored, golden              = reporttest.Scored, reporttest.Golden

	red          = color.RGBA{200, 0, 0, 255}
	threeClasses = []string{"Coast", "Forest", "Highway"}
)

// inClasses makes coefficients of some samples of some classes.
func inClasses(samples, classes int) figure.Coefficients {
	c := figure.Coefficients{Method: "nmf", Values: mat.NewDense(samples, classes, nil), Classes: make([]int, samples)}
	for i := range samples {
		c.Classes[i] = i % classes
		c.Values.Set(i, i%classes, 1)
	}
	return c
}

// readPNG reads a picture.
func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return img
}

// plain returns an image of one colour whose corner is not at the origin.
func plain(width, height int, c color.Color) image.Image {
	img := image.NewRGBA(image.Rect(7, 5, 7+width, 5+height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}
