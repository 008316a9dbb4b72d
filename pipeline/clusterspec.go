package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Cluster says how representations are clustered, into as many clusters as there
// are classes. The zero value is the papers' usual choice, k-means with Euclidean
// distances, 20 random starts, the least objective.
type Cluster struct {
	// By is the algorithm's name, "" for k-means. The kernel and the spectral
	// ones take the inner products of the points.
	By       string
	Distance cluster.Distance
	Start    cluster.Init
	// Restarts is the number of starts; 0 means 20.
	Restarts int
}

// UnmarshalYAML reads the name of an algorithm, or {by: kmeans, distance: cosine,
// restarts: 20, start: k-means++}.
func (c *Cluster) UnmarshalYAML(node ast.Node) error {
	if _, ok := text(node); ok {
		return c.setBy(node)
	}
	return fields(node, func(key string, value ast.Node) error {
		s, _ := text(value)
		var err error
		switch key {
		case "by":
			err = c.setBy(value)
		case "distance":
			if c.Distance, err = cluster.ParseDistance(s); err != nil {
				return refuse(value, "%v", err)
			}
		case "start":
			switch s {
			case "random":
				c.Start = cluster.Sample
			case "k-means++":
				c.Start = cluster.PlusPlus
			default:
				return refuse(value, "there is no start %q; there are random and k-means++", s)
			}
		case "restarts":
			c.Restarts, err = positive(value)
		default:
			return unknownKey("by, distance, start and restarts")
		}
		return err
	})
}

func (c *Cluster) setBy(node ast.Node) error {
	s, _ := text(node)
	if _, known := clusterers[s]; !known && s != Largest {
		return refuse(node, "nothing clusters by %q; there are %s", s, strings.Join(append(Clusterers(), Largest), ", "))
	}
	c.By = s
	return nil
}

// String returns the clustering in words.
func (c Cluster) String() string {
	start, restarts := "random", c.Restarts
	if c.Start == cluster.PlusPlus {
		start = "k-means++"
	}
	if restarts == 0 {
		restarts = 20
	}
	switch c.By {
	case Largest:
		return "each sample to its largest coefficient"
	case "", KMeans:
		return fmt.Sprintf("k-means, %s distance, the best of %d %s starts", c.Distance, restarts, start)
	case "constrained-kmeans", "seeded-kmeans":
		return fmt.Sprintf("%s, %s distance, from the means of the labelled samples", c.By, c.Distance)
	}
	return fmt.Sprintf("%s, the best of %d starts", c.By, restarts)
}

// Largest puts each sample into the cluster of its largest coefficient, as SS-NMF
// does; the rank is then the number of clusters.
const Largest = "largest"

// clusterers are the algorithms by name. What is told of the rows of x is in known.
var clusterers = map[string]func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error){
	KMeans: func(ctx context.Context, k cluster.KMeans, x mat.Matrix, _ draw) (*cluster.Result, error) {
		return k.Fit(ctx, x)
	},
	"cop-kmeans": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error) {
		must, cannot := known.links()
		return cluster.COPKMeans{KMeans: k}.Fit(ctx, x, must, cannot)
	},
	"constrained-kmeans": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error) {
		return cluster.ConstrainedKMeans{KMeans: k}.Fit(ctx, x, known.labels)
	},
	"seeded-kmeans": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error) {
		return cluster.SeededKMeans{KMeans: k}.Fit(ctx, x, known.labels)
	},
	"kernel-kmeans": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, _ draw) (*cluster.Result, error) {
		products, err := innerProducts(ctx, x, 1)
		if err != nil {
			return nil, err
		}
		return kernelKMeans(k).Fit(ctx, products)
	},
	"ss-kk": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error) {
		must, cannot := known.links()
		products, err := innerProducts(ctx, x, 3)
		if err != nil {
			return nil, err
		}
		return cluster.SSKK{KernelKMeans: kernelKMeans(k)}.Fit(ctx, products, must, cannot)
	},
	"ncut": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, _ draw) (*cluster.Result, error) {
		products, err := innerProducts(ctx, x, 4)
		if err != nil {
			return nil, err
		}
		return cluster.NormalisedCut{KMeans: k}.Fit(ctx, products)
	},
	"ss-snc": func(ctx context.Context, k cluster.KMeans, x mat.Matrix, known draw) (*cluster.Result, error) {
		must, cannot := known.links()
		products, err := innerProducts(ctx, x, 5)
		if err != nil {
			return nil, err
		}
		return cluster.SSSNC{NormalisedCut: cluster.NormalisedCut{KMeans: k}}.Fit(ctx, products, must, cannot)
	},
}

