package vectorfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// MatrixMarket reads a set of sparse vectors, without classes, from a text file of Matrix
// Market, plain or gzipped: lines that begin with %, one with the numbers of rows, columns and
// entries, and one with row, column, both from 1, and value of each entry.
func MatrixMarket(path string, opt Options) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := opt.room()
	in, _, err := zipfile.Gunzip(room.reader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var rows, columns, count int
	var entries []sparse.Entry
	lines := bufio.NewScanner(in)
	line := 0
	for lines.Scan() {
		line++
		text := lines.Text()
		var e sparse.Entry
		switch {
		case strings.HasPrefix(text, "%"):
			continue
		case rows == 0:
			if _, err = fmt.Sscan(text, &rows, &columns, &count); err == nil && (rows < 1 || columns < 1 || columns > mostVectorColumns) {
				err = fmt.Errorf("a matrix of %d×%d", rows, columns)
			}
			if err == nil {
				err = room.take(16*int64(rows), fmt.Sprintf("%d rows", rows))
			}
		default:
			if _, err = fmt.Sscan(text, &e.Row, &e.Col, &e.Value); err == nil && (e.Row < 1 || e.Row > rows || e.Col < 1 || e.Col > columns) {
				err = fmt.Errorf("%s is not in a matrix of %d×%d", spreadsheet.Quote(text), rows, columns)
			}
			if err == nil {
				err = room.take(100, "the entries up to it") // lists double as they grow
			}
			entries = append(entries, sparse.Entry{Row: e.Row - 1, Col: e.Col - 1, Value: e.Value})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, line+1, err)
	}
	if len(entries) != count {
		return nil, fmt.Errorf("%s: %d entries, want %d", path, len(entries), count)
	}
	return newVectorSet(path, sparse.FromEntries(rows, columns, entries), nil, opt, room)
}

var IsMatrixMarket = startsWith("%%MatrixMarket matrix coordinate real general")
