package feedback

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// The files of a store. The first three are those that partwise cluster --labels and --links and
// an experiment's links read: see datasets.Set.ReadLabels, ReadLinks and ReadFeedback.
const (
	LabelsFile   = "labels.csv"
	LinksFile    = "links.csv"
	FeedbackFile = "feedback.csv"
	// HistoryFile holds the present state and all that Undo and Redo lead to. A session that goes on
	// with the same groups reads nothing else.
	HistoryFile = "history.json"
	// GroupsFile holds the groups while they are in no results yet: a picture a line, with its
	// group and the group's name.
	GroupsFile = "groups.csv"
	// LogFile lists all acts in their order, an object of JSON a line.
	LogFile = "log.jsonl"
)

// Store keeps files.
type Store interface {
	// Dir is the folder of the files, from which they are read.
	Dir() string
	// Read returns a file, or an error with fs.ErrNotExist.
	Read(name string) ([]byte, error)
	// Write writes a file in one step, and Remove removes it, if it is there.
	Write(name string, text []byte) error
	Remove(name string) error
}

// entry is a line of the log.
type entry struct {
	Do Verb `json:"do"`
	// Model is that of the groups with which a session was opened.
	Model    string   `json:"model,omitempty"`
	Pictures []string `json:"pictures,omitempty"`
	Groups   []int    `json:"groups,omitempty"` // from 1
	Name     string   `json:"name,omitempty"`
}

// What stands in the log beside acts.
const (
	opened   Verb = "open"
	finished Verb = "finish"
)

// note appends an entry to the log.
func (s *Session) note(e entry) {
	line, _ := json.Marshal(e) // which cannot fail
	s.log = append(append(slices.Clip(s.log), line...), '\n')
}

func entryOf(a Act, in *pipeline.Inputs) entry {
	e := entry{Do: a.Do, Name: a.Name}
	for _, i := range a.Pictures {
		e.Pictures = append(e.Pictures, in.Set.Names[in.Rows[i]])
	}
	for _, g := range a.Groups {
		e.Groups = append(e.Groups, g+1)
	}
	return e
}

// classes returns what is told of each sample of the set, "" for nothing, where group g is called
// after its number among those that are kept.
func (s *Session) classes(number []int) []string {
	out := make([]string, s.in.Set.Len())
	for i, g := range s.now.labels {
		if g < 0 {
			continue
		}
		if out[s.in.Rows[i]] = s.now.names[g]; s.now.names[g] == "" {
			out[s.in.Rows[i]] = placeholder(number[g])
		}
	}
	return out
}

// links returns the links by samples of the set.
func (s *Session) links() (l datasets.Links) {
	for _, p := range s.now.must {
		l.Must = append(l.Must, [2]int{s.in.Rows[p[0]], s.in.Rows[p[1]]})
	}
	for _, p := range s.now.cannot {
		l.Cannot = append(l.Cannot, [2]int{s.in.Rows[p[0]], s.in.Rows[p[1]]})
	}
	return l
}

