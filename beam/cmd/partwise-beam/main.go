// Partwise-beam runs the commands of partwise that work on shards as Apache Beam pipelines, with the same results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/beam/internal/jobs"
	"github.com/seed4492f2cd/partwise/beam/internal/store"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// ofRunners are the flags of Beam that the help lists.
var ofRunners = []string{
	"runner", "endpoint", "environment_type", "environment_config", "parallelism", "worker_binary", "job_name",
	"project", "region", "staging_location", "dry_run",
}

func main() {
	if slices.ContainsFunc(os.Args[1:], func(arg string) bool { return strings.TrimLeft(arg, "-") == "worker=true" }) {
		flag.Parse()
		go func() { // Flink and Spark end the program that started this one, and no more
			for parent := os.Getppid(); os.Getppid() == parent; {
				time.Sleep(time.Second)
			}
			os.Exit(1)
		}()
		beam.Init() // works until the runner ends it
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := rootCommand().ExecuteContext(ctx); err != nil && !errors.Is(err, jobs.ErrDryRun) {
		if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s already exists; --force replaces it", at.Path)
		}
		plaintext.Fprintf(os.Stderr, "partwise-beam: %s\n", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use: "partwise-beam", Short: "Run partwise on Apache Beam: Prism on this machine, Flink, Spark or another runner",
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			jobs.Init(verbose || cmd.Flag("dry_run").Changed)
			return jobs.Check(cmd.Context(), cmd.Flag("out").Value.String(), args)
		},
	}
	root.PersistentFlags().AddGoFlagSet(flag.CommandLine)
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(ofRunners, f.Name) })
	root.PersistentFlags().BoolVar(&verbose, "verbose", false, "print the messages of Beam")
	root.AddCommand(featuresCommand(), vocabCommand(), assignCommand(), learnCommand("fit", "nmf", "rank"), learnCommand("cluster", spec.KMeans, "k"), duplicatesCommand())
	return root
}

// newCommand returns a command with the flags of all, which change a job.
func newCommand(use, short string, job *jobs.Shard, do func(*cobra.Command, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(strings.Count(use, " ")), RunE: do}
	f := cmd.Flags()
	f.StringVarP(&job.Out, "out", "o", "", "output")
	_ = cmd.MarkFlagRequired("out")
	f.BoolVar(&job.Force, "force", false, "replace existing files")
	f.Uint64Var(&job.Seed, "seed", 0, "seed of the random numbers")
	return cmd
}

// onShards adds the flags of commands that write shards.
func onShards(cmd *cobra.Command, job *jobs.Shard, n *int) {
	f := cmd.Flags()
	f.IntVar(n, "shards", 0, "number of shards (default of shards: their number)")
	f.StringVar(&job.Root, "data", "", "folder of known sets")
	f.BoolVar(&job.Strict, "strict", false, "stop at the first unusable file instead of skipping it")
}

func runShards(cmd *cobra.Command, job jobs.Shard, n int) error {
	ctx := cmd.Context()
	if n == 0 {
		paths, err := store.Shards(ctx, job.Data)
		if err != nil {
			return err
		}
		n = len(paths)
	}
	if n < 1 || n > 99_999 {
		return fmt.Errorf("--shards %d: expected a number from 1 to 99999", n)
	}
	err := jobs.RunShards(ctx, job, n)
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d shards are in %s.\n", n, job.Out)
	}
	return err
}

func featuresCommand() *cobra.Command {
	job, n := jobs.Shard{Command: jobs.Features}, 0
	cmd := newCommand("features DATA", "Write features in shards", &job, func(cmd *cobra.Command, args []string) error {
		job.Data = args[0]
		return runShards(cmd, job, n)
	})
	onShards(cmd, &job, &n)
	f := cmd.Flags()
	f.StringVar(&job.Features, "features", "", "features, as in partwise features")
	f.StringVar(&job.Labels, "labels", "", "CSV file of labels to write")
	f.BoolVar(&job.Float32, "float32", false, "write values in single precision")
	return cmd
}

func assignCommand() *cobra.Command {
	job, n := jobs.Shard{Command: jobs.Assign}, 0
	cmd := newCommand("assign MODEL DATA", "Assign samples to the groups of a model, in shards", &job, func(cmd *cobra.Command, args []string) error {
		if !(job.Reject >= 0 && job.Reject <= 1) {
			return fmt.Errorf("--reject %v: expected a fraction from 0 to 1", job.Reject)
		}
		job.Model, job.Data = args[0], args[1]
		return runShards(cmd, job, n)
	})
	onShards(cmd, &job, &n)
	cmd.Flags().Float64Var(&job.Reject, "reject", models.DefaultReject, "reject photos farther than this fraction of a group")
	return cmd
}

