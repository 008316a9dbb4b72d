package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/jsontext"
	"github.com/seed4492f2cd/partwise/internal/tagging"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

// documentVersion is the version of the documents. A new field does not change it.
const documentVersion = 1

// document is the JSON document that a command prints with --json. The reference page and the schema list its fields with
// their help.
type document struct {
	Version  int      `help:"version of the format, 1; new fields do not change it"`
	Command  string   `help:"command, such as cluster or datasets get"`
	Error    string   `json:",omitempty" help:"message of the error, if the command failed"`
	Out      string   `json:",omitempty" help:"results folder or output file"`
	Files    []string `json:",omitempty" help:"files that the command wrote; in a results folder, all files of partwise"`
	Warnings []string `json:",omitempty" help:"warnings, also on standard error"`
	Seconds  float64  `help:"wall time"`

	Samples       int                  `json:",omitempty" help:"number of samples"`
	Features      int                  `json:",omitempty" help:"number of features, or of coefficients (apply)"`
	Missing       *int                 `json:",omitempty" help:"impute: number of missing values"`
	Method        string               `json:",omitempty" help:"method with its settings"`
	Rank          int                  `json:",omitempty" help:"number of basis vectors"`
	RankChoice    *spec.RankChoice     `json:",omitempty" help:"choice of the rank, with --rank auto"`
	NIter         int                  `json:",omitempty" help:"number of iterations"`
	Objective     *float64             `json:",omitempty" help:"objective after the last iteration"`
	RelativeError *float64             `json:",omitempty" help:"‖X − V·Uᵀ‖/‖X‖"`
	Scores        map[string]float64   `json:",omitempty" help:"cluster: scores of the groups against the classes"`
	Stability     *cluster.Stability   `json:",omitempty" help:"agreement of the restarts"`
	CountChoice   *grouping.CountCurve `json:",omitempty" help:"choice of the number of groups"`
	Groups        []group              `json:",omitempty" help:"groups, the largest first"`
	Assignments   []models.Assignment  `json:",omitempty" help:"cluster, assign: group of each sample"`
	Trials        []trial              `json:",omitempty" help:"run, report: finished trials"`
	Planned       int                  `json:",omitempty" help:"run, report: number of planned trials"`
	Draws         int                  `json:",omitempty" help:"draws: number of draws"`
	Comparison    *table.Comparison    `json:",omitempty" help:"compare: differences of the scores"`
	Outcomes      []*reproduce.Outcome `json:",omitempty" help:"reproduce: verdicts on claims and tables"`
	Recipes       []*reproduce.Recipe  `json:",omitempty" help:"reproduce: listed recipes"`
	Cleaning      *report.Cleaning     `json:",omitempty" help:"clean: copies, bursts, blurred and blank photos"`
	Sorted        *filing.Result       `json:",omitempty" help:"sort, clean: numbers of files, and the files left"`
	Tagged        *tagging.Result      `json:",omitempty" help:"tag: numbers of sidecars, and the files left"`
	Tags          []tagging.Tag        `json:",omitempty" help:"tag --csv: keywords of each image"`
	Datasets      []dataset            `json:",omitempty" help:"datasets: known sets"`
	Cache         *cache.Usage         `json:",omitempty" help:"cache: usage, before it was cleared"`
}

type group struct {
	Size int
	Name string `json:",omitempty"` // the labelled class, or Others
}

type trial struct {
	Set string `json:",omitempty"` // of several
	record.Record
}

type dataset struct {
	catalogue.Info
	Location string
}

// invocation is one run of the program.
type invocation struct {
	document
	begun  time.Time
	stdout io.Writer // the real one; the commands' own is a discarding one with --json
	asked  bool      // whether --json is set
	stdin  string    // the scratch file with the standard input, "" for none
	files  usedFiles
	mutex  sync.Mutex
}

type invocationKey struct{}

func invocationIn(ctx context.Context) *invocation {
	if inv, ok := ctx.Value(invocationKey{}).(*invocation); ok {
		return inv
	}
	return &invocation{}
}

// documentOf returns the document for the results of a command.
func documentOf(cmd *cobra.Command) *document { return &invocationIn(cmd.Context()).document }

// setFit adds a factorisation, nil for none.
func (d *document) setFit(rank int, res *factor.Result) {
	if res == nil {
		return
	}
	if d.Rank, d.NIter = rank, res.Iterations(); len(res.Objective) > 0 {
		d.Objective = new(res.Objective[d.NIter])
	}
}

// setGroups adds the groups of a page.
func (d *document) setGroups(c report.Clusters, sizes []int) {
	d.Samples, d.Method, d.Scores, d.Stability = len(c.Groups), c.Method, c.Scores, c.Stability
	d.setFit(c.Rank, c.Result)
	name := func(g int) string {
		if c.GroupClasses == nil && !c.Others {
			return ""
		}
		return c.GroupName(g, c.Classes)
	}
	for g, size := range sizes {
		d.Groups = append(d.Groups, group{size, name(g)})
	}
	for i, g := range c.Groups {
		a := models.Assignment{File: c.Names[i], Group: g + 1, Name: name(g)}
		if c.Memberships != nil {
			a.Confidence = &c.Memberships[i].Confidence
		}
		d.Assignments = append(d.Assignments, a)
	}
}

