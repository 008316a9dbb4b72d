package main

import (
	"context"
	"image"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report"
)

// illustrate returns what a report shows of visual words on photographs, of which
// drawing counts those that are read. What cannot be read any more is named and left
// out.
func illustrate(ctx context.Context, shown *pipeline.Illustrations, stderr io.Writer, drawing *bar) (patches []report.Patches, words *report.Words) {
	if shown == nil {
		return nil, nil
	}
	names := make([]string, len(shown.Photographs))
	for i, p := range shown.Photographs {
		names[i] = p.Name
	}
	for _, parts := range shown.Parts {
		patches = append(patches, report.Patches{
			Method: parts.Method, Names: names, Uses: parts.Coefficients,
			Load: func(i int) (image.Image, []report.PatchMark, error) {
				drawing.step()
				img, err := shown.Photographs[i].Open()
				marks := make([]report.PatchMark, len(parts.Patches[i]))
				for at, p := range parts.Patches[i] {
					marks[at] = report.PatchMark{X: p.X, Y: p.Y, Side: p.Side, Part: p.Part, Strength: p.Share}
				}
				return img, marks, err
			},
		})
	}
	words = &report.Words{Total: shown.TotalWords, Patches: shown.Counted}
	type place struct{ word, example int }
	in := make([][]place, len(shown.Photographs))
	for w, word := range shown.Words {
		words.Words = append(words.Words, report.Word{Index: word.Word, Count: word.Count, Patches: make([]image.Image, len(word.Examples))})
		for at, e := range word.Examples {
			in[e.Photograph] = append(in[e.Photograph], place{w, at})
		}
	}
	errs := make([]error, len(in))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, places := range in {
		if len(places) == 0 || ctx.Err() != nil {
			continue
		}
		g.Go(func() error {
			errs[i] = guard.Call(func() error {
				drawing.step()
				img, err := shown.Photographs[i].Open()
				if err != nil {
					return err
				}
				for _, p := range places {
					e := shown.Words[p.word].Examples[p.example]
					words.Words[p.word].Patches[p.example] = report.CutPatch(img, e.X, e.Y, e.Side)
				}
				return nil
			})
			return nil
		})
	}
	_ = g.Wait() // errors are said below, in the order of the photographs
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			plaintext.Fprintf(stderr, "partwise: %v\n", err)
		}
	}
	return patches, words
}
