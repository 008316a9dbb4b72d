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
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/report"
)

// printTable prints a table and a sentence below it, unless that is "".
func printTable(w io.Writer, t columns.Table, below string) error {
	text.OverrideRuneWidthEastAsianWidth(columns.IsWide(w))
	out := t.Text(columns.Width(w))
	if below != "" {
		out += "\n" + columns.Hanging("", below, columns.Width(w))
	}
	_, err := io.WriteString(w, out)
	return err
}

// printFacts prints names and values, except empty ones, in lines of up to most letters; 0 means any.
func printFacts(w io.Writer, most int, facts [][2]any) error {
	t := columns.Table{Limits: []int{0, most}}
	for _, f := range facts {
		if text, ok := f[1].(string); !ok || text != "" {
			t.Row(f[0], f[1])
		}
	}
	return printTable(w, t, "")
}

// printLines prints a text without control characters if w is a terminal.
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

func warner(cmd *cobra.Command) func(string) {
	return func(text string) {
		inv := invocationIn(cmd.Context())
		text = inv.shown(text, "standard input")
		inv.warn(text)
		plaintext.Fprintf(cmd.ErrOrStderr(), "partwise: %s\n", text)
	}
}

func printNotes(cmd *cobra.Command, notes []string) {
	for _, n := range notes {
		warner(cmd)(n)
	}
}

// wrapHelp wraps help at the width of the terminal, except examples, which people copy.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := columns.Width(cmd.OutOrStdout()); n > 0 {
			fitHelp(cmd, n)
		}
		show(cmd, args)
	})
}

func fitHelp(cmd *cobra.Command, n int) {
	cmd.Long = columns.Reflow(cmp.Or(cmd.Long, cmd.Short), n)
	for _, sub := range cmd.Commands() {
		lead := strings.Repeat(" ", 3+sub.NamePadding())
		sub.Short = strings.TrimSpace(columns.Hanging(lead, sub.Short, n))
	}
	const slop = 5 // added by pflag
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", n-slop)))
}

// withProgress runs do and shows its progress. doing names the work if a signal interrupts it.
func withProgress[T any](cmd *cobra.Command, doing string, do func(show input.Progress) (T, error)) T {
	s := &stages{w: cmd.ErrOrStderr()}
	defer s.end()
	s.begin(doing)
	out, err := do(s.show)
	guard.Check(interruptedError(cmd.Context(), err, doing))
	return out
}

// withBar runs do, which shows the progress of one piece of work.
func withBar[T any](cmd *cobra.Command, what string, do func(show func(done, total int)) (T, error)) (T, error) {
	s := &stages{w: cmd.ErrOrStderr()}
	defer s.end()
	return do(func(done, total int) { s.show(what, done, total) })
}

func withDrawing[T any](cmd *cobra.Command, do func(report.Sources) (T, error)) T {
	const drawing = "drawing"
	return withProgress(cmd, drawing, func(show input.Progress) (T, error) {
		return do(report.Sources{Warn: warner(cmd), Progress: func(done, total int) { show(drawing, done, total) }})
	})
}

// interruptedError returns an error that names the interrupted work if a signal cancelled the context, else err.
func interruptedError(ctx context.Context, err error, doing string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stopped while %s: no results were replaced; run the same command again to resume from the cache", doing)
}

// programText is the approximate memory of the program itself, which the garbage collector does not count.
const programText = 24 << 20

// limitMemory sets the memory budget of a command and of the garbage collector: the value of its flag, or half of the
// memory.
func limitMemory(cmd *cobra.Command) {
	limit := memory.Available() / 2
	if f := cmd.Flags().Lookup("memory"); f != nil && f.Changed {
		var err error
		limit, err = memory.Parse(f.Value.String())
		checkUse(guard.Wrap(err, "--memory"))
	}
	budget := memory.New(limit)
	debug.SetMemoryLimit(budget.Limit() - programText)
	cmd.SetContext(memory.NewContext(cmd.Context(), budget))
}

// profileFlag adds the flag for a CPU profile of a command.
func profileFlag(f *pflag.FlagSet) {
	f.String("profile", "", "write a CPU profile for go tool pprof to this new file")
}

// profile writes a CPU profile of a command's RunE if a flag asks for it, also if RunE fails, except for usage errors.
func profile(cmd *cobra.Command) {
	flag, work := cmd.Flags().Lookup("profile"), cmd.RunE
	if flag == nil {
		return
	}
	cmd.RunE = catching(func(cmd *cobra.Command, args []string) (err error) {
		path := flag.Value.String()
		if path == "" {
			return work(cmd, args)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		guard.Check(guard.Wrap(err, "--profile: expected a new file in an existing folder"))
		defer func() {
			if err = errors.Join(err, f.Close()); isUsage(err) {
				_ = os.Remove(path)
			}
		}()
		guard.Check(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
		return work(cmd, args)
	})
}

// timesFlag adds the flag for showing the times of the command's RunE on the page.
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

// stages shows the progress of successive pieces of work: by a bar on a terminal, and elsewhere, as in a log, by a line
// every half minute.
type stages struct {
	w    io.Writer
	unit string // for all pieces of work; "" means each piece has its own
	what string // the current piece, "" for none
	bar  *progressbar.ProgressBar
	log  *progressLog
}

// units are the units of pieces of work; the default unit is steps.
var units = map[string]string{
	"trials": "trials", "choosing the number of groups": "numbers", "factorising": "iterations", "learning visual words": "iterations",
	"comparing images": "pairs", "reading": "images", "examining images": "images", "describing images": "images",
	"drawing": "images", "sampling descriptors": "images", "counting visual words": "images", "sorting": "images", "restoring": "images",
}

const unitBytes = "bytes"

// begin begins work without known progress, which a terminal does not show.
func (s *stages) begin(what string) {
	s.end()
	if !columns.IsTerminal(s.w) {
		s.log = startLog(s.w, what, cmp.Or(s.unit, units[what], "steps"))
	}
}

// show shows that done of total are done. A total below 0 is unknown.
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
	_ = s.bar.Set(done) // drawing errors do not matter
}

// end clears the line of a piece of work that ended early.
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
		progressbar.OptionSetSpinnerChangeInterval(0), // otherwise it continues after end
		progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(w, "\n") }),
	)
	if roomy {
		progressbar.OptionShowIts()(bar)
		progressbar.OptionSetItsString(unit)(bar)
	}
	return bar
}

// progressLog writes the progress of a piece of work to a writer that is no terminal.
type progressLog struct {
	state atomic.Pointer[[2]int] // done and total
	stop  chan struct{}
}

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
		return strings.TrimSuffix(fmt.Sprintf("%s: %d of %d %s", what, done, total, unit), " "+what) // "trials: 3 of 9"
	case state[0] > 0:
		return fmt.Sprintf("%s: %d %s", what, done, unit)
	}
	return what
}
