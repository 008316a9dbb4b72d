package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// TestCompletion: shells are given the values that flags and arguments take, files where these
// are wanted, and nothing else.
func TestCompletion(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"mixed", "minds", ".hidden"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "data.csv", "1,2\n")
	const (
		noFiles    = ":4"
		noSpace    = ":6" // and no files
		extensions = ":8"
		folders    = ":16"
	)
	for line, want := range map[string]string{
		"cluster mi":                              "minds/ mixed/ " + noSpace,
		"cluster da":                              "data.csv " + noFiles,
		"cluster ya":                              "yale " + noFiles,
		"features sce":                            "scenes13 scenes15 " + noFiles,
		"cluster mixed y":                         noFiles,
		"cluster mixed --method cn":               "cnmf cnmf-kl " + noSpace,
		"cluster mixed --method gnmf,lam":         "gnmf,lambda= " + noSpace,
		"cluster mixed --method ccf,init=":        "ccf,init=random ccf,init=nndsvda ccf,init=nmf " + noSpace,
		"cluster mixed --method ccf,init=nmf,ini": noSpace,
		"cluster mixed --method ccf,solver=":      "ccf,solver=mu ccf,solver=fast " + noSpace,
		"cluster mixed --solver ":                 "best mu fast " + noFiles,
		"cluster mixed --cluster nc":              "ncut " + noSpace,
		"cluster mixed --cluster ncut,b":          noSpace,
		"cluster mixed --cluster by=nc":           "by=ncut " + noSpace,
		"cluster mixed --cluster ncut,distance=c": "ncut,distance=cosine " + noSpace,
		"cluster mixed --cluster refine=":         "refine=true refine=false " + noSpace,
		"cluster mixed --features si":             "sift sift=dense sift=keypoints " + noSpace,
		"cluster mixed --features colour=":        "colour=hsv " + noSpace,
		"cluster mixed --features sift,wo":        "sift,words= " + noSpace,
		"cluster mixed --features sift+col":       "sift+colour sift+colour=hsv " + noSpace,
		"cluster mixed --features sift,normalise=l": "sift,normalise=l1 sift,normalise=l2 " +
			noSpace,
		"cluster mixed --labels ":      "csv tsv txt " + extensions,
		"cluster mixed --truth ":       "csv tsv txt " + extensions,
		"cluster mixed --out ":         folders,
		"cluster mixed --data ":        folders,
		"cluster mixed -k ":            "auto " + noFiles,
		"cluster mixed --seed ":        noFiles,
		"features mixed --out ":        "npz mat csv " + extensions,
		"reproduce cnmf-":              "cnmf-caltech101 cnmf-corel cnmf-orl cnmf-yale " + noFiles,
		"reproduce --doc ":             "md " + extensions,
		"reproduce --budget ":          "10m 40m 2h " + noFiles,
		"run ":                         "yaml yml " + extensions,
		"run --task ":                  "cluster classify " + noFiles,
		"run --split ":                 "folders " + noFiles,
		"run --scores V":               "VI " + noFiles,
		"run --labels 2":               "20% " + noFiles,
		"run --set ya":                 "yale " + noSpace,
		"run --set yale,from=":         "yale,from=raw yale,from=mat " + noSpace,
		"run --classifier ":            "neighbours linear c= scale= " + noSpace,
		"run --classifier linear,sc":   "linear,scale= " + noSpace,
		"run --neighbours 3,distance=": "3,distance=euclidean 3,distance=cosine " + noSpace,
		"sort ":                        ":0",
		"assign --out ":                "csv " + extensions,
		"fit --rank ":                  "auto " + noFiles,
		"report ":                      folders,
		"compare x ":                   folders,
		"help clu":                     "cluster " + noFiles,
		"help datasets g":              "get " + noFiles,
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
	for _, name := range kinds[0].names() {
		if err := setMethods(&pipeline.Experiment{}, []string{name}); err != nil && name != "largest" {
			t.Errorf("--method %s: %v", name, err)
		}
	}
}
