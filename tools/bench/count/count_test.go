// Package count measures how far the number of groups that partwise cluster chooses is from the number of classes in
// random draws, beside other rules, and how far chosen ranks are from known ranks.
//
//	PARTWISE_DATA=folder go test ./bench/count -v -draws 2 -samples 600 -sets "caltech10=3,5,8,10 generated=2,5,20"
//
// Each draw has at most the given number of samples, with the features of the built-in network for photographs or greys
// for drawings, and k-means. The tables have the number with the best description length, which partwise chooses, the
// number with the largest silhouette, and the ranks chosen by held-out entries and by stability, which are not numbers
// of groups; and the means of |ln(number/classes)|, 0.1 for 10 % too few or too many.
package count

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var (
	draws   = flag.Int("draws", 1, "draws of each number of classes")
	samples = flag.Int("samples", 200, "how many samples of a draw are looked at, at most")
	sets    = flag.String("sets", "corel5=2,4", "the sets, with the numbers of classes that are drawn")
	ranks   = flag.String("ranks", "3,5", "the ranks of the data whose rank is known")
)

// rules are the rules for choosing a number.
var rules = []string{"description length", "silhouette", "rank, held out", "rank, stability"}

// mostGroups is the largest number of groups.
const mostGroups = 40

// TestGroups measures the number of groups chosen by the description length.
func TestGroups(t *testing.T) {
	folder := testkit.NeedFolder(t, testkit.DataFolder)
	fmt.Printf("| | classes | %s |\n|---|---|%s\n", strings.Join(rules, " | "), strings.Repeat("---|", len(rules)))
	for of := range strings.FieldsSeq(*sets) {
		name, counts, _ := strings.Cut(of, "=")
		e := &spec.Experiment{Data: spec.Data{Set: name, OpenOptions: datasets.OpenOptions{Pool: true}}}
		if name != "generated" {
			e.Data.Set, e.Features.Auto = filepath.Join(folder, name), true
		}
		whole, err := input.Open(t.Context(), e)
		must(t, err)
		off, all := make([]float64, len(rules)), float64(*draws*len(numbers(t, counts)))
		for _, k := range numbers(t, counts) {
			chosen := make([][]string, len(rules))
			for draw := range *draws {
				in, err := input.PrepareSet(t.Context(), e, whole.Subset(rows(whole, k, draw)), input.PrepareOptions{})
				must(t, err)
				for i, c := range choose(t, in) {
					chosen[i] = append(chosen[i], strconv.Itoa(c))
					off[i] += distance(c, k) / all
				}
				in.Close()
			}
			fmt.Printf("| %s | %d |", name, k)
			for _, n := range chosen {
				fmt.Printf(" %s |", strings.Join(n, ", "))
			}
			fmt.Println()
		}
		fmt.Printf("| %s | off by |", name)
		for _, o := range off {
			fmt.Printf(" %.2f |", o)
		}
		fmt.Println()
		if e.Features.Auto && off[0] > 0.3 {
			t.Errorf("%s: the description length is off by %.2f", name, off[0])
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// numbers reads a comma-separated list.
func numbers(t *testing.T, list string) (out []int) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		must(t, err)
		out = append(out, n)
	}
	return out
}

// distance is 0.1 for 10 % too few or too many.
func distance(chosen, right int) float64 { return math.Abs(math.Log(float64(chosen) / float64(right))) }

// rows draws samples of k classes.
func rows(whole *datasets.Set, k, draw int) (rows []int) {
	src := rand.New(rand.NewPCG(uint64(k), uint64(draw)))
	drawn := src.Perm(len(whole.Classes))[:k]
	for i, label := range whole.Labels {
		if slices.Contains(drawn, label) {
			rows = append(rows, i)
		}
	}
	if len(rows) > *samples {
		src.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = rows[:*samples]
		slices.Sort(rows)
	}
	return rows
}

// choose returns the number that each rule chooses.
func choose(t *testing.T, in *input.Inputs) []int {
	n, _ := in.Dims()
	g := grouping.Groups{Method: spec.Method{Name: spec.KMeans}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}}
	curve, err := g.CountCurve(t.Context(), in, 2, min(mostGroups, n/3), nil)
	must(t, err)
	out := []int{curve.K[curve.Best], curve.K[slices.Index(curve.Silhouette, slices.Max(curve.Silhouette))]}
	for _, by := range []factor.RankRule{factor.RankHeldOut, factor.RankStability} {
		c, err := grouping.ChooseRank(t.Context(), spec.AutoRank{By: by}, in, 0, nil)
		must(t, err)
		out = append(out, c.Rank)
	}
	return out
}

// TestRanks measures the chosen ranks of products of two random factors, half of whose entries are 0, with normal noise
// of 10, 30 and 60 % of the data's root mean square, clipped at 0.
func TestRanks(t *testing.T) {
	known := numbers(t, *ranks)
	fmt.Print("| noise, rule |")
	for _, k := range known {
		fmt.Printf(" %d |", k)
	}
	fmt.Printf(" off by |\n|---|%s\n", strings.Repeat("---|", len(known)+1))
	for _, noise := range []float64{0.1, 0.3, 0.6} {
		for _, by := range []factor.RankRule{factor.RankHeldOut, factor.RankStability} {
			fmt.Printf("| %.0f %%, %s |", 100*noise, by)
			var off float64
			for _, k := range known {
				rank, _, err := factor.ChooseRank(t.Context(), product(200, 150, k, noise), factor.RankSearch{By: by})
				must(t, err)
				fmt.Printf(" %d |", rank)
				off += distance(rank, k) / float64(len(known))
			}
			fmt.Printf(" %.2f |\n", off)
			if by == factor.RankHeldOut && off > 0.2 {
				t.Errorf("with noise of %.0f %% the ranks are off by %.2f", 100*noise, off)
			}
		}
	}
}

// product returns n×m data of rank k with noise.
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
