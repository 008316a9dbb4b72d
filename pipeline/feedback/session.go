// Package feedback applies a person's corrections to the groups of a model, with undo and redo. [Open] returns a
// [Session], and [Session.Do] performs an [Act]. A [Store] keeps the corrections for later sessions and groupings.
package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
)

// Options are the settings of Open.
type Options struct {
	Store Store  // saves the corrections; nil saves nothing
	Model string // identifies the model, for instance by the SHA-256 sum of its file
	// Labels and Links are the labels and links with which the groups were found: the class of each sample of the set,
	// or "", and links of its samples. Labels and links in the store replace them.
	Labels []string
	Links  datasets.Links
	// Copies holds for each row the original of its stack of copies, as in Pictures.CopyOf, or is nil. A label of a
	// picture also labels its copies in the same group.
	Copies []int
}

// Session applies a person's corrections to the groups of n pictures. It is not safe for concurrent use.
type Session struct {
	in      *input.Inputs
	regroup *grouping.Regroup
	opt     Options

	states    []*corrections // in order
	present   int            // the index of the present state
	result    *cluster.Correction
	typical   []int        // the picture nearest to the centre of each group, or −1
	questions []Question   // of State
	skipped   map[int]bool // pictures without further questions
	log       []byte       // the content of LogFile
	changed   bool         // whether groups or corrections differ from the model's
	effect    string
}

// mostPast is the largest number of acts that can be undone.
const mostPast = 200

// Open returns a session on the groups of a model. The inputs must be the samples from which the model was learned, in
// the same order.
func Open(ctx context.Context, in *input.Inputs, m *models.Model, opt Options) (*Session, error) {
	base, err := m.GroupsOf(in)
	if err != nil {
		return nil, err
	}
	s := &Session{in: in, opt: opt, skipped: map[int]bool{}}
	if s.regroup, err = grouping.NewRegroup(ctx, in, m); err != nil {
		return nil, err
	}
	first := uncorrected(len(base))
	first.base, first.names = base, make([]string, len(m.Groups.Names))
	for g, name := range m.Groups.Names {
		if first.checkName(name, g) == nil {
			first.names[g] = name
		}
	}
	s.states = []*corrections{first}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, s.findGroups(ctx)
}

func (s *Session) current() *corrections { return s.states[s.present] }

func (s *Session) findGroups(ctx context.Context) error {
	c := s.current()
	known := c.constraints()
	if err := s.regroup.Factorise(ctx, known); err != nil {
		return err
	}
	found, err := s.regroup.Find(ctx, len(c.names), c.base, known)
	if err != nil {
		return err
	}
	near, err := cluster.Memberships(ctx, cluster.DistanceCosine, s.regroup.Points(), found.Labels)
	if err != nil {
		return err
	}
	s.result, s.typical = found, slices.Repeat([]int{-1}, len(c.names))
	for i, m := range near {
		if at := s.typical[m.Group]; at < 0 || m.Distance < near[at].Distance {
			s.typical[m.Group] = i
		}
	}
	s.questions = s.findQuestions()
	return nil
}

// margin returns from 0 to 1 how certain the group of picture i is, compared with the second-best group.
func (s *Session) margin(i int) float64 {
	row := s.result.Shares.RawRowView(i)
	own, other := row[s.result.Labels[i]], 0.0
	for g, share := range row {
		if g != s.result.Labels[i] {
			other = max(other, share)
		}
	}
	return max(0, own-other)
}

// State returns the state to show.
func (s *Session) State() *State {
	now := s.current()
	out := &State{
		Groups: slices.Clone(s.result.Labels), Names: slices.Clone(now.names), Confidence: make([]int, len(s.result.Labels)),
		Labelled: []int{}, Must: append([][2]int{}, now.must...), Cannot: append([][2]int{}, now.cannot...),
		Questions: s.questions, Model: s.opt.Model, Acts: s.present, Effect: s.effect,
	}
	for i := range out.Confidence {
		out.Confidence[i] = int(math.Round(100 * s.margin(i)))
		if now.labels[i] >= 0 {
			out.Labelled = append(out.Labelled, i)
		}
	}
	if s.present > 0 {
		out.Undo = now.description
	}
	if s.present+1 < len(s.states) {
		out.Redo = s.states[s.present+1].description
	}
	return out
}

// Changed reports whether the groups or the corrections differ from the model's.
func (s *Session) Changed() bool { return s.changed }

// Do performs an act. It returns a *MistakeError for an impossible act. An error changes nothing.
func (s *Session) Do(ctx context.Context, a Act) (*State, error) {
	if err := s.checkAct(&a); err != nil {
		return nil, &MistakeError{err}
	}
	if a.Do == Skip {
		for _, i := range a.Pictures {
			s.skipped[i] = s.current().labels[i] < 0 || s.skipped[i]
		}
		s.effect, s.questions = "", s.findQuestions()
		return s.State(), nil
	}
	next := s.current().clone()
	own, err := s.perform(ctx, next, &a)
	if err == nil && next.constraints().Check(len(next.labels)) != nil {
		err = errors.New("this contradicts an earlier correction; undo that first")
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &MistakeError{err}
	}
	before := s.result.Labels
	err = s.changeState(ctx, append(slices.Clone(s.states[:s.present+1]), next), s.present+1, s.entryOf(a))
	switch {
	case errors.Is(err, cluster.ErrDeadEnd):
		return nil, &MistakeError{fmt.Errorf("%s cannot separate all images marked as different: create a new group first",
			phrase.Count(len(next.names), "group", "groups"))}
	case err != nil:
		return nil, err
	}
	s.effect = strings.ToUpper(next.description[:1]) + next.description[1:] + "."
	followed := 0 // pictures outside of the act that moved
	for i, g := range s.result.Labels {
		if g != before[i] && !own[i] {
			followed++
		}
	}
	switch {
	case followed == 0:
	case len(own) > 0:
		s.effect += fmt.Sprintf(" %d of %s moved as well.", followed, phrase.Count(len(before)-len(own), "other image", "other images"))
	default:
		s.effect += fmt.Sprintf(" %d of %s moved.", followed, countPictures(len(before)))
	}
	return s.State(), nil
}

