// Partwise turns image sets into parts, groups and scores.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error in how the command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// isUsage tells whether an error is one in how the command was called.
func isUsage(err error) bool {
	var wrong usageError
	var conflict usedfiles.Conflict
	return errors.As(err, &wrong) || errors.As(err, &conflict)
}

// run runs the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if _, ok := stderr.(*os.File); !ok {
		stderr = &oneAtATime{w: stderr}
	}
	ctx, stop := interruptible(stderr)
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	completion(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	plaintext.Fprintf(stderr, "partwise: %v\n", err)
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// oneAtATime lets several goroutines write.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "partwise",
		Short: "Turn image sets into parts, groups and scores",
		Long: `Partwise turns image sets into parts, groups and scores: it makes features of
the images, factorises them with the methods of the literature, clusters what
comes out, and scores the clusters.

To see which pictures in a folder go together:

  partwise cluster photos -k 10

To compare methods as a paper does, with tables and curves:

  partwise run docs/experiments/demo.yaml`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          arguments(0, 0),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := noEmptyFlags(cmd); err != nil {
				return err
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			return limitMemory(cmd)
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",

		ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
			}
			return about.Help()
		},
	})
	root.AddCommand(runCommand(), clusterCommand(), exploreCommand(), assignCommand(), sortCommand(), reportCommand(), compareCommand(), reproduceCommand(), featuresCommand(), fitCommand(), applyCommand(), methodsCommand(), listCommand(), datasetsCommand(), cacheCommand(), licencesCommand(), manCommand(), versionCommand())
	completeValues(root)
	wrapHelp(root)
	return root
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
