package pictures

import (
	"cmp"
	"context"
	"image"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

const (
	side          = 128  // height and width of the image from which the small images are made
	worthLooking  = 0.8  // smallest correlation of rough images of copies without alignment
	alike         = 0.92 // smallest correlation of their details
	leastOverlap  = 0.85 // smallest fraction of one of two copies that the other shows
	alikeTiles    = 0.75 // smallest fraction of the tiles of the overlap that agree
	mostColour    = 12   // largest mean difference of the colours of copies, in levels of 256
	colourless    = 3    // largest mean colour of grey images
	relatedImages = 12   // number of images with common key points with which each image is compared
	burstSeconds  = 3    // longest time between two shots of a burst
	burstShots    = 8    // number of earlier shots with which each shot is compared
	burstTiles    = 0.6  // smallest fraction of the tiles of the overlap that agree in two shots of a burst
)

// Source gives [Copies] access to n images.
type Source struct {
	Looks []*Look // the looks of the images
	Order []int   // images by decreasing likelihood of being an original
	// Cameras is the number of images at the start of Order that are of a camera, and therefore no screenshots.
	Cameras int
	// Same holds, for each image, the first image in Order that is known to be identical, or the image itself if there
	// is none.
	Same []int
	Near [][]int // for each image, images with similar features, which are compared in addition
	// Taken holds the capture times, zero if unknown. It may be nil.
	Taken []time.Time
	// Thumbnail returns the thumbnail of an image. It is called concurrently.
	Thumbnail func(ctx context.Context, i int) (image.Image, error)
	// Equal reports whether two images with equal looks have the same pixels.
	Equal func(ctx context.Context, i, j int) (bool, error)
	// Progress, if set, is called with the number of compared pairs. Calls do not overlap.
	Progress func(done, total int)
}

// Stacks holds the stacks of copies among n images: for each image the original of its stack, the first in
// Source.Order but for screenshots, and whether it is a near duplicate, not an exact copy, another shot of the same
// burst, and a screenshot of another image.
type Stacks struct {
	CopyOf                  []int
	Near, Burst, Screenshot []bool
}

// Relation tells how two images are related.
type Relation uint8

const (
	different Relation = iota
	sameBurst
	nearDuplicate
	firstShows // near duplicates; the first is a screenshot that shows the second
	secondShows
)

// Copies finds copies and bursts. Near duplicates have similar colours, unless one is grey, and either details (64×64
// pixels minus the local mean) with a correlation of at least 0.92, or key points that place one inside the other,
// possibly mirrored or turned, where at least three quarters of the tiles have the same details. Shots of a burst are at
// most 3 seconds apart and share key points.
func Copies(ctx context.Context, from Source) (*Stacks, error) {
	pairs, err := from.pairs(ctx)
	if err != nil {
		return nil, err
	}
	links, err := from.Compare(ctx, pairs)
	if err != nil {
		return nil, err
	}
	return from.Join(ctx, links)
}

// Compare returns the pairs that are copies or of one burst.
func (s Source) Compare(ctx context.Context, pairs []Pair) (links []Link, err error) {
	defer guard.Catch(&err)
	found, rough := make([]Relation, len(pairs)), s.rough()
	guard.Check(parallel.Each(ctx, 0, len(pairs), s.Progress, func(p int) error {
		found[p] = s.compare(ctx, pairs[p], rough)
		return nil
	}))
	for p, pair := range pairs {
		if found[p] != different {
			links = append(links, Link{pair.A, pair.B, found[p]})
		}
	}
	return links, nil
}

// rough returns the rough images of the looks.
func (s Source) rough() [][]float64 {
	return lists.Map(s.Looks, func(l *Look) []float64 {
		if l == nil {
			return nil
		}
		return l.Rough()
	})
}

// Join returns the stacks that the links of Compare make. Only linked images need a look.
func (s Source) Join(ctx context.Context, found []Link) (_ *Stacks, err error) {
	defer guard.Catch(&err)
	n := len(s.Looks)
	out := &Stacks{slices.Clone(s.Same), make([]bool, n), make([]bool, n), make([]bool, n)}
	links := make([][]Link, n) // from each image A
	for _, l := range found {
		links[l.A] = append(links[l.A], l)
		links[l.B] = append(links[l.B], Link{l.B, l.A, l.By})
		out.Screenshot[l.A] = out.Screenshot[l.A] || l.By == firstShows
		out.Screenshot[l.B] = out.Screenshot[l.B] || l.By == secondShows
	}
	for at, i := range s.Order {
		out.Screenshot[i] = out.Screenshot[s.Same[i]] && at >= s.Cameras
	}
	last := func(i int) int { return map[bool]int{true: 1}[out.Screenshot[i]] }
	s.Order = slices.SortedStableFunc(slices.Values(s.Order), func(i, j int) int { return last(i) - last(j) })
	s.stack(ctx, out, links, s.rough())
	for i, stack := range out.CopyOf {
		of := s.Same[i]
		if out.Near[i] = stack != of; !out.Near[i] || out.Burst[i] {
			continue
		}
		if a, b := s.Looks[stack], s.Looks[of]; a.Width == b.Width && a.Height == b.Height && a.small == b.small && a.colour == b.colour {
			out.Near[i] = !guard.Must(s.Equal(ctx, stack, i))
		}
	}
	return out, nil
}

// Link is a pair of copies, or of shots of a burst.
type Link struct {
	A, B int
	By   Relation
}

// stack joins linked images by a breadth-first search from each original. A copy of a copy must be a copy of the original
// too; else it gets a stack of its own later. A burst may move on from shot to shot. It calls guard.Fail.
func (s Source) stack(ctx context.Context, into *Stacks, links [][]Link, rough [][]float64) {
	n := len(s.Looks)
	first := slices.Clone(s.Same) // the original of each representative of identical images
	place := make([]int, n)
	for at, i := range s.Order {
		place[i] = at
	}
	burst := make([]bool, n)
	for _, i := range s.Order {
		if s.Same[i] != i || first[i] != i {
			continue
		}
		seen, members := map[int]bool{i: true}, []int{i}
		for at := 0; at < len(members); at++ {
			m := members[at]
			for _, l := range links[m] {
				j := l.B
				if seen[j] || place[j] < place[i] || first[j] != j {
					continue
				}
				seen[j] = true
				if burst[j] = burst[m] || l.By == sameBurst; !burst[j] && m != i {
					ok := different
					for g := Symmetry(0); g < 8 && ok == different; g++ {
						ok = s.compare(ctx, Pair{i, j, g, true}, rough)
					}
					if ok == different {
						continue
					}
				}
				first[j] = i
				members = append(members, j)
			}
		}
	}
	for i, of := range s.Same {
		into.CopyOf[i], into.Burst[i] = first[of], burst[of] && first[of] != of
	}
}

// Separate splits a list greedily into lists without both elements of any pair of names.
func Separate[T any](list []T, pairs [][2]string, name func(T) string) (parts [][]T) {
	apart := func(v, w T) bool {
		a, b := name(v), name(w)
		return slices.Contains(pairs, [2]string{a, b}) || slices.Contains(pairs, [2]string{b, a})
	}
	for _, v := range list {
		at := slices.IndexFunc(parts, func(part []T) bool {
			return !slices.ContainsFunc(part, func(w T) bool { return apart(v, w) })
		})
		if at < 0 {
			at = len(parts)
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], v)
	}
	return parts
}

