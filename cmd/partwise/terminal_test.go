package main

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
)

// TestHelpFits: help on a terminal has no longer lines than that, but for examples and how the
// command is called.
func TestHelpFits(t *testing.T) {
	for _, room := range []int{40, 60, 80, 120} {
		var each func(cmd *cobra.Command)
		each = func(cmd *cobra.Command) {
			for _, sub := range cmd.Commands() {
				each(sub)
			}
			fitHelp(cmd, room)
			var b strings.Builder
			cmd.SetOut(&b)
			if err := cmd.Help(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimRight(line, "\n")
				copied := strings.HasPrefix(line, "  partwise") || strings.HasPrefix(line, "      --method kmeans") || strings.HasPrefix(line, "Use \"partwise")
				if n := text.StringWidthWithoutEscSequences(line); n > room && !copied {
					t.Errorf("%s --help in %d: %d letters: %s", cmd.CommandPath(), room, n, line)
				}
			}
		}
		each(rootCommand())
	}
}
