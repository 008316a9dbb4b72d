// Package progress shows people how far long work is.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// Stages shows how far pieces of work are that come one after the other: on a terminal by a bar, and
// elsewhere, as in a log, by a line every half minute.
type Stages struct {
	W io.Writer
	// Unit is what all pieces of work count, "" for what goes with each.
	Unit string

	what string
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

// Bytes is what downloads count.
const Bytes = "bytes"

// What returns the piece of work that is shown, "" for none.
func (s *Stages) What() string { return s.what }

// Begin begins work that does not say how far it is, which a terminal does not show.
func (s *Stages) Begin(what string) {
	s.End()
	if !columns.IsTerminal(s.W) {
		s.log = startLog(s.W, what, cmp.Or(s.Unit, unitOf(what)))
	}
}

// Show shows that done of total of a piece of work is done. A total below 0 is unknown.
func (s *Stages) Show(what string, done, total int) {
	if s.what != what {
		s.Begin(what)
		s.what = what
	}
	if s.log != nil {
		s.log.state.Store(&[2]int{done, total})
		return
	}
	if s.bar == nil {
		s.bar = newBar(s.W, what, cmp.Or(s.Unit, unitOf(what)), total)
	}
	_ = s.bar.Set(done) // what cannot be drawn is not worth stopping for
}

// End leaves the line of a piece of work that did not come to its end.
func (s *Stages) End() {
	if s.log != nil {
		close(s.log.stop)
	}
	if s.bar != nil && !s.bar.IsFinished() {
		_, _ = io.WriteString(s.W, "\n")
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

// progressLog writes how far a piece of work is to what is no terminal.
type progressLog struct {
	state atomic.Pointer[[2]int] // done and total
	stop  chan struct{}
}

// LineEvery is the time between two lines of a log.
var LineEvery = 30 * time.Second

func startLog(w io.Writer, what, unit string) *progressLog {
	l := &progressLog{stop: make(chan struct{})}
	l.state.Store(&[2]int{0, -1})
	begun := time.Now()
	go func() {
		tick := time.NewTicker(LineEvery)
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
	if unit == Bytes {
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
