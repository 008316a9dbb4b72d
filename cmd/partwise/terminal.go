package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isWide tells whether w is a terminal that shows characters such as ± and ─ two
// columns wide, as far as the environment says so.
func isWide(w io.Writer) bool { return runewidth.EastAsianWidth && isTerminal(w) }

// width returns how many letters a line of the terminal w has, and 0 where w is none.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// printTable prints a table and, where it is not "", a sentence below it.
func printTable(w io.Writer, t columns.Table, below string) error {
	text.OverrideRuneWidthEastAsianWidth(isWide(w))
	out := t.Text(width(w))
	if below != "" {
		out += "\n" + columns.Hanging("", below, width(w))
	}
	_, err := io.WriteString(w, out)
	return err
}

// wrapHelp breaks the lines of help to the width of the terminal, but for examples, which are to be copied.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := width(cmd.OutOrStdout()); n > 0 {
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
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsages | fit %d ", n)))
}

func init() { cobra.AddTemplateFunc("fit", breakFlags) }

var flagLine = regexp.MustCompile(`(?m)^( *-.*?  +)(\S.*)\n`)

// breakFlags breaks the lines of flags, each with its help, into lines of at most n letters.
func breakFlags(n int, lines string) string {
	return flagLine.ReplaceAllStringFunc(lines, func(line string) string {
		m := flagLine.FindStringSubmatch(line)
		return columns.Hanging(m[1], m[2], n)
	})
}

// stages shows how far pieces of work are that come one after the other: on a terminal by a bar, and
// elsewhere, as in a log, by a line every half minute.
type stages struct {
	w    io.Writer
	unit string // of all, where it is not unitOf's

	what string // the piece of work that is shown, "" for none
	bar  *progressbar.ProgressBar
	log  *progressLog
}

// unitOf is what a piece of work counts, but for trials of readings and downloads.
func unitOf(what string) string {
	switch what {
	case "trials":
		return "trials"
	case "counting groups":
		return "numbers"
	case "factorising", "learning words":
		return "iterations"
	case "comparing pictures":
		return "pairs"
	case "reading", "looking at pictures", "describing images", "drawing", "sampling descriptors", "counting words", "sorting", "taking back":
		return "images"
	}
	return "steps"
}

// bytesUnit is what downloads count.
const bytesUnit = "bytes"

// begin begins work that does not say how far it is, which a terminal does not show.
func (s *stages) begin(what string) {
	s.end()
	if !isTerminal(s.w) {
		s.log = startLog(s.w, what, cmp.Or(s.unit, unitOf(what)))
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
		s.bar = newBar(s.w, what, cmp.Or(s.unit, unitOf(what)), total)
	}
	_ = s.bar.Set(done) // what cannot be drawn is not worth stopping for
}

// work does a piece of work and shows how far it is. doing and left are what it says where a signal stops it.
func work[T any](cmd *cobra.Command, doing, left string, do func(show pipeline.Progress) (T, error)) (T, error) {
	s := &stages{w: cmd.ErrOrStderr()}
	s.begin(doing)
	out, err := do(s.show)
	s.end()
	return out, stopped(cmd.Context(), err, doing, left)
}

// draw is work that draws, whose progress has no name.
func draw[T any](cmd *cobra.Command, what, left string, do func(count func(done, total int)) (T, error)) (T, error) {
	return work(cmd, what, left, func(show pipeline.Progress) (T, error) {
		return do(func(done, total int) { show(what, done, total) })
	})
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
	roomy := width(w) >= 80
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

// progressLog writes how far a piece of work is to what is no terminal.
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
				plaintext.Fprintf(w, "partwise: %s\n", l.line(what, unit, now.Sub(begun)))
			}
		}
	}()
	return l
}

// line says how far the work is.
func (l *progressLog) line(what, unit string, took time.Duration) string {
	took = took.Round(time.Second)
	state := l.state.Load()
	done, total := state[0], state[1]
	if unit == bytesUnit {
		unit, done, total = "MB", done/1e6, total/1e6
	}
	switch {
	case state[1] >= 0:
		return fmt.Sprintf("%s: %d of %d %s, %v", what, done, total, unit, took)
	case state[0] > 0:
		return fmt.Sprintf("%s: %d %s, %v", what, done, unit, took)
	}
	return fmt.Sprintf("%s, %v", what, took)
}
