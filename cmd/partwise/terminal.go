package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/spf13/cobra"
)

// printTable prints a table and, where it is not "", a sentence below it.
func printTable(w io.Writer, t columns.Table, below string) error {
	text.OverrideRuneWidthEastAsianWidth(columns.IsWide(w))
	out := t.Text(columns.Width(w))
	if below != "" {
		out += "\n" + columns.Hanging("", below, columns.Width(w))
	}
	_, err := io.WriteString(w, out)
	return err
}

// printFacts prints a table of names and values, but for empty ones, in lines of at most so many letters, 0 for any.
func printFacts(w io.Writer, most int, facts [][2]any) error {
	t := columns.Table{Limits: []int{0, most}}
	for _, f := range facts {
		if text, ok := f[1].(string); !ok || text != "" {
			t.Row(f[0], f[1])
		}
	}
	return printTable(w, t, "")
}

// printLines prints a text, of which nothing can do anything to a terminal.
func printLines(w io.Writer, text []byte) error {
	if columns.IsTerminal(w) {
		var shown bytes.Buffer
		for line := range bytes.Lines(text) {
			plaintext.Fprintf(&shown, "%s\n", string(bytes.TrimSuffix(line, []byte("\n"))))
		}
		text = shown.Bytes()
	}
	_, err := w.Write(text)
	return err
}

func say(cmd *cobra.Command, format string, args ...any) error {
	_, err := plaintext.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// tell returns what prints a warning.
func tell(cmd *cobra.Command) func(string) {
	return func(text string) { plaintext.Fprintf(cmd.ErrOrStderr(), "partwise: %s\n", text) }
}

// tellNotes prints what should be known of the inputs.
func tellNotes(cmd *cobra.Command, notes []string) {
	for _, n := range notes {
		tell(cmd)(n)
	}
}

// wrapHelp breaks the lines of help to the width of the terminal, but for examples, which are to be copied.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := columns.Width(cmd.OutOrStdout()); n > 0 {
			fitHelp(cmd, n)
		}
		show(cmd, args)
	})
}

// fitHelp breaks the help of a command into lines of at most n letters.
func fitHelp(cmd *cobra.Command, n int) {
	cmd.Long = columns.Reflow(cmp.Or(cmd.Long, cmd.Short), n)
	for _, sub := range cmd.Commands() {
		lead := strings.Repeat(" ", 3+sub.NamePadding())
		sub.Short = strings.TrimSpace(columns.Hanging(lead, sub.Short, n))
	}
	const slop = 5 // of pflag
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", n-slop)))
}

// work does a piece of work and shows how far it is. doing names the work where a signal stops it.
func work[T any](cmd *cobra.Command, doing string, do func(show input.Progress) (T, error)) (T, error) {
	s := &stages{w: cmd.ErrOrStderr()}
	s.begin(doing)
	out, err := do(s.show)
	s.end()
	return out, stopped(cmd.Context(), err, doing)
}

// draw is work that draws.
func draw[T any](cmd *cobra.Command, do func(report.Sources) (T, error)) (T, error) {
	const drawing = "drawing"
	return work(cmd, drawing, func(show input.Progress) (T, error) {
		return do(report.Sources{Warn: tell(cmd), Progress: func(done, total int) { show(drawing, done, total) }})
	})
}

// stopped returns what was stopped where a signal cancelled the context, and else err.
func stopped(ctx context.Context, err error, doing string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stopped while %s: no results were replaced; run the same command again to resume from the cache", doing)
}

// programText is about how much memory the program itself takes, beside what the garbage collector knows of.
const programText = 24 << 20

// limitMemory gives a command, and the garbage collector, the budget that its flag says, or half of the memory.
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

// profileFlag adds the flag of a profile of the command's work, its RunE. It is written also where that fails, but for
// mistakes in the command line.
func profileFlag(cmd *cobra.Command) {
	path := cmd.Flags().String("profile", "", "write a CPU profile for go tool pprof to this new file")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if *path == "" {
			return work(cmd, args)
		}
		f, err := os.OpenFile(*path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("--profile: needs a new file in an existing folder: %w", err)
		}
		defer func() {
			if err = errors.Join(err, f.Close()); isUsage(err) {
				_ = os.Remove(*path)
			}
		}()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		return work(cmd, args)
	}
}

