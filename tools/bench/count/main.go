// Command count draws classes of sets of photographs and prints how far the number of groups that
// partwise cluster chooses is from the number of classes, beside other rules.
//
//	PARTWISE_DATA=folder go run ./bench/count [-draws 2] [-samples 600] [caltech10=3,5,8,10 generated=2,5,20 …]
//	go run ./bench/count -planted
//
// Of each draw at most 600 photographs are looked at, by the features of the built-in network, or
// drawings by their greys, and k-means. Printed are the numbers with the largest gap of
// eigenvalues, which is chosen, and with the largest silhouette, and the ranks that are chosen by
// entries held out and by stability, which are no numbers of groups; and the means of
// |ln(number/classes)|, 0.1 for a tenth too few or too many.
//
// With -planted the ranks are those of products of two random factors, of which half the entries are
// 0, and noise: of normal errors of 10, 30 and 60 % of the data's root mean square, below 0
// cut off.
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

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

func main() {
	draws := flag.Int("draws", 2, "draws of each number of classes")
	samples := flag.Int("samples", 600, "how many samples of a draw are looked at, at most")
	planted := flag.Bool("planted", false, "ranks of products of two factors")
	flag.Parse()
	sets := flag.Args()
	if len(sets) == 0 {
		sets = []string{"generated=2,5,10,20", "corel5=2,4,5", "caltech10=3,5,8,10", "scenes13=3,6,9,13", "orl-pgm=5,10,20"}
	}
	ctx := context.Background()
	err := error(nil)
	if *planted {
		err = plantedRanks(ctx)
	} else {
		fmt.Printf("| | classes | %s |\n|---|---|%s\n", strings.Join(rules, " | "), strings.Repeat("---|", len(rules)))
		for _, set := range sets {
			if err = run(ctx, set, *draws, *samples); err != nil {
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
}

// rules are what chooses a number.
var rules = []string{"gap of eigenvalues", "silhouette", "rank, held out", "rank, stability"}

// mostGroups is how many groups are looked at.
const mostGroups = 40

func run(ctx context.Context, set string, draws, samples int) error {
	name, counts, _ := strings.Cut(set, "=")
	e := &spec.Experiment{Data: spec.Data{Set: name, OpenOptions: datasets.OpenOptions{Pool: true}}}
	if name != "generated" {
		e.Data.Set, e.Features.Auto = filepath.Join(os.Getenv("PARTWISE_DATA"), name), true
	}
	whole, err := input.Open(ctx, e)
	if err != nil {
		return err
	}
	off := make([]float64, len(rules))
	all := 0
	for _, count := range strings.Split(counts, ",") {
		k, err := strconv.Atoi(count)
		if err != nil || k < 2 || k > len(whole.Classes) {
			return fmt.Errorf("%s: %q classes of %d", name, count, len(whole.Classes))
		}
		numbers := make([][]string, len(rules))
		for draw := range draws {
			src := rand.New(rand.NewPCG(uint64(k), uint64(draw)))
			drawn := src.Perm(len(whole.Classes))[:k]
			var rows []int
			for i, label := range whole.Labels {
				if slices.Contains(drawn, label) {
					rows = append(rows, i)
				}
			}
			if len(rows) > samples {
				src.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				rows = rows[:samples]
				slices.Sort(rows)
			}
			in, err := input.PrepareSet(ctx, e, whole.Subset(rows), input.PrepareOptions{})
			if err != nil {
				return err
			}
			chosen, err := choose(ctx, in)
			in.Close()
			if err != nil {
				return err
			}
			for i, c := range chosen {
				numbers[i] = append(numbers[i], strconv.Itoa(c))
				off[i] += math.Abs(math.Log(float64(c) / float64(k)))
			}
			all++
		}
		fmt.Printf("| %s | %d |", name, k)
		for _, n := range numbers {
			fmt.Printf(" %s |", strings.Join(n, ", "))
		}
		fmt.Println()
	}
	fmt.Printf("| %s | off by |", name)
	for _, sum := range off {
		fmt.Printf(" %.2f |", sum/float64(all))
	}
	fmt.Println()
	return nil
}

// choose returns what each rule chooses.
func choose(ctx context.Context, in *input.Inputs) ([]int, error) {
	n, _ := in.Dims()
	most := min(mostGroups, n/3)
	g := grouping.Groups{Method: spec.Method{Name: spec.KMeans}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}}
	curve, err := g.CountCurve(ctx, in, 2, most, nil)
	if err != nil {
		return nil, err
	}
	out := []int{curve.K[curve.Best()], curve.K[slices.Index(curve.Silhouette, slices.Max(curve.Silhouette))]}
	for _, by := range []factor.RankRule{factor.RankHeldOut, factor.RankStability} {
		c, err := grouping.ChooseRank(ctx, spec.AutoRank{By: by}, in, 0, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, c.Rank)
	}
	return out, nil
}

// plantedRanks prints the ranks that are chosen of data whose rank is known.
func plantedRanks(ctx context.Context) error {
	ranks := []int{2, 3, 5, 8, 12, 16, 20}
	fmt.Print("| noise, rule |")
	for _, k := range ranks {
		fmt.Printf(" %d |", k)
	}
	fmt.Printf(" off by |\n|---|%s\n", strings.Repeat("---|", len(ranks)+1))
	for _, noise := range []float64{0.1, 0.3, 0.6} {
		for _, by := range []factor.RankRule{factor.RankHeldOut, factor.RankStability} {
			fmt.Printf("| %.0f %%, %s |", 100*noise, by)
			var off float64
			for _, k := range ranks {
				rank, _, err := factor.ChooseRank(ctx, product(200, 150, k, noise), factor.RankSearch{By: by})
				if err != nil {
					return err
				}
				fmt.Printf(" %d |", rank)
				off += math.Abs(math.Log(float64(rank)/float64(k))) / float64(len(ranks))
			}
			fmt.Printf(" %.2f |\n", off)
		}
	}
	return nil
}

// product returns n×m data of the rank k with noise.
func product(n, m, k int, noise float64) *mat.Dense {
	src := rand.New(rand.NewPCG(uint64(k), 5))
	draw := func(rows, columns int) *mat.Dense {
		a := mat.NewDense(rows, columns, nil)
		a.Apply(func(_, _ int, _ float64) float64 {
			if src.Float64() < 0.5 {
				return src.ExpFloat64()
			}
			return 0
		}, a)
		return a
	}
	x := mat.NewDense(n, m, nil)
	x.Mul(draw(n, k), draw(k, m))
	deviation := noise * mat.Norm(x, 2) / math.Sqrt(float64(n*m))
	x.Apply(func(_, _ int, v float64) float64 { return max(0, v+deviation*src.NormFloat64()) }, x)
	return x
}