// changeState goes to a state, finds the groups and saves both. An error changes nothing.
func (s *Session) changeState(ctx context.Context, states []*corrections, at int, e logEntry) error {
	was := *s
	first := max(0, at-mostPast)
	s.states, s.present, s.changed = states[first:], at-first, true
	if err := s.findGroups(ctx); err != nil {
		*s = was
		return err
	}
	s.appendLog(e)
	if err := s.saveFiles(); err != nil {
		*s = was
		return errors.Join(err, s.saveFiles())
	}
	return nil
}

// Undo undoes the last act.
func (s *Session) Undo(ctx context.Context) (*State, error) { return s.step(ctx, -1, "undo", "Undone") }

// Redo repeats the act that was last undone.
func (s *Session) Redo(ctx context.Context) (*State, error) { return s.step(ctx, 1, "redo", "Redone") }

// step goes to the state before or after the present one.
func (s *Session) step(ctx context.Context, by int, do Verb, did string) (*State, error) {
	to := s.present + by
	if to < 0 || to == len(s.states) {
		return nil, &MistakeError{fmt.Errorf("nothing to %s", do)}
	}
	act := s.states[max(to, s.present)]
	if err := s.changeState(ctx, s.states, to, logEntry{Do: do}); err != nil {
		return nil, err
	}
	s.effect = did + ": " + act.description + "."
	return s.State(), nil
}

// Grouping returns the groups without empty ones. Their labels become the classes of the inputs' set.
func (s *Session) Grouping(ctx context.Context) (*grouping.Grouping, error) {
	number, _ := s.groupNumbers()
	groups := make([]int, len(s.result.Labels))
	for i, g := range s.result.Labels {
		groups[i] = number[g]
	}
	classes := s.classes(number)
	labelled := slices.ContainsFunc(classes, func(c string) bool { return c != "" })
	if labelled {
		s.in.Set.ReplaceClasses(classes)
	}
	g, err := s.regroup.Grouping(ctx, groups, labelled, s.links())
	if err != nil {
		return nil, err
	}
	for at, class := range g.GroupClasses {
		if class >= 0 && placeholders.MatchString(s.in.Set.Classes[class]) {
			g.GroupClasses[at] = -1
		}
	}
	return g, nil
}

const (
	askedOf   = 100 // the most uncertain pictures are candidates
	worthOf   = 500 // the value of an answer is its effect on these most uncertain pictures
	sureAt    = 0.9 // answers about pictures with this margin have no value
	mostAsked = 20  // questions of a State
)

// findQuestions finds the most informative questions. A is an unlabelled picture that is about as near to another group
// and similar to many other uncertain pictures. B is the nearest labelled picture of its group, or the typical one. It
// finds none if all pictures are labelled or certain.
func (s *Session) findQuestions() []Question {
	now := s.current()
	linked := map[[2]int]bool{}
	for _, p := range slices.Concat(now.must, now.cannot) {
		linked[p] = true
	}
	var unsure []int
	margin := make([]float64, len(s.result.Labels))
	labelled := make([][]int, len(now.names)) // of each group
	for i := range margin {
		if g := now.labels[i]; g >= 0 {
			labelled[g] = append(labelled[g], i)
		} else if margin[i] = s.margin(i); margin[i] < sureAt {
			unsure = append(unsure, i)
		}
	}
	slices.SortStableFunc(unsure, func(a, b int) int { return cmp.Compare(margin[a], margin[b]) })
	unsure = unsure[:min(len(unsure), worthOf)]
	worth := map[Question]float64{}
	var found []Question
	for _, i := range unsure[:min(len(unsure), askedOf)] {
		group := s.result.Labels[i]
		b, most := -1, -1.0
		for _, j := range labelled[group] {
			if c := s.regroup.Covariance(i, j); c > most {
				b, most = j, c
			}
		}
		if b < 0 && s.typical[group] != i {
			b = s.typical[group]
		}
		if s.skipped[i] || b < 0 || linked[[2]int{min(i, b), max(i, b)}] {
			continue
		}
		sum := 0.0
		for _, j := range unsure {
			sum += (1 - margin[j]) * s.regroup.Covariance(i, j)
		}
		if sum *= 1 - margin[i]; sum > 0 {
			q := Question{A: i, B: b}
			found, worth[q] = append(found, q), sum
		}
	}
	slices.SortStableFunc(found, func(a, b Question) int { return cmp.Compare(worth[b], worth[a]) })
	return append([]Question{}, found[:min(len(found), mostAsked)]...)
}
