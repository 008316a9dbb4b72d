package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/progress"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// printTable prints a table and, where it is not "", a sentence below it.
func printTable(w io.Writer, t columns.Table, below string) error {
	text.OverrideRuneWidthEastAsianWidth(columns.IsWide(w))
	out := t.Text(columns.Width(w))
	if below != "" {
		out += "\n" + columns.Hanging("", below, columns.Width(w))
	}
	_, err := io.WriteString(w, out)
	return err
}

// wrapHelp breaks the lines of help to the width of the terminal, but for examples, which are to be copied.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := columns.Width(cmd.OutOrStdout()); n > 0 {
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

// work does a piece of work and shows how far it is. doing and left are what it says where a signal stops it.
func work[T any](cmd *cobra.Command, doing, left string, do func(show pipeline.Progress) (T, error)) (T, error) {
	s := &progress.Stages{W: cmd.ErrOrStderr()}
	s.Begin(doing)
	out, err := do(s.Show)
	s.End()
	return out, stopped(cmd.Context(), err, doing, left)
}

// draw is work that draws, whose progress has no name.
func draw[T any](cmd *cobra.Command, what, left string, do func(count func(done, total int)) (T, error)) (T, error) {
	return work(cmd, what, left, func(show pipeline.Progress) (T, error) {
		return do(func(done, total int) { show(what, done, total) })
	})
}
