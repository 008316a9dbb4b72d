package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// exitInterrupted is the exit code of a command that a signal stopped, as shells
// have it.
const exitInterrupted = 130

// interruption is the cause of a context that a signal cancelled.
type interruption struct{ os.Signal }

func (i interruption) Error() string { return fmt.Sprintf("stopped by the signal %q", i.Signal) }

// Is makes it the error that packages expect of a cancelled context.
func (interruption) Is(target error) bool { return target == context.Canceled }

// stopped returns an error that says what was stopped and what is left of the
// work, where the context was cancelled, and else err.
func stopped(ctx context.Context, err error, doing, left string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stopped while %s: %s", doing, left)
}

// keptFeatures says what is left of features when the work on them is stopped.
// folder is the cache, "" for none, and cached tells that the features go there.
func keptFeatures(folder string, cached bool) string {
	switch {
	case !cached:
		return "nothing is kept, and the same command begins again"
	case folder == "":
		return "nothing is kept without a cache, and the same command begins again"
	}
	return "what was made of the photographs is kept in " + folder + ", and the same command goes on from there"
}

// interruptible returns a context that the first interrupt or request to
// terminate cancels. The second ends the process at once, whatever it is doing.
// stop must be called when the work is done.
func interruptible(stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case s := <-signals:
			// On its own, since what is printed waits where nobody reads it.
			go func() {
				select {
				case <-signals:
					os.Exit(exitInterrupted)
				case <-done:
				}
			}()
			cancel(interruption{s})
			if columns.IsTerminal(stderr) {
				fmt.Fprintln(stderr) // below a progress bar
			}
			fmt.Fprintln(stderr, "partwise: stopping; a second signal ends it at once")
		case <-done:
		}
	}()
	return ctx, func() {
		if ctx.Err() != nil { // by a signal, of which work that ends at once would leave nothing said
			select {
			case <-told:
			case <-time.After(time.Second): // nobody reads it
			}
		}
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// memoryFlag adds the flag of how much memory a command takes.
func memoryFlag(cmd *cobra.Command) {
	cmd.Flags().String("memory", "", "most memory to take, as in 4GB or 50% (default half of what there is)")
}

// programText is about how much of the program itself lies in memory beside what
// the garbage collector knows of.
const programText = 24 << 20

// From largeFeatures bytes of features on garbage is collected when it is garbagePercent of what is in
// use, and not as much again: the collector passes over numbers, so that this costs next to nothing
// where most memory is theirs. Of small ones, with the pictures that they are made of, it would cost a tenth
// of the time.
const (
	largeFeatures  = 128 << 20
	garbagePercent = 30
)

// collectEarlier keeps the garbage beside large features small, unless GOGC says how much there may be.
func collectEarlier(x mat.Matrix) {
	features, ok := x.(*mat.Dense)
	if !ok || os.Getenv("GOGC") != "" {
		return
	}
	if n, m := features.Dims(); 8*int64(n)*int64(m) >= largeFeatures {
		debug.SetGCPercent(garbagePercent)
	}
}

// limitMemory gives a command the memory budget that its flag says, or half of
// what there is. The garbage collector is told of it too, so that garbage does
// not fill what the budget leaves.
func limitMemory(cmd *cobra.Command) error {
	limit := memory.Available() / 2
	if f := cmd.Flags().Lookup("memory"); f != nil && f.Changed {
		var err error
		if limit, err = memory.Parse(f.Value.String()); err != nil {
			return usageError{fmt.Errorf("--memory: %w", err)}
		}
	}
	budget := memory.New(limit)
	debug.SetMemoryLimit(budget.Limit() - programText)
	cmd.SetContext(memory.NewContext(cmd.Context(), budget))
	return nil
}

// profileFlag adds the flag of where a profile of the command's work goes. The command has
// its RunE by then.
func profileFlag(cmd *cobra.Command) {
	path := cmd.Flags().String("profile", "", "write a CPU profile to this file, which must not be there yet, for go tool pprof")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *path == "" {
			return work(cmd, args)
		}
		return profile(*path, func() error { return work(cmd, args) })
	}
}

// profile does the work and writes a profile of it, also where it fails or is interrupted,
// but for mistakes in the command line.
func profile(path string, work func() error) error {
	if err := output.CheckFile(path, false); err != nil {
		return noProfile(err, path)
	}
	if err := atomicfile.RemoveStale(filepath.Dir(path)); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := pprof.StartCPUProfile(&text); err != nil {
		return err
	}
	err := func() error {
		defer pprof.StopCPUProfile()
		return work()
	}()
	if isUsage(err) {
		return err
	}
	// The file may have appeared meanwhile.
	return errors.Join(err, noProfile(atomicfile.CreateFunc(path, func(w io.Writer) error {
		_, err := text.WriteTo(w)
		return err
	}), path))
}

func noProfile(err error, path string) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and a profile replaces no file", path)
	}
	return err
}

// timesFlag adds the flag of whether the page shows where the time of the command went.
// The command has its RunE by then.
func timesFlag(cmd *cobra.Command) {
	shown := cmd.Flags().Bool("times", false, "show on the page where the time of the run went")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *shown {
			cmd.SetContext(timing.NewContext(cmd.Context()))
		}
		return work(cmd, args)
	}
}
