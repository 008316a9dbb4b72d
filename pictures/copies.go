package pictures

import (
	"cmp"
	"context"
	"image"
	"math"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

const (
	side          = 128  // height and width of thumbnails in comparisons
	framedSide    = 128  // smallest shorter side of an image that may be a crop of another
	worthAligning = 0.8  // smallest correlation of aligned rough images for a comparison of thumbnails
	cutScale      = 0.85 // second start of the alignment, for crops that lost a tenth of each side
	// alike and alikeWithin are the smallest correlations of details of copies, without alignment and for crops.
	alike       = 0.92
	alikeWithin = 0.95
	mostColour  = 12 // largest mean difference of the colours of copies, in levels of 256
)

// Source gives [Copies] access to n images.
type Source struct {
	Looks []*Look // the looks of the images
	Order []int   // images by decreasing likelihood of being an original; nil means 0, …, n-1
	// Same holds, for each image, the first image in Order that is known to be identical, or the image itself if there
	// is none.
	Same []int
	Near [][]int // candidates for each image; only these are compared
	// Thumbnail returns the thumbnail of an image. It is called concurrently.
	Thumbnail func(ctx context.Context, i int) (image.Image, error)
	// Equal reports whether two images with equal looks have the same pixels. It may be nil.
	Equal func(ctx context.Context, i, j int) (bool, error)
	// Progress, if set, is called with the number of compared pairs. Calls do not overlap.
	Progress func(done, total int)
}

// Copies returns, for each of n images, the original of its stack of copies, the first in from.Order, and whether it is
// a near duplicate of the original, not an exact copy. Near duplicates have similar colours, and details (64×64 pixels
// minus the local mean) with a correlation of at least 0.92. For crops it is 0.95 after alignment (Lucas and Kanade
// 1981).
func Copies(ctx context.Context, from Source) (copyOf []int, near []bool, err error) {
	n := len(from.Looks)
	copyOf, near = slices.Clone(from.Same), make([]bool, n)
	pairs := from.pairs()
	found, errs := make([]bool, len(pairs)), make([]error, len(pairs))
	var mu sync.Mutex
	done := 0
	if err := parallel.Blocks(ctx, 0, len(pairs), 16, func(_, lo, hi int) {
		kept := map[int]*detailed{}
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			if done += hi - lo; from.Progress != nil {
				from.Progress(done, len(pairs))
			}
		}()
		for p := lo; p < hi; p++ {
			if found[p], errs[p] = from.areNearDuplicates(ctx, pairs[p][0], pairs[p][1], kept); errs[p] != nil {
				return
			}
		}
	}); err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	links := make([][]int, n)
	for p, pair := range pairs {
		if errs[p] != nil {
			return nil, nil, errs[p]
		}
		if found[p] {
			links[pair[0]], links[pair[1]] = append(links[pair[0]], pair[1]), append(links[pair[1]], pair[0])
		}
	}
	first := slices.Clone(copyOf) // the original of each representative of identical images
	order, place := from.Order, make([]int, n)
	if order == nil {
		order = make([]int, n)
		for i := range order {
			order[i] = i
		}
	}
	for at, i := range order {
		place[i] = at
	}
	for _, i := range order {
		if copyOf[i] != i || first[i] != i {
			continue
		}
		// Breadth-first search over links. Images that are not copies of i itself get a stack of their own later.
		kept, seen := map[int]*detailed{}, map[int]bool{i: true}
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, j := range links[queue[0]] {
				if seen[j] || place[j] < place[i] || first[j] != j {
					continue
				}
				seen[j] = true
				if queue[0] != i {
					if ok, err := from.areNearDuplicates(ctx, i, j, kept); err != nil {
						return nil, nil, err
					} else if !ok {
						continue
					}
				}
				first[j] = i
				queue = append(queue, j)
			}
		}
	}
	for i, of := range copyOf {
		stack := first[of]
		copyOf[i] = stack
		if near[i] = stack != of; !near[i] {
			continue
		}
		if a, b := from.Looks[stack], from.Looks[of]; from.Equal != nil && a.Width == b.Width && a.Height == b.Height && a.rough == b.rough && a.colour == b.colour {
			same, err := from.Equal(ctx, stack, i)
			if err != nil {
				return nil, nil, err
			}
			near[i] = !same
		}
	}
	return copyOf, near, nil
}

