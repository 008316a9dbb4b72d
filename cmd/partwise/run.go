package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report"
)

func runCommand() *cobra.Command {
	var out, root string
	var workers int
	var methods []string
	values := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run an experiment: compare methods on drawn classes, with tables and curves",
		Long: `Run runs the experiment of a YAML file, of flags, or of a file with flags in
place of some of its keys. Each finished trial goes into a log, and running the
same again goes on where it stopped.`,
		Example: `  partwise run docs/experiments/demo.yaml
  partwise run docs/experiments/demo.yaml --repeats 2 --name quick
  partwise run --set generated --classes 2,5 --labels 20% \
      --method kmeans --method nmf --method ccf,init=nmf,iterations=300 --name mine`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := &pipeline.Experiment{}
			if len(args) == 1 {
				var err error
				if e, err = experimentfile.Load(args[0]); err != nil {
					return err
				}
			}
			var err error
			cmd.Flags().Visit(func(f *pflag.Flag) {
				v, isKey := values[f.Name]
				if !isKey || err != nil {
					return
				}
				err = setKey(e, f.Name, *v)
			})
			if err == nil && len(methods) > 0 {
				err = setMethods(e, methods)
			}
			if err != nil {
				return usageError{err}
			}
			if e.Name == "" && e.Data.Set != "" {
				name, err := nameOf(e.Data.Set)
				if err != nil {
					return err
				}
				e.Name = strings.ToValidUTF8(strings.TrimLeft(name, "."), "_")
			}
			for i, one := range e.Each() {
				if err := one.Check(); err != nil {
					if len(e.Sets) > 1 {
						err = fmt.Errorf("data: set %d: %w", i+1, err)
					}
					return usageError{err}
				}
			}
			e.Data.Root, e.Data.Labelled = root, true
			e.Command, e.Program = commandLine(cmd, args), releaseVersion(buildInfo())
			if out == "" {
				out = outFor(e.Data.Set, e.Name)
			}
			if workers < 0 {
				return usageError{fmt.Errorf("--workers %d; there must be 1 or more", workers)}
			}
			for _, one := range e.Each() {
				if err := checkOut(one.Data.Set, out); err != nil {
					return err
				}
			}
			if len(e.Sets) > 1 {
				return runSets(cmd, e, out, workers)
			}
			folder, err := openResults(cmd, e, out)
			if err != nil {
				return err
			}
			defer folder.Close()
			if err := runExperiment(cmd, e, folder, workers); err != nil {
				return err
			}
			return folder.Close()
		},
	}
	f := cmd.Flags()
	for _, s := range settings.List(pipeline.Experiment{}) {
		if flag := flagOf(s.Name); flag != "method" {
			values[flag] = f.String(flag, "", s.Help)
		}
	}
	f.StringArrayVar(&methods, "method", nil, "a method, with its settings behind it as in ccf,init=nmf; once for each")
	f.StringVar(&out, "out", "", "folder of the results (default results/NAME)")
	f.StringVar(&root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
	f.IntVar(&workers, "workers", 0, "trials at once (default one for each processor)")
	prepareFlags(cmd)
	timesFlag(cmd)
	return cmd
}

// flagOf returns the flag for a key of the experiment file.
func flagOf(key string) string {
	switch key {
	case "data": // which is the folder of the known sets
		return "set"
	case "methods":
		return "method"
	}
	return key
}

