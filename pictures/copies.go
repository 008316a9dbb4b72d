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
	side          = 128  // height and width to which thumbnails are stretched to be compared
	framedSide    = 128  // the shorter side, in pixels, from which a picture may be part of another
	worthAligning = 0.8  // the correlation of rough pictures, aligned, from which thumbnails are compared
	cutScale      = 0.85 // where alignment begins too: the whole does not find what lost a tenth of each side
	// alike and alikeWithin are the correlations of details from which pictures are copies: as they lie, and where
	// one shows a part of the other.
	alike       = 0.92
	alikeWithin = 0.95
	mostColour  = 12 // the largest mean difference of the colours of copies, in levels of 256
)

// Source is what Copies compares: n pictures.
type Source struct {
	Looks []*Look
	Order []int // from the most likely original to the least, nil for 0, …, n-1
	// Same holds for each picture one before it, in this order, that is known to be the same, of which no other is
	// known to be the same, or the picture itself.
	Same []int
	Near [][]int // pictures that look like each; only these are compared
	// Thumbnail returns the thumbnail of a picture. It is called by several goroutines.
	Thumbnail func(ctx context.Context, i int) (image.Image, error)
	// Equal tells whether two pictures with thumbnails that look the same have the same pixels. It decodes them.
	Equal func(ctx context.Context, i, j int) (bool, error)
	// Progress receives the number of compared pairs, one call at a time. It may be nil.
	Progress func(done, total int)
}

// Copies returns for each of n pictures the original of its stack of copies, the first of them in the order,
// and whether it is a near duplicate of that one and no exact copy. Near duplicates have like colours, and
// details (64×64 less the local mean) that correlate by 0.92 or more; or by 0.95 where one shows a part of the
// other, found by aligning them (Lucas and Kanade 1981).
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
			if found[p], errs[p] = from.alike(ctx, pairs[p][0], pairs[p][1], kept); errs[p] != nil {
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
	first := slices.Clone(copyOf) // of pictures that are the first of those known to be the same
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
		// All that copies lead to from the first; those that are not its own copies wait for a stack of theirs.
		kept, seen := map[int]*detailed{}, map[int]bool{i: true}
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, j := range links[queue[0]] {
				if seen[j] || place[j] < place[i] || first[j] != j {
					continue
				}
				seen[j] = true
				if queue[0] != i {
					if ok, err := from.alike(ctx, i, j, kept); err != nil {
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

// detailed returns the thumbnail of picture i, which it keeps among a few.
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

func (s Source) alike(ctx context.Context, i, j int, kept map[int]*detailed) (bool, error) {
	a, b := s.Looks[i], s.Looks[j]
	p, q := planeOf(roughSide, a.rough[:]), planeOf(roughSide, b.rough[:])
	within := min(a.Width, a.Height, b.Width, b.Height) >= framedSide
	w := identity
	rough := correlation(p, q, nil)
	if within {
		var aligned float64
		w, aligned = roughly(p, q)
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

// roughly aligns two rough pictures, and returns the correlation of them then.
func roughly(p, q plane) (w warp, most float64) {
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

// Rough returns the brightness of the rough picture, of mean 0 and length 1, so that neither brightness nor
// contrast of the picture matters; zeros where it has one brightness. The distance of two says how unlike they
// are.
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

// colourDifference is the mean difference of the colours of two pictures, where b shows the part w of a.
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