func (s Source) pairs(ctx context.Context) (pairs []Pair, err error) {
	can := func(i int) bool {
		return s.Same[i] == i && s.Looks[i].usable()
	}
	add := func(i, j int) {
		if j != i && can(i) && can(j) {
			pairs = append(pairs, Pair{A: min(i, j), B: max(i, j)})
		}
	}
	for i, near := range s.Near {
		for _, j := range near {
			add(i, j)
		}
	}
	byTime := make([]int, 0, len(s.Taken))
	for i, t := range s.Taken {
		if !t.IsZero() && can(i) {
			byTime = append(byTime, i)
		}
	}
	slices.SortStableFunc(byTime, func(i, j int) int { return s.Taken[i].Compare(s.Taken[j]) })
	for at, i := range byTime {
		for _, j := range byTime[max(0, at-burstShots):at] {
			if s.inBurst(i, j) {
				pairs = append(pairs, Pair{min(i, j), max(i, j), 0, true})
			}
		}
	}
	byPoints, err := relatedPairs(ctx, s.Looks, can, relatedImages)
	pairs = append(pairs, byPoints...)
	return Unique(pairs), err
}

// Unique returns each pair once, in a fixed order. It changes the list.
func Unique(pairs []Pair) []Pair {
	// Pairs with key points come first, so that they stay.
	last := func(p Pair) int { return map[bool]int{false: 1}[p.Points] }
	slices.SortFunc(pairs, func(p, q Pair) int { return cmp.Or(p.A-q.A, p.B-q.B, int(p.G)-int(q.G), last(p)-last(q)) })
	return slices.CompactFunc(pairs, func(p, q Pair) bool { return p.A == q.A && p.B == q.B && p.G == q.G })
}