// setKey sets a key of the experiment from a flag.
func setKey(e *pipeline.Experiment, flag, value string) error {
	key := flag
	switch flag {
	case "set":
		key, value = "data", inline(value, "set")
	case "features":
		value = inlineFeatures(value)
	case "cluster", "classifier", "significance":
		value = inline(value, "by")
	case "neighbours":
		value = inline(value, "k")
	case "rank":
		value = inline(value, "among")
	case "links":
		value = inline(value, "")
	case "scores":
		value = "[" + value + "]"
	}
	if err := experimentfile.Set(e, key, value); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

func setMethods(e *pipeline.Experiment, methods []string) error {
	list := make([]string, len(methods))
	for i, m := range methods {
		list[i] = inline(m, "name")
	}
	if err := experimentfile.Set(e, "methods", "["+strings.Join(list, ", ")+"]"); err != nil {
		return fmt.Errorf("--method: %w", err)
	}
	return nil
}

// inline turns "ccf,init=nmf" into the form that a file has,
// {name: ccf, init: nmf}; first is the key of what stands before the first
// comma without one.
func inline(value, first string) string {
	if strings.HasPrefix(value, "{") || !strings.Contains(value, "=") {
		return value
	}
	var pairs []string
	for i, part := range strings.Split(value, ",") {
		key, v, ok := strings.Cut(part, "=")
		switch {
		case ok && strings.Contains(v, "{class}") && !strings.ContainsAny(v, `'"`):
			pairs = append(pairs, key+": '"+v+"'") // a pattern, and no mapping
		case ok:
			pairs = append(pairs, key+": "+v)
		case i == 0 && first != "":
			pairs = append(pairs, first+": "+part)
		case len(pairs) == 0: // which the experiment refuses
			pairs = append(pairs, part)
		default: // a comma in a value
			pairs[len(pairs)-1] += "," + part
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// inlineFeatures turns "sift,power=0.5+colour" into the form that a file has,
// [{sift: {}, power: 0.5}, colour]. A + joins features where a letter is behind it, and
// otherwise belongs to a value, as in grid=1x1+2x2.
func inlineFeatures(value string) string {
	if strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{") {
		return value
	}
	var list []string
	depth, from := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == '+' && depth == 0 && i+1 < len(value) && 'a' <= value[i+1] && value[i+1] <= 'z':
			list = append(list, value[from:i])
			from = i + 1
		}
	}
	list = append(list, value[from:])
	for i, one := range list {
		if name, settings, ok := strings.Cut(one, ","); ok && !strings.Contains(name, "=") && name != "" {
			one = name + "={}," + settings
		}
		list[i] = inline(one, "")
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// tellNotes prints what should be known of the inputs.
func tellNotes(w io.Writer, notes []string) {
	for _, n := range notes {
		plaintext.Fprintf(w, "partwise: %s\n", n)
	}
}

// nameOf returns what the results of a known set or a path are called.
func nameOf(set string) (string, error) {
	abs, err := filepath.Abs(strings.TrimPrefix(set, catalogue.SetPrefix))
	return filepath.Base(abs), err
}

// openResults opens the folder of an experiment on one set.
func openResults(cmd *cobra.Command, e *pipeline.Experiment, out string) (*results.Folder, error) {
	if err := checkResults(cmd, e, out, append(results.Files(), report.ExperimentFiles...)); err != nil {
		return nil, err
	}
	return results.Open(out, e, report.ExperimentFiles...)
}

// runExperiment runs an experiment on one set in its folder, and writes the report.
func runExperiment(cmd *cobra.Command, e *pipeline.Experiment, folder *results.Folder, workers int) error {
	ctx, stderr, out := cmd.Context(), cmd.ErrOrStderr(), folder.Dir()
	in, err := prepare(cmd, e, e.CheckSet)
	if err != nil {
		return err
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in.Inputs)
	if err != nil {
		return err
	}
	notes, err := folder.Notes(plan)
	if err != nil {
		return err
	}
	tellNotes(stderr, notes)
	trials := &stages{w: stderr}
	records, err := folder.Run(ctx, plan, pipeline.RunOptions{Workers: workers, Progress: trials.show})
	trials.end()
	var some *pipeline.TrialsError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %d of %d trials are in %s, and running the same again goes on from there", len(records), plan.Len(), out)
	case errors.As(err, &some) && len(records) > 0:
		if reportErr := writeReport(cmd, folder, nil); reportErr != nil {
			return reportErr
		}
		return err
	case err != nil && len(records) > 0:
		return fmt.Errorf("%w (%d of %d trials are kept in %s)", err, len(records), plan.Len(), out)
	case err != nil:
		return err
	}
	models, _ := results.Models(out, plan.Summary()) // the report names those that cannot be read
	shown, err := plan.Illustrate(ctx, models)
	if err != nil {
		return err
	}
	return writeReport(cmd, folder, shown)
}
