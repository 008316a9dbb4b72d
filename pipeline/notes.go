package pipeline

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
)

// Notes says, a line each, what somebody should know of the inputs who reads
// results: that a known set is here in part only, what lay beside its samples and
// was left out, and which samples were left out and why.
func (e *Experiment) Notes(in *Inputs) []string {
	var notes []string
	d := e.Data
	info, _ := datasets.Lookup(in.Set.Known)
	if n := in.Set.Len(); in.Set.Known != "" && d.Samples == 0 && d.Largest == 0 && d.Part == "" && n != info.Samples {
		notes = append(notes, fmt.Sprintf("%d of the %d samples of %s are here", n, info.Samples, info.Name))
	}
	var left []string
	for _, l := range in.Set.LeftOut {
		left = append(left, l.String())
	}
	switch n := len(in.Skipped); n {
	case 0:
	case 1:
		left = append(left, "1 sample that cannot be used:")
	default:
		left = append(left, fmt.Sprintf("%d samples that cannot be used:", n))
	}
	if left != nil {
		notes = append(notes, "left out: "+strings.Join(left, ", "))
	}
	for _, s := range in.Skipped {
		notes = append(notes, "left out: "+s.Error())
	}
	return notes
}
