package report

import (
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
	"github.com/seed4492f2cd/partwise/report/table"
)

type failing = reporttest.Failing

// What the tests of all rooms share.
var (
	errFailing                                       = reporttest.ErrFailing
	sevenMethods, sweptMethods, lambdaSweep, hostile = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep, reporttest.Hostile

	fakeRecords, sweptRecords, ranksAndSweeps = reporttest.Records, reporttest.SweptRecords, reporttest.RanksAndSweeps
	scored, golden                            = reporttest.Scored, reporttest.Golden
	confused, classRecords                    = reporttest.Confused, reporttest.ClassRecords

	red, blue            = reporttest.Red, reporttest.Blue
	plain, hills         = reporttest.Plain, reporttest.Hills
	threeClasses, tinted = reporttest.ThreeClasses, reporttest.Tinted
	scattered            = reporttest.Scattered
	goldenImage, readPNG = reporttest.GoldenImage, reporttest.ReadPNG
)

// awkward is a table with everything in it.
func awkward() *table.Table {
	records, methods := reporttest.Awkward()
	t := table.New(records, "AC", methods)
	t.Name = "Yale_32x32, 30 % labels"
	return t
}

// inClasses makes coefficients of some samples of some classes.
func inClasses(samples, classes int) figure.Coefficients {
	values, of := reporttest.InClasses(samples, classes)
	return figure.Coefficients{Method: "nmf", Values: values, Classes: of}
}
