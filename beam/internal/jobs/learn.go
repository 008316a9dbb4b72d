package jobs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed4492f2cd/partwise/beam/internal/store"
	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Learn learns a method in passes, of which each pipeline runs unroll.
func Learn(ctx context.Context, l passes.Learner, out string, unroll int) error {
	return inFolder(func(dir string) error { return learn(ctx, l, out, unroll, dir) })
}

func learn(ctx context.Context, l passes.Learner, out string, unroll int, dir string) (err error) {
	if l.Method.Name == spec.KMeans && !l.Run.Words {
		l.Run.Distance = cluster.DistanceCosine // as partwise cluster
	}
	for _, url := range passes.Sampled(l.Paths) {
		path, err := store.Fetch(ctx, url, dir)
		if err != nil {
			return err
		}
		l.Sample = append(l.Sample, path)
	}
	if l.Out, err = store.Fetch(ctx, out, dir); err != nil {
		return err
	}
	l.Round = func(ctx context.Context, s *passes.State) (*passes.State, error) {
		var state bytes.Buffer
		if err := s.Save(&state); err != nil {
			return nil, err
		}
		if err := run(ctx, rounds(l.Paths, state.Bytes(), out, l.Passes, unroll)); err != nil {
			return nil, err
		}
		path, err := store.Fetch(ctx, out, dir)
		if err != nil {
			return nil, err
		}
		next, err := passes.ReadFile(ctx, path)
		if err == nil && next.Step == s.Step && next.Passes == s.Passes && !next.Done {
			err = fmt.Errorf("%s: the job left no new model; all workers must share this place", out)
		}
		return next, err
	}
	if err := l.Learn(ctx); err != nil {
		return err
	}
	return store.Publish(ctx, l.Out, out) // the state before the first pass
}

// rounds returns a pipeline of passes from a state, which writes the next state to out.
func rounds(paths []string, state []byte, out string, most, unroll int) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	shards := beam.Reshuffle(s, beam.CreateList(s, paths))
	states := beam.Create(s, state)
	for range unroll {
		sums := beam.ParDo(s, &Pass{most}, shards, beam.SideInput{Input: states})
		for width := 1; width < len(paths); width *= passes.FanIn {
			sums = beam.ParDo(s, &Add{}, beam.GroupByKey(s, sums))
		}
		states = beam.ParDo(s, &Update{}, states, beam.SideInput{Input: sums})
	}
	beam.ParDo0(s, &Publish{out}, states)
	return p
}

// Pass computes the sums of a shard at a state, with the number of their node in the tree of sums.
type Pass struct{ Passes int }

// ProcessElement emits no sums after the last pass.
func (p *Pass) ProcessElement(ctx context.Context, url string, state []byte, emit func(int, []byte)) error {
	s, err := passes.Read(ctx, state)
	if err != nil || s.Done || s.Passes >= p.Passes {
		return err
	}
	if err := before(url); err != nil {
		return err
	}
	return inFolder(func(dir string) error {
		path, err := store.Fetch(ctx, url, dir)
		if err != nil {
			return err
		}
		sums, err := s.PassOver(ctx, path)
		if err != nil {
			return err
		}
		return emitSums(sums, sums.Parts[0].Shard.Index/passes.FanIn, emit)
	})
}

func emitSums(sums *passes.Sums, node int, emit func(int, []byte)) error {
	var text bytes.Buffer
	if err := sums.Save(&text); err != nil {
		return err
	}
	emit(node, text.Bytes())
	return nil
}

// Add adds the sums of a node in the order of their shards, as passes.Total does. A beam.Combine would add in any order.
type Add struct{}

// ProcessElement emits the total with the number of the next node.
func (*Add) ProcessElement(node int, each func(*[]byte) bool, emit func(int, []byte)) error {
	var all []*passes.Sums
	var text []byte
	for each(&text) {
		sums, err := passes.ReadSums(text)
		if err != nil {
			return err
		}
		all = append(all, sums)
	}
	slices.SortFunc(all, func(a, b *passes.Sums) int { return cmp.Compare(a.Parts[0].Shard.Index, b.Parts[0].Shard.Index) })
	total, err := passes.Add(all...)
	if err != nil {
		return err
	}
	return emitSums(total, node/passes.FanIn, emit)
}

// Update learns from the sums of all shards.
type Update struct{}

// ProcessElement returns the next state, or the same one without sums.
func (*Update) ProcessElement(ctx context.Context, state []byte, totals func(*int, *[]byte) bool) ([]byte, error) {
	var node int
	var text []byte
	if !totals(&node, &text) {
		return state, nil
	}
	s, err := passes.Read(ctx, state)
	if err != nil {
		return nil, err
	}
	total, err := passes.ReadSums(text)
	if err != nil {
		return nil, err
	}
	if s, err = s.Update(ctx, total); err != nil {
		return nil, err
	}
	var next bytes.Buffer
	err = s.Save(&next)
	return next.Bytes(), err
}

// Publish writes an element to a file or object.
type Publish struct{ URL string }

// ProcessElement replaces the file at once.
func (p *Publish) ProcessElement(ctx context.Context, content []byte) error {
	return publish(ctx, content, p.URL)
}

func publish(ctx context.Context, content []byte, url string) error {
	return inFolder(func(dir string) error {
		path := filepath.Join(dir, "content")
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
		return store.Publish(ctx, path, url)
	})
}