// timesFlag adds the flag of whether the page shows where the time of the command, its RunE, went.
func timesFlag(cmd *cobra.Command) {
	shown := cmd.Flags().Bool("times", false, "show the time of each phase on the page")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *shown {
			cmd.SetContext(timing.NewContext(cmd.Context()))
		}
		return work(cmd, args)
	}
}

// stages shows how far pieces of work are that come one after the other: on a terminal by a bar, and
// elsewhere, as in a log, by a line every half minute.
type stages struct {
	w    io.Writer
	unit string // of all pieces of work, "" for that of each
	what string // the piece that is shown, "" for none
	bar  *progressbar.ProgressBar
	log  *progressLog
}

// units are what pieces of work count; others count steps.
var units = map[string]string{
	"trials": "trials", "counting groups": "numbers", "factorising": "iterations", "learning words": "iterations",
	"comparing pictures": "pairs", "reading": "images", "looking at pictures": "images", "describing images": "images",
	"drawing": "images", "sampling descriptors": "images", "counting words": "images", "sorting": "images", "restoring": "images",
}

// unitBytes is what downloads count.
const unitBytes = "bytes"

// begin begins work that does not say how far it is, which a terminal does not show.
func (s *stages) begin(what string) {
	s.end()
	if !columns.IsTerminal(s.w) {
		s.log = startLog(s.w, what, cmp.Or(s.unit, units[what], "steps"))
	}
}

// show shows that done of total of a piece of work is done. A total below 0 is unknown.
func (s *stages) show(what string, done, total int) {
	if s.what != what {
		s.begin(what)
		s.what = what
	}
	if s.log != nil {
		s.log.state.Store(&[2]int{done, total})
		return
	}
	if s.bar == nil {
		s.bar = newBar(s.w, what, cmp.Or(s.unit, units[what], "steps"), total)
	}
	_ = s.bar.Set(done) // what cannot be drawn is not worth stopping for
}

// end leaves the line of a piece of work that did not come to its end.
func (s *stages) end() {
	if s.log != nil {
		close(s.log.stop)
	}
	if s.bar != nil && !s.bar.IsFinished() {
		_, _ = io.WriteString(s.w, "\n")
	}
	s.what, s.bar, s.log = "", nil, nil
}

func newBar(w io.Writer, what, unit string, total int) *progressbar.ProgressBar {
	roomy := columns.Width(w) >= 80
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(roomy),
		progressbar.OptionShowElapsedTimeOnFinish(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it goes on after end
		progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(w, "\n") }),
	)
	if roomy {
		progressbar.OptionShowIts()(bar)
		progressbar.OptionSetItsString(unit)(bar)
	}
	return bar
}

// progressLog writes how far a piece of work is to a writer that is no terminal.
type progressLog struct {
	state atomic.Pointer[[2]int] // done and total
	stop  chan struct{}
}

// lineEvery is the time between two lines of a log.
var lineEvery = 30 * time.Second

func startLog(w io.Writer, what, unit string) *progressLog {
	l := &progressLog{stop: make(chan struct{})}
	l.state.Store(&[2]int{0, -1})
	begun := time.Now()
	go func() {
		tick := time.NewTicker(lineEvery)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case now := <-tick.C:
				plaintext.Fprintf(w, "partwise: %s, %v\n", l.line(what, unit), now.Sub(begun).Round(time.Second))
			}
		}
	}()
	return l
}

func (l *progressLog) line(what, unit string) string {
	state, by := l.state.Load(), 1
	if unit == unitBytes {
		unit, by = "MB", 1e6
	}
	switch done, total := state[0]/by, state[1]/by; {
	case state[1] >= 0:
		return fmt.Sprintf("%s: %d of %d %s", what, done, total, unit)
	case state[0] > 0:
		return fmt.Sprintf("%s: %d %s", what, done, unit)
	}
	return what
}
