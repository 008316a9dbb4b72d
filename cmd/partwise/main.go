// Partwise groups photographs and compares methods of matrix factorisation and clustering on image sets.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// Exit codes. Shells use exitInterrupted for an interrupted command.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func isUsage(err error) bool {
	_, wrong := errors.AsType[usageError](err)
	return wrong
}

// failUsage ends the command with a usage error.
func failUsage(format string, args ...any) { checkUse(fmt.Errorf(format, args...)) }

// failUsageIf is failUsage if something is wrong.
func failUsageIf(wrong bool, format string, args ...any) {
	if wrong {
		failUsage(format, args...)
	}
}

// checkUse ends the command with a usage error, unless err is nil.
func checkUse(err error) {
	if err != nil {
		guard.Check(usageError{err})
	}
}

// run runs the command and returns its exit code. stderr must be safe for concurrent use.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(stderr)
	defer stop()
	inv := &invocation{begun: time.Now(), stdout: stdout}
	defer func() {
		if inv.stdin != "" {
			_ = os.RemoveAll(filepath.Dir(inv.stdin))
		}
	}()
	ctx = context.WithValue(ctx, invocationKey{}, inv)
	root := rootCommand(args...)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd() // uses the output that is set above
	checkUsage(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = inv.end(cmd, args, "")
	}
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if _, ok := errors.AsType[*memory.LimitError](err); ok {
		err = fmt.Errorf("%w (--memory sets the limit)", err)
	}
	shown := err
	if at, ok := errors.AsType[*fs.PathError](err); ok { // users need no operation, such as stat
		shown = errors.New(strings.Replace(err.Error(), at.Error(), at.Path+": "+at.Err.Error(), 1))
	}
	failure := inv.shown(shown.Error(), "standard input")
	plaintext.Fprintf(stderr, "partwise: %s\n", errors.New(failure)) // an error may have lines, such as one of a file
	_ = inv.end(cmd, args, failure)                                  // the exit code reports a failure already
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// interruptible returns a context that the first interrupt or termination signal cancels. A second one ends the process
// at once. stop must be called at the end of the work.
func interruptible(stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	said := make(chan struct{})
	isQuiet := context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-again
			os.Exit(exitInterrupted)
		}()
		if columns.IsTerminal(stderr) {
			fmt.Fprintln(stderr) // below a progress bar
		}
		fmt.Fprintln(stderr, "partwise: stopping; press Ctrl-C again to stop immediately")
		close(said)
	})
	return ctx, func() {
		if !isQuiet() {
			select {
			case <-said:
			case <-time.After(time.Second): // if nobody reads it
			}
		}
		restore()
	}
}

//go:embed help.md
var helpText string

// newCommand returns a command with its texts in helpText, a section for each command: the arguments, a line for lists, a
// description and examples.
func newCommand(path string, do func(*cobra.Command, []string) error) *cobra.Command {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+path)
	arguments, text, _ := strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n# ")
	short, text, _ := strings.Cut(text, "\n")
	long, examples, _ := strings.Cut(text, "\n  ")
	if examples = strings.TrimSpace(examples); examples != "" {
		examples = "  " + examples
	}
	name := path[strings.LastIndexByte(path, ' ')+1:]
	return &cobra.Command{Use: name + arguments, Short: short, Long: strings.TrimSpace(long), Example: examples, RunE: catching(do)}
}

// catching returns a command's work, which may also end with guard.Fail.
func catching(do func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer guard.Catch(&err)
		return do(cmd, args)
	}
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

const otherCommands = "Other:" // the group of cobra's own commands

// commandGroup is a group of commands in the help.
type commandGroup struct {
	title, words string // words are the commands' names
	commands     []func() *cobra.Command
}

func (g commandGroup) names() []string { return strings.Fields(g.words) }

// rootCommand returns the whole program, or with the arguments of a command only that command, which starts sooner.
func rootCommand(args ...string) *cobra.Command {
	groups := []commandGroup{
		{"Photographs:", "cluster explore sort clean tag assign",
			[]func() *cobra.Command{clusterCommand, exploreCommand, sortCommand, cleanCommand, tagCommand, assignCommand}},
		{"Experiments:", "run join draws report compare reproduce",
			[]func() *cobra.Command{runCommand, joinCommand, drawsCommand, reportCommand, compareCommand, reproduceCommand}},
		{"Data and models:", "datasets features vocab fit pass merge impute apply methods list schema",
			[]func() *cobra.Command{datasetsCommand, featuresCommand, vocabCommand, fitCommand, passCommand, mergeCommand, imputeCommand, applyCommand,
				methodsCommand, listCommand, schemaCommand}},
		{otherCommands, "cache licences man version", []func() *cobra.Command{cacheCommand, licencesCommand, manCommand, versionCommand}},
	}
	isOne := slices.ContainsFunc(groups, func(g commandGroup) bool {
		return len(args) > 0 && args[0] != "man" && slices.Contains(g.names(), args[0]) // the manual has all
	})
	root := newCommand("partwise", showHelp)
	root.Version, root.SilenceErrors, root.SilenceUsage = versionText(), true, true
	root.PersistentPreRunE = catching(func(cmd *cobra.Command, args []string) error {
		inv := invocationIn(cmd.Context())
		guard.Check(asUsage(cmd, cmp.Or(validateFlags(cmd), inv.begin(cmd, args))))
		nameShard(cmd)
		checkFiles(cmd, args)
		limitMemory(cmd)
		return inv.readStdin(cmd.Context(), args)
	})
	root.SetVersionTemplate("{{.Version}}\n")
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for i, name := range group.names() {
			if isOne && name != args[0] {
				continue
			}
			cmd := group.commands[i]()
			profile(cmd)
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(otherCommands)
	root.SetCompletionCommandGroupID(otherCommands)
	jsonFlags(root)
	completeValues(root)
	wrapHelp(root)
	return root
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
