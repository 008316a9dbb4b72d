package datasets

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// SVMLight reads a set of sparse vectors from a text file, plain or gzipped. A line has
// a class and pairs of a column, from 1 and rising, and its value, as in
// "3 1:0.5 17:2"; what follows a # is a comment.
func SVMLight(path string, opt VectorOptions) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := opt.room()
	in, _, err := unzip(room.reader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var entries []sparse.Entry
	var classes []string
	columns := 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostVectorLine)
	line := 0
	for lines.Scan() {
		line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		// Lists double as they grow, and a matrix is made of the entries.
		if err := room.take(int64(100+2*len(text)+100*len(fields)), fmt.Sprintf("%s, line %d: the values up to it", path, line)); err != nil {
			return nil, err
		}
		last := 0
		for _, pair := range fields[1:] {
			name, number, _ := strings.Cut(pair, ":")
			column, err := strconv.Atoi(name)
			value, err2 := strconv.ParseFloat(number, 64)
			if err != nil || err2 != nil || column <= last || column > mostVectorColumns {
				return nil, fmt.Errorf("%s: line %d: %s is no column, larger than the one before, and its value", path, line, shortQuote(pair))
			}
			entries = append(entries, sparse.Entry{Row: len(classes), Col: column - 1, Value: value})
			last = column
		}
		classes, columns = append(classes, strings.Clone(fields[0])), max(columns, last)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, line+1, err)
	}
	return newVectorSet(path, sparse.FromEntries(len(classes), columns, entries), classes, opt, room)
}

var svmLightLine = regexp.MustCompile(`^[^\s:,#]+( [0-9]+:[-+.0-9eE]+)+\s`)

// isSVMLight tells by the first bytes whether a file is one that SVMLight reads.
func isSVMLight(head []byte) bool { return svmLightLine.Match(head) }
