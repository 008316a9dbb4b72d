package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline"
)

func methodsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "methods [NAME]",
		Short: "List the methods, or explain one",
		Example: `  partwise methods
  partwise methods ccf`,
		Args: arguments(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return pipeline.MethodNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listMethods(cmd.OutOrStdout())
			}
			if about, ok := pipeline.About(args[0]); ok {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n\nIt takes the features as they are and has no parameters of its own.\n", args[0], about)
				return err
			}
			info, ok := factor.Lookup(args[0])
			if !ok {
				return usageError{fmt.Errorf("there is no method %q; there are %s", args[0], strings.Join(pipeline.MethodNames(), ", "))}
			}
			return explainMethod(cmd.OutOrStdout(), info)
		},
	}
}

func listMethods(w io.Writer) error {
	t := plainTable(w)
	t.SetColumnConfigs([]table.ColumnConfig{wrapped(2, 24), wrapped(3, 24), wrapped(5, 36)})
	t.AppendHeader(table.Row{"method", "what", "made of", "parameters", "paper"})
	family := ""
	for _, i := range factor.Methods() {
		if i.Family != family {
			family = i.Family
			t.AppendRows([]table.Row{{""}, {strings.ToUpper(family[:1]) + family[1:]}})
		}
		var params []string
		for _, p := range i.Settings() {
			params = append(params, p.Name+": "+p.Default)
		}
		t.AppendRow(table.Row{" " + i.Name, i.Title, i.Parts, strings.Join(params, "\n"), i.Paper})
	}
	t.Render()
	fmt.Fprintf(w, "\nSolvers of the methods that are made of parts:\n")
	for _, s := range factor.Solvers() {
		fmt.Fprintf(w, "  %s: %s: %s\n", s.Name, s.Title, s.Help)
	}
	_, err := fmt.Fprintf(w, `
%s cluster the features themselves,
and %s classifies them.
partwise methods NAME explains a method: its objective, its updates, its parameters.
`, strings.Join(pipeline.Clusterers(), ", "), pipeline.Original)
	return err
}

func explainMethod(w io.Writer, i factor.Info) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", i.Name, i.Title)
	fmt.Fprintf(&b, "family     %s\nmade of    %s\nminimises  %s\nupdates    %s\npaper      %s\n", i.Family, i.Parts, i.Objective, i.Update, i.Paper)
	needs := i.Needs()
	data := "values of 0 or more"
	if needs.Signed {
		data = "values of any sign"
	}
	if needs.Labels {
		data += "; needs the labels of some samples"
	}
	fmt.Fprintf(&b, "data       %s\n", data)
	if params := i.Settings(); len(params) > 0 {
		fmt.Fprintf(&b, "\nparameters\n")
		for _, p := range params {
			help := p.Help
			if len(p.Values) > 0 {
				help += ": " + strings.Join(p.Values, ", ")
			}
			fmt.Fprintf(&b, "  %-13s %s (default %s)\n", p.Name, help, p.Default)
		}
	}
	if needs.Direct {
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "\nand as all methods that iterate\n")
	fmt.Fprintf(&b, "  %-13s %s (default %s)\n", "init", "random, nndsvda or nmf", "random")
	if names := solversOf(i); len(names) > 0 {
		fmt.Fprintf(&b, "  %-13s %s (default %s)\n", "solver", "what lowers the objective: "+strings.Join(names, ", "), names[0])
	}
	fmt.Fprintf(&b, "  %-13s %s (default %d)\n", "iterations", "how many at most", factor.DefaultIterations)
	fmt.Fprintf(&b, "  %-13s %s (default %s)\n", "tolerance", "stop at a smaller share gained in an iteration", "never")
	_, err := io.WriteString(w, b.String())
	return err
}

// solversOf returns the names of the solvers that serve a method as its paper has it.
func solversOf(i factor.Info) (names []string) {
	method, err := i.New(nil)
	for _, s := range factor.Solvers() {
		if err == nil && factor.Serves(s.Solver, method) == nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// wrapped breaks the lines of a column between words.
func wrapped(column, width int) table.ColumnConfig {
	return table.ColumnConfig{Number: column, WidthMax: width, WidthMaxEnforcer: text.WrapSoft}
}

// plainTable returns a table of columns with nothing drawn between them.
func plainTable(w io.Writer) table.Writer {
	text.OverrideRuneWidthEastAsianWidth(isWide(w))
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = 0
	return t
}
