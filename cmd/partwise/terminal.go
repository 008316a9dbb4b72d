package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed4492f2cd/partwise/internal/columns"
)

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isWide tells whether w is a terminal that shows characters such as ± and ─ two
// columns wide, as far as the environment says so.
func isWide(w io.Writer) bool { return runewidth.EastAsianWidth && isTerminal(w) }

// width returns how many letters a line of the terminal w has, and 0 where w is none.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// printTable prints a table and, where it is not "", a sentence below it.
func printTable(w io.Writer, t columns.Table, below string) error {
	text.OverrideRuneWidthEastAsianWidth(isWide(w))
	out := t.Text(width(w))
	if below != "" {
		out += "\n" + columns.Hanging("", below, width(w))
	}
	_, err := io.WriteString(w, out)
	return err
}

// wrapHelp breaks the lines of help to the width of the terminal, but for examples, which are to be copied.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := width(cmd.OutOrStdout()); n > 0 {
			fitHelp(cmd, n)
		}
		show(cmd, args)
	})
}

// fitHelp breaks the help of a command into lines of at most n letters.
func fitHelp(cmd *cobra.Command, n int) {
	cmd.Long = columns.Reflow(cmp.Or(cmd.Long, cmd.Short), n)
	for _, sub := range cmd.Commands() {
		lead := strings.Repeat(" ", 3+sub.NamePadding())
		sub.Short = strings.TrimSpace(columns.Hanging(lead, sub.Short, n))
	}
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsages | fit %d ", n)))
}

func init() { cobra.AddTemplateFunc("fit", breakFlags) }

var flagLine = regexp.MustCompile(`(?m)^( *-.*?  +)(\S.*)\n`)

// breakFlags breaks the lines of flags, each with its help, into lines of at most n letters.
func breakFlags(n int, lines string) string {
	return flagLine.ReplaceAllStringFunc(lines, func(line string) string {
		m := flagLine.FindStringSubmatch(line)
		return columns.Hanging(m[1], m[2], n)
	})
}
