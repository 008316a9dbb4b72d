package feedback

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline/input"
)

// Folder is the folder, in a Store, of the files of a session. partwise cluster and experiments read the first three
// with datasets.Set.ReadLabels, ReadLinks and ReadFeedback.
const (
	Folder       = "feedback/"
	LabelsFile   = "labels.csv"
	LinksFile    = "links.csv"
	FeedbackFile = "feedback.csv"
	// HistoryFile holds the present state and the states of Undo and Redo. A session that continues with the same
	// groups reads only this file.
	HistoryFile = "history.json"
	// GroupsFile holds groups not yet in the results: a line for each picture, with its group and the group's name.
	GroupsFile = "groups.csv"
	// LogFile lists all acts in order, one JSON object a line.
	LogFile = "log.jsonl"
)

// Store is the results folder of the groups, such as an output.Folder. Its files LabelsFile and LinksFile are the labels
// and links with which the groups were found.
type Store interface {
	Dir() string
	Write(name string, text []byte) error // atomically
	Clear(names ...string) error          // removes files, if they exist
}

func (s *Session) dir() string { return filepath.Join(s.opt.Store.Dir(), Folder) }

// logEntry is a line of the log: an act, or undo, redo, open or finish.
type logEntry struct {
	Do Verb `json:"do"`
	// Model identifies the groups with which a session was opened or finished.
	Model    string   `json:"model,omitempty"`
	Pictures []string `json:"pictures,omitempty"`
	Groups   []int    `json:"groups,omitempty"` // from 1
	Name     string   `json:"name,omitempty"`
}

func (s *Session) appendLog(e logEntry) {
	line, _ := json.Marshal(e) // cannot fail
	s.log = append(append(slices.Clip(s.log), line...), '\n')
}

func (s *Session) entryOf(a Act) logEntry {
	return logEntry{
		Do: a.Do, Name: a.Name, Pictures: matrix.Take(s.in.Set.Names, matrix.Take(s.in.Rows, a.Pictures)),
		Groups: lists.Map(a.Groups, func(g int) int { return g + 1 }),
	}
}

// classes returns the class of each labelled sample of the set, "" for others. number holds the number that the
// placeholder of each group shows; nil means the group's index.
func (s *Session) classes(number []int) []string {
	out := make([]string, s.in.Set.Len())
	for i, g := range s.current().labels {
		switch {
		case g < 0:
		case s.current().names[g] == "" && number != nil:
			out[s.in.Rows[i]] = placeholder(number[g])
		default:
			out[s.in.Rows[i]] = s.current().groupName(g)
		}
	}
	return out
}

func (s *Session) links() datasets.Links {
	return datasets.Links{Must: input.PairsAt(s.current().must, s.in.Rows), Cannot: input.PairsAt(s.current().cannot, s.in.Rows)}
}

// logs returns all labels and links as relevance feedback. Each class is compared with one sample of each other class,
// and each link with its two samples.
func (s *Session) logs() (logs []datasets.FeedbackLog) {
	members := make([][]int, len(s.current().names))
	for i, g := range s.current().labels {
		if g >= 0 {
			members[g] = append(members[g], s.in.Rows[i])
		}
	}
	for g, of := range members {
		if len(of) == 0 {
			continue
		}
		log := datasets.FeedbackLog{Positive: of}
		for other, rest := range members {
			if other != g && len(rest) > 0 {
				log.Negative = append(log.Negative, rest[0])
			}
		}
		logs = append(logs, log)
	}
	l := s.links()
	for _, p := range l.Must {
		logs = append(logs, datasets.FeedbackLog{Positive: p[:]})
	}
	for _, p := range l.Cannot {
		logs = append(logs, datasets.FeedbackLog{Positive: p[:1], Negative: p[1:]})
	}
	return logs
}

// save is a file to write, or to remove if any is false.
type save struct {
	name  string
	any   bool
	write func(io.Writer) error
}

