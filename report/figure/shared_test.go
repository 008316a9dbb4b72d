package figure

import (
	"image/color"

	"math"

	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
	"github.com/seed4492f2cd/partwise/report/table"
)

type failing = reporttest.Failing

// What the tests of all rooms share.
var (
	errFailing = reporttest.ErrFailing

	sevenMethods, sweptMethods, lambdaSweep   = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep
	fakeRecords, sweptRecords, ranksAndSweeps = reporttest.Records, reporttest.SweptRecords, reporttest.RanksAndSweeps
	scored                                    = reporttest.Scored

	red                  = reporttest.Red
	blue                 = color.RGBA{0, 0, 200, 255}
	plain, hills         = reporttest.Plain, reporttest.Hills
	threeClasses, tinted = reporttest.ThreeClasses, reporttest.Tinted
	scattered            = reporttest.Scattered
	goldenImage          = reporttest.GoldenImage
)

// must returns v; no error is expected.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// awkward is a table with everything in it.
func awkward() *table.Table {
	records, methods := reporttest.Awkward()
	t := table.New(records, "AC", methods, table.Tests{})
	t.Name = "Yale_32x32, 30 % labels"
	return t
}

// inClasses makes coefficients of some samples of some classes.
func inClasses(samples, classes int) Coefficients {
	values, of := reporttest.InClasses(samples, classes)
	return Coefficients{Method: "nmf", Values: values, Classes: of}
}
