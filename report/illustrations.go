package report

import (
	"context"
	"fmt"
	"image"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// Sources are what a report needs besides results.
type Sources struct {
	// Shown are parts and visual words on photos. Without it pages show those that they showed before.
	Shown *pipeline.Illustrations
	// Warn receives what is not shown and why; it may be nil.
	Warn func(text string)
	// Progress is called after each photo that was read, by one goroutine at a time; it may be nil.
	Progress func(done, total int)
	// Published is called when a grouping stands in its folder, which is still locked; it may be nil.
	Published func() error
}

func (s Sources) warn(format string, a ...any) string {
	text := fmt.Sprintf(format, a...)
	if s.Warn != nil {
		s.Warn(text)
	}
	return text
}

// counter counts the work of several goroutines.
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

// illustrations returns the parts and the visual words on photos, which are counted as they are read. It
// warns of photos that cannot be read any more.
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
		count.total += len(p.wanted())
		all = append(all, p)
	}
	if shown.TotalWords == 0 {
		return all, nil
	}
	return all, s.cutWords(ctx, count)
}

// cutWords cuts the examples of visual words out of their photos.
func (s Sources) cutWords(ctx context.Context, count *counter) *Words {
	shown := s.Shown
	words := &Words{Total: shown.TotalWords, Patches: shown.Counted}
	cuts := make([][]func(image.Image), len(shown.Photographs))
	for _, word := range shown.Words {
		patches := make([]image.Image, len(word.Examples))
		words.Words = append(words.Words, figure.Word{Index: word.Word, Count: word.Count, Patches: patches})
		for at, e := range word.Examples {
			cuts[e.Photograph] = append(cuts[e.Photograph], func(img image.Image) { patches[at] = figure.CutPatch(img, e.X, e.Y, e.Side) })
		}
	}
	var photographs []int
	for i, cut := range cuts {
		if len(cut) > 0 {
			photographs = append(photographs, i)
		}
	}
	count.total += len(photographs)
	errs := make([]error, len(photographs))
	_ = each(ctx, len(photographs), func(at int) error { // the writing returns the context's error
		defer count.step()
		errs[at] = guard.Call(func() error {
			img, err := shown.Photographs[photographs[at]].Open()
			if err != nil {
				return err
			}
			for _, cut := range cuts[photographs[at]] {
				cut(img)
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
	return words
}
