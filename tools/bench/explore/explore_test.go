// Package explore lets a simulated person correct the groups of photographs until 95 % are right, and prints the number
// of acts for partwise explore and for other ways.
//
//	PARTWISE_DATA=folder go test ./bench/explore -v -seeds 3 -most 400 -sets corel5,caltech10,scenes13,orl-pgm -timeout 2h
//
// The initial groups are those of k-means on the features of the built-in network, one for each class, matched to the
// classes by the best one-to-one mapping. An act is one of:
//
//	by hand         the person moves a wrong picture to its group; no other picture moves
//	k-means again   the same, and then seeded k-means starts from the means of labelled pictures
//	explore         the same, and the groups are updated as in partwise explore
//	answers         the person answers a question of partwise explore, with yes or no
//	both            of three acts, one is an answer, and two are moves
//
// The wrong picture is random. The tables have medians over the seeds, and the time of an act of explore.
package explore

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var (
	seeds = flag.Int("seeds", 1, "how many starts of k-means")
	most  = flag.Int("most", 120, "acts at which a person gives up")
	sets  = flag.String("sets", "orl-pgm", "folders below PARTWISE_DATA")
)

var ways = []string{"by hand", "k-means again", "explore", "answers", "both"}

// enough is the fraction of right pictures at which the person stops.
const enough = 0.95

// TestExplore measures whether explore needs fewer acts than corrections by hand.
func TestExplore(t *testing.T) {
	folder := testkit.NeedFolder(t, testkit.DataFolder)
	fmt.Printf("| | right at first, %% | %s | seconds an act |\n|---|---|%s---|\n", strings.Join(ways, " | "), strings.Repeat("---|", len(ways)))
	for name := range strings.SplitSeq(*sets, ",") {
		e := &spec.Experiment{Data: spec.Data{Set: filepath.Join(folder, name), OpenOptions: datasets.OpenOptions{Pool: true}}, Features: spec.Features{Auto: true}}
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		must(t, err)
		of := &corrected{Inputs: in, truth: in.Labels(), acts: map[string][]int{}}
		for seed := range *seeds {
			of.run(t, uint64(seed))
		}
		in.Close()
		slices.Sort(of.first)
		row := fmt.Sprintf("| %s, %d | %.1f |", name, len(of.truth), of.first[len(of.first)/2])
		median := map[string]int{}
		for _, way := range ways {
			n := slices.Sorted(slices.Values(of.acts[way]))
			median[way] = n[len(n)/2]
			middle := fmt.Sprint(median[way])
			if median[way] == *most {
				middle = fmt.Sprintf("over %d", *most)
			}
			row += fmt.Sprintf(" %s (%d–%d) |", middle, n[0], n[len(n)-1])
		}
		fmt.Printf("%s %.2f, %.2f at most |\n", row, of.total.Seconds()/float64(max(of.calls, 1)), of.slowest.Seconds())
		if median["explore"] > 0 && median["explore"] >= median["by hand"] {
			t.Errorf("%s: explore takes %d acts, and by hand there are %d", name, median["explore"], median["by hand"])
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// corrected is a set with the results of its corrections.
type corrected struct {
	*input.Inputs
	truth          []int
	first          []float64        // the initial fractions of right pictures, in percent
	acts           map[string][]int // of each way
	total, slowest time.Duration    // of a session's calls
	calls          int
}

// run corrects the groups of one start in each way.
func (c *corrected) run(t *testing.T, seed uint64) {
	k := len(c.Set.Classes)
	g := grouping.Groups{K: k, Method: spec.Method{Name: spec.KMeans}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}, Seed: seed}
	found, err := g.Find(t.Context(), c.Inputs, nil)
	must(t, err)
	model, err := found.Model(t.Context(), c.Inputs)
	must(t, err)
	p := newPerson(found.Groups, c.truth, k)
	c.first = append(c.first, 100*p.right(found.Groups))
	for _, way := range ways {
		session, err := feedback.Open(t.Context(), c.Inputs, model, feedback.Options{})
		must(t, err)
		p.src = rand.New(rand.NewPCG(seed, 1))
		groups, labels, n := slices.Clone(found.Groups), slices.Repeat([]int{-1}, len(c.truth)), 0
		for ; n < *most && p.right(groups) < enough; n++ {
			if way == "by hand" || way == "k-means again" {
				i := p.wrong(groups)
				labels[i] = p.group[c.truth[i]]
				if groups[i] = labels[i]; way == "k-means again" {
					groups = again(t, c.X, k, labels, seed)
				}
				continue
			}
			begin := time.Now()
			var act feedback.Act
			if questions := session.State().Questions; (way == "answers" || way == "both" && n%3 == 0) && len(questions) > 0 {
				q := questions[0]
				act = feedback.Act{Do: feedback.Apart, Pictures: []int{q.A, q.B}}
				if c.truth[q.A] == c.truth[q.B] {
					act.Do = feedback.Together
				}
			} else {
				i := p.wrong(groups)
				act = feedback.Act{Do: feedback.Move, Pictures: []int{i}, Groups: []int{p.group[c.truth[i]]}}
			}
			state, err := session.Do(t.Context(), act)
			must(t, err)
			groups = state.Groups
			took := time.Since(begin)
			c.total, c.slowest, c.calls = c.total+took, max(c.slowest, took), c.calls+1
		}
		c.acts[way] = append(c.acts[way], n)
	}
}

// again restarts k-means from the means of labelled pictures; a group without labels starts at a random picture.
func again(t *testing.T, x mat.Matrix, k int, labels []int, seed uint64) []int {
	res, err := cluster.SeededKMeans{KMeans: cluster.KMeans{K: k, Distance: cluster.DistanceCosine, Seed: seed}}.Fit(t.Context(), x, cluster.Known{Labels: labels})
	must(t, err)
	for i, g := range labels {
		if g >= 0 {
			res.Labels[i] = g
		}
	}
	return res.Labels
}

// person knows the class of each picture, and the group of each class.
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

// right returns the fraction of pictures that are in the group of their class.
func (p *person) right(groups []int) float64 {
	n := 0
	for i, g := range groups {
		if g == p.group[p.truth[i]] {
			n++
		}
	}
	return float64(n) / float64(len(groups))
}

// wrong draws a picture that is in another group.
func (p *person) wrong(groups []int) int {
	var of []int
	for i, g := range groups {
		if g != p.group[p.truth[i]] {
			of = append(of, i)
		}
	}
	return of[p.src.IntN(len(of))]
}
