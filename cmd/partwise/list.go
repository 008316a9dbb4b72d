package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// kind is a kind of thing that experiments choose from.
type kind struct {
	// name is what list calls it, and one what it calls one of them.
	name, one, title string
	// columns are the facts of entries that the table shows.
	columns []string
	entries func() []entry
}

// entry is one thing of a kind.
type entry struct {
	name, title, family string
	// facts are what is known of it, and what the fact is called.
	facts    [][2]string
	settings []settings.Setting
	// shared are settings that others of its kind have too.
	shared []settings.Setting
}

// fact returns a fact, "" if there is none of the name.
func (e entry) fact(name string) string {
	for _, f := range e.facts {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}

var kinds = []kind{
	{"methods", "method", "what is compared: factorisations, and what takes the features as they are", []string{"made of", "paper"}, methodEntries},
	{"solvers", "solver", "what lowers the objective of a method that is made of parts (solver)", []string{"about"}, solverEntries},
	{"clusterers", "clusterer", "what puts representations or features into groups (cluster)", []string{"needs"}, clustererEntries},
	{"features", "feature", "what is made of images (features)", []string{"about"}, featureEntries},
	{"scores", "score", "what outcomes are judged by (scores)", []string{"task", "values", "better"}, scoreEntries},
}

func methodEntries() (out []entry) {
	shared := slices.DeleteFunc(settings.List(pipeline.Method{}), func(s settings.Setting) bool { return s.Name == "name" || s.Name == "as" })
	for _, i := range factor.Methods() {
		needs := i.Needs()
		data := "values of 0 or more"
		if needs.Signed {
			data = "values of any sign"
		}
		if needs.Labels {
			data += "; needs the labels of some samples"
		}
		e := entry{name: i.Name, title: i.Title, family: i.Family, settings: i.Settings(), shared: shared, facts: [][2]string{
			{"family", i.Family}, {"made of", i.Parts}, {"minimises", i.Objective}, {"updates", i.Update}, {"paper", i.Paper}, {"data", data}}}
		if needs.Direct {
			e.shared = slices.DeleteFunc(slices.Clone(shared), func(s settings.Setting) bool {
				return slices.Contains([]string{"init", "solver", "iterations", "tolerance"}, s.Name)
			})
		} else if names := solversOf(i); names != "" {
			e.facts = append(e.facts, [2]string{"solvers", names})
		}
		out = append(out, e)
	}
	const family = "on the features as they are"
	for _, e := range clustererEntries() {
		e.family, e.settings = family, nil // which are those of cluster
		e.facts = append(e.facts, [2]string{"data", "the features as they are"})
		out = append(out, e)
	}
	about, _ := pipeline.About(pipeline.Original)
	return append(out, entry{name: pipeline.Original, title: about, family: family, facts: [][2]string{{"data", "the features as they are"}}})
}

// solversOf returns the names of the solvers that serve a method as its paper has it.
func solversOf(i factor.Info) string {
	method, err := i.New(nil)
	var names []string
	for _, s := range factor.Solvers() {
		if err == nil && factor.Serves(s.Solver, method) == nil {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

func solverEntries() (out []entry) {
	for _, s := range factor.Solvers() {
		out = append(out, entry{name: s.Name, title: s.Title, facts: [][2]string{{"about", s.Help}}})
	}
	return out
}

func clustererEntries() (out []entry) {
	for _, a := range cluster.Algorithms() {
		needs := ""
		switch {
		case a.TakesLinks:
			needs = "labels or links"
		case a.NeedsLabels:
			needs = "labels"
		}
		out = append(out, entry{name: a.Name, title: a.Title, facts: [][2]string{{"needs", needs}}, settings: settings.List(a.Settings)})
	}
	return append(out, entry{name: pipeline.Largest, title: "each sample to its largest coefficient"})
}

func featureEntries() (out []entry) {
	for _, i := range features.Extractors() {
		name := i.Name
		if i.Form != "" {
			name += "=" + i.Form
		}
		out = append(out, entry{name: name, title: i.Title, facts: [][2]string{{"about", i.Help}, {"images", i.Images}}, settings: settings.List(i.Zero)})
	}
	return out
}

func scoreEntries() (out []entry) {
	for _, s := range eval.Scores() {
		values, better := fmt.Sprintf("from %g to %g", s.Min, s.Max), "higher"
		if math.IsInf(s.Max, 1) {
			values = fmt.Sprintf("%g or more", s.Min)
		}
		if s.LowerIsBetter {
			better = "lower"
		}
		facts := [][2]string{{"about", s.Help}, {"task", s.Task.String()}, {"values", values}, {"unit", string(s.Unit)}, {"better", better}}
		if s.Optional {
			facts = append(facts, [2]string{"computed", fmt.Sprintf("where it is asked for (scores: [%s])", s.Name)})
		}
		out = append(out, entry{name: s.Name, title: s.Title, facts: facts})
	}
	return out
}

func listCommand() *cobra.Command {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return &cobra.Command{
		Use:   "list [KIND [NAME]]",
		Short: "List the methods, solvers, clusterers, features or scores, or explain one",
		Example: `  partwise list
  partwise list features
  partwise list scores AC`,
		Args: arguments(0, 2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names, cobra.ShellCompDirectiveNoFileComp
			}
			return kindOf(args[0]).names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				t := plainTable(cmd.OutOrStdout())
				for _, k := range kinds {
					t.AppendRow(table.Row{k.name, k.title})
				}
				t.Render()
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "\npartwise list KIND lists them, and partwise list KIND NAME explains one.")
				return err
			}
			k := kindOf(args[0])
			if k.name == "" {
				return usageError{fmt.Errorf("there is no list of %q; there are %s", args[0], strings.Join(names, ", "))}
			}
			return k.show(cmd.OutOrStdout(), args[1:])
		},
	}
}

func methodsCommand() *cobra.Command {
	k := kindOf("methods")
	return &cobra.Command{
		Use:   "methods [NAME]",
		Short: "List the methods, or explain one",
		Example: `  partwise methods
  partwise methods ccf`,
		Args: arguments(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return k.names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return k.show(cmd.OutOrStdout(), args) },
	}
}

// kindOf returns the kind of the name, or one without a name.
func kindOf(name string) kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return kind{entries: func() []entry { return nil }}
}

