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
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
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
func withPasses(cmd *cobra.Command, of func(cmd *cobra.Command, e *spec.Experiment) (spec.Method, passes.Run, error)) *cobra.Command {
	var l learning
	l.flags(cmd.Flags())
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("passes") {
			if l.command != "" {
				return usageError{errors.New("--run needs --passes")}
			}
			return alone(cmd, args)
		}
		var err error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if !slices.Contains([]string{"passes", "run", "method", "rank", "k", "cluster", "seed", "out", "force", "memory", "profile", "count"}, f.Name) {
				err = cmp.Or(err, fmt.Errorf("--%s cannot be used together with --passes", f.Name))
			}
		})
		e := cmd.Flags().Lookup("seed").Value.(*settingFlag).target.(*spec.Experiment)
		var method spec.Method
		var run passes.Run
		if err == nil {
			method, run, err = of(cmd, e)
		}
		if err != nil {
			return usageError{err}
		}
		l.out = cmd.Flags().Lookup("out").Value.String()
		if f := cmd.Flags().Lookup("force"); f != nil {
			l.force = f.Value.String() == "true"
		}
		run.Seed, run.Distance = e.Seed, e.Cluster.Distance
		return l.learn(cmd, args[0], method, run)
	}
	return cmd
}

func fitInPasses(cmd *cobra.Command, e *spec.Experiment) (m spec.Method, run passes.Run, err error) {
	if len(e.Rank) != 1 || !e.Rank[0].Fixed {
		return m, run, errors.New("--passes needs a number in --rank")
	}
	run.Rank = e.Rank[0].Plus
	m, err = oneMethod(cmd, "nmf", bestSolver, 0)
	if err == nil && m.Name == spec.KMeans {
		err = errors.New("kmeans has no basis; use partwise cluster --passes")
	}
	return m, run, err
}

func clusterInPasses(cmd *cobra.Command, e *spec.Experiment) (m spec.Method, run passes.Run, err error) {
	if run.Rank, err = strconv.Atoi(cmd.Flags().Lookup("k").Value.String()); err != nil || run.Rank < 1 {
		return m, run, errors.New("--passes needs a number in -k")
	}
	m, err = oneMethod(cmd, spec.KMeans, bestSolver, 0)
	if err == nil && m.Name != spec.KMeans {
		err = fmt.Errorf("cluster --passes learns kmeans only: fit %s by partwise fit --passes, and cluster the files of partwise apply", m.Label())
	}
	return m, run, err
}

// learn learns a method from shards, or continues to.
func (l *learning) learn(cmd *cobra.Command, data string, m spec.Method, run passes.Run) error {
	ctx := cmd.Context()
	if l.passes < 0 || strings.ToLower(filepath.Ext(l.out)) != ".npz" {
		return usageError{fmt.Errorf("--passes %d --out %q: expected 0 passes or more, and a name that ends in .npz", l.passes, l.out)}
	}
	if err := passes.Check(m); err != nil {
		return usageError{err}
	}
	paths, err := vectorfile.Shards(data)
	if err == nil && paths == nil {
		err = fmt.Errorf("%s: no shards; expected their folder or a pattern such as 'fea/rows-*.npz', with names such as rows-00000-of-00004.npz", data)
	}
	if err == nil && cmd.Name() == "cluster" { // for others, checkFiles records it
		err = filesIn(ctx).Writes(usedfiles.Written{Label: "--out", Path: l.out})
	}
	for _, path := range paths {
		err = cmp.Or(err, filesIn(ctx).Reads(path))
	}
	if err != nil {
		return err
	}
	sums := l.out + ".sums"
	learner := passes.Learner{
		Method: m, Run: run, Paths: paths, Out: l.out, Passes: l.passes, Force: l.force, Program: releaseVersion(buildInfo()),
		Round: func(ctx context.Context, s *passes.State) (*passes.State, error) {
			if err := l.round(cmd, s, paths, sums); err != nil {
				return nil, interruptedError(ctx, err, "learning")
			}
			s, err := passes.Merge(ctx, s, sums)
			if err != nil {
				return nil, err
			}
			return s.WriteFile(l.out, true)
		},
		Report: func(s *passes.State) error { return say(cmd, "%s\n", s) },
	}
	if err := learner.Learn(ctx); err != nil {
		return existsError(err)
	}
	if err := passes.RemoveSums(sums, len(paths)); err != nil {
		return err
	}
	return say(cmd, "The model is in %s.\n", l.out)
}

