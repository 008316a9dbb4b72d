package spec

import (
	"cmp"
	"fmt"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Cluster is the clustering of representations. The zero value is the usual one of the papers: k-means with Euclidean
// distances, the best of 20 random starts, and one cluster for each class.
type Cluster struct {
	// By is the algorithm. Kernel and spectral algorithms use the inner products of the points.
	By       string           `setting:"by,text" default:"kmeans" help:"clustering algorithm"`
	Distance cluster.Distance `setting:"distance" help:"distance between points"`
	Start    cluster.Init     `setting:"start" help:"initialisation of k-means"`
	Restarts int              `setting:"restarts" default:"20" help:"number of starts; the result with the smallest objective is used"`
	Refine   bool             `setting:"refine" json:",omitempty" help:"after k-means, move single samples while the objective decreases"`
	// K is the number of groups in an experiment; a grouping has its own, Groups.K.
	K GroupCount `setting:"k" json:",omitzero" default:"the number of classes" help:"number of clusters: a number, a range such as 5..30 to choose from, or auto"`
}

// DecodeSetting reads the name of an algorithm, or {by: kmeans, distance: cosine, restarts: 20, start: k-means++,
// refine: true}.
func (c *Cluster) DecodeSetting(v *settings.Value) error {
	if err := settings.DecodeFields(v, c); err != nil {
		return err
	}
	if by := v.Get("by").Value; by != nil {
		v = by
	}
	c.By = enum.Fold(c.By, clusterings())
	return checkBy(c.By, v)
}

func checkBy(name string, v *settings.Value) error {
	if _, known := cluster.Lookup(name); !known && name != "" && name != Largest {
		return v.Errorf("unknown clusterer %q%s", name, phrase.Choices(name, clusterings()))
	}
	return nil
}

func clusterings() []string { return append(Clusterers(), Largest) }

// String describes the clustering in words.
func (c Cluster) String() string {
	restarts, how := cmp.Or(c.Restarts, 20), ""
	switch c.By {
	case Largest:
		how = "each sample to its largest coefficient"
	case "", KMeans:
		how = fmt.Sprintf("k-means, %s distance, the best of %d %s starts", c.Distance, restarts, c.Start)
		if c.Refine {
			how += ", refined"
		}
	case "constrained-kmeans", "seeded-kmeans":
		how = fmt.Sprintf("%s, %s distance, from the means of the labelled samples", c.By, c.Distance)
	case "guided-kmeans":
		how = c.By + ", cosine distance, from a classifier of the labelled samples"
	default:
		how = fmt.Sprintf("%s, the best of %d starts", c.By, restarts)
	}
	if c.K == (GroupCount{}) {
		return how
	}
	return fmt.Sprintf("%s, %s groups", how, c.K)
}

// Largest puts each sample into the cluster of its largest coefficient, as SS-NMF does. The rank is then the number of
// clusters.
const Largest = "largest"

// Clusterers returns the names of the clustering algorithms. As methods, they cluster the features themselves.
func Clusterers() []string {
	return lists.Map(cluster.Algorithms(), func(a cluster.Info) string { return a.Name })
}

// Task is the task by which representations are compared.
type Task = eval.Task

const (
	// Clustering clusters samples and compares the clusters with the classes.
	Clustering = eval.Clustering
	// Classification predicts the classes of test samples from training samples.
	Classification = eval.Classification
)

// Neighbours is the nearest-neighbour classifier. The zero value uses 10 neighbours and Euclidean distances.
type Neighbours struct {
	K        int              `setting:"k,text" default:"10" help:"number of nearest neighbours that vote"`
	Distance cluster.Distance `setting:"distance" help:"distance between samples"`
}

// String describes the classifier in words.
func (n Neighbours) String() string {
	return fmt.Sprintf("the %d nearest training samples, %s distance", cmp.Or(n.K, 10), n.Distance)
}

// Classifier is the classifier of test samples. The zero value is the nearest-neighbour classifier, with the settings
// in Neighbours.
type Classifier struct {
	// By is "neighbours" or "linear", which is multinomial logistic regression with an L2 penalty.
	By string `setting:"by,text" values:"neighbours,linear" default:"neighbours" help:"k nearest neighbours, or linear logistic regression"`
	// C is the weight of the loss relative to the penalty of the linear classifier; 0 means 1.
	C float64 `setting:"c" default:"1" range:"(0,1e9]" help:"inverse regularisation strength C of logistic regression"`
	// Scale is "standard", the default, which scales features to mean 0 and variance 1, or "none".
	Scale string `setting:"scale" values:"standard,none" default:"standard" help:"scaling of features for the linear classifier; standard: mean 0, variance 1"`
}

// Linear reports whether the classifier is the linear one.
func (c Classifier) Linear() bool { return c.By == "linear" }

// String describes the classifier in words, "" for nearest neighbours.
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
