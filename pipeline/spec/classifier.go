package spec

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
	// Classification finds the class of test samples by their nearest training samples.
	Classification = eval.Classification
)

// Neighbours says how samples are classified. The zero value is by 10 neighbours and Euclidean distances.
type Neighbours struct {
	K        int              `setting:"k,text" default:"10" help:"how many neighbours vote"`
	Distance cluster.Distance `setting:"distance" help:"how far samples are from each other"`
}

// String returns the classification in words.
func (n Neighbours) String() string {
	return fmt.Sprintf("the %d nearest training samples, %s distance", cmp.Or(n.K, 10), n.Distance)
}

// Classifier says by what samples are classified. The zero value is by their nearest
// training samples, of which Neighbours says how many.
type Classifier struct {
	// By is "neighbours" or "linear": multinomial logistic regression with an L2 penalty.
	By string `setting:"by,text" values:"neighbours,linear" default:"neighbours" help:"the nearest training samples, or logistic regression"`
	// C is the weight of the samples beside the penalty of the linear classifier; 0 means 1.
	C float64 `setting:"c" default:"1" range:"(0,1e9]" help:"weight of the samples beside the penalty of the linear classifier"`
	// Scale is "standard", also where it is empty, or "none": see standardised.
	Scale string `setting:"scale" values:"standard,none" default:"standard" help:"what is done to features before the linear classifier sees them"`
}

// Linear tells whether the classifier is the linear one.
func (c Classifier) Linear() bool { return c.By == "linear" }

// String returns the classifier in words, "" for the nearest training samples.
func (c Classifier) String() string {
	if !c.Linear() {
		return ""
	}
	features := "standardised features"
	if c.Scale == "none" {
		features = "features as they are"
	}
	return fmt.Sprintf("logistic regression of %s, C = %v", features, cmp.Or(c.C, 1))
}