func (k kind) names() (names []string) {
	for _, e := range k.entries() {
		names = append(names, e.name)
	}
	return names
}

// show prints the entries of a kind, or explains the one that is named.
func (k kind) show(w io.Writer, name []string) error {
	entries := k.entries()
	if len(name) == 0 {
		return k.list(w, entries)
	}
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == name[0] })
	if i < 0 {
		return usageError{fmt.Errorf("there is no %s %q; there are %s", k.one, name[0], strings.Join(k.names(), ", "))}
	}
	return entries[i].explain(w)
}

func (k kind) list(w io.Writer, entries []entry) error {
	t := plainTable(w)
	t.SuppressEmptyColumns()
	header := table.Row{k.one, "what"}
	configs := []table.ColumnConfig{wrapped(2, 30)}
	for _, c := range k.columns {
		header = append(header, c)
		configs = append(configs, wrapped(len(header), 36))
	}
	t.AppendHeader(append(header, "settings"))
	t.SetColumnConfigs(configs)
	family := ""
	for _, e := range entries {
		if e.family != family {
			family = e.family
			t.AppendRows([]table.Row{{""}, {strings.ToUpper(family[:1]) + family[1:]}})
		}
		row := table.Row{e.name, e.title}
		if family != "" {
			row[0] = " " + e.name
		}
		for _, c := range k.columns {
			row = append(row, e.fact(c))
		}
		var lines []string
		for _, s := range e.settings {
			lines = append(lines, s.Name+": "+cmp.Or(s.Default, "-"))
		}
		t.AppendRow(append(row, strings.Join(lines, "\n")))
	}
	t.Render()
	_, err := fmt.Fprintf(w, "\npartwise list %s NAME explains one.\n", k.name)
	return err
}

func (e entry) explain(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", e.name, e.title)
	for i, f := range e.facts {
		if i == 0 {
			b.WriteByte('\n')
		}
		if f[1] != "" {
			fmt.Fprintf(&b, "%-10s %s\n", f[0], f[1])
		}
	}
	explainSettings(&b, "settings", e.settings)
	explainSettings(&b, "and as others", e.shared)
	_, err := io.WriteString(w, b.String())
	return err
}

func explainSettings(b *strings.Builder, title string, list []settings.Setting) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, s := range list {
		var more []string
		for _, text := range []string{strings.Join(s.Values, ", "), s.Range} {
			if text != "" {
				more = append(more, text)
			}
		}
		if s.Default != "" {
			more = append(more, "default "+s.Default)
		}
		help := s.Help
		if len(more) > 0 {
			help += " (" + strings.Join(more, "; ") + ")"
		}
		fmt.Fprintf(b, "  %-13s %s\n", s.Name, help)
	}
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
