package report

import (
	"cmp"
	"fmt"
	"image"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// thumbnails are the contact sheets of a page: pictures/000.jpg and so on.
type thumbnails struct {
	grid  figure.Grid
	count int           // sheets
	sizes []image.Point // of each sample's thumbnail, zero for none
	place []int         // of each sample, over all sheets
}

// path returns the name of a sheet.
func (t *thumbnails) path(sheet int) string {
	return fmt.Sprintf("pictures/%03d%s", sheet, t.grid.Extension())
}

// grid is the layout of thumbnails.
func (c Clusters) grid() figure.Grid { return figure.NewGrid(cmp.Or(c.Side, figure.PhotographCell)) }

// mostFailures is the largest number of unreadable pictures that are named.
const mostFailures = 20

// writeThumbnails writes the contact sheets of all samples, in the order given, and returns warnings of
// unreadable pictures. It needs memory for a sheet on each core, or on fewer if the budget has no more.
func (c Clusters) writeThumbnails(to folder, order []int) (t *thumbnails, failed []string, err error) {
	t = &thumbnails{grid: c.grid(), sizes: make([]image.Point, len(order)), place: make([]int, len(order))}
	sheets := slices.Collect(slices.Chunk(order, t.grid.Len()))
	t.count = len(sheets)
	for at, sample := range order {
		t.place[sample] = at
	}
	workers := max(1, min(parallel.Cores(), t.count))
	var release func()
	for ; ; workers-- {
		release, err = memory.FromContext(to.ctx).Keep(int64(workers)*t.grid.Memory(), "the contact sheets")
		if err == nil {
			break
		} else if workers == 1 {
			return nil, nil, err
		}
	}
	defer release()
	gone := make([]error, len(order))
	if err := each(to.ctx, workers, t.count, func(sheet int) error { return c.writeSheet(to, t, sheet, sheets[sheet], gone) }); err != nil {
		return nil, nil, err
	}
	missing := 0
	for _, sample := range order {
		if err := gone[sample]; err != nil {
			if missing++; missing <= mostFailures {
				failed = append(failed, fmt.Sprintf("%s is not shown: %v", c.Names[sample], err))
			}
		}
	}
	if more := missing - mostFailures; more > 0 {
		failed = append(failed, phrase.Count(more, "more picture is", "more pictures are")+" not shown.")
	}
	return t, failed, nil
}

// writeSheet writes one sheet. Unreadable pictures leave their cells empty and an error in gone.
func (c Clusters) writeSheet(to folder, t *thumbnails, sheet int, samples []int, gone []error) error {
	drawn := t.grid.NewSheet(len(samples))
	for at, sample := range samples {
		if err := to.ctx.Err(); err != nil {
			return err
		}
		img, err := c.Image(sample)
		switch {
		case isDone(err):
			return err
		case err != nil:
			gone[sample] = err
		default:
			small := figure.Small(img, t.grid.Cell)
			t.sizes[sample] = small.Bounds().Size()
			drawn.Set(at, small)
		}
	}
	text, err := drawn.Encode()
	if err != nil {
		return err
	}
	return to.writeBytes(t.path(sheet), text)
}
