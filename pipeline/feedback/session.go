// Package feedback applies a person's corrections to the groups of a model, with undo and redo. [Open] returns a
// [Session], and [Session.Do] performs an [Act]. A [Store] keeps the corrections for later sessions and groupings.
package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
)

// Options are the settings of Open.
type Options struct {
	Store Store  // saves the corrections
	Model string // identifies the model, for instance by the SHA-256 sum of its file
	// Copies holds for each row the original of its stack of copies, as in Pictures.CopyOf, or is nil. A label of a
	// picture also labels its copies in the same group.
	Copies []int
	// Warn, if set, gets a note of labels and links of photos that are gone; else they are an error.
	Warn func(note string)
	// Some holds for each row its sample of the model if samples are gone, else it is nil.
	Some []int
	// Days holds for each row the day of its photo, as in Pictures.Days, if offers and questions stay within a day, or is
	// nil.
	Days []int
}

// Session applies a person's corrections to the groups of n pictures. It is not safe for concurrent use.
type Session struct {
	in        *input.Inputs
	model     *models.Model
	points    mat.Matrix // the representation of the pictures, one a row
	corrected *cluster.Corrected
	opt       Options

	states    []*corrections      // in order
	present   int                 // the index of the present state
	result    *cluster.Correction // of the labels and links, for offers and questions
	typical   []int               // the picture nearest to the centre of each group, or −1
	days      map[int]int         // of groupDays
	questions []Question          // of State
	skipped   map[int]bool        // pictures without further questions
	offer     Offer
	open      map[int]bool    // groups to which acts moved pictures, until the offer is answered
	declined  map[[2]int]bool // pictures with the groups of declined offers
	log       []byte          // the content of LogFile
	changed   bool            // whether groups or corrections differ from the model's
	effect    string
}

const mostPast = 200

// Open returns a session on the groups of a model. The inputs must be the samples from which the model was learned, or
// opt.Some of them, in the same order.
func Open(ctx context.Context, in *input.Inputs, m *models.Model, opt Options) (s *Session, err error) {
	defer guard.Catch(&err)
	base := guard.Must(m.GroupsOf(in, opt.Some))
	s = &Session{in: in, model: m, opt: opt, skipped: map[int]bool{}, open: map[int]bool{}, declined: map[[2]int]bool{}}
	s.points = guard.Must(m.Represent(ctx, in))
	s.corrected = guard.Must(cluster.NewCorrected(s.points))
	first := uncorrected(len(base))
	first.groups, first.names = base, make([]string, len(m.Groups.Names))
	for g, name := range m.Groups.Names {
		if first.checkName(name, g) == nil {
			first.names[g] = name
		}
	}
	s.states = []*corrections{first}
	s.load(ctx)
	return s, s.update(ctx)
}

func (s *Session) current() *corrections { return s.states[s.present] }

// update finds what the corrections suggest: offers, questions and typical pictures.
func (s *Session) update(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	c := s.current()
	found := guard.Must(s.corrected.Fit(ctx, len(c.names), c.groups, c.constraints()))
	near := guard.Must(cluster.Memberships(ctx, cluster.DistanceCosine, s.points, c.groups))
	s.result, s.typical = found, slices.Repeat([]int{-1}, len(c.names))
	for i, m := range near {
		if at := s.typical[m.Group]; at < 0 || m.Distance < near[at].Distance {
			s.typical[m.Group] = i
		}
	}
	s.days = s.groupDays()
	s.offer = s.findOffer()
	s.questions = s.findQuestions()
	return nil
}

// findOffer returns the untouched pictures that could move to an open group.
func (s *Session) findOffer() Offer {
	o, touched := Offer{[]int{}, []int{}}, s.current().touched()
	for i, g := range s.result.Labels {
		if s.open[g] && g != s.current().groups[i] && !touched[i] && !s.declined[[2]int{i, g}] && s.sameDay(i, g) {
			o.Pictures, o.Groups = append(o.Pictures, i), append(o.Groups, g)
		}
	}
	return o
}

// severalDays is the day of a group with photos of several days.
const severalDays = -1

// groupDays returns the day of the photos of each group; nil if days do not matter.
func (s *Session) groupDays() map[int]int {
	if s.opt.Days == nil {
		return nil
	}
	days := map[int]int{}
	for i, g := range s.current().groups {
		if day, known := days[g]; !known {
			days[g] = s.opt.Days[i]
		} else if day != s.opt.Days[i] {
			days[g] = severalDays
		}
	}
	return days
}

// sameDay reports whether all photos of group g are of the day of photo i, if days matter.
func (s *Session) sameDay(i, g int) bool { return s.days == nil || s.days[g] == s.opt.Days[i] }

// margin returns from −1 to 1 how certain the group of picture i is, compared with the best other group.
func (s *Session) margin(i int) float64 {
	row := s.result.Shares.RawRowView(i)
	own, other := row[s.current().groups[i]], 0.0
	for g, share := range row {
		if g != s.current().groups[i] {
			other = max(other, share)
		}
	}
	return own - other
}

