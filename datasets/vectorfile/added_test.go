package vectorfile

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// MyMatrixMarket reads sparse vectors without classes from a Matrix Market text file, plain or
// gzipped. Lines that begin with % are comments. The first other line has the numbers of rows,
// columns and entries. Each further line has row, column (both from 1) and value of an entry.
var MyMatrixMarket = pathReader(func(in *input) *Content {
	var rows, columns, count int
	var entries []sparse.Entry
	in.eachLine(func(line []byte) {
		text := string(line)
		if strings.HasPrefix(text, "%") {
			return
		}
		if rows == 0 {
			_, err := fmt.Sscan(text, &rows, &columns, &count)
			failIf(err != nil || rows < 1 || columns < 1 || columns > mostVectorColumns, "a matrix of %d×%d", rows, columns)
			in.reserve(16*int64(rows), fmt.Sprintf("%d rows", rows))
			return
		}
		var e sparse.Entry
		_, err := fmt.Sscan(text, &e.Row, &e.Col, &e.Value)
		failIf(err != nil || e.Row < 1 || e.Row > rows || e.Col < 1 || e.Col > columns,
			"%s is not in a matrix of %d×%d", spreadsheet.Quote(text), rows, columns)
		in.reserve(100, "the entries up to it") // lists double as they grow
		entries = append(entries, sparse.Entry{Row: e.Row - 1, Col: e.Col - 1, Value: e.Value})
	})
	failIf(len(entries) != count, "%d entries, expected %d", len(entries), count)
	return in.content(sparse.FromEntries(rows, columns, entries), nil)
})

var IsMyMatrixMarket = startsWith("%%MatrixMarket matrix coordinate real general")
