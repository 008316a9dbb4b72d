package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/table"
)

func compareCommand() *cobra.Command {
	var format string
	e := &pipeline.Experiment{}
	cmd := &cobra.Command{
		Use:   "compare DIR1 DIR2",
		Short: "Compare the results of two experiments on the same draws",
		Long: `Compare shows for each score and method what two results folders hold, over the
trials that both have, and whether the difference is significant. The experiments
may differ in features, labels, methods' settings and all else, but are to draw the
same samples: of the same data, by the same seed. Nothing is written.`,
		Example: `  partwise run --features pixels=16 --name coarse docs/experiments/demo.yaml
  partwise compare results/demo results/coarse
  partwise compare results/demo results/coarse --format markdown`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at := slices.IndexFunc(table.Formats, func(f table.Format) bool { return strings.EqualFold(f.Name, format) })
			if at < 0 {
				return unknown("format", format, compareFormats())
			}
			c, err := compare(e.Significance, args[0], args[1])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			return table.Formats[at].Write(out, c.Document(), textOptions(out))
		},
	}
	names := compareFormats()
	cmd.Flags().StringVar(&format, "format", names[0], "what is printed: "+strings.Join(names, ", "))
	addSettings(cmd, e, "significance")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// compareFormats are the formats of a comparison, the first by default.
func compareFormats() []string {
	var names []string
	for _, f := range table.Formats {
		names = append(names, strings.ToLower(f.Name))
	}
	return names
}

// compare compares the results of the experiments in two folders, by a rule.
func compare(by significance.Rule, dirs ...string) (*table.Comparison, error) {
	var summaries [2]*pipeline.Summary
	var compared [2]table.Compared
	for i, dir := range dirs {
		s, err := results.ReadSummary(dir)
		if err != nil {
			return nil, err
		}
		records, err := results.Records(dir, s)
		if err != nil {
			return nil, err
		}
		summaries[i], compared[i] = s, table.Compared{Name: dir, Methods: s.Methods, Records: records}
	}
	differences, err := summaries[0].Compare(summaries[1])
	var c *table.Comparison
	if err == nil {
		tests := table.TestsOf(summaries[0])
		tests.Rule = by
		c, err = table.NewComparison(compared[0], compared[1], tests)
	}
	if err != nil {
		return nil, fmt.Errorf("%s and %s cannot be compared: %w", dirs[0], dirs[1], err)
	}
	c.Differences = differences
	return c, nil
}