func (d *document) addSet(info catalogue.Info, root string) {
	d.Datasets = append(d.Datasets, dataset{info, locationOf(info, root)})
}

// setTrials adds the trials of an experiment on the set called name, or on its only set.
func (d *document) setTrials(name, dir string, e *report.Experiment) {
	d.Out, d.Planned = dir, d.Planned+len(e.Trials)
	for _, r := range e.Records {
		d.Trials = append(d.Trials, trial{name, r})
	}
}

func (inv *invocation) warn(text string) {
	inv.mutex.Lock()
	defer inv.mutex.Unlock()
	inv.Warnings = append(inv.Warnings, text)
}

const jsonUsage = "print the results as one JSON document instead of text"

// withoutDocument are commands and groups of commands without results.
var withoutDocument = []string{"explore", "licences", "list", "man", "methods", "schema", "version"}

// jsonFlags adds --json to the commands below root that have results.
func jsonFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if !slices.Contains(withoutDocument, cmd.Name()) {
			cmd.Flags().Bool("json", false, jsonUsage)
			jsonFlags(cmd)
		}
	}
}

// begin prepares the standard output of a command, and refuses - except for the data and --out.
func (inv *invocation) begin(cmd *cobra.Command, args []string) (err error) {
	f := cmd.Flags().Lookup("json")
	if inv.asked = f != nil && f.Usage == jsonUsage && f.Value.String() == "true"; inv.asked {
		cmd.Root().SetOut(io.Discard)
	}
	words := strings.Fields(cmd.Use) // the name, then the arguments
	for i, arg := range args {
		if arg == "-" && !slices.Contains(fromStdin, words[min(i+1, len(words)-1)]) {
			err = fmt.Errorf("-: only %s can be the standard input", phrase.List(fromStdin))
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch use, _ := useOf(cmd, f); {
		case f.Name == "out" && use == writes && isStdout(f.Value.String()):
			err = cmp.Or(err, inv.writesStdout(cmd, f))
		case f.Value.String() == "-" && use != noFile && f.Name != "labels": // as labels, it means none
			err = cmp.Or(err, fmt.Errorf("--%s -: expected a name; only --out of a single file can be the standard output", f.Name))
		}
	})
	return err
}

// fromStdin are the arguments, by their names in the usage, that can be the standard input.
var fromStdin = []string{"DATA", "PICTURES"}

// isStdout reports whether an output file is the standard output: -, or - with an extension.
func isStdout(out string) bool { return strings.TrimSuffix(out, filepath.Ext(out)) == "-" }

// nameOfOut returns the name of an output file in sentences.
func nameOfOut(out string) string {
	if isStdout(out) {
		return "standard output"
	}
	return out
}

// writesStdout prepares the standard output for the file of --out; the text of the command goes to standard error.
func (inv *invocation) writesStdout(cmd *cobra.Command, out *pflag.Flag) error {
	isText := cmd.Name() == "assign" || out.Value.String() == "-.csv"
	switch {
	case inv.asked:
		return errors.New("--out - and --json both write to the standard output; use one of them")
	case columns.IsTerminal(inv.stdout) && !isText:
		return errors.New("--out -: the standard output is a terminal; write to a file or a pipe")
	case cmd.Name() == "assign":
		return out.Value.Set("")
	case out.Value.String() == "-":
		_ = out.Value.Set("-.npz") // a string
	}
	cmd.Root().SetOut(cmd.ErrOrStderr())
	return nil
}

func (inv *invocation) writeVectors(ctx context.Context, out string, c *vectorfile.Content) error {
	return vectorfile.WriteTo(ctx, inv.stdout, out, c)
}

// readStdin replaces - among the arguments by a scratch file with the standard input. Readers of files need to seek.
func (inv *invocation) readStdin(ctx context.Context, args []string) error {
	at := slices.Index(args, "-")
	if at < 0 {
		return nil
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		failUsage("-: the standard input is a terminal; pipe data into it, or name a file")
	}
	inv.stdin = filepath.Join(guard.Must(os.MkdirTemp("", "partwise-")), "stdin")
	args[at] = inv.stdin
	f := guard.Must(os.Create(inv.stdin))
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, os.Stdin)
		read <- errors.Join(err, f.Close())
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done(): // while a read waits
		return interruptedError(ctx, ctx.Err(), "reading the standard input")
	}
}

// shown returns a path or message with the standard input by its name.
func (inv *invocation) shown(text, name string) string {
	if inv.stdin == "" {
		return text
	}
	return strings.ReplaceAll(text, inv.stdin, name)
}

// end prints the document, if --json asks for it.
func (inv *invocation) end(cmd *cobra.Command, args []string, failure string) error {
	if !inv.asked && (failure == "" || !slices.Contains(args, "--json")) {
		return nil
	}
	inv.Version, inv.Command, inv.Error = documentVersion, strings.TrimPrefix(cmd.CommandPath(), "partwise "), failure
	if inv.Seconds = time.Since(inv.begun).Seconds(); failure == "" {
		inv.Files = append(inv.Files, filesIn(cmd.Context()).existing()...)
		for _, name := range output.Files(inv.Out) {
			inv.Files = append(inv.Files, filepath.Join(inv.Out, name))
		}
	}
	_, err := inv.stdout.Write(append(jsontext.Of(&inv.document), '\n'))
	return err
}
