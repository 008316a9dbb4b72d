// Command count draws classes of sets of photographs and prints how far the number of groups that
// partwise cluster chooses is from the number of classes.
//
//	PARTWISE_DATA=folder go run ./bench/count [-draws 2] [caltech10=3,5,8,10 scenes13=3,6,9,13 …]
//
// Of each draw at most 600 photographs are looked at, by the features of the built-in network and
// k-means. Printed are the numbers with the largest gap of eigenvalues, which is chosen, and with the
// largest silhouette, and the means of |ln(number/classes)|, 0.1 for a tenth too few or too many.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/pipeline"
)

func main() {
	draws := flag.Int("draws", 2, "draws of each number of classes")
	flag.Parse()
	sets := flag.Args()
	if len(sets) == 0 {
		sets = []string{"corel5=2,4,5", "caltech10=3,5,8,10", "scenes13=3,6,9,13", "orl-pgm=5,10,20"}
	}
	fmt.Println("| | classes | by the gap | by the silhouette |\n|---|---|---|---|")
	for _, set := range sets {
		if err := run(context.Background(), set, *draws); err != nil {
			fmt.Fprintln(os.Stderr, "count:", err)
			os.Exit(1)
		}
	}
}

// mostSamples and mostGroups are how much is looked at.
const (
	mostSamples = 600
	mostGroups  = 40
)

func run(ctx context.Context, set string, draws int) error {
	name, counts, _ := strings.Cut(set, "=")
	e := &pipeline.Experiment{Data: pipeline.Data{Set: filepath.Join(os.Getenv("PARTWISE_DATA"), name), Pool: true}}
	e.Features.Auto = true
	whole, err := e.Open(ctx)
	if err != nil {
		return err
	}
	var gapError, silhouetteError []float64
	for _, count := range strings.Split(counts, ",") {
		k, err := strconv.Atoi(count)
		if err != nil || k < 2 || k > len(whole.Classes) {
			return fmt.Errorf("%s: %q classes of %d", name, count, len(whole.Classes))
		}
		var gaps, silhouettes []string
		for draw := range draws {
			src := rand.New(rand.NewPCG(uint64(k), uint64(draw)))
			drawn := src.Perm(len(whole.Classes))[:k]
			var rows []int
			for i, label := range whole.Labels {
				if slices.Contains(drawn, label) {
					rows = append(rows, i)
				}
			}
			if len(rows) > mostSamples {
				src.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				rows = rows[:mostSamples]
				slices.Sort(rows)
			}
			in, err := e.PrepareSet(ctx, whole.Subset(rows), pipeline.PrepareOptions{})
			if err != nil {
				return err
			}
			g := pipeline.Groups{Method: pipeline.Method{Name: pipeline.KMeans}, Cluster: pipeline.Cluster{Distance: cluster.DistanceCosine}}
			curve, err := g.CountCurve(ctx, in, 2, min(mostGroups, len(rows)/3), nil)
			in.Close()
			if err != nil {
				return err
			}
			gap, silhouette := curve.K[curve.Best()], curve.K[slices.Index(curve.Silhouette, slices.Max(curve.Silhouette))]
			gaps, silhouettes = append(gaps, fmt.Sprint(gap)), append(silhouettes, fmt.Sprint(silhouette))
			gapError = append(gapError, math.Abs(math.Log(float64(gap)/float64(k))))
			silhouetteError = append(silhouetteError, math.Abs(math.Log(float64(silhouette)/float64(k))))
		}
		fmt.Printf("| %s | %d | %s | %s |\n", name, k, strings.Join(gaps, ", "), strings.Join(silhouettes, ", "))
	}
	fmt.Printf("| %s | off by | %.2f | %.2f |\n", name, mean(gapError), mean(silhouetteError))
	return nil
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