// ofPasses are the flags of commands that learn.
type ofPasses struct{ passes, unroll int }

func (o *ofPasses) flags(f *pflag.FlagSet) {
	f.IntVar(&o.passes, "passes", 10, "largest number of passes")
	f.IntVar(&o.unroll, "unroll", 1, "passes of each pipeline")
}

func (o *ofPasses) learn(cmd *cobra.Command, job jobs.Shard, m spec.Method, run passes.Run) error {
	switch {
	case o.passes < 0 || o.unroll < 1:
		return fmt.Errorf("--passes %d --unroll %d: expected 0 passes or more, and 1 or more of each pipeline", o.passes, o.unroll)
	case run.Rank < 1:
		return fmt.Errorf("rank %d: expected 1 or more", run.Rank)
	case !strings.HasSuffix(strings.ToLower(job.Out), ".npz"):
		return fmt.Errorf("--out %q: expected a name that ends in .npz", job.Out)
	}
	if err := passes.Check(m); err != nil {
		return err
	}
	paths, err := store.Shards(cmd.Context(), job.Data)
	if err == nil && paths == nil {
		err = fmt.Errorf("%s: no shards; expected their folder or a pattern such as 'fea/rows-*.npz'", job.Data)
	}
	if err != nil {
		return err
	}
	run.Seed = job.Seed
	info, _ := debug.ReadBuildInfo()
	err = jobs.Learn(cmd.Context(), passes.Learner{
		Method: m, Run: run, Paths: paths, Passes: o.passes, Force: job.Force, Program: models.VersionOf(info),
		Report: func(s *passes.State) error { _, err := fmt.Fprintln(cmd.OutOrStdout(), s); return err },
	}, job.Out, o.unroll)
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "The model is in %s.\n", job.Out)
	}
	return err
}

func learnCommand(name, method, size string) *cobra.Command {
	var job jobs.Shard
	var o ofPasses
	var run passes.Run
	cmd := newCommand(name+" SHARDS", "Learn a model from shards in passes", &job, func(_ *cobra.Command, _ []string) error { return nil })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := jobs.MethodOf(method)
		if err != nil {
			return err
		}
		if (m.Name == spec.KMeans) != (name == "cluster") {
			return fmt.Errorf("--method %q: cluster learns kmeans, fit one other method", method)
		}
		job.Data = args[0]
		return o.learn(cmd, job, m, run)
	}
	f := cmd.Flags()
	f.StringVar(&method, "method", method, "method and settings, as in partwise "+name)
	f.IntVarP(&run.Rank, size, map[bool]string{true: size}[len(size) == 1], 0, "number of basis vectors or groups")
	o.flags(f)
	return cmd
}

func vocabCommand() *cobra.Command {
	job, n := jobs.Shard{Command: jobs.Vocab}, 0
	var o ofPasses
	var words int
	cmd := newCommand("vocab DATA", "Write descriptors of images in shards, or learn visual words from them", &job, func(cmd *cobra.Command, args []string) error {
		job.Data = args[0]
		if job.Features == "" {
			return o.learn(cmd, job, spec.Method{Name: spec.KMeans}, passes.Run{Rank: words, Words: true})
		}
		return runShards(cmd, job, n)
	})
	onShards(cmd, &job, &n)
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&job.Features, "features", "", "write the descriptors of these words, such as sift=dense,words=1000")
	cmd.Flags().IntVar(&words, "count", 1000, "number of visual words to learn")
	return cmd
}

func duplicatesCommand() *cobra.Command {
	var job jobs.Shard
	n := 0
	cmd := newCommand("duplicates FOLDER", "List copies and bursts of photos", &job, func(cmd *cobra.Command, args []string) error {
		if job.Data = args[0]; n < 1 || n > 99_999 {
			return fmt.Errorf("--shards %d: expected a number from 1 to 99999", n)
		}
		copies, err := jobs.Duplicates(cmd.Context(), job, n)
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d copies and shots of bursts are listed in %s.\n", copies, job.Out)
		}
		return err
	})
	onShards(cmd, &job, &n)
	return cmd
}
