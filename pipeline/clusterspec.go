package pipeline

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed4492f2cd/partwise/cluster"
)

// Cluster says how representations are clustered: by k-means with as many
// clusters as there are classes. The zero value is the papers' usual choice,
// Euclidean distances, 20 random starts, the least objective.
type Cluster struct {
	Distance cluster.Distance
	Start    cluster.Init
	// Restarts is the number of starts; 0 means 20.
	Restarts int
}

// UnmarshalYAML reads {distance: cosine, restarts: 20, start: k-means++}.
func (c *Cluster) UnmarshalYAML(node ast.Node) error {
	return fields(node, func(key string, value ast.Node) error {
		s, _ := text(value)
		var err error
		switch key {
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
			return errUnknownKey
		}
		return err
	})
}

// kMeans returns the k-means for k clusters.
func (c Cluster) kMeans(k int, seed uint64) cluster.KMeans {
	return cluster.KMeans{K: k, Distance: c.Distance, Init: c.Start, Restarts: c.Restarts, Seed: seed}
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
	return fmt.Sprintf("k-means, %s distance, the best of %d %s starts", c.Distance, restarts, start)
}
