package main

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
	"drawing": "images", "sampling descriptors": "images", "counting words": "images", "sorting": "images", "taking back": "images",
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
