package pictures

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

const (
	tables       = 4  // hash tables of descriptors
	hashBits     = 36 // bits of a hash
	imageBits    = 28 // bits of the number of an image
	fullBucket   = 24 // largest number of key points that share a hash; others are too common to tell
	leastVotes   = 14 // smallest number of shared hashes of a related pair
	mostBits     = 56 // largest Hamming distance of matching descriptors
	leastInliers = 6
)

// Pair is a pair of images that may be copies, A < B. The symmetry maps B to A.
type Pair struct {
	A, B   int
	G      Symmetry
	Points bool // whether to compare their key points
}

// chosen holds the bits of a descriptor that each hash table uses.
var chosen = sync.OnceValue(func() (chosen [tables][]int) {
	src := rand.New(rand.NewPCG(2, 2))
	for table := range tables {
		chosen[table] = src.Perm(256)[:hashBits]
	}
	return chosen
})

func hash(chosen []int, bits *[4]uint64) (h uint64) {
	for _, c := range chosen {
		h = h<<1 | bits[c%8/2]>>(c%2*32+c/8)&1 // comparison c/8 under the symmetry c%8
	}
	return h
}

// mostVotes returns the pairs with most votes, at most limit, among votes for pairs of one image A.
func mostVotes(votes map[Pair]int, limit int) []Pair {
	maps.DeleteFunc(votes, func(_ Pair, n int) bool { return n < leastVotes })
	all := slices.SortedFunc(maps.Keys(votes), func(p, q Pair) int {
		return cmp.Or(votes[q]-votes[p], p.B-q.B, int(p.G)-int(q.G))
	})
	all = all[:min(len(all), limit)]
	for at, p := range all {
		if p.A > p.B {
			all[at] = Pair{p.B, p.A, p.G.inverse(), true}
		}
	}
	return all
}

// relatedPairs returns pairs of images with most common descriptors, at most limit for each image: their descriptors have
// equal hashes of some of their bits, also if one image is mirrored or turned by a multiple of 90°.
func relatedPairs(ctx context.Context, looks []*Look, usable func(i int) bool, limit int) (pairs []Pair, err error) {
	const image = 1<<imageBits - 1
	var sorted [tables][]uint64 // a hash, then the image that has it
	for table := range tables {
		for i, l := range looks {
			for k := range l.points {
				if usable(i) {
					sorted[table] = append(sorted[table], hash(chosen()[table], &l.points[k].Bits)<<imageBits|uint64(i))
				}
			}
		}
		slices.Sort(sorted[table])
		sorted[table] = slices.Compact(sorted[table])
	}
	found := make([][]Pair, len(looks))
	err = parallel.Blocks(ctx, 0, len(looks), 1, func(_, i, _ int) {
		votes := map[Pair]int{}
		for k := range looks[i].points {
			for g := range Symmetry(8) {
				bits := looks[i].points[k].under(g)
				for table, entries := range sorted {
					h := hash(chosen()[table], &bits) << imageBits
					from, _ := slices.BinarySearch(entries, h)
					to := from
					for to < len(entries) && entries[to]&^image == h && to-from <= fullBucket {
						to++
					}
					if to-from > fullBucket {
						continue
					}
					for _, e := range entries[from:to] {
						if j := int(e & image); j != i {
							votes[Pair{i, j, g, true}]++
						}
					}
				}
			}
		}
		found[i] = mostVotes(votes, limit)
	})
	return slices.Concat(found...), err
}

// placement maps a point z of an image b to the point g(S·z + D) of an image a. Points are relative to the centre, in
// units of the longer side.
type placement struct {
	g    Symmetry
	S, D complex128
}

func (p placement) apply(z complex128) complex128 { return p.g.apply(p.S*z + p.D) }

func (p placement) undo(w complex128) complex128 { return (p.g.inverse().apply(w) - p.D) / p.S }

type matched struct {
	z, w  complex128
	ratio float64
}

func (l *Look) extent() (w, h float64) {
	longer := float64(max(l.Width, l.Height))
	return float64(l.Width) / longer, float64(l.Height) / longer
}

func (l *Look) centred(k *keypoint) (z complex128, size float64) {
	w, h := l.extent()
	size = math.Pow(levelScale, float64(k.Level)) / float64(min(keypointSide, max(l.Width, l.Height)))
	return complex((float64(k.X)/65535-0.5)*w, (float64(k.Y)/65535-0.5)*h), size
}

