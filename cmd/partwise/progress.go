package main

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows how far a long piece of work is, where someone is looking: on a
// terminal. It makes itself when it first hears of the work.
type bar struct {
	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
}

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isWide tells whether w is a terminal that shows characters such as ± and ─ two
// columns wide, as far as the environment says so.
func isWide(w io.Writer) bool { return runewidth.EastAsianWidth && isTerminal(w) }

func newBar(w io.Writer, what string) *bar { return &bar{w: w, what: what} }

// count shows that done of total is done. A total below 0 is unknown.
func (b *bar) count(done, total int) {
	if !isTerminal(b.w) {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unitOf(b.what)),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionShowElapsedTimeOnFinish(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // else it goes on after end
			progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(b.w, "\n") }),
		)
	}
	_ = b.bar.Set(done) // what cannot be drawn is not worth stopping for
}

// unitOf is what a piece of work counts.
func unitOf(what string) string {
	switch what {
	case "trials":
		return "trials"
	case "counting groups":
		return "numbers"
	case "factorising", "learning words":
		return "iterations"
	case "reading", "describing images", "drawing", "sampling descriptors", "counting words", "sorting", "taking back":
		return "images"
	}
	return "bytes" // of a download
}

// stages shows how far pieces of work are that come one after the other.
type stages struct {
	w   io.Writer
	bar *bar
}

// show shows that done of total of a piece of work is done. A total below 0 is unknown.
func (s *stages) show(what string, done, total int) {
	if s.bar == nil || s.bar.what != what {
		s.end()
		s.bar = newBar(s.w, what)
	}
	s.bar.count(done, total)
}

// doing returns the piece of work that was shown last, "" for none.
func (s *stages) doing() string {
	if s.bar == nil {
		return ""
	}
	return s.bar.what
}

// end leaves the line of a piece of work that did not come to its end.
func (s *stages) end() {
	if s.bar != nil {
		s.bar.end()
	}
	s.bar = nil
}

// end leaves the line of a bar that did not come to its end.
func (b *bar) end() {
	if b.bar != nil && !b.bar.IsFinished() {
		_, _ = io.WriteString(b.w, "\n")
	}
}