// logs returns all that is told as logs of relevance feedback: of each class the told samples
// against one of each other, and of each link its two samples.
func (s *Session) logs() (logs []datasets.FeedbackLog) {
	members := make([][]int, len(s.now.names))
	for i, g := range s.now.labels {
		if g >= 0 {
			members[g] = append(members[g], s.in.Rows[i])
		}
	}
	for g, of := range members {
		log := datasets.FeedbackLog{Positive: of}
		for other, rest := range members {
			if other != g && len(rest) > 0 && len(of) > 0 {
				log.Negative = append(log.Negative, rest[0])
			}
		}
		if len(of) > 0 {
			logs = append(logs, log)
		}
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

// keep writes all files, the history first: what is in it has been done.
func (s *Session) keep() error {
	if s.opt.Store == nil {
		return nil
	}
	number := make([]int, len(s.now.names))
	for g := range number {
		number[g] = g
	}
	links, set := s.links(), s.in.Set
	for _, file := range []struct {
		name  string
		any   bool
		write func(*bytes.Buffer) error
	}{
		{HistoryFile, true, s.writeHistory},
		{LogFile, true, s.writeLog},
		{LabelsFile, slices.Max(append(s.now.labels, -1)) >= 0, func(w *bytes.Buffer) error { return set.WriteLabels(w, s.classes(number)) }},
		{LinksFile, !links.None(), func(w *bytes.Buffer) error { return set.WriteLinks(w, links) }},
		{FeedbackFile, len(s.logs()) > 0, func(w *bytes.Buffer) error { return set.WriteFeedback(w, s.logs()) }},
		{GroupsFile, true, s.writeGroups},
	} {
		if !file.any {
			if err := s.opt.Store.Remove(file.name); err != nil {
				return err
			}
			continue
		}
		var text bytes.Buffer
		if err := file.write(&text); err != nil {
			return err
		}
		if err := s.opt.Store.Write(file.name, text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) writeLog(w *bytes.Buffer) error {
	_, err := w.Write(s.log)
	return err
}

func (s *Session) writeGroups(w *bytes.Buffer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"file", "group", "name"})
	for i, g := range s.found.Labels {
		_ = out.Write([]string{spreadsheet.Cell(s.in.Set.Names[s.in.Rows[i]]), strconv.Itoa(g + 1), spreadsheet.Cell(s.now.names[g])})
	}
	out.Flush()
	return out.Error()
}

// Finished says that the groups are in results now, as the model that this tells from others. It
// ends the session.
func (s *Session) Finished(model string) error {
	if s.opt.Store == nil {
		return nil
	}
	s.note(entry{Do: finished, Model: model})
	s.opt.Model = model
	s.publish()
	var text bytes.Buffer
	if err := s.writeHistory(&text); err != nil {
		return err
	}
	return errors.Join(s.opt.Store.Write(HistoryFile, text.Bytes()), s.opt.Store.Write(LogFile, s.log), s.opt.Store.Remove(GroupsFile))
}

// load goes on from the history, or takes what was told of other groups: what the store holds, or
// what the groups were found under.
func (s *Session) load(ctx context.Context) (err error) {
	classes, links := s.opt.Labels, s.opt.Links
	if s.opt.Store != nil {
		if s.log, err = s.opt.Store.Read(LogFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.note(entry{Do: opened, Model: s.opt.Model})
		if same, err := s.resume(); same || err != nil {
			return err
		}
		_, noLabels := s.opt.Store.Read(LabelsFile)
		_, noLinks := s.opt.Store.Read(LinksFile)
		if noLabels == nil || noLinks == nil {
			classes, links = nil, datasets.Links{}
		}
		if noLabels == nil {
			if classes, err = s.in.Set.ReadClasses(filepath.Join(s.opt.Store.Dir(), LabelsFile)); err != nil {
				return err
			}
		}
		if noLinks == nil {
			l, err := s.in.Set.ReadLinks(ctx, filepath.Join(s.opt.Store.Dir(), LinksFile))
			if err != nil {
				return err
			}
			links = *l
		}
	}
	return s.take(classes, links)
}

// take tells classes and links of samples of the set. A class is the group of its name, or the
// group of most of its pictures that has no name or class yet, or a new one.
func (s *Session) take(classes []string, links datasets.Links) error {
	t := s.now
	row := slices.Repeat([]int{-1}, s.in.Set.Len())
	for i, r := range s.in.Rows {
		row[r] = i
	}
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
	taken := map[int]bool{}
	give := func(class string, g int) {
		taken[g] = true
		for _, i := range members[class] {
			t.labels[i] = g
		}
		delete(members, class)
	}
	for _, class := range order {
		if g := slices.Index(t.names, class); g >= 0 {
			give(class, g)
		}
	}
	for _, class := range order {
		if members[class] == nil {
			continue
		}
		votes := make([]int, len(t.names))
		for _, i := range members[class] {
			votes[t.base[i]]++
		}
		best := -1
		for g, n := range votes {
			if n > 0 && !taken[g] && t.names[g] == "" && (best < 0 || n > votes[best]) {
				best = g
			}
		}
		name := class
		if placeholders.MatchString(class) || t.checkName(class, -1) != nil {
			name = ""
		}
		if best < 0 {
			best = t.add(name)
		}
		t.names[best] = name
		give(class, best)
	}
	for _, kind := range []struct {
		pairs [][2]int
		to    *[][2]int
	}{{links.Must, &t.must}, {links.Cannot, &t.cannot}} {
		for _, p := range kind.pairs {
			if a, b := row[p[0]], row[p[1]]; a >= 0 && b >= 0 {
				*kind.to = with(*kind.to, a, b)
			}
		}
	}
	if err := t.known().Check(len(t.labels)); err != nil {
		return fmt.Errorf("the labels and links contradict each other: %w", err)
	}
	return nil
}
