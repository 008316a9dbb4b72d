package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
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
			if isTerminal(stderr) {
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
