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

// Options are what a Session is opened with beside its inputs and its model.
type Options struct {
	Store Store  // keeps the corrections, nil for none
	Model string // Model identifies the model, for instance by the SHA-256 sum of its file
	// Labels and Links are those under which the groups were found: the class of each sample of the set,
	// or "", and links of its samples. Those in the store replace them.
	Labels []string
	Links  datasets.Links
	// Copies holds for each row the original of its stack of copies, as Pictures.CopyOf does, or is nil.
	// A label of a picture counts for its copies in the same group.
	Copies []int
}

// Session is a person's work on the groups of n pictures. It is not safe for concurrent use.
type Session struct {
	in      *input.Inputs
	regroup *grouping.Regroup
	opt     Options

	states    []*corrections // in their order
	at        int            // the present one
	found     *cluster.Correction
	typical   []int        // the picture nearest to the middle of each group, or −1
	questions []Question   // of State
	skipped   map[int]bool // pictures about which nothing is asked any more
	log       []byte       // LogFile
	changed   bool         // since the model
	said      string
}

// mostPast is how many acts can be undone.
const mostPast = 200

// Open returns a session on the groups of a model. The inputs must be the samples that it was learned
// from, in the same order.
func Open(ctx context.Context, in *input.Inputs, m *models.Model, opt Options) (*Session, error) {
	base, err := m.GroupsOf(in)
	if err != nil {
		return nil, err
	}
	s := &Session{in: in, opt: opt, skipped: map[int]bool{}}
	if s.regroup, err = grouping.NewRegroup(ctx, in, m); err != nil {
		return nil, err
	}
	first := blank(len(base))
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
	return s, s.find(ctx)
}

func (s *Session) now() *corrections { return s.states[s.at] }

func (s *Session) find(ctx context.Context) error {
	c := s.now()
	known := c.known()
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
	s.found, s.typical = found, slices.Repeat([]int{-1}, len(c.names))
	for i, m := range near {
		if at := s.typical[m.Group]; at < 0 || m.Distance < near[at].Distance {
			s.typical[m.Group] = i
		}
	}
	s.questions = s.ask()
	return nil
}

// margin returns from 0 to 1 how surely picture i is in its group, compared with the next group.
func (s *Session) margin(i int) float64 {
	row := s.found.Shares.RawRowView(i)
	own, other := row[s.found.Labels[i]], 0.0
	for g, share := range row {
		if g != s.found.Labels[i] {
			other = max(other, share)
		}
	}
	return max(0, own-other)
}

// State returns the state to show.
func (s *Session) State() *State {
	now := s.now()
	out := &State{
		Groups: slices.Clone(s.found.Labels), Names: slices.Clone(now.names), Confidence: make([]int, len(s.found.Labels)),
		Told: []int{}, Must: append([][2]int{}, now.must...), Cannot: append([][2]int{}, now.cannot...),
		Questions: s.questions, Model: s.opt.Model, Acts: s.at, Said: s.said,
	}
	for i := range out.Confidence {
		out.Confidence[i] = int(math.Round(100 * s.margin(i)))
		if now.labels[i] >= 0 {
			out.Told = append(out.Told, i)
		}
	}
	if s.at > 0 {
		out.Undo = now.words
	}
	if s.at+1 < len(s.states) {
		out.Redo = s.states[s.at+1].words
	}
	return out
}

// Changed tells whether the groups or the corrections differ from those of the model.
func (s *Session) Changed() bool { return s.changed }

