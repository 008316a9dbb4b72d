package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline/feedback"
)

// fakeSession applies acts without clustering.
type fakeSession struct {
	state feedback.State
	past  []feedback.State
	ahead []feedback.State
	skips []int
	offer feedback.Offer // after each move
	// before is called before each act.
	before func(context.Context, feedback.Act) error
}

func newFake(groups []int) *fakeSession {
	f := &fakeSession{state: feedback.State{Groups: slices.Clone(groups), Names: make([]string, 1+slices.Max(groups))}}
	for range groups {
		f.state.Confidence = append(f.state.Confidence, 50)
	}
	return f
}

// questions asks about the last pictures first.
func (f *fakeSession) questions() (list []feedback.Question) {
	for i, g := range slices.Backward(f.state.Groups) {
		if !slices.Contains(f.state.Labelled, i) && !slices.Contains(f.skips, i) && len(list) < 10 {
			list = append(list, feedback.Question{Picture: i, Groups: []int{g, (g + 1) % 3}})
		}
	}
	return list
}

func (f *fakeSession) State() *feedback.State {
	s := f.state
	s.Acts, s.Undo, s.Redo, s.Questions = len(f.past), "", "", append([]feedback.Question{}, f.questions()...)
	s.Labelled = append([]int{}, s.Labelled...)
	s.Must, s.Cannot = append([][2]int{}, s.Must...), append([][2]int{}, s.Cannot...)
	s.Offer = feedback.Offer{Pictures: append([]int{}, s.Offer.Pictures...), Groups: append([]int{}, s.Offer.Groups...)}
	if n := len(f.past); n > 0 {
		s.Undo = fmt.Sprintf("act %d", n)
	}
	if n := len(f.ahead); n > 0 {
		s.Redo = fmt.Sprintf("act %d", len(f.past)+1)
	}
	return &s
}

func mistake(format string, args ...any) error {
	return &feedback.MistakeError{Err: fmt.Errorf(format, args...)}
}

func (f *fakeSession) Do(ctx context.Context, a feedback.Act) (*feedback.State, error) {
	if f.before != nil {
		if err := f.before(ctx, a); err != nil {
			return nil, err
		}
	}
	for _, i := range a.Pictures {
		if i < 0 || i >= len(f.state.Groups) {
			return nil, mistake("there is no picture %d", i)
		}
	}
	for _, g := range a.Groups {
		if g < 0 || g >= len(f.state.Names) {
			return nil, mistake("there is no group %d", g)
		}
	}
	next := f.state
	next.Groups, next.Names, next.Labelled = slices.Clone(next.Groups), slices.Clone(next.Names), slices.Clone(next.Labelled)
	fresh := func() int {
		next.Names = append(next.Names, a.Name)
		return len(next.Names) - 1
	}
	put := func(g int) {
		for _, i := range a.Pictures {
			if next.Groups[i] = g; !slices.Contains(next.Labelled, i) {
				next.Labelled = append(next.Labelled, i)
			}
		}
	}
	next.Effect = fmt.Sprintf("Did %s of %d.", a.Do, len(a.Pictures))
	switch a.Do {
	case feedback.Skip:
		f.skips = append(f.skips, a.Pictures...)
		return f.State(), nil
	case feedback.Move:
		if len(a.Groups) > 0 {
			put(a.Groups[0])
		} else {
			put(fresh())
		}
		next.Offer = f.offer
	case feedback.Follow:
		for _, i := range a.Pictures {
			next.Groups[i] = next.Offer.Groups[0]
		}
		next.Offer = feedback.Offer{}
	case feedback.Decline:
		f.state.Offer = feedback.Offer{}
		return f.State(), nil
	case feedback.Merge:
		for i, g := range next.Groups {
			if slices.Contains(a.Groups, g) {
				next.Groups[i] = a.Groups[0]
			}
		}
	case feedback.Split:
		if len(a.Groups) != 1 {
			return nil, mistake("one group is split")
		}
		g := fresh()
		if len(a.Pictures) > 0 {
			put(g)
			break
		}
		for i, of := range next.Groups {
			if of == a.Groups[0] && i%4 < 2 {
				next.Groups[i] = g
			}
		}
	case feedback.Name:
		if len(a.Groups) != 1 || slices.Contains(next.Names, a.Name) {
			return nil, mistake("another group is called %q", a.Name)
		}
		next.Names[a.Groups[0]] = a.Name
	case feedback.Together, feedback.Apart:
		if len(a.Pictures) < 2 {
			return nil, mistake("say it of two pictures or more")
		}
		list := &next.Must
		if a.Do == feedback.Apart {
			list = &next.Cannot
		}
		*list = append(slices.Clip(*list), [2]int{a.Pictures[0], a.Pictures[1]})
	default:
		return nil, mistake("unknown action %q", a.Do)
	}
	f.past, f.ahead, f.state = append(f.past, f.state), nil, next
	return f.State(), nil
}

func (f *fakeSession) turn(from, to *[]feedback.State, said string) (*feedback.State, error) {
	n := len(*from)
	if n == 0 {
		return nil, &feedback.MistakeError{Err: errors.New("there is nothing to take back or to do again")}
	}
	*to = append(*to, f.state)
	f.state, *from = (*from)[n-1], (*from)[:n-1]
	for len(f.state.Names) < 1+slices.Max(f.state.Groups) {
		f.state.Names = append(f.state.Names, "")
	}
	f.state.Effect = said
	return f.State(), nil
}

func (f *fakeSession) Undo(context.Context) (*feedback.State, error) {
	return f.turn(&f.past, &f.ahead, "Took it back.")
}

func (f *fakeSession) Redo(context.Context) (*feedback.State, error) {
	return f.turn(&f.ahead, &f.past, "Did it again.")
}