// saveFiles writes the history and the log, and then others. A resumed session trusts the history after a crash.
func (s *Session) saveFiles(others ...save) error {
	writeLog := func(w io.Writer) error { _, err := w.Write(s.log); return err }
	for _, f := range append([]save{{HistoryFile, true, s.writeHistory}, {LogFile, true, writeLog}}, others...) {
		var text bytes.Buffer
		err := error(nil)
		if !f.any {
			err = s.opt.Store.Clear(Folder + f.name)
		} else if err = f.write(&text); err == nil {
			err = s.opt.Store.Write(Folder+f.name, text.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) saveAll() error {
	c, links, logs, set := s.current(), s.links(), s.logs(), s.in.Set
	return s.saveFiles(
		save{LabelsFile, slices.Max(append(c.labels, -1)) >= 0, func(w io.Writer) error { return set.WriteLabels(w, s.classes(nil)) }},
		save{LinksFile, !links.None(), func(w io.Writer) error { return set.WriteLinks(w, links) }},
		save{FeedbackFile, len(logs) > 0, func(w io.Writer) error { return set.WriteFeedback(w, logs) }},
		save{GroupsFile, true, func(w io.Writer) error {
			rows := [][]string{{"file", "group", "name"}}
			for i, g := range c.groups {
				rows = append(rows, []string{spreadsheet.Cell(set.Names[s.in.Rows[i]]), strconv.Itoa(g + 1), spreadsheet.Cell(c.names[g])})
			}
			return csv.NewWriter(w).WriteAll(rows)
		}})
}

// Finished ends the session after the groups were written to results whose model has this digest.
func (s *Session) Finished(model string) error {
	s.appendLog(logEntry{Do: "finish", Model: model})
	s.opt.Model, s.opt.Some = model, nil
	s.renumber()
	return s.saveFiles(save{GroupsFile, false, nil})
}

// load continues from the history. Without a history of these groups, it applies the labels and links of an earlier
// session, or else of the groups.
func (s *Session) load(ctx context.Context) {
	var err error
	if s.log, err = output.ReadFile(filepath.Join(s.dir(), LogFile)); !errors.Is(err, fs.ErrNotExist) {
		guard.Check(err)
	}
	s.appendLog(logEntry{Do: "open", Model: s.opt.Model})
	if guard.Must(s.resume()) {
		return
	}
	if s.in.Set.Files != nil { // photos may be gone
		s.in.Set.SkipUnknown = s.opt.Warn
	}
	for _, dir := range []string{s.dir(), s.opt.Store.Dir()} {
		classes, err := s.in.Set.ReadClasses(filepath.Join(dir, LabelsFile))
		noLabels := errors.Is(err, fs.ErrNotExist)
		if !noLabels {
			guard.Check(err)
		}
		links, err := s.in.Set.ReadLinks(ctx, filepath.Join(dir, LinksFile))
		if errors.Is(err, fs.ErrNotExist) {
			links, err = &datasets.Links{}, nil
			if noLabels {
				continue
			}
		}
		guard.Check(err)
		s.applyGiven(ctx, classes, *links)
		return
	}
}

// applyGiven applies labels and links of samples of the set. A class becomes the group with its name, else the unnamed
// group with most of its pictures, else a new group. Labelled and linked pictures move to groups that satisfy them.
func (s *Session) applyGiven(ctx context.Context, classes []string, links datasets.Links) {
	c := s.current()
	row := input.PlacesOf(s.in.Rows, s.in.Set.Len())
	members := map[string][]int{}
	var order []string
	for at, class := range classes {
		if i := row[at]; i >= 0 && class != "" {
			if members[class] == nil {
				order = append(order, class)
			}
			members[class] = append(members[class], i)
		}
	}
	known := func(class string) int { return min(slices.Index(c.names, class), 0) } // 0, or −1 for a new name
	slices.SortStableFunc(order, func(a, b string) int { return known(b) - known(a) })
	taken := map[int]bool{}
	for _, class := range order {
		g := slices.Index(c.names, class)
		if g < 0 {
			votes := make([]int, len(c.names))
			for _, i := range members[class] {
				votes[c.groups[i]]++
			}
			for at, n := range votes {
				if n > 0 && !taken[at] && c.names[at] == "" && (g < 0 || n > votes[g]) {
					g = at
				}
			}
			name := class
			if c.checkName(class, -1) != nil {
				name = ""
			}
			if g < 0 {
				g = c.addGroup(name)
			}
			c.names[g] = name
		}
		taken[g] = true
		c.label(members[class], g)
	}
	for to, pairs := range map[*[][2]int][][2]int{&c.must: links.Must, &c.cannot: links.Cannot} {
		for _, p := range input.PairsAt(pairs, row) {
			*to = addPair(*to, p[0], p[1])
		}
	}
	guard.Check(guard.Wrap(c.constraints().Check(len(c.labels)), "labels and links contradict each other"))
	if len(c.must)+len(c.cannot) == 0 {
		return
	}
	found := guard.Must(s.corrected.Fit(ctx, len(c.names), c.groups, c.constraints()))
	for i, touched := range c.touched() {
		if touched {
			c.groups[i] = found.Labels[i]
		}
	}
}

// history is the content of HistoryFile.
type history struct {
	Format  int    `json:"format"`
	Model   string `json:"model"`
	Changed bool   `json:"changed"`        // the present groups are not yet in any results
	Some    []int  `json:"some,omitempty"` // as in Options
	// States are Past states before the present one, the present one, and those after it.
	Past   int           `json:"past"`
	States []stateChange `json:"states"`
}

// stateChange is the difference between a state and the one before it. The first is the difference from a state without
// corrections whose pictures are all in group 0.
type stateChange struct {
	Words  string      `json:"words,omitempty"`
	Names  []string    `json:"names,omitempty"` // if they differ
	Groups map[int]int `json:"groups,omitempty"`
	Labels map[int]int `json:"labels,omitempty"`
	Must   pairsChange `json:"must,omitzero"`
	Cannot pairsChange `json:"cannot,omitzero"`
}

type pairsChange struct {
	Gone [][2]int `json:"gone,omitempty"`
	New  [][2]int `json:"new,omitempty"`
}

func (p pairsChange) apply(to [][2]int) [][2]int { return append(exceptPairs(to, p.Gone), p.New...) }

func exceptPairs(pairs, others [][2]int) [][2]int {
	return slices.DeleteFunc(slices.Clone(pairs), func(p [2]int) bool { return slices.Contains(others, p) })
}

func uncorrected(n int) *corrections {
	return &corrections{groups: make([]int, n), labels: slices.Repeat([]int{-1}, n)}
}

func (c *corrections) changeFrom(before *corrections) stateChange {
	differ := func(now, was []int) map[int]int {
		m := map[int]int{}
		for i, g := range now {
			if g != was[i] {
				m[i] = g
			}
		}
		return m
	}
	d := stateChange{
		Words: c.description, Groups: differ(c.groups, before.groups), Labels: differ(c.labels, before.labels),
		Must:   pairsChange{exceptPairs(before.must, c.must), exceptPairs(c.must, before.must)},
		Cannot: pairsChange{exceptPairs(before.cannot, c.cannot), exceptPairs(c.cannot, before.cannot)},
	}
	if !slices.Equal(c.names, before.names) {
		d.Names = c.names
	}
	return d
}

// apply returns the state after a change, and checks it.
func (c *corrections) apply(d stateChange) (_ *corrections, err error) {
	defer guard.Catch(&err)
	next, n := c.clone(), len(c.groups)
	next.description, next.must, next.cannot = d.Words, d.Must.apply(c.must), d.Cannot.apply(c.cannot)
	if d.Names != nil {
		next.names = d.Names
	}
	for of, set := range map[*[]int]map[int]int{&next.groups: d.Groups, &next.labels: d.Labels} {
		for i, g := range set {
			guard.FailIf(i < 0 || i >= n, "image %d; expected 0 to %d", i, n-1)
			(*of)[i] = g
		}
	}
	for i, k := 0, len(next.names); i < n; i++ {
		if next.groups[i] < 0 || next.groups[i] >= k || next.labels[i] != -1 && next.labels[i] != next.groups[i] {
			return nil, fmt.Errorf("image %d is in group %d with label %d, but there are %d groups", i, next.groups[i], next.labels[i], k)
		}
	}
	guard.Check(next.constraints().Check(n))
	if must, cannot := next.dropWrong(); len(must)+len(cannot) > 0 {
		return nil, errors.New("the links contradict the groups")
	}
	return next, nil
}

func (s *Session) writeHistory(w io.Writer) error {
	h := history{Format: historyFormat, Model: s.opt.Model, Changed: s.changed, Some: s.opt.Some, Past: s.present}
	before := uncorrected(len(s.current().groups))
	for _, c := range s.states {
		h.States = append(h.States, c.changeFrom(before))
		before = c
	}
	return json.NewEncoder(w).Encode(h)
}

// historyFormat is the format of a history. A history of an earlier version has no format, and counts as one of other
// groups.
const historyFormat = 2

// readHistory reads the history in dir. Without one it has no format.
func readHistory(dir string) (h history, err error) {
	text, err := output.ReadFile(filepath.Join(dir, HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	} else if err != nil {
		return h, err
	}
	var of struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(text, &of) == nil && of.Format == 0 {
		return h, nil
	}
	if err = output.Unmarshal(text, &h); err == nil && h.Format != historyFormat {
		err = fmt.Errorf("format %d; expected %d", h.Format, historyFormat)
	} else if err == nil && (h.Past < 0 || h.Past >= len(h.States)) {
		err = fmt.Errorf("%d past states, but %d states in all", h.Past, len(h.States))
	}
	return h, historyError(dir, err)
}

func historyError(dir string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w: move it away to continue without the history", filepath.Join(dir, HistoryFile), err)
	}
	return err
}

// resume continues from the history. It returns false if the store has no history of the same groups of at least the same
// samples.
func (s *Session) resume() (bool, error) {
	h, err := readHistory(s.dir())
	if err != nil || h.Format == 0 || h.Model != s.opt.Model || h.Some != nil && !slices.Equal(h.Some, s.opt.Some) {
		return false, err
	}
	hasAll := h.Some == nil && s.opt.Some != nil
	states := make([]*corrections, len(h.States))
	before := uncorrected(len(s.current().groups))
	if hasAll {
		before = uncorrected(len(s.model.Groups.Samples))
	}
	for at, d := range h.States {
		if states[at], err = before.apply(d); err != nil {
			return false, historyError(s.dir(), fmt.Errorf("state %d: %w", at, err))
		}
		if before = states[at]; hasAll {
			states[at] = before.of(s.opt.Some)
		}
	}
	s.states, s.present, s.changed = states, h.Past, h.Changed
	return true, nil
}

// of returns the corrections of some pictures.
func (c *corrections) of(some []int) *corrections {
	place := input.PlacesOf(some, len(c.groups))
	return &corrections{
		groups: matrix.Take(c.groups, some), names: c.names, labels: matrix.Take(c.labels, some), description: c.description,
		must: input.PairsAt(c.must, place), cannot: input.PairsAt(c.cannot, place),
	}
}

// Pending returns the path of the GroupsFile in dir, the folder of a session's files, if it holds corrected groups of this model
// that are not yet in any results. Otherwise groups is "", and unapplied reports whether the folder has corrections of
// another model's groups.
func Pending(dir, model string) (groups string, unapplied bool, err error) {
	h, err := readHistory(dir)
	if err != nil {
		return "", false, err
	}
	exists := func(name string) bool {
		_, err := output.ReadFile(filepath.Join(dir, name))
		return err == nil
	}
	if h.Format == 0 || h.Model != model {
		return "", exists(LabelsFile) || exists(LinksFile), nil
	}
	if h.Changed && exists(GroupsFile) {
		groups = filepath.Join(dir, GroupsFile)
	}
	return groups, false, nil
}

// groupNumbers returns the number of each group among the k groups with pictures, −1 for empty groups.
func (s *Session) groupNumbers() (number []int, k int) {
	number = slices.Repeat([]int{-1}, len(s.current().names))
	for g := range number {
		if slices.Contains(s.current().groups, g) {
			number[g] = k
			k++
		}
	}
	return number, k
}

var numbered = regexp.MustCompile(`\bgroup (\d+)`)

// renumber renumbers the groups of all states as they are numbered in the results. Empty groups get the numbers after
// these.
func (s *Session) renumber() {
	to, k := s.groupNumbers()
	groups, most := 0, k
	for _, c := range s.states {
		groups = max(groups, len(c.names))
	}
	for g := range groups {
		if g == len(to) {
			to = append(to, -1)
		}
		if to[g] < 0 {
			to[g] = most
			most++
		}
	}
	for _, c := range s.states {
		names := make([]string, len(to))
		for g, name := range c.names {
			names[to[g]] = name
		}
		c.names = names
		for i := range c.groups {
			if c.groups[i] = to[c.groups[i]]; c.labels[i] >= 0 {
				c.labels[i] = to[c.labels[i]]
			}
		}
		c.description = numbered.ReplaceAllStringFunc(c.description, func(group string) string {
			if g, err := strconv.Atoi(group[len("group "):]); err == nil && g >= 1 && g <= len(to) {
				return placeholder(to[g-1])
			}
			return group
		})
	}
	s.current().names = s.current().names[:k]
	s.changed = false
}
