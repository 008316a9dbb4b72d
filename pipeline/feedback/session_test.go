package feedback

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// folder is a Store, with the files of the session in dir.
type folder struct {
	dir  string
	fail error // of the next Write
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{dir: filepath.Join(t.TempDir(), Folder)}
	if err := os.Mkdir(f.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *folder) Dir() string                      { return filepath.Dir(f.dir) }
func (f *folder) Read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(f.dir, name)) }
func (f *folder) Write(name string, text []byte) error {
	if err := f.fail; err != nil {
		f.fail = nil
		return err
	}
	return os.WriteFile(filepath.Join(f.Dir(), name), text, 0o666)
}
func (f *folder) Clear(names ...string) error {
	if err := os.Remove(filepath.Join(f.Dir(), names[0])); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// parted returns inputs of n samples around four places, the last two near each other, and the place of each sample.
func parted(t *testing.T, n int) (*input.Inputs, []int) { return around(t, n, 0.3) }

// around is parted with a given noise.
func around(t *testing.T, n int, noise float64) (*input.Inputs, []int) {
	t.Helper()
	src := rand.New(rand.NewPCG(7, 8))
	var text bytes.Buffer
	truth := make([]int, n)
	for i := range n {
		truth[i] = i % 4
		row := make([]string, 8)
		for j := range row {
			v := noise * src.Float64()
			switch {
			case j == min(truth[i], 2):
				v += 3
			case truth[i] == 3 && j == 3:
				v += 1.6
			}
			row[j] = fmt.Sprint(v)
		}
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	file := filepath.Join(t.TempDir(), "vectors.csv")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	e := &spec.Experiment{Data: spec.Data{Set: file}}
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in, truth
}

// grouped returns a model of groups by a method.
func grouped(t *testing.T, in *input.Inputs, k int, method spec.Method) *models.Model {
	t.Helper()
	found, err := grouping.Groups{K: k, Method: method}.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return saved(t, in, found)
}

// saved returns the model of a grouping after writing and reading it.
func saved(t *testing.T, in *input.Inputs, found *grouping.Grouping) *models.Model {
	t.Helper()
	m, err := found.Model(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	if m, err = models.ReadModel(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil {
		t.Fatal(err)
	}
	return m
}

func open(t *testing.T, in *input.Inputs, m *models.Model, opt Options) *Session {
	t.Helper()
	if opt.Store == nil {
		opt.Store = newFolder(t)
	}
	s, err := Open(t.Context(), in, m, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustDo(t *testing.T, s *Session, a Act) *State {
	t.Helper()
	state, err := s.Do(t.Context(), a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	checkState(t, s, state)
	return state
}

// checkState checks that the groups obey all labels and links.
func checkState(t *testing.T, s *Session, state *State) {
	t.Helper()
	for _, p := range state.Must {
		if state.Groups[p[0]] != state.Groups[p[1]] {
			t.Errorf("%v must link and do not", p)
		}
	}
	for _, p := range state.Cannot {
		if state.Groups[p[0]] == state.Groups[p[1]] {
			t.Errorf("%v cannot link and do", p)
		}
	}
	for i, g := range s.current().labels {
		if g >= 0 && state.Groups[i] != g {
			t.Errorf("labelled picture %d is in group %d, want %d", i, state.Groups[i], g)
		}
	}
	for at, i := range state.Offer.Pictures {
		if state.Groups[i] == state.Offer.Groups[at] || slices.Contains(state.Labelled, i) {
			t.Errorf("picture %d is offered", i)
		}
	}
	for i, c := range state.Confidence {
		if c < 0 || c > 100 || len(state.Names) <= state.Groups[i] {
			t.Fatalf("picture %d: confidence %d, group %d of %d", i, c, state.Groups[i], len(state.Names))
		}
	}
}

// agree returns the number of pictures in the majority group of their place.
func agree(groups, truth []int) int {
	counts := map[[2]int]int{}
	for i, g := range groups {
		counts[[2]int{truth[i], g}]++
	}
	n := 0
	for place := range 4 {
		best := 0
		for at, c := range counts {
			if at[0] == place {
				best = max(best, c)
			}
		}
		n += best
	}
	return n
}

var kmeans = spec.Method{Name: spec.KMeans}

// moved returns the pictures whose groups differ.
func moved(before, after *State) (of []int) {
	for i, g := range after.Groups {
		if before.Groups[i] != g {
			of = append(of, i)
		}
	}
	return of
}

// membersOf returns the pictures of a group.
func membersOf(state *State, group int) (of []int) {
	for i, g := range state.Groups {
		if g == group {
			of = append(of, i)
		}
	}
	return of
}

// TestActs: each act moves only the pictures that it names. Undo and redo are exact, as are restarts after each act.
func TestActs(t *testing.T) {
	in, truth := parted(t, 120)
	m, opt := grouped(t, in, 3, kmeans), Options{Store: newFolder(t), Model: "one"}
	s := open(t, in, m, opt)
	first := s.State()
	if first.Undo != "" || first.Redo != "" || first.Acts != 0 || len(first.Offer.Pictures) > 0 {
		t.Errorf("at first: %+v", first)
	}
	two, three := slices.Index(truth, 2), slices.Index(truth, 3)
	if first.Groups[two] != first.Groups[three] {
		t.Fatal("the two near places are two groups already")
	}
	states := []*State{first}
	act := func(a Act, moves ...int) *State {
		t.Helper()
		before := s.State()
		state := mustDo(t, s, a)
		if got := moved(before, state); !slices.Equal(got, moves) {
			t.Errorf("%+v moved %v, want %v", a, got, moves)
		}
		states = append(states, state)
		s = open(t, in, m, opt) // a restart
		if got := s.State(); !sameState(got, state) {
			t.Errorf("%+v: after a restart %+v, want %+v", a, got, state)
		}
		return state
	}
	state := act(Act{Do: Move, Pictures: []int{three}, Name: "far"}, three)
	if state.Names[3] != "far" || state.Effect != "1 image moved to a new group, far." {
		t.Errorf("%q; said %q", state.Names, state.Effect)
	}
	typical := s.typical[first.Groups[0]]
	act(Act{Do: Name, Groups: []int{first.Groups[0]}, Name: " Spät "})
	act(Act{Do: Move, Pictures: []int{typical}, Groups: []int{first.Groups[0]}})
	if named := s.State(); named.Names[first.Groups[0]] != "Spät" || !slices.Equal(named.Labelled, slices.Sorted(slices.Values([]int{three, typical}))) {
		t.Errorf("named: %q, labelled %v", named.Names, named.Labelled)
	}
	state = act(Act{Do: Merge, Groups: []int{first.Groups[two], 3}}, three)
	if state.Names[first.Groups[two]] != "far" || slices.Contains(state.Groups, 3) {
		t.Errorf("merged: %q", state.Names)
	}
	state = mustDo(t, open(t, in, m, Options{}), Act{Do: Split, Groups: []int{first.Groups[two]}})
	if n := agree(state.Groups, truth); n < 118 || state.Groups[two] == state.Groups[three] {
		t.Errorf("split: %d of 120 are right", n)
	}
	state = act(Act{Do: Apart, Pictures: []int{8, 4}}, moved(s.State(), mustDo(t, open(t, in, m, opt), Act{Do: Apart, Pictures: []int{4, 8}}))...)
	together := act(Act{Do: Together, Pictures: []int{4, 8}}, moved(states[len(states)-2], state)...)
	if together.Groups[4] != together.Groups[8] || len(together.Cannot) != 0 || !strings.Contains(together.Effect, "contradicts") {
		t.Errorf("the last act does not hold: cannot-links %v; said %q", together.Cannot, together.Effect)
	}
	for at := len(states) - 2; at >= 0; at-- {
		back, err := s.Undo(t.Context())
		if err != nil || !sameState(back, states[at]) {
			t.Fatalf("undo to act %d: %v, %+v", at, err, back)
		}
	}
	if _, err := s.Undo(t.Context()); !isMistake(err) {
		t.Errorf("undo without an earlier act: %v", err)
	}
	for at := 1; at < len(states); at++ {
		again, err := s.Redo(t.Context())
		if err != nil || !sameState(again, states[at]) {
			t.Fatalf("redo of act %d: %v", at, err)
		}
	}
	if _, err := s.Redo(t.Context()); !isMistake(err) {
		t.Errorf("redo without an undone act: %v", err)
	}
}

// TestMergeHolds: a merge survives a restart, later acts and the end of the session; links that contradict it are named.
func TestMergeHolds(t *testing.T) {
	in, truth := parted(t, 120)
	m, opt := grouped(t, in, 4, kmeans), Options{Store: newFolder(t), Model: "one"}
	s := open(t, in, m, opt)
	first := s.State()
	a, b := first.Groups[0], first.Groups[1]
	split := mustDo(t, s, Act{Do: Split, Groups: []int{a}, Pictures: []int{0, 4, 8}})
	for _, i := range []int{0, 4} {
		mustDo(t, s, Act{Do: Apart, Pictures: []int{i, 16}})
	}
	state := mustDo(t, s, Act{Do: Merge, Groups: []int{a, len(first.Names)}})
	if got := moved(first, state); len(got) > 0 || len(split.Groups) != len(state.Groups) {
		t.Errorf("split and merged: %v are elsewhere", got)
	}
	if len(state.Cannot) > 0 || !strings.HasSuffix(state.Effect, "This contradicts 2 earlier corrections, which no longer hold. One of them: vectors.csv row 1 and vectors.csv row 17 do not belong together.") {
		t.Errorf("said %q, and %v", state.Effect, state.Cannot)
	}
	merged := mustDo(t, s, Act{Do: Merge, Groups: []int{a, b}})
	want := membersOf(merged, a)
	s = open(t, in, m, opt)
	two := []int{slices.Index(truth, 2), slices.Index(truth, 3)}
	for _, act := range []Act{{Do: Move, Pictures: two}, {Do: Name, Groups: []int{a}, Name: "merged"}, {Do: Apart, Pictures: []int{two[0] + 4, two[0] + 8}}} {
		if got := membersOf(mustDo(t, s, act), a); !slices.Equal(got, want) {
			t.Errorf("%+v changed the merged group to %v, want %v", act, got, want)
		}
	}
	for _, g := range s.State().Offer.Pictures {
		if slices.Contains(want, g) {
			t.Errorf("picture %d of the merged group is offered", g)
		}
	}
	found, err := s.Grouping(t.Context())
	if err == nil {
		err = s.Finished("two")
	}
	if err != nil {
		t.Fatal(err)
	}
	last := open(t, in, saved(t, in, found), Options{Store: opt.Store, Model: "two"}).State()
	if got := membersOf(last, last.Groups[0]); !slices.Equal(got, want) {
		t.Errorf("in the results the merged group is %v, want %v", got, want)
	}
}

// TestOffer: similar pictures are offered and move only if the person agrees. Declined pictures are not offered again.
func TestOffer(t *testing.T) {
	in, truth := parted(t, 120)
	m := grouped(t, in, 3, kmeans)
	three := slices.Index(truth, 3)
	act := Act{Do: Move, Pictures: []int{three}}
	s := open(t, in, m, Options{})
	first := s.State()
	state := mustDo(t, s, act)
	offer := state.Offer
	if len(offer.Pictures) != 29 {
		t.Fatalf("%d pictures are offered, want 29: %v", len(offer.Pictures), offer)
	}
	for at, i := range offer.Pictures {
		if truth[i] != 3 || offer.Groups[at] != state.Groups[three] {
			t.Errorf("picture %d of place %d is offered", i, truth[i])
		}
	}
	if _, err := s.Do(t.Context(), Act{Do: Follow, Pictures: []int{0}}); !isMistake(err) {
		t.Errorf("a picture that was not offered: %v", err)
	}
	part := offer.Pictures[:28]
	follow := mustDo(t, s, Act{Do: Follow, Pictures: part})
	if got := moved(state, follow); !slices.Equal(got, part) || len(follow.Labelled) != 1 || len(follow.Offer.Pictures) > 0 {
		t.Errorf("%v moved, %v are labelled, %v offered", got, follow.Labelled, follow.Offer)
	}
	for range 2 {
		if _, err := s.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !sameState(s.State(), first) || len(s.State().Offer.Pictures) > 0 {
		t.Error("undo left some of them")
	}

	mustDo(t, s, act)
	state = mustDo(t, s, Act{Do: Decline})
	if len(state.Offer.Pictures) > 0 || state.Acts != 1 {
		t.Errorf("declined: %+v", state.Offer)
	}
	state = mustDo(t, s, Act{Do: Move, Pictures: offer.Pictures[:1], Groups: []int{state.Groups[three]}})
	if len(state.Offer.Pictures) > 0 {
		t.Errorf("offered again: %v", state.Offer)
	}
}

// TestDays: offers and questions stay within a day, and a move to another day is said.
func TestDays(t *testing.T) {
	in, truth := parted(t, 120)
	days := make([]int, 120)
	for i := range days {
		days[i] = i / 60
	}
	found, err := grouping.Groups{K: 3, Method: kmeans, Parts: days}.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, in, saved(t, in, found), Options{Days: days})
	three := slices.Index(truth, 3)
	state := mustDo(t, s, Act{Do: Move, Pictures: []int{three}})
	if len(state.Offer.Pictures) != 14 || strings.Contains(state.Effect, "days") {
		t.Errorf("%d pictures are offered, want 14: %s", len(state.Offer.Pictures), state.Effect)
	}
	for _, i := range state.Offer.Pictures {
		if days[i] != 0 {
			t.Errorf("picture %d of another day is offered", i)
		}
	}
	for _, q := range state.Questions {
		for _, g := range q.Groups {
			if days[slices.Index(state.Groups, g)] != days[q.Picture] {
				t.Errorf("a question about picture %d names a group of another day", q.Picture)
			}
		}
	}
	state = mustDo(t, s, Act{Do: Move, Pictures: []int{60}, Groups: []int{state.Groups[three]}})
	if !strings.HasSuffix(state.Effect, " The group now has photos of several days.") || len(state.Offer.Pictures) > 0 {
		t.Errorf("effect %q, offer %v", state.Effect, state.Offer)
	}
}

// sameState reports whether two states are equal.
func sameState(a, b *State) bool {
	return slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Names, b.Names) && slices.Equal(a.Labelled, b.Labelled) && slices.Equal(a.Must, b.Must) && slices.Equal(a.Cannot, b.Cannot)
}

func isMistake(err error) bool {
	var m *MistakeError
	return errors.As(err, &m)
}

// TestQuestions: questions are about untouched pictures, answers improve the groups, and skipped questions do not return.
func TestQuestions(t *testing.T) {
	in, truth := around(t, 120, 5)
	s := open(t, in, grouped(t, in, 4, kmeans), Options{})
	state := s.State()
	first := agree(state.Groups, truth)
	group := map[int]int{}
	for i, g := range state.Groups {
		group[truth[i]] = g
	}
	asked := map[int]bool{}
	for range 15 {
		q := state.Questions[0]
		if i := q.Picture; asked[i] || slices.Contains(state.Labelled, i) || q.Groups[0] != state.Groups[i] || len(q.Groups) != 4 {
			t.Fatalf("asked about %v", q)
		}
		asked[q.Picture] = true
		state = mustDo(t, s, Act{Do: Move, Pictures: []int{q.Picture}, Groups: []int{group[truth[q.Picture]]}})
	}
	if last := agree(state.Groups, truth); last < first {
		t.Errorf("%d of 120 are right, and were %d before the answers", last, first)
	}
	skip := state.Questions[0].Picture
	state = mustDo(t, s, Act{Do: Skip, Pictures: []int{skip}})
	if slices.ContainsFunc(state.Questions, func(next Question) bool { return next.Picture == skip }) {
		t.Error("a skipped picture is asked about again")
	}
}

// TestMistakes: an impossible act is a mistake that changes nothing.
func TestMistakes(t *testing.T) {
	in, _ := parted(t, 40)
	s := open(t, in, grouped(t, in, 3, kmeans), Options{})
	mustDo(t, s, Act{Do: Name, Groups: []int{0}, Name: "one"})
	mustDo(t, s, Act{Do: Name, Groups: []int{1}, Name: "two"})
	labelled := s.State().Labelled
	before := s.State()
	for name, a := range map[string]Act{
		"no verb":             {Pictures: []int{1}},
		"no picture":          {Do: Move, Groups: []int{0}},
		"picture 40":          {Do: Move, Pictures: []int{40}, Groups: []int{0}},
		"picture -1":          {Do: Together, Pictures: []int{-1, 2}},
		"group 3":             {Do: Move, Pictures: []int{1}, Groups: []int{3}},
		"two groups":          {Do: Move, Pictures: []int{1}, Groups: []int{0, 1}},
		"merge of one":        {Do: Merge, Groups: []int{1}},
		"merge with itself":   {Do: Merge, Groups: []int{1, 1}},
		"the name of another": {Do: Name, Groups: []int{1}, Name: "one"},
		"a new name twice":    {Do: Move, Pictures: []int{3}, Name: "two"},
		"the name group 2":    {Do: Name, Groups: []int{2}, Name: "Group 2"},
		"two lines":           {Do: Name, Groups: []int{2}, Name: "a\nb"},
		"a long name":         {Do: Name, Groups: []int{2}, Name: strings.Repeat("ä", 101)},
		"one together":        {Do: Together, Pictures: []int{3, 3}},
		"two named groups":    {Do: Together, Pictures: labelled},
		"all apart":           {Do: Apart, Pictures: []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		if _, err := s.Do(t.Context(), a); !isMistake(err) {
			t.Errorf("%s: %v", name, err)
		}
		if after := s.State(); !slices.Equal(after.Groups, before.Groups) || after.Acts != before.Acts || len(after.Cannot) != len(before.Cannot) {
			t.Errorf("%s: the state has changed", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Do(ctx, Act{Do: Move, Pictures: []int{9}, Groups: []int{0}}); !errors.Is(err, context.Canceled) || s.State().Acts != 2 {
		t.Errorf("stopped: %v", err)
	}
}

// TestFiles: corrections are stored in files that other commands read. An unfinished session resumes from them, and a
// session that cannot write changes nothing.
func TestFiles(t *testing.T) {
	in, truth := parted(t, 80)
	m := grouped(t, in, 3, kmeans)
	store := newFolder(t)
	opt := Options{Store: store, Model: "one"}
	s := open(t, in, m, opt)
	three := slices.Index(truth, 3)
	mustDo(t, s, Act{Do: Move, Pictures: []int{three}, Name: "=far"})
	mustDo(t, s, Act{Do: Apart, Pictures: []int{0, 4}})
	mustDo(t, s, Act{Do: Together, Pictures: []int{1, 5}})
	mustDo(t, s, Act{Do: Move, Pictures: []int{9}, Groups: []int{s.State().Groups[9]}})
	want := s.State()

	classes, err := in.Set.ReadClasses(filepath.Join(store.dir, LabelsFile))
	if err != nil || classes[three] != "=far" || !placeholders.MatchString(classes[9]) {
		t.Errorf("labels: %v, %q", err, classes)
	}
	links, err := in.Set.ReadLinks(t.Context(), filepath.Join(store.dir, LinksFile))
	if err != nil || !slices.Equal(links.Must, [][2]int{{1, 5}}) || !slices.Equal(links.Cannot, [][2]int{{0, 4}}) {
		t.Errorf("links: %v, %+v", err, links)
	}
	logs, err := in.Set.ReadFeedback(t.Context(), filepath.Join(store.dir, FeedbackFile))
	if err != nil || len(logs.Must) != 1 || len(logs.Cannot) != 3 {
		t.Errorf("feedback: %v, %+v", err, logs)
	}

	file, _ := store.Read(GroupsFile)
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 81 || rows[1+three][2] != "'=far" {
		t.Fatalf("groups: %v, %q", err, rows)
	}
	for i, g := range want.Groups {
		if rows[1+i][0] != in.Set.Names[i] || rows[1+i][1] != fmt.Sprint(g+1) {
			t.Errorf("groups: got %q, want group %d", rows[1+i], g+1)
		}
	}

	again := open(t, in, m, opt).State()
	if !slices.Equal(again.Groups, want.Groups) || !slices.Equal(again.Names, want.Names) || !slices.Equal(again.Labelled, want.Labelled) {
		t.Errorf("opened again: got %+v, want %+v", again, want)
	}
	store.fail = fs.ErrPermission
	files := contents(t, store.dir)
	if _, err := s.Do(t.Context(), Act{Do: Move, Pictures: []int{11}, Groups: []int{0}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that cannot be written: %v", err)
	}
	if !slices.Equal(s.State().Groups, want.Groups) || !maps.Equal(files, contents(t, store.dir)) {
		t.Error("an act that could not be stored changed the state")
	}

	found, err := s.Grouping(t.Context())
	if err != nil || len(found.Memberships) != 80 || found.GroupClasses == nil {
		t.Fatalf("grouping: %v", err)
	}
	if err := s.Finished("two"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(GroupsFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the groups are in the results, and still beside: %v", err)
	}
	// Other groups of the same pictures with the same corrections.
	other := open(t, in, grouped(t, in, 4, kmeans), Options{Store: store, Model: "three"}).State()
	if !slices.Equal(other.Labelled, want.Labelled) || !slices.Contains(other.Names, "=far") {
		t.Errorf("on other groups: %+v", other)
	}
	text, _ := store.Read(LogFile)
	for _, do := range []string{"open", "move", "apart", "together", "finish"} {
		if !bytes.Contains(text, []byte(`"do":"`+do+`"`)) {
			t.Errorf("the log does not contain %s:\n%s", do, text)
		}
	}
	for name, text := range map[string]string{
		LabelsFile: "file,class\nnone,1\n",
		LinksFile:  "1,2\n",
	} {
		broken := newFolder(t)
		if err := broken.Write(Folder+name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), in, m, Options{Store: broken, Model: "one"}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSome: a session on some of the samples has their corrections and history; a later one on all has the labels again.
func TestSome(t *testing.T) {
	in, _ := parted(t, 80)
	m, store := grouped(t, in, 3, kmeans), newFolder(t)
	s := open(t, in, m, Options{Store: store, Model: "one"})
	for _, a := range []Act{{Do: Apart, Pictures: []int{0, 4}}, {Do: Apart, Pictures: []int{1, 5}}, {Do: Move, Pictures: []int{7, 9}, Name: "new"}} {
		mustDo(t, s, a)
	}
	all := s.State()
	some := slices.DeleteFunc(matrix.Range(80), func(i int) bool { return i == 4 || i == 9 })
	opt := Options{Store: store, Model: "one", Some: some}
	s = open(t, in.Subset(some), m, opt)
	now := s.State()
	if !slices.Equal(now.Groups, matrix.Take(all.Groups, some)) || !slices.Equal(now.Labelled, []int{6}) || !slices.Equal(now.Cannot, [][2]int{{1, 4}}) || now.Undo != all.Undo {
		t.Errorf("some samples: %+v, all: %+v", now, all)
	}
	now = mustDo(t, s, Act{Do: Move, Pictures: []int{10}, Groups: []int{now.Groups[6]}})
	if again := open(t, in.Subset(some), m, opt).State(); !slices.Equal(again.Groups, now.Groups) || again.Acts != now.Acts {
		t.Errorf("reopened: %+v, want %+v", again, now)
	}
	last := open(t, in, m, Options{Store: store, Model: "one"}).State()
	if g := slices.Index(last.Names, "new"); g < 0 || last.Groups[7] != g || last.Groups[12] != g || len(last.Groups) != 80 {
		t.Errorf("all samples again: %+v", last)
	}
	for _, wrong := range []*input.Inputs{in, in.Subset(some[1:])} {
		if _, err := Open(t.Context(), wrong, m, opt); err == nil {
			t.Error("no error of other samples")
		}
	}
}

// TestHistory: Undo and Redo reach the same states after a session was killed, and after its groups were published with
// other numbers.
func TestHistory(t *testing.T) {
	in, truth := parted(t, 80)
	m := grouped(t, in, 3, kmeans)
	store := newFolder(t)
	s := open(t, in, m, Options{Store: store, Model: "one"})
	states := []*State{s.State()}
	three := slices.Index(truth, 3)
	for _, a := range []Act{
		{Do: Apart, Pictures: []int{0, 4}},
		{Do: Move, Pictures: []int{three}},
		{Do: Merge, Groups: []int{states[0].Groups[1], 0}},
		{Do: Move, Pictures: []int{three}, Name: "far"},
		{Do: Together, Pictures: []int{0, 4}},
		{Do: Name, Groups: []int{states[0].Groups[1]}, Name: "near"},
	} {
		states = append(states, mustDo(t, s, a))
	}
	now := len(states) - 1
	// turn undoes or redoes to a state in which group g has the number to[g].
	turn := func(at int, to []int) {
		t.Helper()
		for now != at {
			step, by := s.Undo, -1
			if at > now {
				step, by = s.Redo, 1
			}
			state, err := step(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			now += by
			want := *states[now]
			want.Groups, want.Names = slices.Clone(want.Groups), make([]string, len(state.Names))
			for i, g := range want.Groups {
				want.Groups[i] = to[g]
			}
			for g, name := range states[now].Names {
				if name != "" {
					want.Names[to[g]] = name
				}
			}
			if !sameState(state, &want) || state.Acts != now {
				t.Fatalf("at act %d, %d acts: got %+v, want %+v", now, state.Acts, state, want)
			}
		}
	}
	self := []int{0, 1, 2, 3, 4}
	turn(4, self)
	s = open(t, in, m, Options{Store: store, Model: "one"})
	turn(6, self)
	s = open(t, in, m, Options{Store: store, Model: "one"})
	if !s.Changed() {
		t.Error("Changed is false, but no results hold the last act")
	}
	turn(1, self)
	turn(5, self)

	found, err := s.Grouping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finished("two"); err != nil {
		t.Fatal(err)
	}
	s = open(t, in, saved(t, in, found), Options{Store: store, Model: "two"})
	state := s.State()
	if s.Changed() || !slices.Equal(state.Groups, found.Groups) || slices.Max(state.Groups) != len(state.Names)-1 {
		t.Errorf("from the results: %v and %q, want %v", state.Groups, state.Names, found.Groups)
	}
	to := []int{-1, -1, -1, -1, -1}
	for i, g := range states[5].Groups {
		to[g] = state.Groups[i]
	}
	most := slices.Max(to)
	for g := range to {
		if to[g] < 0 {
			most++
			to[g] = most
		}
	}
	if slices.Equal(to, self) {
		t.Fatal("no group has another number")
	}
	if want := fmt.Sprintf("1 image moved to a new group, group %d", to[3]+1); s.states[2].description != want {
		t.Errorf("got description %q, want %q", s.states[2].description, want)
	}
	turn(1, to)
	turn(6, to)

	old := newFolder(t)
	if err := old.Write(Folder+HistoryFile, []byte(`{"model":"two","changed":true,"past":0,"states":[{"base":{"0":1}}]}`)); err != nil {
		t.Fatal(err)
	}
	if got := open(t, in, saved(t, in, found), Options{Store: old, Model: "two"}).State(); got.Acts != 0 || !slices.Equal(got.Groups, found.Groups) {
		t.Errorf("with the history of an earlier version: %+v", got)
	}

	file, _ := store.Read(HistoryFile)
	for name, text := range map[string]string{
		"not whole":      string(file[:len(file)/2]),
		"another key":    strings.Replace(string(file), `"past"`, `"post"`, 1),
		"too many":       strings.Replace(string(file), `"past":6`, `"past":7`, 1),
		"a picture":      strings.Replace(string(file), `"groups":{`, `"groups":{"80":0,`, 1),
		"a group":        strings.Replace(string(file), `"groups":{`, `"groups":{"0":9,`, 1),
		"a link":         strings.Replace(string(file), `[0,4]`, `[0,400]`, 1),
		"itself":         strings.Replace(string(file), `[0,4]`, `[0,0]`, 1),
		"no state":       `{"format":2,"model":"two"}`,
		"a later format": `{"format":3}`,
		"a small group":  strings.Replace(string(file), `"labels":{`, `"labels":{"1":-2,`, 1),
	} {
		broken := newFolder(t)
		if err := broken.Write(Folder+HistoryFile, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), in, m, Options{Store: broken, Model: "two"}); text == string(file) || err == nil || !strings.Contains(err.Error(), HistoryFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// TestInitialLabels: the labels and links of the groups hold from the start, and copies follow labels.
func TestInitialLabels(t *testing.T) {
	in, truth := parted(t, 40)
	classes := make([]string, 40)
	classes[0], classes[4], classes[1] = "a", "a", "b"
	copies := make([]int, 40)
	for i := range copies {
		copies[i] = i
	}
	copies[8] = 0
	store := newFolder(t)
	for name, write := range map[string]func(io.Writer) error{
		LabelsFile: func(w io.Writer) error { return in.Set.WriteLabels(w, classes) },
		LinksFile:  func(w io.Writer) error { return in.Set.WriteLinks(w, datasets.Links{Cannot: [][2]int{{2, 3}}}) },
	} {
		var text bytes.Buffer
		if err := errors.Join(write(&text), store.Write(name, text.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, in, grouped(t, in, 4, kmeans), Options{Store: store, Copies: copies})
	state := s.State()
	checkState(t, s, state)
	if !slices.Equal(state.Labelled, []int{0, 1, 4}) || state.Names[state.Groups[0]] != "a" || len(state.Cannot) != 1 {
		t.Errorf("state with initial labels: %+v", state)
	}
	if truth[8] != truth[0] || state.Groups[8] != state.Groups[0] {
		t.Fatal("the copy is not in the group of the first")
	}
	state = mustDo(t, s, Act{Do: Move, Pictures: []int{8}, Groups: []int{state.Groups[1]}})
	if state.Groups[0] != state.Groups[1] || state.Groups[8] != state.Groups[1] {
		t.Error("a copy did not move with the picture")
	}
}

// TestMethods: corrections apply to the groups of each method, also with labels or links.
func TestMethods(t *testing.T) {
	for _, name := range []string{"nmf", "cnmf", "ccf", "lccf", "ss-nmf", "pca", "sda", "cnmf-kl", "kernel-kmeans"} {
		in, truth := parted(t, 80)
		method := spec.Method{Name: name}
		g := grouping.Groups{K: 4, Method: method}
		if slices.Contains([]string{"sda", "cnmf", "ccf", "cnmf-kl"}, name) {
			labels := make([]string, 80)
			for i := range 12 {
				labels[i] = fmt.Sprint("class ", truth[i])
			}
			in.Set.ReplaceClasses(labels)
			g.UseLabels = true
		}
		found, err := g.Find(t.Context(), in, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := found.Model(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, in, m, Options{})
		before := s.State()
		mustDo(t, s, Act{Do: Move, Pictures: []int{2}, Groups: []int{before.Groups[3]}})
		state := mustDo(t, s, Act{Do: Apart, Pictures: []int{12, 76}})
		if n := len(moved(before, state)); n > 2 {
			t.Errorf("%s: %d pictures moved", name, n)
		}
		if _, err := s.Grouping(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// dying is a store whose process is killed after a number of writes.
type dying struct {
	folder
	left int
}

func (d *dying) Write(name string, text []byte) error {
	if d.left--; d.left < 0 {
		return errors.New("killed")
	}
	return d.folder.Write(name, text)
}

func (d *dying) Clear(names ...string) error {
	if d.left--; d.left < 0 {
		return errors.New("killed")
	}
	return d.folder.Clear(names...)
}

// TestKilled: after a kill at any write, the next session opens, and earlier corrections hold.
func TestKilled(t *testing.T) {
	in, truth := parted(t, 60)
	m := grouped(t, in, 3, kmeans)
	for name, act := range map[string]Act{
		"move":     {Do: Move, Pictures: []int{slices.Index(truth, 3)}, Name: "new"},
		"merge":    {Do: Merge, Groups: []int{0, 1}},
		"split":    {Do: Split, Groups: []int{0}},
		"name":     {Do: Name, Groups: []int{2}, Name: "two"},
		"together": {Do: Together, Pictures: []int{8, 12}},
		"apart":    {Do: Apart, Pictures: []int{8, 12, 16}},
	} {
		for left := range 7 {
			store := &dying{folder: *newFolder(t), left: 1 << 30}
			s := open(t, in, m, Options{Store: store, Model: "one"})
			mustDo(t, s, Act{Do: Move, Pictures: []int{0, 20}, Name: "first"})
			store.left = left
			_, err := s.Do(t.Context(), act)
			if (err == nil) != (left > 5) {
				t.Fatalf("%s, killed after %d writes: %v", name, left, err)
			}
			again := open(t, in, m, Options{Store: &folder{dir: store.dir}, Model: "one"})
			state := again.State()
			checkState(t, again, state)
			if state.Groups[0] != state.Groups[20] || !slices.Contains(state.Names, "first") || !slices.Contains(state.Labelled, 0) {
				t.Errorf("%s, killed after %d writes: names %q, labelled %v", name, left, state.Names, state.Labelled)
			}
		}
	}
}

// TestPendingWithoutHistory: labels without a history are corrections that are not applied.
func TestPendingWithoutHistory(t *testing.T) {
	store := newFolder(t)
	for _, want := range []bool{false, true} {
		if groups, unapplied, err := Pending(store.dir, "one"); groups != "" || unapplied != want || err != nil {
			t.Errorf("got %q, %t, %v; want unapplied %t", groups, unapplied, err, want)
		}
		if err := store.Write(Folder+LabelsFile, []byte("file,class\n")); err != nil {
			t.Fatal(err)
		}
	}
}
