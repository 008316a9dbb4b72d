// Command explore lets a simulated person correct the groups of photographs until 95 % of them are
// right, and prints how many acts that takes, in the way of partwise explore and in others.
//
//	PARTWISE_DATA=folder go run ./bench/explore [-seeds 5] [-most 400] [corel5 caltech10 …]
//
// The groups are those of k-means on the features of the built-in network, as many as there are
// classes, each of which stands for the class that the best one-to-one mapping gives it. An act
// is one of:
//
//	by hand         the person moves a wrong picture to its group; no other moves
//	k-means again   the same, and then seeded k-means starts from the means of what was told
//	explore         the same, and the groups are found again as partwise explore does
//	answers         the person answers the question of partwise explore, with yes or no
//	both            of three acts one is an answer, and two are moves
//
// Which wrong picture is drawn at random. Printed are medians over the seeds, and how long
// an act of explore takes.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

func main() {
	seeds := flag.Int("seeds", 5, "how many starts of k-means")
	most := flag.Int("most", 400, "acts at which a person gives up")
	flag.Parse()
	sets := flag.Args()
	if len(sets) == 0 {
		sets = []string{"corel5", "caltech10", "scenes13", "orl-pgm"}
	}
	fmt.Printf("| | right at first, %% | %s | seconds an act |\n|---|---|%s---|\n", strings.Join(ways, " | "), strings.Repeat("---|", len(ways)))
	for _, set := range sets {
		if err := run(context.Background(), set, *seeds, *most); err != nil {
			fmt.Fprintln(os.Stderr, "explore:", err)
			os.Exit(1)
		}
	}
}

var ways = []string{"by hand", "k-means again", "explore", "answers", "both"}

// enough is the share of right pictures at which the person stops.
const enough = 0.95

func run(ctx context.Context, name string, seeds, most int) error {
	e := &spec.Experiment{Data: spec.Data{Set: filepath.Join(os.Getenv("PARTWISE_DATA"), name), OpenOptions: datasets.OpenOptions{Pool: true}}}
	e.Features.Auto = true
	in, err := input.Prepare(ctx, e, input.PrepareOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	truth, k := in.Labels(), len(in.Set.Classes)
	first, acts := []float64{}, map[string][]int{}
	var slowest, total time.Duration
	calls := 0
	for seed := range seeds {
		g := grouping.Groups{K: k, Method: spec.Method{Name: spec.KMeans}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}, Seed: uint64(seed)}
		found, err := g.Find(ctx, in, nil)
		if err != nil {
			return err
		}
		model, err := found.Model(ctx, in)
		if err != nil {
			return err
		}
		p := newPerson(found.Groups, truth, k)
		first = append(first, 100*p.right(found.Groups))
		for _, way := range ways {
			session, err := feedback.Open(ctx, in, model, feedback.Options{})
			if err != nil {
				return err
			}
			p.src = rand.New(rand.NewPCG(uint64(seed), 1))
			groups, labels, n := slices.Clone(found.Groups), slices.Repeat([]int{-1}, len(truth)), 0
			for ; n < most && p.right(groups) < enough; n++ {
				begin := time.Now()
				ours := true
				switch questions := session.State().Questions; {
				case way == "by hand" || way == "k-means again":
					ours = false
					i := p.wrong(groups)
					labels[i] = p.group[truth[i]]
					if groups[i] = labels[i]; way == "k-means again" {
						if groups, err = again(ctx, in.X, k, labels, uint64(seed)); err != nil {
							return err
						}
					}
				case (way == "answers" || way == "both" && n%3 == 0) && len(questions) > 0:
					q := questions[0]
					act := feedback.Act{Do: feedback.Apart, Pictures: []int{q.A, q.B}}
					if truth[q.A] == truth[q.B] {
						act.Do = feedback.Together
					}
					groups, err = do(ctx, session, act)
				default:
					i := p.wrong(groups)
					groups, err = do(ctx, session, feedback.Act{Do: feedback.Move, Pictures: []int{i}, Groups: []int{p.group[truth[i]]}})
				}
				if err != nil {
					return err
				}
				if ours {
					took := time.Since(begin)
					total, slowest, calls = total+took, max(slowest, took), calls+1
				}
			}
			acts[way] = append(acts[way], n)
		}
	}
	slices.Sort(first)
	row := fmt.Sprintf("| %s, %d | %.1f |", name, len(truth), first[len(first)/2])
	for _, way := range ways {
		of := slices.Sorted(slices.Values(acts[way]))
		middle := fmt.Sprint(of[len(of)/2])
		if of[len(of)/2] == most {
			middle = fmt.Sprintf("over %d", most)
		}
		row += fmt.Sprintf(" %s (%d–%d) |", middle, of[0], of[len(of)-1])
	}
	fmt.Printf("%s %.2f, %.2f at most |\n", row, total.Seconds()/float64(max(calls, 1)), slowest.Seconds())
	return nil
}

func do(ctx context.Context, s *feedback.Session, a feedback.Act) ([]int, error) {
	state, err := s.Do(ctx, a)
	if err != nil {
		return nil, err
	}
	return state.Groups, nil
}

// again starts k-means again from what was told; a group of which nothing was told starts at a
// picture that is drawn.
func again(ctx context.Context, x mat.Matrix, k int, labels []int, seed uint64) ([]int, error) {
	res, err := cluster.SeededKMeans{KMeans: cluster.KMeans{K: k, Distance: cluster.DistanceCosine, Seed: seed}}.Fit(ctx, x, cluster.Known{Labels: labels})
	if err != nil {
		return nil, err
	}
	for i, g := range labels {
		if g >= 0 {
			res.Labels[i] = g
		}
	}
	return res.Labels, nil
}

// person knows the class of each picture, and which group stands for it.
type person struct {
	truth []int
	group []int // of each class
	src   *rand.Rand
}

func newPerson(groups, truth []int, k int) *person {
	p := &person{truth: truth, group: slices.Repeat([]int{-1}, k)}
	taken := make([]bool, k)
	for g, class := range eval.Mapping(truth, groups) {
		p.group[class], taken[g] = g, true
	}
	for class, g := range p.group {
		if g < 0 {
			p.group[class] = slices.Index(taken, false)
			taken[p.group[class]] = true
		}
	}
	return p
}

// right returns the share of pictures that are in the group of their class.
func (p *person) right(groups []int) float64 {
	n := 0
	for i, g := range groups {
		if g == p.group[p.truth[i]] {
			n++
		}
	}
	return float64(n) / float64(len(groups))
}

// wrong draws a picture that is not.
func (p *person) wrong(groups []int) int {
	var of []int
	for i, g := range groups {
		if g != p.group[p.truth[i]] {
			of = append(of, i)
		}
	}
	return of[p.src.IntN(len(of))]
}
