package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Options are what a Session is opened with beside its inputs and its model.
type Options struct {
	// Store is where what is said is kept, nil for nowhere.
	Store Store
	// Model tells the model from others, by the SHA-256 sum of its file for instance: what is
	// found in the store is of this model or of another one.
	Model string
	// Labels and Links are what was told when the groups were found: the class of each sample of
	// the set, or "", and links of its samples. What the store holds goes before.
	Labels []string
	Links  datasets.Links
	// Copies holds for each row the original of its stack of copies, as Pictures.CopyOf does, or is
	// nil. What is told of a picture is told of its copies in the same group.
	Copies []int
}

// Session is a person's work on the groups of n pictures. Its methods must not be called at the
// same time.
type Session struct {
	in      *pipeline.Inputs
	regroup *pipeline.Regroup
	opt     Options

	now         *told
	found       *cluster.Correction
	typical     []int      // the picture nearest to the middle of each group, or −1
	questions   []Question // of State
	past, ahead []*told
	skipped     map[int]bool // pictures about which nothing is asked any more
	log         []byte       // LogFile
	changed     bool         // since the model
	said        string
}

// mostPast is how many acts can be undone.
const mostPast = 200

// Open returns a session on groups that a model holds, of the inputs that it was learned
// from: the same samples in the same order.
func Open(ctx context.Context, in *pipeline.Inputs, m *pipeline.Model, opt Options) (*Session, error) {
	base, err := m.GroupsOf(in)
	if err != nil {
		return nil, err
	}
	s := &Session{in: in, opt: opt, skipped: map[int]bool{}}
	if s.regroup, err = pipeline.NewRegroup(ctx, in, m); err != nil {
		return nil, err
	}
	names := make([]string, len(m.Groups.Names))
	for g, name := range m.Groups.Names {
		if s.now = (&told{names: names}); s.now.checkName(name, g) == nil {
			names[g] = name
		}
	}
	s.now = &told{base: base, names: names, labels: slices.Repeat([]int{-1}, len(base))}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	if err := s.find(ctx, s.now); err != nil {
		return nil, err
	}
	return s, nil
}

// find finds the groups under what is told.
func (s *Session) find(ctx context.Context, t *told) error {
	known := t.known()
	if err := s.regroup.Factorise(ctx, known); err != nil {
		return err
	}
	found, err := s.regroup.Find(ctx, len(t.names), t.base, known)
	if err != nil {
		return err
	}
	near, err := cluster.Memberships(ctx, cluster.DistanceCosine, s.regroup.Points(), found.Labels)
	if err != nil {
		return err
	}
	typical := slices.Repeat([]int{-1}, len(t.names))
	for i, m := range near {
		if at := typical[m.Group]; at < 0 || m.Distance < near[at].Distance {
			typical[m.Group] = i
		}
	}
	s.now, s.found, s.typical = t, found, typical
	s.questions = s.ask()
	return nil
}

// margin is how surely picture i is in its group, from 0 to 1: by how much more it goes
// with it than with any other.
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

// State returns what there is to show.
func (s *Session) State() *State {
	out := &State{
		Groups: slices.Clone(s.found.Labels), Names: slices.Clone(s.now.names), Confidence: make([]int, len(s.found.Labels)),
		Told: []int{}, Must: append([][2]int{}, s.now.must...), Cannot: append([][2]int{}, s.now.cannot...),
		Questions: s.questions, Model: s.opt.Model, Acts: len(s.past), Undo: s.now.words, Said: s.said,
	}
	for i := range out.Confidence {
		out.Confidence[i] = int(math.Round(100 * s.margin(i)))
		if s.now.labels[i] >= 0 {
			out.Told = append(out.Told, i)
		}
	}
	if n := len(s.ahead); n > 0 {
		out.Redo = s.ahead[n-1].words
	}
	if len(s.past) == 0 {
		out.Undo = ""
	}
	return out
}