// round writes the missing sums of a pass. A worker that fails is run again while others succeed.
func (l *learning) round(cmd *cobra.Command, s *passes.State, paths []string, sums string) error {
	if err := os.MkdirAll(sums, 0o777); err != nil {
		return err
	}
	missing := s.Missing(paths, sums)
	for len(missing) > 0 {
		if l.command == "" {
			for _, path := range missing {
				if err := passes.PassFile(cmd.Context(), s, path, sums); err != nil {
					return err
				}
			}
			return nil
		}
		program, err := os.Executable()
		if err != nil {
			return err
		}
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
			return fmt.Errorf("--run %s left the sums of %d of %d shards, the first %s (%v)", quote(l.command), len(left), len(paths), left[0], cmp.Or(failed, errors.New("exit status 0")))
		}
		missing = left
	}
	return nil
}

func passCommand() *cobra.Command {
	var out string
	cmd := newCommand("pass", func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		only, err := shardOf(cmd)
		if err != nil {
			return err
		}
		var paths []string
		for _, arg := range args[1:] {
			some := []string{arg}
			if _, one := vectorfile.ShardOf(arg); !one || strings.ContainsAny(arg, "*?[") {
				if some, err = vectorfile.Shards(arg); err == nil && some == nil {
					err = fmt.Errorf("%s: no shards", arg)
				}
			}
			if err != nil {
				return err
			}
			paths = append(paths, some...)
		}
		if only.Of > 0 {
			paths = slices.DeleteFunc(paths, func(path string) bool { of, _ := vectorfile.ShardOf(path); return of != only })
			if len(paths) == 0 {
				return fmt.Errorf("--shard %s: no such shard in %s", only, strings.Join(args[1:], " "))
			}
		}
		for _, path := range paths {
			if err := checkSums(path, out); err != nil {
				return err
			}
		}
		s, err := passes.ReadFile(ctx, args[0])
		if err == nil {
			err = os.MkdirAll(out, 0o777)
		}
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := passes.PassFile(ctx, s, path, out); err != nil {
				return interruptedError(ctx, err, "adding up "+path)
			}
		}
		return say(cmd, "The sums of %d of %d shards are in %s.\n", len(paths), len(s.Shards), out)
	})
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "folder of the sums")
	_ = cmd.MarkFlagRequired("out")
	f.String("shard", "", "add up only this one of the shards, such as 3/64 (from 0)")
	f.String("memory", "", "memory limit, such as 4GB or 50% (default: half of the memory)")
	profileFlag(cmd)
	return cmd
}

// checkSums refuses sums in the folder of a shard, which would then hold two sets of shards.
func checkSums(path, sums string) error {
	inside, err := output.Inside(filepath.Dir(path), sums)
	if err == nil && inside {
		err = fmt.Errorf("the folder of sums %s is inside the data folder; choose another", sums)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

func mergeCommand() *cobra.Command {
	var out string
	var force bool
	cmd := newCommand("merge", func(cmd *cobra.Command, args []string) error {
		if err := checkNewFiles(force, out); err != nil {
			return err
		}
		s, err := passes.ReadFile(cmd.Context(), args[0])
		if err == nil {
			s, err = passes.Merge(cmd.Context(), s, args[1])
		}
		if err == nil {
			s, err = s.WriteFile(out, force)
		}
		if err != nil {
			return existsError(err)
		}
		return say(cmd, "%s\n", s)
	})
	cmd.Flags().StringVarP(&out, "out", "o", "", "output .npz file: the model of the next pass")
	_ = cmd.MarkFlagRequired("out")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}
