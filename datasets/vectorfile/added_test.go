package vectorfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// MyMatrixMarket reads sparse vectors without classes from a Matrix Market text file, plain
// or gzipped: comment lines that begin with %, a line with the numbers of rows, columns and
// entries, and a line for each entry with its row and column, from 1, and its value.
var MyMatrixMarket = pathReader(func(in *input) (*Content, error) {
	var rows, columns, count int
	var entries []sparse.Entry
	err := in.eachLine(func(line []byte) error {
		text := string(line)
		if strings.HasPrefix(text, "%") {
			return nil
		}
		if rows == 0 {
			if _, err := fmt.Sscan(text, &rows, &columns, &count); err != nil || rows < 1 || columns < 1 || columns > mostVectorColumns {
				return errors.Join(fmt.Errorf("a matrix of %d×%d", rows, columns), err)
			}
			return in.reserve(16*int64(rows), fmt.Sprintf("%d rows", rows))
		}
		var e sparse.Entry
		if _, err := fmt.Sscan(text, &e.Row, &e.Col, &e.Value); err != nil || e.Row < 1 || e.Row > rows || e.Col < 1 || e.Col > columns {
			return errors.Join(fmt.Errorf("%s is not in a matrix of %d×%d", spreadsheet.Quote(text), rows, columns), err)
		}
		entries = append(entries, sparse.Entry{Row: e.Row - 1, Col: e.Col - 1, Value: e.Value})
		return in.reserve(100, "the entries up to it") // lists double as they grow
	})
	if err != nil {
		return nil, err
	}
	if len(entries) != count {
		return nil, fmt.Errorf("%d entries, want %d", len(entries), count)
	}
	return in.content(sparse.FromEntries(rows, columns, entries), nil)
})

var IsMyMatrixMarket = startsWith("%%MatrixMarket matrix coordinate real general")
