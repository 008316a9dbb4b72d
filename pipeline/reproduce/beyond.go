package reproduce

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Beyond is the name of the comparison of the program's own method with others, which has no paper.
const Beyond = "beyond"

//go:embed beyond.yaml
var beyond []byte

// Comparison returns the experiment of [Beyond], and one experiment for each of its sets, features and numbers of labels,
// with their names. It leaves out sets that are not below root, and calls absent with the reason. Quick has fewer
// numbers of labels and repeats.
func Comparison(root string, quick bool, absent func(error)) (e *spec.Experiment, names []string, cells []*spec.Experiment, err error) {
	if e, err = spec.Parse(beyond); err != nil {
		return nil, nil, nil, err
	}
	labels := []string{"1", "2", "5", "10%", "30%"}
	if quick {
		labels, e.Repeats = []string{"2", "10%"}, 3
	}
	sets := e.SetNames()
	for i, of := range e.Each() {
		if _, err := catalogue.Find(of.Data.Set, root, of.Data.From); err != nil {
			absent(err)
			continue
		}
		for _, features := range []string{"pixels", "hog", "network"} {
			for _, count := range labels {
				if count == "10%" && slices.Contains([]string{"yale", "orl", "coil20"}, of.Data.Set) {
					continue // at most about 20 samples per class: the same as 2 labels
				}
				one := *of
				change, err := document.Parse(fmt.Appendf(nil, "features: %s\nlabels: %s\n", features, count))
				if err == nil {
					err = settings.Decode(change, &one)
				}
				if err != nil {
					return nil, nil, nil, err
				}
				name := fmt.Sprintf("%s-%s-%s", sets[i], features, strings.Replace(count, "%", "-percent", 1))
				one.Name, one.Data.Root, one.Data.Labelled = e.Name+"-"+name, root, true
				names, cells = append(names, name), append(cells, &one)
			}
		}
	}
	return e, names, cells, nil
}
