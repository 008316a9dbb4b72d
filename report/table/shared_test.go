package table

import "github.com/seed4492f2cd/partwise/report/internal/reporttest"

type failing = reporttest.Failing

// Shared with the tests of other packages.
var (
	errFailing                                       = reporttest.ErrFailing
	sevenMethods, sweptMethods, lambdaSweep, hostile = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep, reporttest.Hostile

	fakeRecords, sweptRecords, ranksAndSweeps = reporttest.Records, reporttest.SweptRecords, reporttest.RanksAndSweeps
	scored, golden                            = reporttest.Scored, reporttest.Golden
	confused                                  = reporttest.Confused
)
