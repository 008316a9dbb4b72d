package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report"
)

// The files that reproduce writes beside the results.
const (
	reproductionText     = "reproduction.txt"
	reproductionMarkdown = "reproduction.md"
	variantsFolder       = "variants"
)

// reproduction is how recipes are run.
type reproduction struct {
	out, root, set, doc string
	budget              time.Duration
	draws, workers      int
	quick, all          bool
	show, force         bool
}

func reproduceCommand() *cobra.Command {
	var r reproduction
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
		Args: arguments(0, 1000),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return among(begun, reproduce.Names()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.show, "show", false, "print the files of the recipes, and run nothing")
	f.BoolVar(&r.all, "all", false, "run all recipes whose data are here")
	f.BoolVar(&r.quick, "quick", false, "make a tenth of the draws, 10, and no readings")
	f.IntVar(&r.draws, "draws", 100, "most draws; claims are judged after 10, 20, 40 and so on")
	f.DurationVar(&r.budget, "budget", 40*time.Minute, "time for the trials of a recipe, as in 10m; what is done is kept")
	f.StringVar(&r.out, "out", "", "folder of the results of one recipe (default results/NAME)")
	f.StringVar(&r.set, "set", "", "a known set or a path in place of the data of one recipe")
	f.StringVar(&r.root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
	f.StringVar(&r.doc, "doc", "", "write all outcomes into one document in Markdown; those of other recipes that it holds stay")
	f.BoolVar(&r.force, "force", false, "change the document of --doc where it is there already")
	f.IntVar(&r.workers, "workers", 0, "trials at once (default one for each processor)")
	prepareFlags(cmd)
	return cmd
}

func (r *reproduction) run(cmd *cobra.Command, args []string) error {
	var wrong error
	switch {
	case r.draws < 1:
		wrong = fmt.Errorf("--draws %d; there must be 1 or more", r.draws)
	case r.workers < 0:
		wrong = fmt.Errorf("--workers %d; there must be 1 or more", r.workers)
	case r.budget <= 0:
		wrong = fmt.Errorf("--budget %s; there must be some", r.budget)
	case r.all && (len(args) > 0 || r.show):
		wrong = errors.New("--all takes all recipes; name none, and do not --show")
	case r.show && len(args) == 0:
		wrong = errors.New("--show prints a recipe; name one")
	case len(args) != 1 && (r.out != "" || r.set != ""):
		wrong = errors.New("--out and --set are for one recipe")
	case len(args) == 0 && !r.all && r.doc != "":
		wrong = errors.New("--doc needs recipes, or --all")
	}
	if wrong != nil {
		return usageError{wrong}
	}
	if r.all {
		args = reproduce.Names()
	}
	var recipes []*reproduce.Recipe
	for _, name := range args {
		recipe, err := findRecipe(name)
		if err != nil {
			return err
		}
		recipes = append(recipes, recipe)
		if err := filesIn(cmd.Context()).reads(reproduce.Beside(name)); err != nil {
			return err
		}
	}
	switch {
	case r.show:
		for _, recipe := range recipes {
			text := fmt.Sprintf("%s\n# What stands in %s.paper.yaml:\n#\n%s", recipe.Protocol, recipe.Name, commented(recipe.Printed))
			if _, err := io.WriteString(cmd.OutOrStdout(), plain(text)); err != nil {
				return err
			}
		}
		return nil
	case len(recipes) == 0:
		return r.list(cmd.OutOrStdout())
	}
	if err := checkNewFiles(r.force, r.doc); err != nil {
		return err
	}
	if r.quick {
		r.draws = min(r.draws, reproduce.Look(0))
	}
	var outcomes []*reproduce.Outcome
	var left []string
	for _, recipe := range recipes {
		if _, err := r.locate(recipe); err != nil {
			if !r.all {
				return err
			}
			left = append(left, recipe.Name+": "+err.Error())
			tell(cmd.ErrOrStderr())(recipe.Name + " is left out: " + err.Error())
			continue
		}
		o, err := r.reproduce(cmd, recipe)
		if r.all && errors.Is(err, features.ErrNoOpenCV) {
			left = append(left, recipe.Name+": "+err.Error())
			tell(cmd.ErrOrStderr())(recipe.Name + " is left out: " + err.Error())
			continue
		}
		if err != nil {
			return err
		}
		outcomes = append(outcomes, o)
	}
	if r.doc == "" {
		return nil
	}
	return writeReproductions(r.doc, outcomes, left)
}

// findRecipe returns a recipe by its name or file.
func findRecipe(name string) (*reproduce.Recipe, error) {
	if strings.HasSuffix(name, ".yaml") {
		return reproduce.Load(name)
	}
	recipe, err := reproduce.Lookup(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, usageError{fmt.Errorf("there is no recipe %q%s; there are %s", name, phrase.Guess(name, reproduce.Names()), strings.Join(reproduce.Names(), ", "))}
	}
	return recipe, err
}

// commented puts a text behind marks of comments, so that what --show prints is an experiment file.
func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

func (r *reproduction) list(w io.Writer) error {
	t := listing{header: []string{"recipe", "claims", "values", "minutes", "data"}, limits: []int{0, 0, 0, 0, 60}}
	paper := ""
	for _, name := range reproduce.Names() {
		recipe, err := reproduce.Lookup(name)
		if err != nil {
			return err
		}
		where, err := r.locate(recipe)
		if err != nil {
			where = "not here"
		}
		values := 0
		for _, table := range recipe.Tables {
			for _, row := range table.Rows {
				for _, v := range row.Are {
					if v > 0 {
						values++
					}
				}
			}
		}
		if recipe.Paper.Paper != paper {
			paper = recipe.Paper.Paper
			t.row(paper)
		}
		t.row(name, len(recipe.Claims), values, recipe.Minutes, plaintext.Line(where))
	}
	if err := t.print(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+hanging("", "partwise reproduce NAME runs one, in about so many minutes for ten draws on two cores; --show NAME prints it.", columns(w)))
	return err
}

// locate returns where the data of a recipe are. Data that are no known set are a folder of their name here
// or in the folder of the known sets.
func (r *reproduction) locate(recipe *reproduce.Recipe) (string, error) {
	e, err := recipe.Experiment(nil)
	if err != nil {
		return "", err
	}
	set := cmp.Or(r.set, e.Data.Set)
	if info, known := catalogue.Lookup(set); known {
		path, err := catalogue.Find(info.Name, r.root, e.Data.From)
		return cmp.Or(path, "made when asked for"), err
	}
	if _, err := os.Stat(set); err == nil || r.set != "" {
		return set, err
	}
	root := r.root
	if root == "" {
		if root, err = catalogue.DataDir(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(root, set)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the data %s of %s are not here, nor in %s. %s", set, recipe.Name, root, recipe.Get)
	}
	return path, nil
}

// protocol is a recipe's protocol or a variant that is being run.
type protocol struct {
	name   string // of the variant
	e      *pipeline.Experiment
	in     *inputs
	folder *results.Folder
	run    reproduce.Run
}

// open makes ready to run a protocol or, where v is not nil, a variant of it.
func (r *reproduction) open(cmd *cobra.Command, recipe *reproduce.Recipe, v *reproduce.Variant, out string) (p *protocol, err error) {
	p = &protocol{}
	if p.e, err = recipe.Experiment(v); err != nil {
		return nil, err
	}
	if _, known := catalogue.Lookup(cmp.Or(r.set, p.e.Data.Set)); known {
		p.e.Data.Set = cmp.Or(r.set, p.e.Data.Set)
	} else if p.e.Data.Set, err = r.locate(recipe); err != nil {
		return nil, err
	}
	p.e.Data.Root, p.e.Data.Labelled = r.root, true
	p.e.Command, p.e.Program = "partwise reproduce "+recipe.Name, releaseVersion(buildInfo())
	pages := append([]string{reproductionText, reproductionMarkdown}, report.ExperimentFiles...)
	if v != nil {
		p.name, out = v.Name, filepath.Join(out, variantsFolder, v.Folder())
	}
	if err := checkResults(cmd, p.e, out, append(results.Files(), pages...)); err != nil {
		return nil, err
	}
	if p.folder, err = results.Open(out, p.e, pages...); err != nil {
		return nil, err
	}
	if p.in, err = prepare(cmd, p.e, p.e.CheckSet); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *protocol) close() error {
	if p.in != nil {
		p.in.Close()
	}
	return p.folder.Close()
}

// draw runs the trials of so many draws that are not there yet.
func (p *protocol) draw(ctx context.Context, cmd *cobra.Command, draws, workers int) (*pipeline.Plan, error) {
	e := *p.e
	e.Repeats = draws
	plan, err := pipeline.NewPlan(ctx, &e, p.in.Inputs)
	if err != nil {
		return nil, err
	}
	bars := &stages{w: cmd.ErrOrStderr(), unit: "trials"}
	records, err := p.folder.Run(ctx, plan, pipeline.RunOptions{Workers: workers, Progress: func(what string, done, total int) {
		if p.name != "" { // a reading or a variant
			what = p.name + ", " + what
		}
		bars.show(what, done, total)
	}})
	bars.end()
	p.run = reproduce.Run{Records: records, Classes: len(p.in.Set.Classes)}
	return plan, err
}

// reproduce runs a recipe, writes what was found into its folder, and prints it.
func (r *reproduction) reproduce(cmd *cobra.Command, recipe *reproduce.Recipe) (_ *reproduce.Outcome, err error) {
	out := cmp.Or(r.out, filepath.Join("results", recipe.Name))
	all := []*reproduce.Variant{nil}
	for i := range recipe.Variants {
		all = append(all, &recipe.Variants[i])
	}
	var protocols []*protocol
	defer func() {
		for _, p := range protocols {
			err = errors.Join(err, p.close())
		}
	}()
	for _, v := range all {
		p, err := r.open(cmd, recipe, v, out)
		if err != nil {
			return nil, err
		}
		protocols = append(protocols, p)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), r.budget)
	defer cancel()
	runs := map[string]reproduce.Run{}
	looks := reproduce.Looks(r.draws)
	if len(looks) == 0 {
		looks = []int{r.draws}
	}
	read := r.quick
	var plan *pipeline.Plan
	for _, draws := range looks {
		for i, p := range protocols {
			made, err := p.draw(ctx, cmd, draws, r.workers)
			runs[p.name] = p.run
			if i == 0 && made != nil {
				plan = made
			}
			if err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		o := recipe.Judge(runs)
		if !read && o.Surprising() && ctx.Err() == nil {
			read = true
			if err := r.read(ctx, cmd, recipe, out, runs); err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		if o.Decided() || ctx.Err() != nil && o.Draws < draws { // what is in the log counts
			break
		}
	}
	if cmd.Context().Err() != nil {
		return nil, fmt.Errorf("stopped: the trials that are done are in %s, and running the same again goes on from there", out)
	}
	if ctx.Err() != nil {
		tell(cmd.ErrOrStderr())(fmt.Sprintf("%s: the budget of %s is spent; running the same again goes on from there", recipe.Name, r.budget))
	}
	o := recipe.Judge(runs)
	if err := r.publish(cmd, protocols[0], plan, o); err != nil {
		return nil, err
	}
	return o, nil
}

// read runs the readings that are there yet to be run.
func (r *reproduction) read(ctx context.Context, cmd *cobra.Command, recipe *reproduce.Recipe, out string, runs map[string]reproduce.Run) error {
	for i := range recipe.Readings {
		v := &recipe.Readings[i]
		if v.Free {
			continue
		}
		p, err := r.open(cmd, recipe, v, out)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		_, err = p.draw(ctx, cmd, min(r.draws, reproduce.Look(0)), r.workers)
		runs[v.Name] = p.run
		if err := errors.Join(err, p.close()); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// publish writes the page and what was found, and prints the latter.
func (r *reproduction) publish(cmd *cobra.Command, p *protocol, plan *pipeline.Plan, o *reproduce.Outcome) error {
	var shown *pipeline.Illustrations
	var err error
	if plan != nil && len(p.run.Records) == plan.Len() {
		models, _ := results.Models(p.folder.Dir(), plan.Summary()) // the report names those that cannot be read
		if shown, err = plan.Illustrate(cmd.Context(), models); err != nil {
			return err
		}
	}
	drawing := newBar(cmd.ErrOrStderr(), "drawing")
	_, err = report.Publish(cmd.Context(), p.folder, report.Sources{Shown: shown, Warn: tell(cmd.ErrOrStderr()), Progress: drawing.count})
	drawing.end()
	if err != nil {
		return stopped(cmd.Context(), err, "drawing", "the trials are kept, and the same command draws again")
	}
	var markdown bytes.Buffer
	if err := o.Markdown(&markdown, 1); err != nil {
		return err
	}
	err = errors.Join(
		p.folder.Write(reproductionText, []byte(outcomeText(o, 100, 0))),
		p.folder.Write(reproductionMarkdown, markdown.Bytes()))
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if _, err := io.WriteString(w, outcomeText(o, columns(w), columns(w))); err != nil {
		return err
	}
	_, err = plaintext.Fprintf(w, "\nThis is in %s; open %s.\n", filepath.Join(p.folder.Dir(), reproductionText), filepath.Join(p.folder.Dir(), "index.html"))
	return err
}

// outcomeText is an outcome in lines of so many letters, 0 for any number, and tables of gridRoom letters.
func outcomeText(o *reproduce.Outcome, room, gridRoom int) string {
	var b strings.Builder
	b.WriteString(hanging("", o.Recipe.Name+": "+o.Recipe.Paper.Paper, room) + "\n")
	b.WriteString(hanging("", phrase.Count(o.Draws, "draw", "draws")+"; "+o.Count()+".", room))
	for i := range o.Claims {
		c := &o.Claims[i]
		says := c.Says
		if c.Where != "" {
			says += " (" + c.Where + ")"
		}
		b.WriteString("\n" + hanging(fmt.Sprintf("%-14s ", c.Verdict), says, room))
		if c.Here.Draws == 0 {
			continue
		}
		words := fmt.Sprintf("here %s, %s after %d draws", c.Ours(), c.Interval(c.Here), c.Here.Draws)
		if c.Wider.HasInterval && c.Wider != c.Here {
			words += fmt.Sprintf(", for %s %s", c.Beyond, c.Interval(c.Wider))
		}
		words += "; printed: " + c.Theirs()
		if tried := c.Tried(); tried != "" {
			words += ". " + tried
		}
		b.WriteString(hanging(strings.Repeat(" ", 15), words, room))
	}
	b.WriteString("\n" + hanging("", o.Note(), room))
	for _, note := range o.Recipe.Notes {
		b.WriteString(hanging("- ", note, room))
	}
	for _, g := range o.Grids() {
		b.WriteString("\n" + g.Where + ", " + g.Score + "\n\n")
		t := listing{header: append([]string{""}, g.Methods...)}
		for _, row := range g.Rows {
			cells := make([]any, len(row))
			for i, word := range row {
				cells[i] = word
			}
			t.row(cells...)
		}
		b.WriteString(t.text(gridRoom))
	}
	if len(o.Tables) > 0 {
		b.WriteString("\n" + hanging("", o.Legend(), room))
	}
	return plain(b.String())
}

// plain is a text of several lines, of which none can do anything to a terminal.
func plain(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = plaintext.Line(line)
	}
	return strings.Join(lines, "\n")
}

// reproductions is a document of outcomes, of each recipe a row of the table at its beginning
// and a section.
type reproductions struct {
	names          []string // of the recipes, in their order
	rows, sections map[string]string
}

// readReproductions reads a document that writeReproductions wrote; of another file, and of none,
// there are no outcomes.
func readReproductions(file string) (*reproductions, error) {
	r := &reproductions{rows: map[string]string{}, sections: map[string]string{}}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rest, ours := strings.CutPrefix(string(text), reproductionsHead)
	if !ours {
		return r, nil
	}
	table, rest, _ := strings.Cut(rest, "\n\n")
	for row := range strings.Lines(table) {
		if parts := strings.SplitN(row, " | ", 2); len(parts) == 2 {
			r.rows[strings.TrimPrefix(parts[0], "| ")] = strings.TrimSpace(row)
		}
	}
	for _, section := range strings.Split("\n"+rest, "\n## ")[1:] {
		name, _, _ := strings.Cut(section, "\n")
		if r.rows[name] != "" { // else what was not run
			r.names = append(r.names, name)
			r.sections[name] = "## " + strings.TrimSpace(section) + "\n"
		}
	}
	return r, nil
}

// put puts an outcome in place of that of the same recipe, or behind the others.
func (r *reproductions) put(o *reproduce.Outcome) error {
	var section strings.Builder
	if err := o.Markdown(&section, 2); err != nil {
		return err
	}
	heading, _, _ := strings.Cut(section.String(), "\n")
	name := strings.TrimPrefix(heading, "## ")
	if _, there := r.sections[name]; !there {
		r.names = append(r.names, name)
	}
	r.rows[name] = fmt.Sprintf("| %s | %d | %s |", name, o.Draws, o.Count())
	r.sections[name] = section.String()
	return nil
}

// writeReproductions writes the document of several outcomes. What it holds of other recipes stays.
func writeReproductions(file string, outcomes []*reproduce.Outcome, left []string) error {
	r, err := readReproductions(file)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := r.put(o); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString(reproductionsHead)
	for _, name := range r.names {
		b.WriteString(r.rows[name] + "\n")
	}
	for _, name := range r.names {
		b.WriteString("\n" + r.sections[name])
	}
	var missing []string
	for _, text := range left {
		if name, _, _ := strings.Cut(text, ":"); r.sections[name] == "" {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		fmt.Fprintf(&b, "\n## Not run\n\nThe data, or the build, that these need were not there: %s.\n", strings.Join(missing, ", "))
	}
	return atomicfile.WriteFunc(file, func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

const reproductionsHead = `# The papers, reproduced

Written by ` + "`partwise reproduce`" + `. [reproducing.md](reproducing.md) says what a verdict means and what the
intervals are.

| recipe | draws | |
|---|---|---|
`
