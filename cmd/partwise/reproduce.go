package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// reproduceFlags are the flags of reproduce that are not in its runner.
type reproduceFlags struct {
	out, doc, join   string
	all, show, force bool
}

func reproduceCommand() *cobra.Command {
	var o reproduceFlags
	var workers uint
	r := &reproduce.Runner{Pages: report.ExperimentFiles, Program: releaseVersion(buildInfo())}
	cmd := newCommand("reproduce", func(cmd *cobra.Command, args []string) error {
		r.Workers = int(workers)
		r.Shard = shardOf(cmd)
		o.validate(r, args)
		failUsageIf(r.Shard.Of > 0 && !r.Quick && !cmd.Flags().Changed("draws"),
			"--shard needs --draws or --quick: a shard alone cannot decide when to stop")
		if slices.Equal(args, []string{reproduce.Beyond}) {
			return o.runBeyond(cmd, r, workers)
		}
		if o.all {
			args = reproduce.Names()
		}
		if r.From, _ = filepath.Glob(o.join); o.join != "" && r.From == nil {
			failUsage("--join %q: no such folder", o.join)
		}
		recipes := make([]*reproduce.Recipe, len(args))
		for i, name := range args {
			recipes[i] = findRecipe(name)
			filesIn(cmd.Context()).addRead(reproduce.Beside(name))
		}
		switch {
		case o.show:
			documentOf(cmd).Recipes = recipes
			return showRecipes(cmd.OutOrStdout(), recipes)
		case len(recipes) == 0:
			return listRecipes(cmd, r)
		}
		return o.runRecipes(cmd, r, recipes)
	})
	cmd.ValidArgsFunction = completeWords(append(reproduce.Names(), reproduce.Beyond)...)
	f := cmd.Flags()
	f.BoolVar(&o.show, "show", false, "print the files of the recipes without running them")
	f.BoolVar(&o.all, "all", false, "run all recipes whose data are available")
	f.BoolVar(&r.Quick, "quick", false, "run at most 10 draws, without alternative readings of the paper")
	f.IntVar(&r.Draws, "draws", 100, "maximum draws; claims are judged after 10, 20, 40, ...")
	f.DurationVar(&r.Budget, "budget", 40*time.Minute, "time limit of each recipe; run again to resume")
	f.StringVar(&o.out, "out", "", "results folder of one recipe (default results/NAME)")
	f.StringVar(&r.Set, "set", "", "data to use instead of the recipe's own: a known set or a path")
	rootFlag(f, &r.Root)
	f.String("shard", "", "run only part 3/64 of the --draws draws (from 0/64), for --join")
	f.StringVar(&o.join, "join", "", "take the trials of these folders of shards, such as 'part*'")
	f.StringVar(&o.doc, "doc", "", "Markdown file of outcomes to write, with a JSON file beside it")
	f.BoolVar(&o.force, "force", false, "replace an existing --doc file")
	workersFlag(f, &workers)
	cmd.MarkFlagsMutuallyExclusive("all", "show")
	cmd.MarkFlagsMutuallyExclusive("shard", "doc")
	prepareFlags(cmd)
	return cmd
}

func (o *reproduceFlags) validate(r *reproduce.Runner, args []string) {
	failUsageIf(r.Draws < 1, "--draws %d: expected 1 or more", r.Draws)
	failUsageIf(r.Budget <= 0, "--budget %s: expected more than 0", r.Budget)
	failUsageIf(o.all && len(args) > 0, "--all runs all recipes; remove the names")
	failUsageIf(o.show && len(args) == 0, "--show needs the name of a recipe")
	failUsageIf(len(args) != 1 && (o.out != "" || r.Set != "" || o.join != ""),
		"--out, --set and --join need exactly one recipe")
	failUsageIf(len(args) == 0 && !o.all && o.doc != "", "--doc needs the names of recipes or --all")
}

// runBeyond compares the program's own method with others.
func (o *reproduceFlags) runBeyond(cmd *cobra.Command, r *reproduce.Runner, workers uint) error {
	for _, flag := range []string{"show", "draws", "budget", "set", "doc", "force", "shard", "join"} {
		failUsageIf(cmd.Flags().Changed(flag), "--%s is for recipes of papers; %s has none", flag, reproduce.Beyond)
	}
	e, names, cells, err := reproduce.Comparison(r.Root, r.Quick, func(err error) { warner(cmd)(err.Error()) })
	guard.Check(err)
	guard.FailIf(len(cells) < 2, "no set of the comparison was found")
	e.Command = "partwise reproduce " + reproduce.Beyond
	for _, cell := range cells {
		cell.Command, cell.Program = e.Command, r.Program
	}
	return runSets(cmd, e, names, cells, cmp.Or(o.out, filepath.Join("results", reproduce.Beyond)), workers)
}

