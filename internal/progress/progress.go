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

// units are what pieces of work count; others count steps.
var units = map[string]string{
	"trials": "trials", "counting groups": "numbers", "factorising": "iterations", "learning words": "iterations",
	"comparing pictures": "pairs", "reading": "images", "looking at pictures": "images", "describing images": "images",
	"drawing": "images", "sampling descriptors": "images", "counting words": "images", "sorting": "images", "taking back": "images",
}

// Bytes is what downloads count.
const Bytes = "bytes"

// What returns the piece of work that is shown, "" for none.
func (s *Stages) What() string { return s.what }

// Begin begins work that does not say how far it is, which a terminal does not show.
func (s *Stages) Begin(what string) {
	s.End()
	if !columns.IsTerminal(s.W) {
		s.log = startLog(s.W, what, cmp.Or(s.Unit, units[what], "steps"))
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
		s.bar = newBar(s.W, what, cmp.Or(s.Unit, units[what], "steps"), total)
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

// progressLog writes how far a piece of work is to a writer that is no terminal.
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
				plaintext.Fprintf(w, "partwise: %s, %v\n", l.line(what, unit), now.Sub(begun).Round(time.Second))
			}
		}
	}()
	return l
}

func (l *progressLog) line(what, unit string) string {
	state, by := l.state.Load(), 1
	if unit == Bytes {
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