func (s Source) inBurst(i, j int) bool {
	return s.Taken != nil && !s.Taken[i].IsZero() && !s.Taken[j].IsZero() && s.Taken[i].Sub(s.Taken[j]).Abs() <= burstSeconds*time.Second
}

type thumbnail struct{ y, cb, cr grey }

// thumbnail returns the thumbnail of image i. It calls guard.Fail.
func (s Source) thumbnail(ctx context.Context, i int) *thumbnail {
	small := features.Thumbnail(guard.Must(s.Thumbnail(ctx, i)), ThumbnailSide)
	t := &thumbnail{y: greyOf(small), cb: newGrey(small.Rect.Dx(), small.Rect.Dy()), cr: newGrey(small.Rect.Dx(), small.Rect.Dy())}
	for p, y := range t.y.v {
		t.cb.v[p], t.cr.v[p] = (float32(small.Pix[4*p+2])-y)/1.772, (float32(small.Pix[4*p])-y)/1.402
	}
	return t
}

// compare calls guard.Fail.
func (s Source) compare(ctx context.Context, p Pair, rough [][]float64) Relation {
	a, b := s.Looks[p.A], s.Looks[p.B]
	near := nearDuplicate
	if s.inBurst(p.A, p.B) && !s.Taken[p.A].Equal(s.Taken[p.B]) {
		near = sameBurst // a copy keeps the time
	}
	if p.G == 0 && floats.Dot(rough[p.A], rough[p.B]) >= worthLooking && sameColours(a, b) &&
		correlation(a.brightness().detail(), b.brightness().detail()) >= alike {
		return near
	}
	if !p.Points {
		return different
	}
	at, inliers := place(a, b, p.G)
	if inliers < leastInliers {
		return different
	}
	ta, tb := s.thumbnail(ctx, p.A), s.thumbnail(ctx, p.B)
	o, ok := overlapOf(a, b, ta, tb, at)
	if !ok || o.share < leastOverlap {
		return different
	}
	switch tiles := o.agreement(); {
	case tiles >= alikeTiles && near == nearDuplicate && ta.y.shows(a, b, at.apply):
		return firstShows
	case tiles >= alikeTiles && near == nearDuplicate && tb.y.shows(b, a, at.undo):
		return secondShows
	case tiles >= alikeTiles:
		return near
	case tiles >= burstTiles && s.inBurst(p.A, p.B):
		return sameBurst
	}
	return different
}

// Rough returns the brightness of the 16×16 image, normalised to mean 0 and length 1, so that brightness and contrast
// do not matter. It is zero for a uniform image. The distance between two of them measures the dissimilarity of
// images.
func (l *Look) Rough() []float64 {
	rough := l.brightness().reduced(roughSide)
	out := lists.Map(rough.v, func(v float32) float64 { return float64(v) })
	floats.AddConst(-floats.Sum(out)/float64(len(out)), out)
	length := math.Sqrt(floats.Dot(out, out))
	if length < 1 {
		return make([]float64, len(out))
	}
	floats.Scale(1/length, out)
	return out
}

// usable reports whether an image can be a near duplicate.
func (l *Look) usable() bool {
	return min(l.Width, l.Height) >= LeastSide && l.Spread >= blankSpread
}

func (l *Look) brightness() grey {
	return grey{smallSide, smallSide, lists.Map(l.small[:], func(v uint8) float32 { return float32(v) })}
}

// sameColours reports whether two images have the same colours or one of them has none.
func sameColours(a, b *Look) bool {
	var difference, ofA, ofB float64
	for i, v := range a.colour {
		p, q := float64(v)-128, float64(b.colour[i])-128
		difference, ofA, ofB = difference+math.Abs(p-q), ofA+math.Abs(p), ofB+math.Abs(q)
	}
	return min(difference/mostColour, ofA/colourless, ofB/colourless) <= float64(len(a.colour))
}
