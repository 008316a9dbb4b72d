package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
)

// TestCompletion: shells are given the values that flags and arguments take, files where these
// are wanted, and nothing else.
func TestCompletion(t *testing.T) {
	const (
		noFiles    = ":4"
		noSpace    = ":6" // and no files
		extensions = ":8"
		folders    = ":16"
	)
	// of are the names of a list that begin as was begun, each behind before.
	of := func(names []string, before, begun string) (found string) {
		for _, name := range names {
			if strings.HasPrefix(name, begun) {
				found += before + name + " "
			}
		}
		return found
	}
	methods, solvers := choices.Names("methods"), choices.Names("solvers")
	scores := slices.DeleteFunc(choices.Names("scores"), func(name string) bool {
		return !slices.ContainsFunc(eval.Scores(), func(s eval.Score) bool { return s.Name == name && s.Optional })
	})
	for line, want := range map[string]string{
		"cluster mi":                                ":0",
		"cluster ya":                                of(knownNames(), "", "ya") + ":0",
		"features sce":                              of(knownNames(), "", "sce") + ":0",
		"cluster mixed --method cn":                 of(methods, "", "cn") + noSpace,
		"cluster mixed --method gnmf,lam":           "gnmf,lambda= " + noSpace,
		"cluster mixed --method ccf,init=":          of(factor.Init("").Values(), "ccf,init=", "") + noSpace,
		"cluster mixed --method ccf,init=nmf,ini":   noSpace,
		"cluster mixed --method ccf,solver=":        of(solvers, "ccf,solver=", "") + noSpace,
		"cluster mixed --solver ":                   "best " + of(solvers, "", "") + noFiles,
		"cluster mixed --cluster nc":                of(pipeline.Clusterers(), "", "nc") + noSpace,
		"cluster mixed --cluster ncut,b":            noSpace,
		"cluster mixed --cluster by=nc":             of(pipeline.Clusterers(), "by=", "nc") + noSpace,
		"cluster mixed --cluster ncut,distance=c":   of(cluster.Distance(0).Values(), "ncut,distance=", "c") + noSpace,
		"cluster mixed --cluster refine=":           "refine=true refine=false " + noSpace,
		"cluster mixed --features si":               "sift sift=dense sift=keypoints " + noSpace,
		"cluster mixed --features colour=":          "colour=hsv " + noSpace,
		"cluster mixed --features sift,wo":          "sift,words= " + noSpace,
		"cluster mixed --features sift+col":         "sift+colour sift+colour=hsv " + noSpace,
		"cluster mixed --features sift,normalise=l": of(slices.Sorted(slices.Values(features.Norm(0).Values())), "sift,normalise=", "l") + noSpace,
		"cluster mixed --labels ":                   "csv tsv txt " + extensions,
		"cluster mixed --truth ":                    "csv tsv txt " + extensions,
		"cluster mixed --out ":                      folders,
		"cluster mixed --data ":                     folders,
		"cluster mixed -k ":                         "auto " + noFiles,
		"cluster mixed --seed ":                     noFiles,
		"features mixed --out ":                     "npz mat csv " + extensions,
		"reproduce cnmf-":                           of(reproduce.Names(), "", "") + noFiles,
		"reproduce --doc ":                          "md " + extensions,
		"reproduce --budget ":                       "10m 40m 2h " + noFiles,
		"run ":                                      "yaml yml " + extensions,
		"run --task ":                               of(eval.Task(0).Values(), "", "") + noFiles,
		"run --split ":                              "folders " + noFiles,
		"run --scores V":                            of(scores, "", "V") + noFiles,
		"run --labels 2":                            "none 10% 20% 30% " + noFiles,
		"run --set ya":                              of(knownNames(), "", "ya") + noSpace,
		"run --set yale,from=":                      "yale,from=raw yale,from=mat " + noSpace,
		"run --classifier ":                         "neighbours linear c= scale= " + noSpace,
		"run --classifier linear,sc":                "linear,scale= " + noSpace,
		"run --neighbours 3,distance=":              of(cluster.Distance(0).Values(), "3,distance=", "") + noSpace,
		"assign --out ":                             "csv " + extensions,
		"fit --rank ":                               "auto " + noFiles,
		"report ":                                   folders,
		"compare x ":                                folders,
	} {
		out := completed(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if got := strings.Join(strings.Fields(out), " "); got != want {
			t.Errorf("%q gives %q, want %q", line, got, want)
		}
	}
}

// completed is must for a command that says something on the side.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := partwise(args...)
	if code != exitDone {
		t.Fatalf("partwise %s: exit code %d, said %q", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// TestCompletedValues: each value that a shell is given for a method, a solver, a clusterer or
// a feature is one that the command takes.
func TestCompletedValues(t *testing.T) {
	root := rootCommand()
	var run *cobra.Command
	for _, c := range root.Commands() {
		if c.Name() == "run" {
			run = c
		}
	}
	run.Flags().VisitAll(func(f *pflag.Flag) {
		complete, ok := run.GetFlagCompletionFunc(f.Name)
		if !ok || f.Name == "method" || f.Name == "set" || f.Name == "out" || f.Name == "data" || f.Name == "cache" {
			return
		}
		values, directive := complete(run, nil, "")
		if directive&cobra.ShellCompDirectiveFilterFileExt != 0 {
			return
		}
		for _, v := range values {
			if strings.HasSuffix(v, "=") || strings.Contains(v, "keypoints") || f.Name == "memory" || f.Name == "cache-size" {
				continue
			}
			if err := setKey(&pipeline.Experiment{}, f.Name, v); err != nil {
				t.Errorf("--%s %s: %v", f.Name, v, err)
			}
		}
	})
	for _, name := range choices.Names("methods") {
		if err := setMethods(&pipeline.Experiment{}, []string{name}); err != nil && name != "largest" {
			t.Errorf("--method %s: %v", name, err)
		}
	}
}

// TestNamesWithoutCase: a name of any list is taken in any case, and is the same then.
func TestNamesWithoutCase(t *testing.T) {
	same := func(flag, before, name, after string) {
		t.Helper()
		var one, other pipeline.Experiment
		for e, name := range map[*pipeline.Experiment]string{&one: name, &other: strings.ToUpper(name)} {
			value := before + name + after
			set := func() error { return setKey(e, flag, value) }
			if flag == "method" {
				set = func() error { return setMethods(e, []string{value}) }
			}
			if err := set(); err != nil {
				t.Errorf("--%s %s: %v", flag, value, err)
			}
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", one), fmt.Sprintf("%+v", other)); diff != "" {
			t.Errorf("--%s %s%s is another in capitals: %s", flag, before, name, diff)
		}
	}
	for _, name := range pipeline.MethodNames() {
		same("method", "", name, "")
	}
	for _, name := range choices.Names("solvers") {
		same("method", "nmf,solver=", name, "")
	}
	for _, name := range choices.Names("penalties") {
		same("method", "parts,penalty=", name, "")
	}
	for _, name := range choices.Names("clusterers") {
		same("cluster", "", name, "")
		same("method", "nmf,cluster=", name, "")
	}
	for _, name := range choices.Names("features") {
		same("features", "", name, "")
	}
	for _, k := range choices.Kinds {
		for _, name := range k.Names() {
			if must(t, "list", k.Name, name) != must(t, "list", k.Name, strings.ToUpper(name)) {
				t.Errorf("partwise list %s tells of %s something else in capitals", k.Name, name)
			}
		}
	}
	if must(t, "datasets", "orl") != must(t, "datasets", "ORL") {
		t.Error("partwise datasets tells of ORL something else than of orl")
	}
}

// TestHelpFits: help on a terminal has no longer lines than that, but for examples and how the
// command is called.
func TestHelpFits(t *testing.T) {
	for _, room := range []int{40, 60, 80, 120} {
		var each func(cmd *cobra.Command)
		each = func(cmd *cobra.Command) {
			for _, sub := range cmd.Commands() {
				each(sub)
			}
			fitHelp(cmd, room)
			var b strings.Builder
			cmd.SetOut(&b)
			if err := cmd.Help(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimRight(line, "\n")
				copied := strings.HasPrefix(line, "  partwise") || strings.HasPrefix(line, "      --method kmeans") || strings.HasPrefix(line, "Use \"partwise")
				if n := text.StringWidthWithoutEscSequences(line); n > room && !copied {
					t.Errorf("%s --help in %d: %d letters: %s", cmd.CommandPath(), room, n, line)
				}
			}
		}
		each(rootCommand())
	}
}