func (s Source) pairs() (pairs [][2]int) {
	can := func(i int) bool {
		l := s.Looks[i]
		return s.Same[i] == i && min(l.Width, l.Height) >= LeastSide && l.Spread >= blankSpread
	}
	for i, near := range s.Near {
		for _, j := range near {
			if j != i && can(i) && can(j) {
				pairs = append(pairs, [2]int{min(i, j), max(i, j)})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(pairs)
}

type detailed struct{ at128, at64, at32, at16, detail plane }

// detailed returns the thumbnail of image i at all resolutions. It caches a few in kept.
func (s Source) detailed(ctx context.Context, i int, kept map[int]*detailed) (*detailed, error) {
	if d := kept[i]; d != nil {
		return d, nil
	}
	img, err := s.Thumbnail(ctx, i)
	if err != nil {
		return nil, err
	}
	d := &detailed{}
	d.at128, _, _ = planes(features.Stretched(img, side, side))
	d.at64 = d.at128.halved()
	d.at32 = d.at64.halved()
	d.at16 = d.at32.halved()
	d.detail = d.at64.detail()
	if len(kept) >= 32 {
		clear(kept)
	}
	kept[i] = d
	return d, nil
}

func (s Source) areNearDuplicates(ctx context.Context, i, j int, kept map[int]*detailed) (bool, error) {
	a, b := s.Looks[i], s.Looks[j]
	p, q := planeOf(roughSide, a.rough[:]), planeOf(roughSide, b.rough[:])
	within := min(a.Width, a.Height, b.Width, b.Height) >= framedSide
	w := identity
	rough := correlation(p, q, nil)
	if within {
		var aligned float64
		w, aligned = alignRough(p, q)
		rough = max(rough, aligned)
	}
	if rough < worthAligning || min(colourDifference(a, b, identity), colourDifference(a, b, w)) > mostColour {
		return false, nil
	}
	first, err := s.detailed(ctx, i, kept)
	second, err2 := s.detailed(ctx, j, kept)
	if err := cmp.Or(err, err2); err != nil {
		return false, err
	}
	if correlation(first.detail, second.detail, nil) >= alike {
		return true, nil
	}
	if !within {
		return false, nil
	}
	w = align(first.at16, second.at16, w, 6)
	w = align(first.at32, second.at32, w, 4)
	w = align(first.at64, second.at64, w, 3)
	w = align(first.at128, second.at128, w, 2)
	moved, _, _ := first.at128.sampled(w)
	_, ok, _ := first.at64.sampled(w)
	return correlation(moved.halved().detail(), second.detail, ok) >= alikeWithin, nil
}

// alignRough aligns two rough images and returns the warp and the correlation.
func alignRough(p, q plane) (w warp, most float64) {
	most = -1
	for _, scale := range []float64{1, cutScale, 1 / cutScale} {
		from := align(p, q, warp{X: scale, Y: scale}, 6)
		moved, ok, _ := p.sampled(from)
		if found := correlation(moved, q, ok); found > most {
			w, most = from, found
		}
	}
	return w, most
}

func planeOf(n int, levels []uint8) plane {
	p := newPlane(n)
	for i := range p.v {
		p.v[i] = float32(levels[i])
	}
	return p
}

// Rough returns the brightness of the 16×16 image, normalised to mean 0 and length 1, so that brightness and contrast
// do not matter. It is zero for a uniform image. The distance between two of them measures the dissimilarity of
// images.
func (l *Look) Rough() []float64 {
	out := make([]float64, len(l.rough))
	var mean, length float64
	for i, v := range l.rough {
		out[i] = float64(v)
		mean += out[i] / float64(len(out))
	}
	for i := range out {
		out[i] -= mean
		length += out[i] * out[i]
	}
	for i := range out {
		if out[i] /= math.Sqrt(length); length < 1 {
			out[i] = 0
		}
	}
	return out
}

// colourDifference returns the mean difference of the colours of b and of a under the warp w.
func colourDifference(a, b *Look, w warp) float64 {
	var sum, n float64
	for plane := range 2 {
		from := plane * colourSide * colourSide
		moved, ok, _ := planeOf(colourSide, a.colour[from:]).sampled(w)
		for i, v := range planeOf(colourSide, b.colour[from:]).v {
			if ok[i] {
				sum += math.Abs(float64(moved.v[i] - v))
				n++
			}
		}
	}
	return sum / max(n, 1)
}
