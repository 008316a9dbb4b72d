package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// learning are the flags of commands that learn in passes.
type learning struct {
	passes       int
	command, out string
	force        bool
}

func (l *learning) flags(f *pflag.FlagSet) {
	f.IntVar(&l.passes, "passes", 0, "learn from shards in at most this many passes")
	f.StringVar(&l.command, "run", "", "shell command that runs each line of its input (default: run here)")
}

// withPasses adds learning in passes to a command, with the method and rank from a function.
func withPasses(cmd *cobra.Command, of func(cmd *cobra.Command, e *spec.Experiment) (spec.Method, passes.Run)) *cobra.Command {
	var l learning
	l.flags(cmd.Flags())
	alone := cmd.RunE
	cmd.RunE = catching(func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("passes") {
			failUsageIf(l.command != "", "--run needs --passes")
			return alone(cmd, args)
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			failUsageIf(!slices.Contains([]string{"passes", "run", "method", "rank", "k", "cluster", "seed", "out", "force", "memory", "profile", "count"}, f.Name),
				"--%s cannot be used together with --passes", f.Name)
		})
		e := cmd.Flags().Lookup("seed").Value.(*settingFlag).target.(*spec.Experiment)
		method, run := of(cmd, e)
		l.out = cmd.Flags().Lookup("out").Value.String()
		if f := cmd.Flags().Lookup("force"); f != nil {
			l.force = f.Value.String() == "true"
		}
		run.Seed, run.Distance = e.Seed, e.Cluster.Distance
		return l.learn(cmd, args[0], method, run)
	})
	return cmd
}

func fitInPasses(cmd *cobra.Command, e *spec.Experiment) (spec.Method, passes.Run) {
	failUsageIf(len(e.Rank) != 1 || !e.Rank[0].Fixed, "--passes needs a number in --rank")
	m := oneMethod(cmd, "nmf", bestSolver, 0)
	failUsageIf(m.Name == spec.KMeans, "kmeans has no basis; use partwise cluster --passes")
	return m, passes.Run{Rank: e.Rank[0].Plus}
}

func clusterInPasses(cmd *cobra.Command, e *spec.Experiment) (spec.Method, passes.Run) {
	k, err := strconv.Atoi(cmd.Flags().Lookup("k").Value.String())
	failUsageIf(err != nil || k < 1, "--passes needs a number in -k")
	m := oneMethod(cmd, spec.KMeans, bestSolver, 0)
	failUsageIf(m.Name != spec.KMeans,
		"cluster --passes learns kmeans only: fit %s by partwise fit --passes, and cluster the files of partwise apply", m.Label())
	return m, passes.Run{Rank: k}
}

// learn learns a method from shards, or continues to.
func (l *learning) learn(cmd *cobra.Command, data string, m spec.Method, run passes.Run) error {
	ctx := cmd.Context()
	if l.passes < 0 || strings.ToLower(filepath.Ext(l.out)) != ".npz" {
		failUsage("--passes %d --out %q: expected 0 passes or more, and a name that ends in .npz", l.passes, l.out)
	}
	checkUse(passes.Check(m))
	paths := guard.Must(vectorfile.Shards(data))
	if paths == nil {
		return fmt.Errorf("%s: no shards; expected their folder or a pattern such as 'fea/rows-*.npz', with names such as rows-00000-of-00004.npz", data)
	}
	if cmd.Name() == "cluster" { // for others, checkFiles records it
		filesIn(ctx).addWritten(written{label: "--out", path: l.out})
	}
	sums := l.out + ".sums"
	learner := passes.Learner{
		Method: m, Run: run, Paths: paths, Out: l.out, Passes: l.passes, Force: l.force, Program: releaseVersion(buildInfo()),
		Round: func(ctx context.Context, s *passes.State) (*passes.State, error) {
			err := guard.Try(func() { l.round(cmd, s, paths, sums) })
			if err == nil {
				s, err = passes.Merge(ctx, s, sums)
			}
			if err != nil {
				return nil, interruptedError(ctx, err, "learning")
			}
			return s.WriteFile(l.out, true)
		},
		Report: func(s *passes.State) error { return say(cmd, "%s\n", s) },
	}
	guard.Check(existsError(learner.Learn(ctx)))
	guard.Check(passes.RemoveSums(sums, len(paths)))
	return say(cmd, "The model is in %s.\n", l.out)
}

