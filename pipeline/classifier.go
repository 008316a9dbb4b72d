package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/logistic"
)

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

// linear tells whether the classifier is the linear one.
func (c Classifier) linear() bool { return c.By == "linear" }

// check reports settings of another classifier than the one that is chosen.
func (c Classifier) check(n Neighbours) error {
	switch {
	case c.linear() && n != (Neighbours{}):
		return errors.New("neighbours are for the classifier of that name, and it is linear")
	case !c.linear() && (c.C != 0 || c.Scale != ""):
		return errors.New("classifier: c and scale are for by: linear")
	}
	return nil
}

// String returns the classifier in words, "" for the nearest training samples.
func (c Classifier) String() string {
	if !c.linear() {
		return ""
	}
	features := "standardised features"
	if c.Scale == "none" {
		features = "features as they are"
	}
	return fmt.Sprintf("logistic regression of %s, C = %v", features, cmp.Or(c.C, 1))
}

// classification returns in words how samples are classified.
func (e *Experiment) classification() string {
	return cmp.Or(e.Classifier.String(), e.Neighbours.String())
}

// classifies returns what classifies the samples of the experiment.
func (e *Experiment) classifies() func(ctx context.Context, train mat.Matrix, truth []int, test mat.Matrix) ([]int, error) {
	if e.Classifier.linear() {
		return e.Classifier.classify
	}
	return e.Neighbours.knn().Classify
}

// classify learns from train, n×m, whose classes are truth, and finds those of test, t×m.
func (c Classifier) classify(ctx context.Context, train mat.Matrix, truth []int, test mat.Matrix) ([]int, error) {
	if c.Scale != "none" {
		s := newStandard(train)
		train, test = s.of(train), s.of(test)
	}
	classes := 0
	for _, t := range truth {
		classes = max(classes, t+1)
	}
	model, err := logistic.Regression{C: c.C}.Fit(ctx, train, truth, classes)
	if err != nil {
		return nil, err
	}
	return model.Classify(test), nil
}

// need returns about how many bytes the linear classifier takes for n samples of m columns,
// tested others and k classes: the standardised samples, scores, and the weights with the
// 15 steps that L-BFGS remembers.
func (c Classifier) need(n, tested, m, k float64) float64 {
	return 8 * ((n+tested)*(m+2*k) + 40*k*(m+1))
}
