// Package doc replaces the tables of documents that commands write.
package doc

import (
	"bytes"
	"fmt"
	"slices"
)

// Replace returns the document with another table between the lines <!-- bench NAME --> and
// <!-- end -->.
func Replace(doc []byte, name, table string) ([]byte, error) {
	begin, end := []byte("<!-- bench "+name+" -->\n"), []byte("<!-- end -->\n")
	before, rest, ok := bytes.Cut(doc, begin)
	_, after, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		return nil, fmt.Errorf("no lines %q and %q", bytes.TrimSpace(begin), bytes.TrimSpace(end))
	}
	return slices.Concat(before, begin, []byte(table), end, after), nil
}