// Do performs an act. It returns a *MistakeError for an impossible one. An error changes nothing.
func (s *Session) Do(ctx context.Context, a Act) (*State, error) {
	if err := s.check(&a); err != nil {
		return nil, &MistakeError{err}
	}
	if a.Do == Skip {
		for _, i := range a.Pictures {
			s.skipped[i] = s.now().labels[i] < 0 || s.skipped[i]
		}
		s.said, s.questions = "", s.ask()
		return s.State(), nil
	}
	next := s.now().clone()
	own, err := s.perform(ctx, next, &a)
	if err == nil && next.known().Check(len(next.labels)) != nil {
		err = errors.New("this contradicts an earlier correction; undo that first")
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &MistakeError{err}
	}
	before := s.found.Labels
	err = s.change(ctx, append(slices.Clone(s.states[:s.at+1]), next), s.at+1, s.entryOf(a))
	switch {
	case errors.Is(err, cluster.ErrDeadEnd):
		return nil, &MistakeError{fmt.Errorf("%s cannot separate all pictures marked as different: create a new group first",
			phrase.Count(len(next.names), "group", "groups"))}
	case err != nil:
		return nil, err
	}
	s.said = strings.ToUpper(next.words[:1]) + next.words[1:] + "."
	followed := 0 // pictures that moved beside those of the act
	for i, g := range s.found.Labels {
		if g != before[i] && !own[i] {
			followed++
		}
	}
	switch {
	case followed == 0:
	case len(own) > 0:
		s.said += " " + phrase.Count(followed, "other picture", "other pictures") + " moved with that."
	default:
		s.said += " " + pictures(followed) + " moved."
	}
	return s.State(), nil
}

// change goes to a state, finds the groups, and keeps them. An error changes nothing.
func (s *Session) change(ctx context.Context, states []*corrections, at int, e entry) error {
	was := *s
	first := max(0, at-mostPast)
	s.states, s.at, s.changed = states[first:], at-first, true
	if err := s.find(ctx); err != nil {
		*s = was
		return err
	}
	s.note(e)
	if err := s.keep(); err != nil {
		*s = was
		return errors.Join(err, s.keep())
	}
	return nil
}

// Undo takes the last act back.
func (s *Session) Undo(ctx context.Context) (*State, error) { return s.step(ctx, -1, "undo", "Undone") }

// Redo repeats the act that was undone last.
func (s *Session) Redo(ctx context.Context) (*State, error) { return s.step(ctx, 1, "redo", "Redone") }

// step goes to the state before or after the present one.
func (s *Session) step(ctx context.Context, by int, do Verb, did string) (*State, error) {
	to := s.at + by
	if to < 0 || to == len(s.states) {
		return nil, &MistakeError{fmt.Errorf("nothing to %s", do)}
	}
	act := s.states[max(to, s.at)]
	if err := s.change(ctx, s.states, to, entry{Do: do}); err != nil {
		return nil, err
	}
	s.said = did + ": " + act.words + "."
	return s.State(), nil
}

// Grouping returns the groups without empty ones. Labels become the classes of the inputs' set.
func (s *Session) Grouping(ctx context.Context) (*grouping.Grouping, error) {
	number, _ := s.numbers()
	groups := make([]int, len(s.found.Labels))
	for i, g := range s.found.Labels {
		groups[i] = number[g]
	}
	classes := s.classes(number)
	labelled := slices.ContainsFunc(classes, func(c string) bool { return c != "" })
	if labelled {
		s.in.Set.TellClasses(classes)
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
	askedOf   = 100 // the most unsure pictures are candidates
	worthOf   = 500 // an answer is worth what it says about these most unsure pictures
	sureAt    = 0.9 // margin from which on an answer is worth nothing
	mostAsked = 20  // questions of a State
)

// ask finds the most useful questions. A is an unlabelled picture that is about as near to another group,
// and similar to many other unsure pictures. B is the nearest labelled picture of its group, or the typical
// one. There are none if all pictures are labelled or sure.
func (s *Session) ask() []Question {
	now := s.now()
	linked := map[[2]int]bool{}
	for _, p := range slices.Concat(now.must, now.cannot) {
		linked[p] = true
	}
	var unsure []int
	margin := make([]float64, len(s.found.Labels))
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
		group := s.found.Labels[i]
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