// Changed tells whether the groups are others than those of the model, or more is told of them than
// when these were found.
func (s *Session) Changed() bool { return s.changed }

// Do does what an act says. A *MistakeError says what is wrong with it, and after any error all
// is as it was.
func (s *Session) Do(ctx context.Context, a Act) (*State, error) {
	if err := s.check(&a); err != nil {
		return nil, &MistakeError{err}
	}
	if a.Do == Skip {
		for _, i := range a.Pictures {
			s.skipped[i] = s.now.labels[i] < 0 || s.skipped[i]
		}
		s.said, s.questions = "", s.ask()
		return s.State(), nil
	}
	next := s.now.clone()
	own, err := s.apply(ctx, next, &a)
	if err != nil {
		return nil, err
	}
	if err := next.known().Check(len(next.labels)); err != nil {
		return nil, &MistakeError{errors.New("this contradicts an earlier correction: undo that first")}
	}
	before := s.found.Labels
	err = s.change(ctx, next, append(slices.Clip(s.past), s.now), nil, entryOf(a, s.in))
	switch {
	case errors.Is(err, cluster.ErrDeadEnd):
		return nil, &MistakeError{fmt.Errorf("%s cannot part all pictures that do not belong together: make a new group first", phrase.Count(len(next.names), "group", "groups"))}
	case err != nil:
		return nil, err
	}
	s.said = strings.ToUpper(next.words[:1]) + next.words[1:] + "." + s.followed(before, own)
	return s.State(), nil
}

