package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// kind is a kind of thing that experiments choose from.
type kind struct {
	// name is what the list is called, one what a thing of it is, and title what
	// they are; example is the name of one.
	name, one, title, example string
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

var kinds = []kind{
	{"methods", "method", "factorisations, and what takes the features as they are", "ccf", []string{"made of", "paper"}, methodEntries},
	{"solvers", "solver", "what lowers the objective of a method that is made of parts", "mu", []string{"about"}, solverEntries},
	{"penalties", "penalty", "terms that the method parts adds to its cost", "graph", []string{"term", "needs"}, penaltyEntries},
	{"clusterers", "clusterer", "what puts representations or features into groups", "ncut", []string{"needs"}, clustererEntries},
	{"features", "feature", "what is made of images", "hog", []string{"about"}, featureEntries},
	{"scores", "score", "what outcomes are judged by", "NMI", []string{"task", "values", "better"}, scoreEntries},
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

func penaltyEntries() (out []entry) {
	for _, i := range factor.PenaltyList() {
		in, needs := "the coefficients V", ""
		if i.OnBasis() {
			in = "the basis vectors U"
		}
		switch n := i.Needs(); {
		case n.Links:
			needs = "labels or links"
		case n.Images:
			needs = "images"
		}
		out = append(out, entry{name: i.Name, title: i.Title, settings: i.Settings(), facts: [][2]string{
			{"term", i.Term}, {"in", in}, {"paper", i.Paper}, {"needs", needs}}})
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
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what experiments choose from, or explain one of it",
		Args:  arguments(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, k := range kinds {
		cmd.AddCommand(kindCommand(k, "partwise list "+k.name))
	}
	return cmd
}

// methodsCommand is list methods, in fewer words.
func methodsCommand() *cobra.Command { return kindCommand(kinds[0], "partwise methods") }

// kindCommand returns the command that lists a kind; line is how it is called.
func kindCommand(k kind, line string) *cobra.Command {
	return &cobra.Command{
		Use:     k.name + " [NAME]",
		Short:   "List the " + k.name + ", or explain one: " + k.title,
		Example: fmt.Sprintf("  %s\n  %[1]s %s", line, k.example),
		Args:    arguments(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return k.names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printTable(cmd.OutOrStdout(), k.table(), line+" NAME explains one.")
			}
			for _, e := range k.entries() {
				if strings.EqualFold(e.name, args[0]) {
					_, err := io.WriteString(cmd.OutOrStdout(), e.explain(width(cmd.OutOrStdout())))
					return err
				}
			}
			return unknown(k.one, args[0], k.names())
		},
	}
}

func (k kind) names() (names []string) {
	for _, e := range k.entries() {
		names = append(names, e.name)
	}
	return names
}

func (k kind) table() columns.Table {
	t := columns.Table{Header: slices.Concat([]string{k.one, "what"}, k.columns, []string{"settings"}), Limits: []int{0, 30}}
	for range k.columns {
		t.Limits = append(t.Limits, 36)
	}
	family := ""
	for _, e := range k.entries() {
		if e.family != family {
			family = e.family
			t.Heading(strings.ToUpper(family[:1]) + family[1:])
		}
		row := []any{e.name, e.title}
		if family != "" {
			row[0] = " " + e.name
		}
		for _, c := range k.columns {
			fact := ""
			for _, f := range e.facts {
				if f[0] == c {
					fact = f[1]
				}
			}
			row = append(row, fact)
		}
		var lines []string
		for _, s := range e.settings {
			lines = append(lines, s.Name+": "+cmp.Or(s.Default, "-"))
		}
		t.Row(append(row, strings.Join(lines, "\n"))...)
	}
	return t
}

// explain returns all that is known of an entry.
func (e entry) explain(width int) string {
	out := columns.Hanging("", e.name+": "+e.title, width)
	if len(e.facts) > 0 {
		out += "\n"
	}
	for _, f := range e.facts {
		if f[1] != "" {
			out += columns.Hanging(fmt.Sprintf("%-10s ", f[0]), f[1], width)
		}
	}
	return out + explainSettings("settings", e.settings, width) + explainSettings("and as others", e.shared, width)
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