// round writes the missing sums of a pass. A worker that fails is run again while others succeed.
func (l *learning) round(cmd *cobra.Command, s *passes.State, paths []string, sums string) {
	guard.Check(os.MkdirAll(sums, 0o777))
	missing := s.Missing(paths, sums)
	for len(missing) > 0 {
		if l.command == "" {
			for _, path := range missing {
				guard.Check(passes.PassFile(cmd.Context(), s, path, sums))
			}
			return
		}
		program := guard.Must(os.Executable())
		var lines strings.Builder
		for _, path := range missing {
			fmt.Fprintf(&lines, "%s pass %s %s --out %s\n", quote(program), quote(l.out), quote(path), quote(sums))
		}
		shell := exec.CommandContext(cmd.Context(), "sh", "-c", l.command)
		if runtime.GOOS == "windows" {
			shell = exec.CommandContext(cmd.Context(), "cmd", "/C", l.command)
		}
		shell.Stdin, shell.Stdout, shell.Stderr = strings.NewReader(lines.String()), cmd.ErrOrStderr(), cmd.ErrOrStderr()
		shell.WaitDelay = 5 * time.Second // after an interrupt, if workers keep its pipes open
		failed := shell.Run()
		left := s.Missing(paths, sums)
		if len(left) > 0 && len(left) >= len(missing) {
			guard.Fail("--run %s left the sums of %d of %d shards, the first %s (%v)", quote(l.command), len(left), len(paths), left[0], cmp.Or(failed, errors.New("exit status 0")))
		}
		missing = left
	}
}

func passCommand() *cobra.Command {
	var out string
	cmd := newCommand("pass", func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		only := shardOf(cmd)
		var paths []string
		for _, arg := range args[1:] {
			some := []string{arg}
			if _, one := vectorfile.ShardOf(arg); !one || strings.ContainsAny(arg, "*?[") {
				if some = guard.Must(vectorfile.Shards(arg)); some == nil {
					return fmt.Errorf("%s: no shards", arg)
				}
			}
			paths = append(paths, some...)
		}
		if only.Of > 0 {
			paths = slices.DeleteFunc(paths, func(path string) bool { of, _ := vectorfile.ShardOf(path); return of != only })
			if len(paths) == 0 {
				return fmt.Errorf("--shard %s: no such shard in %s", only, strings.Join(args[1:], " "))
			}
		}
		for _, path := range paths { // whose folders would hold two sets of shards
			refuseInside(filepath.Dir(path), out, "the folder of sums %s is inside the data folder; choose another", out)
		}
		s := guard.Must(passes.ReadFile(ctx, args[0]))
		guard.Check(os.MkdirAll(out, 0o777))
		for _, path := range paths {
			guard.Check(interruptedError(ctx, passes.PassFile(ctx, s, path, out), "adding up "+path))
		}
		return say(cmd, "The sums of %d of %d shards are in %s.\n", len(paths), len(s.Shards), out)
	})
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "folder of the sums")
	_ = cmd.MarkFlagRequired("out")
	f.String("shard", "", "add up only this one of the shards, such as 3/64 (from 0)")
	f.String("memory", "", "memory limit, such as 4GB or 50% (default: half of the memory)")
	profileFlag(f)
	return cmd
}

func mergeCommand() *cobra.Command {
	var out string
	var force bool
	cmd := newCommand("merge", func(cmd *cobra.Command, args []string) error {
		guard.Check(checkNewFiles(force, out))
		s := guard.Must(passes.ReadFile(cmd.Context(), args[0]))
		s, err := guard.Must(passes.Merge(cmd.Context(), s, args[1])).WriteFile(out, force)
		guard.Check(existsError(err))
		return say(cmd, "%s\n", s)
	})
	cmd.Flags().StringVarP(&out, "out", "o", "", "output .npz file: the model of the next pass")
	_ = cmd.MarkFlagRequired("out")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}
