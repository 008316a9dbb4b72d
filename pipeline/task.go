package pipeline

import (
	"cmp"
	"fmt"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
)

// Task is what representations are judged by.
type Task = eval.Task

const (
	// Clustering puts samples into groups and compares these with the classes.
	Clustering = eval.Clustering
	// Classification finds the class of test samples by their nearest training
	// samples.
	Classification = eval.Classification
)

// Neighbours says how samples are classified. The zero value is by 10
// neighbours and Euclidean distances.
type Neighbours struct {
	// K is how many neighbours vote; 0 means 10.
	K        int              `setting:"k,text" default:"10" help:"how many neighbours vote"`
	Distance cluster.Distance `setting:"distance" help:"how far samples are from each other"`
}

// String returns the classification in words.
func (n Neighbours) String() string {
	return fmt.Sprintf("the %d nearest training samples, %s distance", cmp.Or(n.K, 10), n.Distance)
}