// followed says how many pictures changed their group beside some.
func (s *Session) followed(before []int, own map[int]bool) string {
	n := 0
	for i, g := range s.found.Labels {
		if g != before[i] && !own[i] {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case n == 1 && len(own) > 0:
		return " 1 other picture moved with that."
	case len(own) > 0:
		return fmt.Sprintf(" %d other pictures moved with that.", n)
	}
	return " " + pictures(n) + " moved."
}

// change goes to a state with its past and what is ahead of it, finds the groups, and keeps it.
// After an error all is as it was.
func (s *Session) change(ctx context.Context, t *told, past, ahead []*told, e entry) error {
	was := *s
	if err := s.find(ctx, t); err != nil {
		*s = was
		return err
	}
	s.past, s.ahead, s.changed = past[max(0, len(past)-mostPast):], ahead, true
	s.note(e)
	if err := s.keep(); err != nil {
		*s = was
		return errors.Join(err, s.keep())
	}
	return nil
}

// Undo takes the last act back.
func (s *Session) Undo(ctx context.Context) (*State, error) {
	n, was := len(s.past), s.now
	if n == 0 {
		return nil, &MistakeError{errors.New("there is nothing to undo")}
	}
	if err := s.change(ctx, s.past[n-1], s.past[:n-1], append(slices.Clip(s.ahead), was), entry{Do: "undo"}); err != nil {
		return nil, err
	}
	s.said = "Undone: " + was.words + "."
	return s.State(), nil
}

// Redo does again what was undone last.
func (s *Session) Redo(ctx context.Context) (*State, error) {
	n := len(s.ahead)
	if n == 0 {
		return nil, &MistakeError{errors.New("there is nothing to redo")}
	}
	if err := s.change(ctx, s.ahead[n-1], append(slices.Clip(s.past), s.now), s.ahead[:n-1], entry{Do: "redo"}); err != nil {
		return nil, err
	}
	s.said = "Redone: " + s.now.words + "."
	return s.State(), nil
}

// check reports an act that names what there is not, and sorts its pictures.
func (s *Session) check(a *Act) error {
	n, k := len(s.found.Labels), len(s.now.names)
	for _, i := range a.Pictures {
		if i < 0 || i >= n {
			return fmt.Errorf("there is no picture %d of %d", i, n)
		}
	}
	for _, g := range a.Groups {
		if g < 0 || g >= k {
			return fmt.Errorf("there is no group %d of %d", g+1, k)
		}
	}
	a.Pictures = slices.Compact(slices.Sorted(slices.Values(a.Pictures)))
	a.Name = strings.TrimSpace(a.Name)
	want := map[Verb]struct{ pictures, groups [2]int }{
		Move:     {[2]int{1, n}, [2]int{0, 1}},
		Merge:    {[2]int{0, 0}, [2]int{2, k}},
		Split:    {[2]int{0, n}, [2]int{1, 1}},
		Name:     {[2]int{0, 0}, [2]int{1, 1}},
		Together: {[2]int{2, n}, [2]int{0, 0}},
		Apart:    {[2]int{2, n}, [2]int{0, 0}},
		Skip:     {[2]int{1, n}, [2]int{0, 0}},
	}
	w, ok := want[a.Do]
	switch pictures, groups := len(a.Pictures), len(a.Groups); {
	case !ok:
		return fmt.Errorf("%q is nothing that can be done", a.Do)
	case pictures < w.pictures[0] || pictures > w.pictures[1]:
		return fmt.Errorf("%s of %d pictures cannot be", a.Do, pictures)
	case groups < w.groups[0] || groups > w.groups[1]:
		return fmt.Errorf("%s of %d groups cannot be", a.Do, groups)
	}
	return nil
}

// apply changes what is told as an act says, and returns the pictures that it names. Errors
// are mistakes but for those of a context.
func (s *Session) apply(ctx context.Context, t *told, a *Act) (own map[int]bool, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = &MistakeError{err}
		}
	}()
	all := s.withCopies(a.Pictures)
	own = make(map[int]bool, len(all))
	for _, i := range all {
		own[i] = true
	}
	switch a.Do {
	case Move:
		return own, s.move(t, a, all)
	case Merge:
		slices.Sort(a.Groups[1:])
		for _, g := range slices.Compact(a.Groups[1:]) {
			if g == a.Groups[0] {
				return nil, errors.New("a group cannot be merged with itself")
			}
			t.words = fmt.Sprintf("%s merged with %s", t.group(a.Groups[0]), t.group(g))
			for i, of := range s.found.Labels {
				own[i] = own[i] || of == g
			}
			if err := t.merge(a.Groups[0], g, [2]int{s.typical[a.Groups[0]], s.typical[g]}); err != nil {
				return nil, err
			}
		}
		return own, nil
	case Split:
		if len(all) > 0 {
			for _, i := range all {
				if s.found.Labels[i] != a.Groups[0] {
					return nil, fmt.Errorf("not all of the pictures are in %s", t.group(a.Groups[0]))
				}
			}
			return own, s.move(t, &Act{Do: Move, Name: a.Name}, all)
		}
		part, err := s.split(ctx, t, a)
		for _, i := range part {
			own[i] = true
		}
		return own, err
	case Name:
		g := a.Groups[0]
		if err := t.checkName(a.Name, g); err != nil {
			return nil, err
		}
		t.words = fmt.Sprintf("%s called %s", t.group(g), a.Name)
		if a.Name == "" {
			t.words = "the name " + t.names[g] + " taken away"
		}
		t.names[g] = a.Name
		if a.Name != "" && !slices.Contains(t.labels, g) && s.typical[g] >= 0 {
			t.label(s.withCopies([]int{s.typical[g]}), g)
		}
		return own, nil
	case Together:
		t.words = pictures(len(all)) + " belong together"
		return own, t.join(all)
	case Apart:
		t.words = pictures(len(a.Pictures)) + " do not belong together"
		return own, t.part(a.Pictures)
	}
	return nil, fmt.Errorf("%q is nothing that can be done", a.Do)
}

// withCopies returns pictures with their copies in the same groups, rising.
func (s *Session) withCopies(of []int) []int {
	if s.opt.Copies == nil || len(of) == 0 {
		return of
	}
	stack := map[[2]int]bool{} // of pictures in a group
	for _, i := range of {
		stack[[2]int{s.opt.Copies[i], s.found.Labels[i]}] = true
	}
	var out []int
	for i, first := range s.opt.Copies {
		if stack[[2]int{first, s.found.Labels[i]}] {
			out = append(out, i)
		}
	}
	return out
}

