package pipeline

import (
	"cmp"
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
)

// Task is what representations are judged by.
type Task int

const (
	// Clustering puts samples into groups and compares these with the classes.
	Clustering Task = iota
	// Classification finds the class of test samples by their nearest training
	// samples.
	Classification
)

var taskNames = []string{"cluster", "classify"}

// String returns the name that experiment files use.
func (t Task) String() string { return taskNames[t] }

// UnmarshalYAML reads cluster or classify.
func (t *Task) UnmarshalYAML(node ast.Node) error {
	s, _ := text(node)
	for i, name := range taskNames {
		if s == name {
			*t = Task(i)
			return nil
		}
	}
	return refuse(node, "there is no task %q; there are cluster and classify", s)
}

// Neighbours says how samples are classified. The zero value is by 10
// neighbours and Euclidean distances.
type Neighbours struct {
	// K is how many neighbours vote; 0 means 10.
	K        int
	Distance cluster.Distance
}

// UnmarshalYAML reads a number, or {k: 10, distance: cosine}.
func (n *Neighbours) UnmarshalYAML(node ast.Node) error {
	*n = Neighbours{}
	var err error
	if _, ok := text(node); ok {
		n.K, err = positive(node)
		return err
	}
	return fields(node, func(key string, value ast.Node) error {
		switch key {
		case "k":
			n.K, err = positive(value)
			return err
		case "distance":
			s, _ := text(value)
			if err = n.Distance.UnmarshalText([]byte(s)); err != nil {
				return refuse(value, "%v", err)
			}
			return nil
		}
		return unknownKey("k and distance")
	})
}

// String returns the classification in words.
func (n Neighbours) String() string {
	return fmt.Sprintf("the %d nearest training samples, %s distance", cmp.Or(n.K, 10), n.Distance)
}

// knn returns the classifier.
func (n Neighbours) knn() eval.KNN { return eval.KNN{K: n.K, Distance: n.Distance} }
