// Package explore lets a simulated person correct the groups of photographs until 95 % are right, and prints the number
// of acts for partwise explore and for other ways.
//
//	PARTWISE_DATA=folder go test ./bench/explore -v -seeds 3 -most 400 -timeout 2h \
//	  -sets orl-pgm,corel5,caltech10,mat/COIL20.mat,scenes13
//
// partwise cluster makes the initial groups, one for each class. The best one-to-one mapping matches them to the
// classes. An act is one of:
//
//	by hand     the person moves a random wrong picture to its group
//	moves       the same, and answers the offers of partwise explore
//	random      the person labels a random picture, and answers the offers
//	questions   the person answers a question of partwise explore, and the offers
//
// A person looks through an offer, and takes its wrong pictures out if they are fewer than half: one act for each, and
// one for the rest. Else the offer is declined, which is an act too. The tables have medians over the seeds, and the time
// of an act.
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
	most  = flag.Int("most", 300, "acts at which a person gives up")
	sets  = flag.String("sets", "orl-pgm", "folders below PARTWISE_DATA")
)

var ways = []string{"by hand", "moves", "random", "questions"}

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
		row := fmt.Sprintf("| %s, %d | %.1f |", filepath.Base(name), len(of.truth), of.first[len(of.first)/2])
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
		if median["random"] > 0 && median["questions"] >= median["random"] {
			t.Errorf("%s: %d acts with questions, and %d at random", name, median["questions"], median["random"])
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
	g := grouping.Groups{K: k, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}, Seed: seed}
	g.Method = g.DefaultMethod(c.Inputs)
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
		groups, n := slices.Clone(found.Groups), 0
		do := func(a feedback.Act) *feedback.State {
			begin := time.Now()
			state, err := session.Do(t.Context(), a)
			must(t, err)
			took := time.Since(begin)
			c.total, c.slowest, c.calls = c.total+took, max(c.slowest, took), c.calls+1
			groups, n = state.Groups, n+1
			return state
		}
		for n < *most && p.right(groups) < enough {
			i := p.wrong(groups)
			switch questions := session.State().Questions; {
			case way == "by hand":
				groups[i] = p.group[c.truth[i]]
				n++
				continue
			case way == "random":
				for i = p.src.IntN(len(groups)); slices.Contains(session.State().Labelled, i); {
					i = p.src.IntN(len(groups))
				}
			case way == "questions" && len(questions) > 0:
				i = questions[0].Picture
			}
			state := do(feedback.Act{Do: feedback.Move, Pictures: []int{i}, Groups: []int{p.group[c.truth[i]]}})
			if of := state.Offer; len(of.Pictures) > 0 && p.right(groups) < enough {
				var right []int
				for at, i := range of.Pictures {
					if of.Groups[at] == p.group[c.truth[i]] {
						right = append(right, i)
					}
				}
				if wrong := len(of.Pictures) - len(right); wrong < len(right) {
					n += wrong
					do(feedback.Act{Do: feedback.Follow, Pictures: right})
				} else {
					do(feedback.Act{Do: feedback.Decline})
				}
			}
		}
		c.acts[way] = append(c.acts[way], n)
	}
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