// place finds the placement of b in a, under the symmetry g, that most matching key points agree with.
func place(a, b *Look, g Symmetry) (best placement, inliers int) {
	var matches []matched
	turned := lists.Map(a.points, func(k keypoint) [4]uint64 { return k.under(g) })
	inverse := g.inverse()
	for j := range b.points {
		least, at := mostBits+1, -1
		for i := range turned {
			if d := hamming(&turned[i], &b.points[j].Bits); d < least {
				least, at = d, i
			}
		}
		if at >= 0 {
			z, size := b.centred(&b.points[j])
			w, sizeA := a.centred(&a.points[at])
			matches = append(matches, matched{z, inverse.apply(w), sizeA / size})
		}
	}
	best, inliers = agree(matches)
	best.g = g
	return best, inliers
}

// agree returns the similarity transform that most matches agree with.
func agree(matches []matched) (best placement, inliers int) {
	among := func(p placement, tolerance float64) (of []matched) {
		scale := cmplx.Abs(p.S)
		for _, m := range matches {
			if cmplx.Abs(p.S*m.z+p.D-m.w) < tolerance*scale && m.ratio < math.Sqrt2*scale && scale < math.Sqrt2*m.ratio {
				of = append(of, m)
			}
		}
		return of
	}
	var most []matched
	for _, m := range matches {
		if of := among(placement{S: complex(m.ratio, 0), D: m.w - complex(m.ratio, 0)*m.z}, 0.06); len(of) > len(most) {
			most = of
		}
	}
	for range 3 {
		if len(most) < leastInliers {
			return best, 0
		}
		best = similarity(most)
		most = among(best, 0.02)
	}
	// Matches at one place of an image are no independent evidence.
	ofA, ofB := map[complex128]bool{}, map[complex128]bool{}
	rounded := func(z complex128) complex128 { return complex(math.Round(40*real(z)), math.Round(40*imag(z))) }
	for _, m := range most {
		ofA[rounded(m.w)], ofB[rounded(m.z)] = true, true
	}
	return best, min(len(ofA), len(ofB))
}

// similarity returns the similarity transform with the least squared error.
func similarity(of []matched) (p placement) {
	var z, w, square complex128
	n := complex(float64(len(of)), 0)
	for _, m := range of {
		z, w = z+m.z/n, w+m.w/n
	}
	for _, m := range of {
		p.S += cmplx.Conj(m.z-z) * (m.w - w)
		square += cmplx.Conj(m.z-z) * (m.z - z)
	}
	if square == 0 {
		return placement{}
	}
	p.S /= square
	p.D = w - p.S*z
	return p
}

// overlap is the part of two images that shows the same, at the same resolution.
type overlap struct {
	share float64 // the larger one of the fractions of both images that it covers
	p, q  grey    // of both images
}

// overlapOf returns the overlap of the thumbnails of two images. It is not ok if the overlap is too small or has other
// colours in one of them.
func overlapOf(la, lb *Look, a, b *thumbnail, p placement) (o overlap, ok bool) {
	wa, ha := la.extent()
	wb, hb := lb.extent()
	scaleA, scaleB := float64(max(a.y.w, a.y.h)), float64(max(b.y.w, b.y.h))
	inA := func(g grey, z complex128) float32 {
		w := p.apply(z)
		return g.at((real(w)+wa/2)*scaleA, (imag(w)+ha/2)*scaleA)
	}
	inB := func(g grey, z complex128) float32 { return g.at((real(z)+wb/2)*scaleB, (imag(z)+hb/2)*scaleB) }
	const steps = 48
	var inside, difference, ofA, ofB float64
	left, top, right, bottom := 1.0, 1.0, -1.0, -1.0
	for i := range steps * steps {
		x, y := ((float64(i%steps)+0.5)/steps-0.5)*wb, ((float64(i/steps)+0.5)/steps-0.5)*hb
		z := complex(x, y)
		if w := p.apply(z); math.Abs(real(w)) > wa/2 || math.Abs(imag(w)) > ha/2 {
			continue
		}
		inside++
		left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
		for _, planes := range [][2]grey{{a.cb, b.cb}, {a.cr, b.cr}} {
			v, w := float64(inA(planes[0], z)), float64(inB(planes[1], z))
			difference, ofA, ofB = difference+math.Abs(v-w), ofA+math.Abs(v), ofB+math.Abs(w)
		}
	}
	size := cmplx.Abs(p.S)
	o.share = inside / (steps * steps) * max(1, wb*hb*size*size/(wa*ha))
	w, h := right-left, bottom-top
	pixels := min(w, h) * min(scaleB, scaleA*size)
	if pixels < 24 || min(difference/mostColour, ofA/colourless, ofB/colourless) > 2*inside {
		return o, false
	}
	n := 64
	if pixels < 48 {
		n = 32
	}
	o.p, o.q = newGrey(n, n), newGrey(n, n)
	const fine = 3 // samples of a pixel in each direction
	for i := range o.p.v {
		for s := range fine * fine {
			x := left + w*(float64(i%n)+(float64(s%fine)+0.5)/fine)/float64(n)
			y := top + h*(float64(i/n)+(float64(s/fine)+0.5)/fine)/float64(n)
			o.p.v[i] += inA(a.y, complex(x, y)) / (fine * fine)
			o.q.v[i] += inB(b.y, complex(x, y)) / (fine * fine)
		}
	}
	return o, true
}