func (s *Session) move(t *told, a *Act, all []int) error {
	g := -1
	if len(a.Groups) > 0 {
		g = a.Groups[0]
	} else {
		if err := t.checkName(a.Name, -1); err != nil {
			return err
		}
		g = t.add(a.Name)
	}
	stay := !slices.ContainsFunc(all, func(i int) bool { return s.found.Labels[i] != g })
	t.label(all, g)
	switch {
	case stay:
		t.words = pictures(len(all)) + " confirmed in " + t.group(g)
	case len(a.Groups) == 0:
		t.words = pictures(len(all)) + " moved to a new group, " + t.group(g)
	default:
		t.words = pictures(len(all)) + " moved to " + t.group(g)
	}
	return nil
}

// split parts a group into the two that k-means makes of it. The larger keeps the number.
func (s *Session) split(ctx context.Context, t *told, a *Act) (part []int, err error) {
	g := a.Groups[0]
	if err := t.checkName(a.Name, -1); err != nil {
		return nil, err
	}
	var members []int
	for i, of := range s.found.Labels {
		if of == g {
			members = append(members, i)
		}
	}
	if len(members) < 2 {
		return nil, fmt.Errorf("%s has %s, which cannot be split", t.group(g), pictures(len(members)))
	}
	halves, err := cluster.KMeans{K: 2, Distance: cluster.DistanceCosine, Restarts: 10, Seed: rng.Seed(0, "split")}.Fit(ctx, rowsOf(s.regroup.Points(), members))
	if err != nil {
		return nil, err
	}
	sizes := [2]int{}
	for _, half := range halves.Labels {
		sizes[half]++
	}
	second := 0
	if sizes[1] <= sizes[0] {
		second = 1
	}
	to := t.add(a.Name)
	typical := [2]int{-1, -1}
	cos := func(half int, row []float64) float64 {
		centre := halves.Centres.RawRowView(half)
		dot, length := 0.0, 0.0
		for j, v := range row {
			dot, length = dot+v*centre[j], length+v*v
		}
		return dot / math.Sqrt(cmp.Or(length, 1))
	}
	best := [2]float64{math.Inf(-1), math.Inf(-1)}
	row := make([]float64, halves.Centres.RawMatrix().Cols)
	for at, i := range members {
		half := halves.Labels[at]
		side := 0
		if half == second {
			side = 1
			if t.labels[i] == g {
				continue // is told to stay
			}
			t.base[i] = to
			part = append(part, i)
		}
		mat.Row(row, i, s.regroup.Points())
		if c := cos(half, row); c > best[side] {
			best[side], typical[side] = c, i
		}
	}
	t.words = t.group(g) + " split in two"
	if typical[0] < 0 || typical[1] < 0 {
		return nil, fmt.Errorf("all pictures of one half of %s are labelled as its own", t.group(g))
	}
	return part, t.part(typical[:])
}

// rowsOf returns some rows.
func rowsOf(x mat.Matrix, rows []int) *mat.Dense {
	_, m := x.Dims()
	out := mat.NewDense(len(rows), m, nil)
	for at, i := range rows {
		mat.Row(out.RawRowView(at), i, x)
	}
	return out
}

// Grouping returns the groups as they are now, without empty ones, and what is told of them as
// labels of the inputs' set, whose classes they become.
func (s *Session) Grouping(ctx context.Context) (*pipeline.Grouping, error) {
	number, _ := s.numbers()
	groups := make([]int, len(s.found.Labels))
	for i, g := range s.found.Labels {
		groups[i] = number[g]
	}
	classes := s.classes(number)
	told := slices.ContainsFunc(classes, func(c string) bool { return c != "" })
	if told {
		s.in.Set.TellClasses(classes)
	}
	g, err := s.regroup.Grouping(ctx, groups, told, s.links())
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
