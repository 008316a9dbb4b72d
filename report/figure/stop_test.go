package figure

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/table"
)

// endsAfter is a context that ends after a number of calls of Err.
type endsAfter struct {
	context.Context
	asked, after int
}

func (c *endsAfter) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}

// Drawing a large picture checks the context repeatedly, and stops at the first check after its end.
func TestDrawingStops(t *testing.T) {
	const after = 5
	classes := make([]string, 200)
	counts := make([][]int, len(classes))
	for i := range counts {
		classes[i], counts[i] = fmt.Sprint(i), make([]int, len(classes))
		counts[i][i] = 1
	}
	confusion := must(Confusion(counts, classes))
	records := fakeRecords(sevenMethods, []int{2, 3}, 2)
	for name, draw := range map[string]func(ctx context.Context) error{
		"picture": func(ctx context.Context) error { return confusion.Write(ctx, io.Discard, "png") },
		"SVG":     func(ctx context.Context) error { return confusion.Write(ctx, io.Discard, "svg") },
		"PDF":     func(ctx context.Context) error { return confusion.Write(ctx, io.Discard, "pdf") },
		"words":   func(ctx context.Context) error { _, err := WordSheet(ctx, fakeWords(9, 7)); return err },
		"coefficients": func(ctx context.Context) error {
			_, err := CoefficientPicture(ctx, inClasses(90, 3), threeClasses)
			return err
		},
		"convergence": func(ctx context.Context) error { _, err := Convergence(ctx, records, sevenMethods, looks); return err },
		"terms": func(ctx context.Context) error {
			_, err := Terms(ctx, []record.Record{penalised("gnmf", 2, 9, 8, 7, 6, 5, 4)}, "gnmf", looks)
			return err
		},
		"montage": func(ctx context.Context) error {
			_, err := Montage(ctx, mat.NewDense(4, 50, nil), 2, 2, 1)
			return err
		},
		"marks": func(ctx context.Context) error {
			return DrawMarks(ctx, image.NewRGBA(image.Rect(0, 0, 60, 45)), image.Pt(60, 45), scattered(1, 50, 3, 60, 45), false)
		},
	} {
		ctx := &endsAfter{Context: t.Context(), after: after}
		if err := draw(ctx); !errors.Is(err, context.Canceled) || ctx.asked != after+1 {
			t.Errorf("%s: error %v after %d looks, want %v after %d", name, err, ctx.asked, context.Canceled, after+1)
		}
	}
	curves := must(Curves(table.New(records, "AC", sevenMethods, table.Tests{}), looks))
	if err := curves.Write(&endsAfter{Context: t.Context()}, io.Discard, "png"); !errors.Is(err, context.Canceled) {
		t.Errorf("curves: error %v, want %v", err, context.Canceled)
	}
}
