package main

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// bar shows how far a long piece of work is: on a terminal by a bar, which makes itself when
// it first hears of the work, and elsewhere, as in a log, by a line every half minute.
type bar struct {
	w    io.Writer
	what string
	unit string // what is counted
	bar  *progressbar.ProgressBar
	log  *progressLog
}

// progressLog writes how far a piece of work is to what is no terminal.
type progressLog struct {
	begun time.Time
	stop  chan struct{}

	mu          sync.Mutex
	done, total int
}

// lineEvery is the time between two lines of a log.
var lineEvery = 30 * time.Second

// startLog begins a log of b, from none to a number that is not known.
func (b *bar) startLog() {
	if b.log != nil {
		return
	}
	l := &progressLog{begun: time.Now(), stop: make(chan struct{}), total: -1}
	b.log = l
	go func() {
		tick := time.NewTicker(lineEvery)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case now := <-tick.C:
				plaintext.Fprintf(b.w, "partwise: %s\n", l.line(b.what, b.unit, now.Sub(l.begun)))
			}
		}
	}()
}

// line says how far the work is.
func (l *progressLog) line(what, unit string, took time.Duration) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	took = took.Round(time.Second)
	scale := 1
	if unit == bytesUnit {
		unit, scale = "MB", 1e6
	}
	switch {
	case l.total >= 0:
		return fmt.Sprintf("%s: %d of %d %s, %v", what, l.done/scale, l.total/scale, unit, took)
	case l.done > 0:
		return fmt.Sprintf("%s: %d %s, %v", what, l.done/scale, unit, took)
	}
	return fmt.Sprintf("%s, %v", what, took)
}

func newBar(w io.Writer, what string) *bar { return &bar{w: w, what: what, unit: unitOf(what)} }

// count shows that done of total is done. A total below 0 is unknown.
func (b *bar) count(done, total int) {
	if !isTerminal(b.w) {
		b.startLog()
		b.log.mu.Lock()
		b.log.done, b.log.total = done, total
		b.log.mu.Unlock()
		return
	}
	if b.bar == nil {
		roomy := width(b.w) >= 80
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(roomy),
			progressbar.OptionShowElapsedTimeOnFinish(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // else it goes on after end
			progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(b.w, "\n") }),
		)
		if roomy {
			progressbar.OptionShowIts()(b.bar)
			progressbar.OptionSetItsString(b.unit)(b.bar)
		}
	}
	_ = b.bar.Set(done) // what cannot be drawn is not worth stopping for
}

// unitOf is what a piece of work counts, but for downloads.
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

// stages shows how far pieces of work are that come one after the other.
type stages struct {
	w io.Writer
	// unit is what all of them count, where it is not unitOf's.
	unit string
	bar  *bar
	// before is the bar of work that does not say how far it is.
	before *bar
}

// begin says, where no terminal shows a bar, that work begins which does not say how far it
// is.
func (s *stages) begin(what string) {
	s.end()
	if !isTerminal(s.w) {
		s.before = newBar(s.w, what)
		s.before.startLog()
	}
}

// show shows that done of total of a piece of work is done. A total below 0 is unknown.
func (s *stages) show(what string, done, total int) {
	if s.bar == nil || s.bar.what != what {
		s.end()
		s.bar = newBar(s.w, what)
		s.bar.unit = cmp.Or(s.unit, s.bar.unit)
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
	if s.before != nil {
		s.before.end()
	}
	s.bar, s.before = nil, nil
}

// end leaves the line of a bar that did not come to its end.
func (b *bar) end() {
	if b.log != nil {
		close(b.log.stop)
		b.log = nil
	}
	if b.bar != nil && !b.bar.IsFinished() {
		_, _ = io.WriteString(b.w, "\n")
	}
}
