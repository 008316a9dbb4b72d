package input

import (
	"cmp"
	"context"
	"crypto/sha256"
	"image"
	"os"
	"slices"
	"time"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/pictures"
)

// Examined has the facts of an image that decide about copies, beside its look.
type Examined struct {
	Name    string
	Sample  int // its number in the set
	Sum     [sha256.Size]byte
	Bytes   int64
	Changed time.Time
	Capture imagefile.Capture
	// Look has the numbers of the image's look, and no key points.
	Look pictures.Look
}

// Examine returns the facts of the images from, …, to−1 of a set, and their looks, each followed by a thumbnail. It skips
// unusable images.
func Examine(ctx context.Context, set *datasets.Set, from, to int) (all []Examined, blobs [][]byte, bad []datasets.BadFile, err error) {
	l := looks{images: set.Images(), store: (*cache.Store)(nil)}
	l.images.UseTruncated = true
	found, blob, failed := make([]Examined, to-from), make([][]byte, to-from), make([]error, to-from)
	err = parallel.Each(ctx, 0, to-from, nil, func(at int) (err error) {
		i := from + at
		look, thumbnail, err := l.lookOf(ctx, i)
		if err != nil {
			failed[at] = err
			return ctx.Err()
		}
		if found[at], err = l.examined(set, i, look); err != nil {
			return err
		}
		blob[at], err = look.AppendBinary(nil)
		blob[at] = append(blob[at], thumbnail...)
		return err
	})
	for at, reason := range failed {
		if reason != nil {
			bad = append(bad, datasets.BadFile{Name: set.Names[from+at], Kind: imagefile.KindOf(reason), Reason: reason.Error()})
		} else {
			all, blobs = append(all, found[at]), append(blobs, blob[at])
		}
	}
	return all, blobs, bad, err
}

// examined describes sample i of the set, whose look is given.
func (l *looks) examined(set *datasets.Set, i int, look *pictures.Look) (e Examined, err error) {
	e = Examined{Name: set.Names[i], Sample: i, Capture: imagefile.ReadCapture(set.Files[i])}
	e.Look.Width, e.Look.Height, e.Look.Sharpness, e.Look.Spread = look.Width, look.Height, look.Sharpness, look.Spread
	if info, err := os.Stat(set.Files[i]); err == nil {
		e.Bytes, e.Changed = info.Size(), info.ModTime()
	}
	e.Sum, err = ContentOf(l.images, i)
	return e, err
}

// Originals returns the images as a source of copies (Order, Cameras, Same and Taken), best originals first: see
// Pictures.CopyOf. p describes single images.
func Originals(all []Examined) (p *Pictures, from pictures.Source) {
	n := len(all)
	p = &Pictures{Outlier: make([]float64, n)}
	value := func(e Examined) int { return map[bool]int{true: 1}[e.Capture.Camera != ""] }
	short := make([]*pictures.Look, n)
	for i, e := range all {
		short[i] = &all[i].Look
		p.Size, p.Sharpness = append(p.Size, image.Pt(e.Look.Width, e.Look.Height)), append(p.Sharpness, e.Look.Sharpness)
		p.Bytes, p.Capture, from.Taken = append(p.Bytes, e.Bytes), append(p.Capture, e.Capture), append(from.Taken, e.Capture.Taken)
		from.Cameras += value(e)
	}
	p.Remark = pictures.Remarks(short)
	from.Order, from.Same = matrix.Range(n), make([]int, n)
	slices.SortFunc(from.Order, func(i, j int) int {
		a, b := all[i], all[j]
		return cmp.Or(
			value(b)-value(a), b.Look.Width*b.Look.Height-a.Look.Width*a.Look.Height, cmp.Compare(b.Bytes, a.Bytes),
			a.Changed.Compare(b.Changed), len(a.Name)-len(b.Name), i-j)
	})
	first := map[[sha256.Size]byte]int{}
	for _, i := range from.Order {
		if _, ok := first[all[i].Sum]; !ok {
			first[all[i].Sum] = i
		}
		from.Same[i] = first[all[i].Sum]
	}
	return p, from
}

// SetStacks sets the stacks of copies. A screenshot gets the sharpness of its original: text is always sharp.
func (p *Pictures) SetStacks(s *pictures.Stacks) {
	p.CopyOf, p.Near, p.Burst = s.CopyOf, s.Near, s.Burst
	for i, of := range s.CopyOf {
		if s.Screenshot[i] {
			p.Sharpness[i], p.Remark[i] = p.Sharpness[of], p.Remark[of]
		}
	}
}

// SamePixels returns a function that reports whether two examined images of a set have equal pixels.
func SamePixels(set *datasets.Set, all []Examined) func(ctx context.Context, i, j int) (bool, error) {
	images := set.Images()
	return func(ctx context.Context, i, j int) (bool, error) {
		return samePixels(ctx, images, all[i].Sample, all[j].Sample)
	}
}