// linkClusterers are those that need links, or labels, which say them.
var linkClusterers = []string{"cop-kmeans", "ss-kk", "ss-snc"}

// labelClusterers are those that need labels.
var labelClusterers = []string{"constrained-kmeans", "seeded-kmeans"}

// Clusterers returns the names of the algorithms that cluster, which are methods
// too: they cluster the features themselves.
func Clusterers() []string { return slices.Sorted(maps.Keys(clusterers)) }

// about says what the methods do that take the features as they are.
var about = map[string]string{
	KMeans:               "k-means",
	"cop-kmeans":         "k-means under must-links and cannot-links (Wagstaff et al. 2001)",
	"constrained-kmeans": "k-means that starts at the means of labelled samples and keeps their labels (Basu, Banerjee and Mooney 2002)",
	"seeded-kmeans":      "k-means that starts at the means of labelled samples (Basu, Banerjee and Mooney 2002)",
	"kernel-kmeans":      "kernel k-means on the inner products of the samples",
	"ss-kk":              "kernel k-means with rewards and penalties for links (Kulis et al. 2005)",
	"ncut":               "normalised cuts on the inner products of the samples (Shi and Malik 2000; Ng, Jordan and Weiss 2001)",
	"ss-snc":             "normalised cuts with linked samples at the largest and the least similarity (Ji and Xu 2006)",
	Original:             "the nearest training samples, in a classification",
}

// About says what a method does that takes the features as they are.
func About(name string) (text string, ok bool) {
	text, ok = about[name]
	return text, ok
}

func kernelKMeans(k cluster.KMeans) cluster.KernelKMeans {
	return cluster.KernelKMeans{K: k.K, Restarts: k.Restarts, Seed: k.Seed}
}

// groups puts the rows of x, of which this is known, into k clusters.
func (c Cluster) groups(ctx context.Context, x mat.Matrix, k int, known draw, seed uint64) ([]int, error) {
	if c.By == Largest {
		n, r := x.Dims()
		out := make([]int, n)
		for i := range n {
			for j := range r {
				if x.At(i, j) > x.At(i, out[i]) {
					out[i] = j
				}
			}
		}
		return out, nil
	}
	by := clusterers[cmp.Or(c.By, KMeans)]
	res, err := by(ctx, cluster.KMeans{K: k, Distance: c.Distance, Init: c.Start, Restarts: c.Restarts, Seed: seed}, x, known)
	if err != nil {
		return nil, err
	}
	return res.Labels, nil
}

// innerProducts returns x·xᵀ, n×n, for an algorithm that holds so many matrices of its
// size, itself among them, which must fit into the memory that the context allows.
func innerProducts(ctx context.Context, x mat.Matrix, matrices int) (*mat.SymDense, error) {
	n, m := x.Dims()
	if err := memory.FromContext(ctx).Check(8*int64(matrices)*int64(n)*int64(n), fmt.Sprintf("the inner products of %d samples", n)); err != nil {
		return nil, err
	}
	if d, ok := x.(*mat.Dense); ok {
		return guard.Interruptible(ctx, func() (*mat.SymDense, error) {
			out := mat.NewSymDense(n, nil)
			blas.Syrk(d.RawMatrix(), out.RawSymmetric())
			return out, checkSquares(d, out)
		})
	}
	out := mat.NewSymDense(n, nil)
	s := x.(*sparse.CSR)
	row := make([]float64, m)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cols, vals := s.Row(i)
		for p, j := range cols {
			row[j] = vals[p]
		}
		for b := range i + 1 {
			var sum float64
			bc, bv := s.Row(b)
			for p, j := range bc {
				sum += bv[p] * row[j]
			}
			out.SetSym(i, b, sum)
		}
		for _, j := range cols {
			row[j] = 0
		}
	}
	return out, checkSquares(x, out)
}

// checkSquares reports a sample whose inner product with itself runs over or under what
// a float64 holds.
func checkSquares(x mat.Matrix, products *mat.SymDense) error {
	n, m := x.Dims()
	for i := range n {
		square := products.At(i, i)
		if square >= 1e-280 && !math.IsInf(square, 1) {
			continue
		}
		for j := range m {
			if v := x.At(i, j); v != 0 {
				return fmt.Errorf("sample %d: values such as %v have no inner products", i+1, v)
			}
		}
	}
	return nil
}