// State returns the state to show.
func (s *Session) State() *State {
	now := s.current()
	out := &State{
		Groups: slices.Clone(now.groups), Names: slices.Clone(now.names), Confidence: make([]int, len(now.groups)),
		Labelled: []int{}, Must: append([][2]int{}, now.must...), Cannot: append([][2]int{}, now.cannot...),
		Offer: s.offer, Questions: s.questions, Model: s.opt.Model, Acts: s.present, Effect: s.effect,
	}
	for i := range out.Confidence {
		out.Confidence[i] = int(math.Round(100 * max(0, s.margin(i))))
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
	if err := guard.Try(func() { s.checkAct(&a) }); err != nil {
		return nil, &MistakeError{err}
	}
	switch a.Do {
	case Skip:
		for _, i := range a.Pictures {
			s.skipped[i] = s.current().labels[i] < 0 || s.skipped[i]
		}
		s.effect, s.questions = "", s.findQuestions()
		return s.State(), nil
	case Decline:
		for at, i := range s.offer.Pictures {
			s.declined[[2]int{i, s.offer.Groups[at]}] = true
		}
		clear(s.open)
		s.effect, s.offer = "", s.findOffer()
		return s.State(), nil
	}
	next, now := s.current().clone(), s.current()
	if err := guard.Try(func() { s.perform(ctx, next, &a) }); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &MistakeError{err}
	}
	must, cannot := next.dropWrong()
	was := maps.Clone(s.open)
	if a.Do == Follow {
		clear(s.open)
	} else if a.Do != Merge {
		for i, g := range next.groups {
			if g != now.groups[i] {
				s.open[g] = true
			}
		}
	}
	if err := s.changeState(ctx, append(slices.Clone(s.states[:s.present+1]), next), s.present+1, s.entryOf(a)); err != nil {
		s.open = was
		return nil, err
	}
	s.effect = strings.ToUpper(next.description[:1]) + next.description[1:] + "." + s.contradicted(must, " belong together") + s.contradicted(cannot, " do not belong together")
	for i, g := range next.groups {
		if g != now.groups[i] && s.days != nil && s.days[g] == severalDays {
			s.effect += " The group now has photos of several days."
			break
		}
	}
	return s.State(), nil
}

// contradicted says that earlier links no longer hold.
func (s *Session) contradicted(gone [][2]int, what string) string {
	if len(gone) == 0 {
		return ""
	}
	name := func(i int) string { return s.in.Set.Names[s.in.Rows[i]] }
	text := " This contradicts an earlier correction, which no longer holds: "
	if len(gone) > 1 {
		text = fmt.Sprintf(" This contradicts %d earlier corrections, which no longer hold. One of them: ", len(gone))
	}
	return text + name(gone[0][0]) + " and " + name(gone[0][1]) + what + "."
}

// changeState goes to a state and saves it. An error changes nothing.
func (s *Session) changeState(ctx context.Context, states []*corrections, at int, e logEntry) error {
	was := *s
	first := max(0, at-mostPast)
	s.states, s.present, s.changed = states[first:], at-first, true
	if err := s.update(ctx); err != nil {
		*s = was
		return err
	}
	s.appendLog(e)
	if err := s.saveAll(); err != nil {
		*s = was
		return errors.Join(err, s.saveAll())
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
	groups := matrix.Take(number, s.current().groups)
	classes := s.classes(number)
	labelled := slices.ContainsFunc(classes, func(c string) bool { return c != "" })
	if labelled {
		s.in.Set.ReplaceClasses(classes)
	}
	g, err := grouping.Regrouped(ctx, s.in, s.model, s.points, groups, labelled, s.links())
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
	choices   = 4   // groups of a question
	doubt     = 5   // how much more pictures with small margins are asked about
)

// findQuestions finds the most informative questions: about untouched pictures that are about as near to another group,
// or nearer, and similar to many other uncertain pictures. It finds none if all pictures are touched or certain.
func (s *Session) findQuestions() []Question {
	now, touched := s.current(), s.current().touched()
	var unsure []int
	margin := make([]float64, len(now.groups))
	for i := range margin {
		if margin[i] = s.margin(i); !touched[i] && margin[i] < sureAt {
			unsure = append(unsure, i)
		}
	}
	slices.SortStableFunc(unsure, func(a, b int) int { return cmp.Compare(margin[a], margin[b]) })
	unsure = unsure[:min(len(unsure), worthOf)]
	worth := map[int]float64{}
	for _, i := range unsure[:min(len(unsure), askedOf)] {
		if s.skipped[i] {
			continue
		}
		for _, j := range unsure {
			worth[i] += (1 - margin[j]) * s.corrected.Covariance(i, j)
		}
		worth[i] *= elementary.Exp(-doubt * margin[i])
	}
	best := slices.SortedFunc(maps.Keys(worth), func(a, b int) int { return cmp.Or(cmp.Compare(worth[b], worth[a]), a-b) })
	out := []Question{}
	for _, i := range best[:min(len(best), mostAsked)] {
		q := Question{Picture: i, Groups: []int{now.groups[i]}}
		for g, at := range s.typical {
			if at >= 0 && g != now.groups[i] && s.sameDay(i, g) {
				q.Groups = append(q.Groups, g)
			}
		}
		slices.SortStableFunc(q.Groups[1:], func(a, b int) int { return cmp.Compare(s.result.Shares.At(i, b), s.result.Shares.At(i, a)) })
		q.Groups = q.Groups[:min(len(q.Groups), choices)]
		out = append(out, q)
	}
	return out
}