// shows reports whether a screenshot, whose thumbnail is g, shows another image at a place: between bars of one colour,
// perhaps with text. An image that is enlarged more than three times is a thumbnail, not the original.
func (g grey) shows(screenshot, other *Look, place func(complex128) complex128) bool {
	const (
		least  = 4    // smallest height of a bar in pixels
		away   = 2.5  // distance of the tested pixels from the edges of the other image
		points = 48   // tested along each edge
		equal  = 8    // largest difference of the same colour, in levels of 256
		ofBars = 0.6  // smallest fraction of the pixels outside with the colour of the bars
		edges  = 0.25 // smallest fraction of each edge with this colour only outside
	)
	w, h := screenshot.extent()
	u, v := other.extent()
	from, to := place(complex(-u/2, -v/2)), place(complex(u/2, v/2))
	if cmplx.Abs(to-from)*float64(max(screenshot.Width, screenshot.Height)) > 3*math.Hypot(float64(other.Width), float64(other.Height)) {
		return false
	}
	longer := float64(max(g.w, g.h))
	left, right := (min(real(from), real(to))+w/2)*longer, (max(real(from), real(to))+w/2)*longer
	top, bottom := (min(imag(from), imag(to))+h/2)*longer, (max(imag(from), imag(to))+h/2)*longer
	outside := []float32{0}
	for i, v := range g.v {
		if x, y := float64(i%g.w), float64(i/g.w); x < left-1 || x > right || y < top-1 || y > bottom {
			outside = append(outside, v)
		}
	}
	slices.Sort(outside)
	colour, all, sides := outside[len(outside)/2], float64(len(outside)), 0
	differs := func(v float32) bool { return math.Abs(float64(v-colour)) > equal }
	for side, room := range [4]float64{top, float64(g.h) - bottom, left, float64(g.w) - right} {
		if room < least {
			continue
		}
		sides |= 1 << side
		changed := 0
		for i := range points {
			along, out := (float64(i)+0.5)/points, away*float64(side%2*2-1)
			x, y, dx, dy := left+(right-left)*along, [2]float64{top, bottom}[side%2], 0.0, out
			if side > 1 {
				x, y, dx, dy = [2]float64{left, right}[side%2], top+(bottom-top)*along, out, 0
			}
			changed += map[bool]int{true: 1}[!differs(g.at(x+dx, y+dy)) && differs(g.at(x-dx, y-dy))]
		}
		if float64(changed) < edges*points {
			return false
		}
	}
	return (sides&3 == 3 || sides&12 == 12) && float64(len(slices.DeleteFunc(outside, differs))) >= ofBars*all
}

// agreement aligns the overlap and returns the fraction of tiles with equal details among those with details.
func (o overlap) agreement() float64 {
	const (
		tile    = 8   // side in pixels
		details = 3   // smallest standard deviation of a tile with details, in levels of 256
		equal   = 0.7 // smallest correlation
	)
	w := align(o.p.reduced(o.p.w/2), o.q.reduced(o.q.w/2), warp{X: 1, Y: 1}, 4)
	moved, ok := o.p.sampled(align(o.p, o.q, w, 4))
	p, q := moved.detail(), o.q.detail()
	agree, counted := 0, 0
	for y := 0; y < p.h; y += tile {
		for x := 0; x < p.w; x += tile {
			var pp, qq, pq float64
			for i := range tile * tile {
				if at := (y+i/tile)*p.w + x + i%tile; ok[at] {
					a, b := float64(p.v[at]), float64(q.v[at])
					pp, qq, pq = pp+a*a, qq+b*b, pq+a*b
				}
			}
			if max(pp, qq) < details*details*tile*tile {
				continue
			}
			counted++
			if pq >= equal*math.Sqrt(pp*qq) {
				agree++
			}
		}
	}
	return float64(agree) / float64(max(counted, 1))
}

// reduced returns a square image reduced to a side of n pixels, by means of four pixels. Its side must be n times a power
// of 2.
func (g grey) reduced(n int) grey {
	for g.w > n {
		half := newGrey(g.w/2, g.w/2)
		for i := range half.v {
			p := g.v[2*(i/half.w)*g.w+2*(i%half.w):]
			half.v[i] = (p[0] + p[1] + p[g.w] + p[g.w+1]) / 4
		}
		g = half
	}
	return g
}

