package table

import (
	"errors"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

var errFailing = errors.New("disk full")

// failing is a writer on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

// Shared with the tests of other packages.
var (
	sevenMethods, sweptMethods, lambdaSweep, hostile = reporttest.SevenMethods, reporttest.SweptMethods, reporttest.LambdaSweep, reporttest.Hostile

	fakeRecords, ranksAndSweeps = reporttest.Records, reporttest.RanksAndSweeps
	scored, golden              = reporttest.Scored, reporttest.Golden
)

// sweptRecords returns records of sweptMethods at several numbers of classes.
func sweptRecords(classes ...int) []record.Record { return fakeRecords(sweptMethods, classes, 6) }

// confused returns a record with a confusion matrix.
func confused(method string, repeat int, drawn []int, counts ...[]int) record.Record {
	return record.Record{
		Classes: len(counts), Repeat: repeat, Method: method, Tested: 10,
		Scores: map[string]float64{"accuracy": 0.5}, Confusion: counts, Drawn: drawn,
	}
}
