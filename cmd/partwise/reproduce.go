package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
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
	out, doc         string
	all, show, force bool
}

func reproduceCommand() *cobra.Command {
	var o reproduceFlags
	var workers uint
	r := &reproduce.Runner{Pages: report.ExperimentFiles, Program: releaseVersion(buildInfo())}
	cmd := &cobra.Command{
		Use:   "reproduce [RECIPE]...",
		Short: "Run a paper's protocol and hold what the paper prints against it",
		Long: `Reproduce runs the protocol of a paper, a recipe, and says of each claim and each
printed figure whether it holds here. Without a recipe it lists them. Draws are
made until all claims are decided, or the budget or the draws are spent; the same
command goes on where it stopped. Where a figure is not as printed, the readings of
what the paper leaves unsaid are run, and those that give it are named. A recipe
may be a file too: NAME.yaml, with NAME.paper.yaml beside it, as --show prints them.`,
		Example: `  partwise reproduce
  partwise reproduce --show ccf-yale`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeWords(reproduce.Names()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Workers = int(workers)
			if err := o.validate(r, args); err != nil {
				return usageError{err}
			}
			if o.all {
				args = reproduce.Names()
			}
			recipes := make([]*reproduce.Recipe, len(args))
			for i, name := range args {
				var err error
				if recipes[i], err = findRecipe(name); err != nil {
					return err
				}
				if err := filesIn(cmd.Context()).Reads(reproduce.Beside(name)); err != nil {
					return err
				}
			}
			switch {
			case o.show:
				return showRecipes(cmd.OutOrStdout(), recipes)
			case len(recipes) == 0:
				return listRecipes(cmd.OutOrStdout(), r)
			}
			return o.runRecipes(cmd, r, recipes)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.show, "show", false, "print the files of the recipes, and run nothing")
	f.BoolVar(&o.all, "all", false, "run all recipes whose data are here")
	f.BoolVar(&r.Quick, "quick", false, "make a tenth of the draws, 10, and no readings")
	f.IntVar(&r.Draws, "draws", 100, "most draws; claims are judged after 10, 20, 40 and so on")
	f.DurationVar(&r.Budget, "budget", 40*time.Minute, "time for the trials of a recipe, as in 10m; what is done is kept")
	f.StringVar(&o.out, "out", "", "folder of the results of one recipe (default results/NAME)")
	f.StringVar(&r.Set, "set", "", "a known set or a path in place of the data of one recipe")
	rootFlag(f, &r.Root)
	f.StringVar(&o.doc, "doc", "", "write all outcomes into one document in Markdown, and beside it in JSON; those of other recipes that it holds stay")
	f.BoolVar(&o.force, "force", false, "change the document of --doc where it is there already")
	workersFlag(f, &workers)
	cmd.MarkFlagsMutuallyExclusive("all", "show")
	prepareFlags(cmd)
	return cmd
}

func (o *reproduceFlags) validate(r *reproduce.Runner, args []string) error {
	switch {
	case r.Draws < 1:
		return fmt.Errorf("--draws %d; there must be 1 or more", r.Draws)
	case r.Budget <= 0:
		return fmt.Errorf("--budget %s; there must be some", r.Budget)
	case o.all && len(args) > 0:
		return errors.New("--all takes all recipes; name none")
	case o.show && len(args) == 0:
		return errors.New("--show prints a recipe; name one")
	case len(args) != 1 && (o.out != "" || r.Set != ""):
		return errors.New("--out and --set are for one recipe")
	case len(args) == 0 && !o.all && o.doc != "":
		return errors.New("--doc needs recipes, or --all")
	}
	return nil
}

func findRecipe(name string) (*reproduce.Recipe, error) {
	if strings.HasSuffix(name, ".yaml") {
		return reproduce.Load(name)
	}
	recipe, err := reproduce.Lookup(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, unknown("recipe", name, reproduce.Names())
	}
	return recipe, err
}

func showRecipes(w io.Writer, recipes []*reproduce.Recipe) error {
	for _, recipe := range recipes {
		text := fmt.Sprintf("%s\n# What stands in %s.paper.yaml:\n#\n", recipe.Protocol, recipe.Name)
		for line := range strings.Lines(recipe.Printed) {
			text += strings.TrimRight("# "+strings.TrimSuffix(line, "\n"), " ") + "\n"
		}
		if err := printLines(w, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func listRecipes(w io.Writer, r *reproduce.Runner) error {
	t := columns.Table{Header: []string{"recipe", "claims", "values", "minutes", "data"}, Limits: []int{0, 0, 0, 0, 60}}
	paper := ""
	for _, name := range reproduce.Names() {
		recipe, err := reproduce.Lookup(name)
		if err != nil {
			return err
		}
		where, err := recipe.Locate(r.Set, r.Root)
		switch {
		case err != nil:
			where = "not here"
		case where == "":
			where = generated
		}
		if recipe.Paper.Paper != paper {
			paper = recipe.Paper.Paper
			t.Heading(paper)
		}
		t.Row(name, len(recipe.Claims), recipe.Values(), recipe.Minutes, plaintext.Line(where))
	}
	return printTable(w, t, "partwise reproduce NAME runs one, in about so many minutes for ten draws on two cores; --show NAME prints it.")
}

func (o *reproduceFlags) runRecipes(cmd *cobra.Command, r *reproduce.Runner, recipes []*reproduce.Recipe) error {
	var document *reproduce.Document
	if o.doc != "" {
		files := []string{o.doc, reproduce.DocumentJSON(o.doc)}
		if err := filesIn(cmd.Context()).Writes(usedfiles.Written{Label: "--doc", Path: files[1]}); err != nil {
			return err
		}
		if err := checkNewFiles(o.force, files...); err != nil {
			return err
		}
		var err error
		if document, err = reproduce.OpenDocument(o.doc); err != nil {
			return err
		}
	}
	if r.Quick {
		r.Draws = min(r.Draws, reproduce.Look(0))
	}
	bars := &stages{w: cmd.ErrOrStderr(), unit: "trials"}
	defer bars.end()
	r.Progress = bars.show
	r.Warn = func(text string) { bars.end(); warner(cmd)(text) }
	r.Check = func(e *spec.Experiment, dir string, names []string) error {
		return checkResults(cmd, e, dir, names)
	}
	r.Prepare = func(e *spec.Experiment) (*input.Inputs, func(), error) {
		bars.end()
		in, err := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error { return pipeline.CheckSet(e, set) })
		if err != nil {
			return nil, nil, err
		}
		return in.Inputs, in.Close, nil
	}
	r.Publish = func(folder *results.Folder, shown *models.Illustrations) error {
		bars.end()
		_, err := publish(cmd, folder, shown)
		return err
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
			r.Warn(recipe.Name + " is left out: " + err.Error())
			continue
		}
		if err != nil {
			return err
		}
	}
	if document == nil {
		return nil
	}
	return document.Write(left)
}

func (o *reproduceFlags) runRecipe(cmd *cobra.Command, r *reproduce.Runner, recipe *reproduce.Recipe, document *reproduce.Document) error {
	out := cmp.Or(o.out, filepath.Join("results", recipe.Name))
	found, err := r.Run(cmd.Context(), recipe, out)
	if err != nil {
		return err
	}
	if document != nil {
		document.Put(found)
	}
	w := cmd.OutOrStdout()
	if _, err := io.WriteString(w, found.Text(columns.Width(w), columns.Width(w))); err != nil {
		return err
	}
	return say(cmd, "\nThis is in %s; open %s.\n", filepath.Join(out, reproduce.TextFile), filepath.Join(out, "index.html"))
}
