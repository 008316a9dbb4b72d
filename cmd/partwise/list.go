package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
)

func listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what experiments choose from, or explain one of it",
		Args:  arguments(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, k := range choices.Kinds {
		cmd.AddCommand(kindCommand(k, "partwise list "+k.Name))
	}
	return cmd
}

// methodsCommand is list methods, in fewer words.
func methodsCommand() *cobra.Command { return kindCommand(choices.Kinds[0], "partwise methods") }

// kindCommand returns the command that lists a kind; line is how it is called.
func kindCommand(k choices.Kind, line string) *cobra.Command {
	return &cobra.Command{
		Use:     k.Name + " [NAME]",
		Short:   "List the " + k.Name + ", or explain one: " + k.Title,
		Example: fmt.Sprintf("  %s\n  %[1]s %s", line, k.Example),
		Args:    arguments(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return k.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printTable(cmd.OutOrStdout(), tableOf(k), line+" NAME explains one.")
			}
			for _, e := range k.Entries() {
				if strings.EqualFold(e.Name, args[0]) {
					_, err := io.WriteString(cmd.OutOrStdout(), explain(e, width(cmd.OutOrStdout())))
					return err
				}
			}
			return unknown(k.One, args[0], k.Names())
		},
	}
}

func tableOf(k choices.Kind) columns.Table {
	t := columns.Table{Header: slices.Concat([]string{k.One, "what"}, k.Columns, []string{"settings"}), Limits: []int{0, 30}}
	for range k.Columns {
		t.Limits = append(t.Limits, 36)
	}
	family := ""
	for _, e := range k.Entries() {
		if e.Family != family {
			family = e.Family
			t.Heading(strings.ToUpper(family[:1]) + family[1:])
		}
		row := []any{e.Name, e.Title}
		if family != "" {
			row[0] = " " + e.Name
		}
		for _, c := range k.Columns {
			fact := ""
			for _, f := range e.Facts {
				if f[0] == c {
					fact = f[1]
				}
			}
			row = append(row, fact)
		}
		var lines []string
		for _, s := range e.Settings {
			lines = append(lines, s.Name+": "+cmp.Or(s.Default, "-"))
		}
		t.Row(append(row, strings.Join(lines, "\n"))...)
	}
	return t
}

// explain returns all that is known of an entry.
func explain(e choices.Entry, width int) string {
	out := columns.Hanging("", e.Name+": "+e.Title, width)
	if len(e.Facts) > 0 {
		out += "\n"
	}
	for _, f := range e.Facts {
		if f[1] != "" {
			out += columns.Hanging(fmt.Sprintf("%-10s ", f[0]), f[1], width)
		}
	}
	return out + explainSettings("settings", e.Settings, width) + explainSettings("and as others", e.Shared, width)
}

func explainSettings(title string, list []settings.Setting, width int) (out string) {
	for i, s := range list {
		if i == 0 {
			out = "\n" + title + "\n"
		}
		more := []string{strings.Join(s.Values, ", "), s.Range}
		if s.Default != "" {
			more = append(more, "default "+s.Default)
		}
		help := s.Help
		if more = slices.DeleteFunc(more, func(text string) bool { return text == "" }); len(more) > 0 {
			help += " (" + strings.Join(more, "; ") + ")"
		}
		out += columns.Hanging(fmt.Sprintf("  %-13s ", s.Name), help, width)
	}
	return out
}