// detail returns a square image minus its 5×5 box filter.
func (g grey) detail() grey {
	n := g.w
	mean := func(v []float32, at, step, i int) float32 { // over the window around the i-th of a row or column
		lo, hi := max(i-2, 0), min(i+2, n-1)
		var sum float32
		for u := lo; u <= hi; u++ {
			sum += v[at+(u-i)*step]
		}
		return sum / float32(hi-lo+1)
	}
	rows, out := make([]float32, n*n), newGrey(n, n)
	for at := range rows {
		rows[at] = mean(g.v, at, 1, at%n)
	}
	for at := range rows {
		out.v[at] = g.v[at] - mean(rows, at, n, at/n)
	}
	return out
}

// warp maps the point (x, y) of an image, in coordinates from −1 to 1, to (X·x + DX, Y·y + DY) of another.
type warp struct{ X, DX, Y, DY float64 }

// sampled returns a square image under a warp with linear interpolation, and the mask of pixels inside it.
func (g grey) sampled(w warp) (out grey, ok []bool) {
	out, ok = newGrey(g.w, g.h), make([]bool, g.w*g.h)
	step := 2 / float64(g.w)
	for i := range ok {
		x, y := (float64(i%g.w)+0.5)*step-1, (float64(i/g.w)+0.5)*step-1
		u, v := (w.X*x+w.DX+1)/step, (w.Y*y+w.DY+1)/step
		if ok[i] = min(u, v) >= 0 && max(u, v) <= float64(g.w); ok[i] {
			out.v[i] = g.at(u, v)
		}
	}
	return out, ok
}

// correlation returns Pearson's correlation of two images. It is 0 if one of them is constant.
func correlation(p, q grey) float64 {
	var sp, sq, spp, sqq, spq float64
	for i := range p.v {
		a, b := float64(p.v[i]), float64(q.v[i])
		sp += a
		sq += b
		spp += a * a
		sqq += b * b
		spq += a * b
	}
	n := float64(len(p.v))
	vp, vq := spp-sp*sp/n, sqq-sq*sq/n
	if !(vp > 1e-6*n && vq > 1e-6*n) {
		return 0
	}
	return (spq - sp*sq/n) / math.Sqrt(vp*vq)
}

// align registers p with q: it returns the warp, starting at w, that minimises the squared difference up to gain and
// offset of the brightness, by Gauss-Newton steps (Lucas and Kanade 1981; Baker and Matthews 2004).
func align(p, q grey, w warp, steps int) warp {
	n := p.w
	step := 2 / float64(n)
	for range steps {
		moved, ok := p.sampled(w)
		// Six unknowns: the warp, the gain and the offset.
		var h [6 * 6]float64
		var d [6]float64
		for y := 1; y < n-1; y++ {
			for x := 1; x < n-1; x++ {
				at := y*n + x
				if !ok[at] || !ok[at-1] || !ok[at+1] || !ok[at-n] || !ok[at+n] {
					continue
				}
				cx, cy := (float64(x)+0.5)*step-1, (float64(y)+0.5)*step-1
				// Derivatives in the coordinates of p.
				gx := float64(moved.v[at+1]-moved.v[at-1]) / (2 * step * w.X)
				gy := float64(moved.v[at+n]-moved.v[at-n]) / (2 * step * w.Y)
				row := [6]float64{gx * cx, gx, gy * cy, gy, float64(moved.v[at]), 1}
				for i, v := range row {
					for j := i; j < 6; j++ {
						h[6*i+j] += v * row[j]
					}
					d[i] += v * float64(q.v[at])
				}
			}
		}
		u, positive := blas.Cholesky(blas.Matrix{Rows: 6, Cols: 6, Stride: 6, Data: h[:]})
		if !positive {
			break
		}
		x := blas.Matrix{Rows: 6, Cols: 1, Stride: 1, Data: d[:]}
		blas.Trsm(blas.Trans, u, x)
		blas.Trsm(blas.NoTrans, u, x)
		if !(d[4] > 0.2 && d[4] < 5) {
			break
		}
		// q ≈ gain·(p + ∇p·δ) + offset, so the solution is gain·δ.
		next := warp{w.X + d[0]/d[4], w.DX + d[1]/d[4], w.Y + d[2]/d[4], w.DY + d[3]/d[4]}
		if !(next.X > 0.7 && next.X < 1.4 && next.Y > 0.7 && next.Y < 1.4 && math.Abs(next.DX) < 0.4 && math.Abs(next.DY) < 0.4) {
			break
		}
		w = next
	}
	return w
}
