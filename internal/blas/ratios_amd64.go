//go:build !native

package blas

import (
	"slices"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Ratios are those of X, n×m, to vᵀu. A tile of them is made while its sums are in registers and
// multiplied while it is in the nearest cache, so that there are never more than a few. All is to
// the bytes of Multiply, simd.Divide and simd.DivideSum of the same parts of X.
type Ratios[T Number] struct {
	ratioLoops[T]
	floor       T // the least that counts of vᵀu
	rank        int
	features    parallel.Split
	u           []T // the right factor of vᵀu: for each r.columns features the rows of u
	ut          []T // the right factor of R·uᵀ: for each part of features tiles of basis vectors
	tiles, tile int // how many of these, and of how many basis vectors
}

// ratioLoops are those of one precision, see internal/simd.
type ratioLoops[T Number] struct {
	columns   int // of a tile
	rowLogs   int // sums of the logarithms of a row
	ratioRows func(ratios []T, stride int, x []T, xStride, rows, columns int, a, b []T, floor T)
	logRows   func(logs []float64, ratios []T, stride int, x []T, xStride, rows, columns int)
	logsOf    func(logs []float64) float64
	logTerm   func(y, x T) float64
}

// What there is room for, and a part at most: samples, features, and basis vectors.
const (
	ratioSamples  = packRows
	ratioFeatures = 240
	ratioRank     = packRows
)

func ratiosBy[T Number](l ratioLoops[T]) *freelist.List[*Ratios[T]] {
	return &freelist.List[*Ratios[T]]{New: func() *Ratios[T] { return &Ratios[T]{ratioLoops: l} }}
}

var (
	ratios64 = ratiosBy(ratioLoops[float64]{
		simd.MostTileColumns, simd.RatioLogs, simd.RatioRows, simd.LogRows, simd.LogsOf, simd.LogTerm,
	})
	ratios32 = ratiosBy(ratioLoops[float32]{
		simd.MostTileColumns32, simd.RatioLogs32, simd.RatioRows32, simd.LogRows32, simd.LogsOf32, simd.LogTerm32,
	})
)

func ratioList[T Number]() *freelist.List[*Ratios[T]] {
	return ofPrecision[*freelist.List[*Ratios[T]]](ratios64, ratios32)
}

// NewRatios lays out u, k×m, for products of ratios of parts of samples and of features, which are
// cut at multiples of 8 and of a tile's columns, 24 or in single precision 48: products for the basis,
// or for the coefficients. It returns nil where this processor, or a problem of this size, is served by
// other means.
func NewRatios[T Number](u Of[T], samples, features parallel.Split, floor T, coefficients bool) *Ratios[T] {
	fewest, most := sizes(samples)
	narrowest, widest := sizes(features)
	if !simd.HasRatioRows() || fewest*narrowest*u.Rows < fewMultiplications ||
		most > ratioSamples || widest > ratioFeatures || u.Rows > ratioRank {
		return nil
	}
	p := packedOf[T]()
	defer p.put()
	r := ratioList[T]().Get()
	r.floor, r.rank, r.features = floor, u.Rows, features
	strips := (u.Cols + r.columns - 1) / r.columns
	r.u = roomFor(r.u, strips*r.columns*r.rank)
	clear(r.u[(strips-1)*r.columns*r.rank:]) // of features beyond the last
	p.pack(r.u, u.Data, u.Stride, false, 0, u.Cols, 0, r.rank, r.columns)
	if !coefficients {
		return r
	}
	r.tiles, r.tile = narrowTiles(r.rank, r.columns)
	width := r.tiles * r.tile
	r.ut = roomFor(r.ut, width*u.Cols)
	clear(r.ut) // of basis vectors beyond the last
	for part := range features.Parts() {
		lo, hi := features.At(part)
		p.pack(r.ut[lo*width:], u.Data, u.Stride, true, 0, r.rank, lo, hi-lo, r.tile)
	}
	return r
}

// Put gives back what NewRatios has taken.
func (r *Ratios[T]) Put() { ratioList[T]().Put(r) }

// AddToBasis adds v·R of one part of samples and of the features of parts first to before end to
// dst, k×m, or writes it there, unless dst is empty. v is k×samples, x samples×m. To logs, unless
// empty, it adds Σ x·log y of the ratios y of each of these parts of features.
func (r *Ratios[T]) AddToBasis(write bool, v, x, dst Of[T], first, end int, logs []float64) {
	p := packedOf[T]()
	defer p.put()
	samples := v.Cols
	left, rest := r.layOut(p, v)
	strip := rest[:ratioSamples*r.columns]
	sums := p.logs[:ratioSamples*r.rowLogs]
	if dst.Data != nil {
		p.pack(p.a[:], v.Data, v.Stride, true, 0, r.rank, 0, samples, simd.TileRows)
	}
	for part := first; part < end; part++ {
		lo, hi := r.features.At(part)
		clear(sums)
		tail := (hi - lo) % r.rowLogs // features whose logarithms are taken one by one
		for at := lo; at < hi; at += r.columns {
			columns := min(r.columns, hi-at)
			u := r.u[at*r.rank:][:r.columns*r.rank]
			from := x.Data[at:]
			r.ratioRows(strip, r.columns, from, x.Stride, samples, columns, left, u, r.floor)
			if logs != nil {
				r.logRows(sums, strip, r.columns, from, x.Stride, samples, columns-columns%r.rowLogs)
			}
			if dst.Data != nil {
				p.multiply(write, dst.Data[at:], dst.Stride, r.rank, columns, samples, p.a[:], strip)
			}
		}
		if logs == nil {
			continue
		}
		var sum float64
		for i := range samples {
			row := r.logsOf(sums[i*r.rowLogs:])
			for j := range tail {
				row += r.logTerm(strip[i*r.columns+(hi-lo)%r.columns-tail+j], x.Data[i*x.Stride+hi-tail+j])
			}
			sum += row
		}
		logs[part-first] += sum
	}
}

// Coefficients writes u·Rᵀ of one part of samples to dst, k×samples. v is k×samples, x samples×m.
func (r *Ratios[T]) Coefficients(v, x, dst Of[T]) {
	p := packedOf[T]()
	defer p.put()
	samples, width := v.Cols, r.tiles*r.tile
	left, rest := r.layOut(p, v)
	ratios, rest := cut(rest, simd.RowTileRows*ratioFeatures)
	sums := rest[:simd.RowTileRows*width]
	for i := 0; i < samples; i += simd.RowTileRows {
		rows := min(simd.RowTileRows, samples-i)
		clear(sums)
		for part := range r.features.Parts() {
			lo, hi := r.features.At(part)
			for at := lo; at < hi; at += r.columns {
				u := r.u[at*r.rank:][:r.columns*r.rank]
				r.ratioRows(ratios[at-lo:], ratioFeatures, x.Data[i*x.Stride+at:], x.Stride, rows, min(r.columns, hi-at), left[i*r.rank:], u, r.floor)
			}
			for t := range r.tiles {
				ut := r.ut[lo*width+t*r.tile*(hi-lo):][:r.tile*(hi-lo)]
				p.addRowTile(sums[t*r.tile*simd.RowTileRows:], ratios, ratioFeatures, ut, r.tile)
			}
		}
		for c := range r.rank {
			column := sums[c/r.tile*r.tile*simd.RowTileRows+c%r.tile:]
			for j := range rows {
				dst.Data[c*dst.Stride+i+j] = column[j*r.tile]
			}
		}
	}
}

// layOut lays out the left factor of vᵀu, and returns the room that is left.
func (r *Ratios[T]) layOut(p *packed[T], v Of[T]) (left, rest []T) {
	left, rest = cut(p.b[:], wholeTiles(v.Cols)*r.rank)
	p.pack(left, v.Data, v.Stride, false, 0, v.Cols, 0, r.rank, simd.TileRows)
	return left, rest
}

// sizes returns the sizes of the smallest and of the largest part.
func sizes(s parallel.Split) (least, most int) {
	for i := range s.Parts() {
		lo, hi := s.At(i)
		if most = max(most, hi-lo); i == 0 || hi-lo < least {
			least = hi - lo
		}
	}
	return least, most
}

func cut[T Number](x []T, n int) (first, rest []T) { return x[:n], x[n:] }

// roomFor returns x as long as n, a longer one where it has no room for that.
func roomFor[T Number](x []T, n int) []T { return slices.Grow(x[:0], n)[:n] }