func findRecipe(name string) *reproduce.Recipe {
	if strings.HasSuffix(name, ".yaml") {
		return guard.Must(reproduce.Load(name))
	}
	recipe, err := reproduce.Lookup(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		err = unknown("recipe", name, reproduce.Names())
	}
	return guard.Must(recipe, err)
}

func showRecipes(w io.Writer, recipes []*reproduce.Recipe) error {
	for _, recipe := range recipes {
		text := fmt.Sprintf("%s\n# %s.paper.yaml:\n#\n", recipe.Protocol, recipe.Name)
		for line := range strings.Lines(recipe.Printed) {
			text += strings.TrimRight("# "+strings.TrimSuffix(line, "\n"), " ") + "\n"
		}
		guard.Check(printLines(w, []byte(text)))
	}
	return nil
}

func listRecipes(cmd *cobra.Command, r *reproduce.Runner) error {
	t := columns.Table{Header: []string{"recipe", "claims", "values", "minutes", "data"}, Limits: []int{0, 0, 0, 0, 60}}
	paper := ""
	for _, name := range reproduce.Names() {
		recipe := guard.Must(reproduce.Lookup(name))
		documentOf(cmd).Recipes = append(documentOf(cmd).Recipes, recipe)
		where, err := recipe.Locate(r.Set, r.Root)
		switch {
		case err != nil:
			where = "not available"
		case where == "":
			where = generated
		}
		if recipe.Paper.Paper != paper {
			paper = recipe.Paper.Paper
			t.Heading(paper)
		}
		t.Row(name, len(recipe.Claims), recipe.Values(), recipe.Minutes, plaintext.Line(where))
	}
	return printTable(cmd.OutOrStdout(), t, "Minutes are for ten draws on two cores. partwise reproduce NAME runs a recipe; --show NAME prints it.")
}

func (o *reproduceFlags) runRecipes(cmd *cobra.Command, r *reproduce.Runner, recipes []*reproduce.Recipe) error {
	var document *reproduce.Document
	if o.doc != "" {
		files := []string{o.doc, reproduce.DocumentJSON(o.doc)}
		filesIn(cmd.Context()).addWritten(written{label: "--doc", path: files[1]})
		guard.Check(checkNewFiles(o.force, files...))
		document = guard.Must(reproduce.OpenDocument(o.doc))
	}
	if r.Quick {
		r.Draws = min(r.Draws, reproduce.Look(0))
	}
	bars := &stages{w: cmd.ErrOrStderr(), unit: "trials"}
	defer bars.end()
	r.Progress = bars.show
	r.Warn = func(text string) { bars.end(); warner(cmd)(text) }
	r.Check = func(e *spec.Experiment, dir string, names []string) error {
		return guard.Try(func() { checkResults(cmd, e, dir, names) })
	}
	r.Prepare = func(e *spec.Experiment) (_ *input.Inputs, _ func(), err error) {
		defer guard.Catch(&err)
		bars.end()
		in := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error { return pipeline.CheckSet(cmd.Context(), e, set) })
		return in.Inputs, in.Close, nil
	}
	r.Publish = func(folder *results.Folder, shown *models.Illustrations) error {
		bars.end()
		return guard.Try(func() { publish(cmd, folder, shown) })
	}
	var left []string
	for _, recipe := range recipes {
		_, missing := recipe.Locate(r.Set, r.Root)
		err := missing
		if err == nil {
			err = o.runRecipe(cmd, r, recipe, document)
		}
		bars.end()
		if err != nil && o.all && (missing != nil || errors.Is(err, features.ErrNoOpenCV)) {
			left = append(left, recipe.Name)
			r.Warn(recipe.Name + " is skipped: " + err.Error())
			continue
		}
		guard.Check(err)
	}
	if document == nil {
		return nil
	}
	return document.Write(left)
}

func (o *reproduceFlags) runRecipe(cmd *cobra.Command, r *reproduce.Runner, recipe *reproduce.Recipe, document *reproduce.Document) error {
	name := recipe.Name
	if r.Shard.Of > 0 {
		name = r.Shard.File(name, "")
	}
	out := cmp.Or(o.out, filepath.Join("results", name))
	found, err := r.Run(cmd.Context(), recipe, out)
	if err != nil {
		return err
	}
	if found == nil {
		return say(cmd, "The trials of shard %s are in %s.\n", r.Shard, out)
	}
	documentOf(cmd).Out, documentOf(cmd).Outcomes = out, append(documentOf(cmd).Outcomes, found)
	if document != nil {
		document.Put(found)
	}
	w := cmd.OutOrStdout()
	guard.Must(io.WriteString(w, found.Text(columns.Width(w), columns.Width(w))))
	return say(cmd, "\nResults are in %s; open %s.\n", filepath.Join(out, reproduce.TextFile), filepath.Join(out, "index.html"))
}
