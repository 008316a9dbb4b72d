package pipeline

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// Notes says, a line each, what somebody should know of the inputs who reads
// results: that a known set is here in part only, which pictures have no class, what lay beside its samples and
// was left out, and which samples were left out and why.
func (e *Experiment) Notes(in *Inputs) []string {
	var notes []string
	d := e.Data
	info, _ := datasets.Lookup(in.Set.Known)
	if n := in.Set.Len(); in.Set.Known != "" && d.Samples == 0 && d.Largest == 0 && d.Part == "" && n != info.Samples {
		notes = append(notes, fmt.Sprintf("%d of the %d samples of %s are here", n, info.Samples, info.Name))
	}
	if in.Set.FolderClasses {
		var beside []string
		for i, label := range in.Set.Labels {
			if label < 0 {
				beside = append(beside, in.Set.Names[i])
			}
		}
		if n := len(beside); n > 0 {
			notes = append(notes, fmt.Sprintf("%s beside the class folders, of no class: %s", phrase.Count(n, "picture", "pictures"), someOf(beside)))
		}
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
