package columns

import (
	"io"
	"os"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// IsTerminal tells whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsWide tells whether w is a terminal that shows characters such as ± and ─ two
// columns wide, as far as the environment says so.
func IsWide(w io.Writer) bool { return runewidth.EastAsianWidth && IsTerminal(w) }

// Width returns how many letters a line of the terminal w has, and 0 where w is none.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}
