package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// timesView holds the times of a run.
type timesView struct {
	Lines   []timeLine
	All     timeLine
	Methods []timeLine
	// Judging is the step after the factorisation, and Words the seconds for the visual words of draws, or "".
	Judging, Words string
}

// timeLine is a line of a table of times, in seconds.
type timeLine struct {
	Name  string
	Words []string
}

// phase is a phase of a run. A part belongs to the last phase before it that is none.
type phase struct {
	name string
	is   timing.Phase
	part bool
}

// prepared are the phases before the factorisation.
var prepared = []phase{
	{"Reading the data", timing.Reading, false},
	{"Features", timing.Features, false},
	{"of it descriptors", timing.Describing, true},
	{"of it visual words", timing.Words, true},
}

// clustersTimes shows the times of the run that makes the page, if its context counts times.
func clustersTimes(w *clustersPage) any {
	return w.times(nil, "", append(slices.Clip(prepared),
		phase{"Factorising", timing.Factorising, false},
		phase{"of it set-up", timing.SetUp, true},
		phase{"of it initial factors", timing.Initial, true},
		phase{"Grouping", timing.Grouping, false},
		phase{"Scores", timing.Scores, false}))
}

// experimentTimes does so for an experiment.
func experimentTimes(w *experimentPage) any {
	judging := "Grouping"
	if slices.ContainsFunc(w.records, func(r pipeline.Record) bool { return r.Tested > 0 }) {
		judging = "Classifying"
	}
	return w.times(w.experiment.Methods, judging, append(slices.Clip(prepared), phase{"Trials", timing.Trials, false}))
}

func (p *page) times(methods []string, judging string, phases []phase) any {
	t := timing.FromContext(p.ctx)
	if t == nil {
		return nil
	}
	// The set-up is counted without the initial factors.
	spent := func(method string, p timing.Phase) time.Duration {
		took := t.Spent(method, p).Time
		if p == timing.SetUp {
			took -= t.Spent(method, timing.Initial).Time
		}
		return took
	}
	all := t.Elapsed()
	v := timesView{Judging: judging, All: timeLine{"In all", []string{seconds(all), ""}}}
	add := func(name string, d time.Duration) {
		v.Lines = append(v.Lines, timeLine{name, []string{seconds(d), fmt.Sprintf("%.0f %%", 100*d.Seconds()/max(all.Seconds(), 1e-9))}})
	}
	rest := all
	for _, p := range phases {
		took := spent("", p.is)
		if !p.part {
			rest -= took
		} else if took <= 0 {
			continue
		}
		add(p.name, took)
	}
	add("Pictures, the page and all else", rest)
	for _, m := range methods {
		trials := t.Spent(m, timing.Scores).Count
		if trials == 0 {
			continue
		}
		words := []string{fmt.Sprint(trials)}
		for _, p := range []timing.Phase{timing.Factorising, timing.SetUp, timing.Initial, timing.Grouping, timing.Scores} {
			text := seconds(spent(m, p))
			if t.Spent(m, p).Count == 0 {
				text = "–"
			}
			words = append(words, text)
		}
		v.Methods = append(v.Methods, timeLine{m, words})
	}
	if drawn := t.Spent("", timing.DrawnWords); drawn.Count > 0 {
		v.Words = seconds(drawn.Time)
	}
	return v
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
