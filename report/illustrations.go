package report

import (
	"context"
	"image"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// counter counts work that several goroutines do.
type counter struct {
	mu          sync.Mutex
	done, total int
	progress    func(done, total int)
}

func newCounter(progress func(done, total int)) *counter { return &counter{progress: progress} }

// step counts one more.
func (c *counter) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
}

// illustrations returns what a report shows of visual words, or of places, on photographs,
// which are counted as they are read. What cannot be read any more is named and left out.
func (s Sources) illustrations(ctx context.Context, count *counter) ([]Patches, *Words) {
	shown := s.Shown
	if shown == nil {
		return nil, nil
	}
	var all []Patches
	names := make([]string, len(shown.Photographs))
	for i, p := range shown.Photographs {
		names[i] = p.Name
	}
	for _, parts := range shown.Parts {
		p := Patches{
			Method: parts.Method, Names: names, Uses: parts.Coefficients,
			Load: func(i int) (image.Image, []pipeline.Patch, error) {
				defer count.step()
				img, err := shown.Photographs[i].Open()
				return img, parts.Patches[i], err
			},
		}
		_, wanted := p.wanted()
		count.total += len(wanted)
		all = append(all, p)
	}
	if shown.TotalWords == 0 {
		return all, nil
	}
	words := &Words{Total: shown.TotalWords, Patches: shown.Counted}
	type place struct{ word, example int }
	in := make([][]place, len(shown.Photographs))
	for w, word := range shown.Words {
		words.Words = append(words.Words, figure.Word{Index: word.Word, Count: word.Count, Patches: make([]image.Image, len(word.Examples))})
		for at, e := range word.Examples {
			in[e.Photograph] = append(in[e.Photograph], place{w, at})
		}
	}
	var photographs []int
	for i, places := range in {
		if len(places) > 0 {
			photographs = append(photographs, i)
		}
	}
	count.total += len(photographs)
	errs := make([]error, len(photographs))
	_ = each(ctx, len(photographs), func(at int) error { // which the writing says, where the context has ended
		defer count.step()
		errs[at] = guard.Call(func() error {
			img, err := shown.Photographs[photographs[at]].Open()
			if err != nil {
				return err
			}
			for _, p := range in[photographs[at]] {
				e := shown.Words[p.word].Examples[p.example]
				words.Words[p.word].Patches[p.example] = figure.CutPatch(img, e.X, e.Y, e.Side)
			}
			return nil
		})
		return nil
	})
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			s.warn("%v", err)
		}
	}
	return all, words
}
