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
// the bytes of Gemm, simd.Divide and simd.DivideSum of the same parts of X.
type Ratios struct {
	floor       float64 // the least that counts of vᵀu
	rank        int
	features    parallel.Split
	u           []float64 // the right factor of vᵀu: for each ratioColumns features the rows of u
	ut          []float64 // the right factor of R·uᵀ: for each part of features tiles of basis vectors
	tiles, tile int       // how many of these, and of how many basis vectors
}

// What there is room for, and a part at most: samples, features, and basis vectors.
const (
	ratioSamples  = packRows
	ratioFeatures = 10 * ratioColumns
	ratioRank     = packRows

	ratioColumns = simd.MostTileColumns
)

var ratioLists = freelist.List[*Ratios]{New: func() *Ratios { return new(Ratios) }}

// NewRatios lays out u, k×m, for products of ratios of parts of samples and of features, which are
// cut at multiples of 8 and of 24: products for the basis, or for the coefficients. It returns nil
// where this processor, or a problem of this size, is served by other means.
func NewRatios(u Matrix, samples, features parallel.Split, floor float64, coefficients bool) *Ratios {
	fewest, most := sizes(samples)
	narrowest, widest := sizes(features)
	if !simd.HasRatioTile() || fewest*narrowest*u.Rows < fewMultiplications ||
		most > ratioSamples || widest > ratioFeatures || u.Rows > ratioRank {
		return nil
	}
	r := ratioLists.Get()
	r.floor, r.rank, r.features = floor, u.Rows, features
	l := loops[float64]{interleave: simd.Interleave}
	strips := (u.Cols + ratioColumns - 1) / ratioColumns
	r.u = roomFor(r.u, strips*ratioColumns*r.rank)
	clear(r.u[(strips-1)*ratioColumns*r.rank:]) // of features beyond the last
	l.pack(r.u, u.Data, u.Stride, false, 0, u.Cols, 0, r.rank, ratioColumns)
	if !coefficients {
		return r
	}
	r.tiles, r.tile = narrowTiles(r.rank, ratioColumns)
	width := r.tiles * r.tile
	r.ut = roomFor(r.ut, width*u.Cols)
	clear(r.ut) // of basis vectors beyond the last
	for part := range features.Parts() {
		lo, hi := features.At(part)
		l.pack(r.ut[lo*width:], u.Data, u.Stride, true, 0, r.rank, lo, hi-lo, r.tile)
	}
	return r
}

// Put gives back what NewRatios has taken.
func (r *Ratios) Put() { ratioLists.Put(r) }

// AddToBasis adds v·R of one part of samples and of the features of parts first to before end to
// dst, k×m, or writes it there, unless dst is empty. v is k×samples, x samples×m. To logs, unless
// empty, it adds Σ x·log y of the ratios y of each of these parts of features.
func (r *Ratios) AddToBasis(write bool, v, x, dst Matrix, first, end int, logs []float64) {
	p := doubles.Get()
	defer doubles.Put(p)
	samples := v.Cols
	left, rest := r.layOut(p, v)
	strip, rest := cut(rest, ratioSamples*ratioColumns)
	sums, rest := cut(rest, ratioSamples*4)
	if dst.Data != nil {
		p.pack(p.a[:], v.Data, v.Stride, true, 0, r.rank, 0, samples, simd.TileRows)
	}
	for part := first; part < end; part++ {
		lo, hi := r.features.At(part)
		if write && dst.Data != nil {
			for i := range r.rank {
				clear(dst.Data[i*dst.Stride:][lo:hi])
			}
		}
		clear(sums)
		tail := (hi - lo) % 4 // features whose logarithms are taken one by one
		for at := lo; at < hi; at += ratioColumns {
			columns := min(ratioColumns, hi-at)
			u := r.u[at*r.rank:][:ratioColumns*r.rank]
			for i := 0; i < samples; i += simd.RatioTileRows {
				rows, from, to := min(simd.RatioTileRows, samples-i), x.Data[i*x.Stride+at:], strip[i*ratioColumns:]
				whole := rows == simd.RatioTileRows && columns == ratioColumns
				switch {
				case logs == nil && whole:
					simd.RatioTile(to, ratioColumns, from, x.Stride, left[i*r.rank:], u, r.floor)
					continue
				case logs == nil:
					simd.RatioTile(to, ratioColumns, edgeOf(rest, from, x.Stride, rows, columns), ratioColumns, left[i*r.rank:], u, r.floor)
					continue
				case whole:
					simd.RatioLogTile(to, ratioColumns, from, x.Stride, left[i*r.rank:], u, r.floor, sums[i*4:])
					continue
				}
				edge := edgeOf(rest, from, x.Stride, rows, columns-columns%4)
				simd.RatioLogTile(to, ratioColumns, edge, ratioColumns, left[i*r.rank:], u, r.floor, sums[i*4:])
				if columns%4 != 0 {
					edge = edgeOf(rest, from, x.Stride, rows, columns)
					simd.RatioTile(to, ratioColumns, edge, ratioColumns, left[i*r.rank:], u, r.floor)
				}
			}
			if dst.Data != nil {
				p.multiply(dst.Data[at:], dst.Stride, r.rank, columns, samples, strip)
			}
		}
		if logs == nil {
			continue
		}
		var sum float64
		for i := range samples {
			row := simd.LogsOf(sums[i*4:])
			for j := range tail {
				y := strip[i*ratioColumns+(hi-lo)%ratioColumns-tail+j:][:1]
				row += simd.LogSum(y, x.Data[i*x.Stride+hi-tail+j:][:1])
			}
			sum += row
		}
		logs[part-first] += sum
	}
}

// Coefficients writes u·Rᵀ of one part of samples to dst, k×samples. v is k×samples, x samples×m.
func (r *Ratios) Coefficients(v, x, dst Matrix) {
	p := doubles.Get()
	defer doubles.Put(p)
	samples, width := v.Cols, r.tiles*r.tile
	left, rest := r.layOut(p, v)
	ratios, rest := cut(rest, simd.RatioTileRows*ratioFeatures)
	sums, rest := cut(rest, simd.RatioTileRows*width)
	for i := 0; i < samples; i += simd.RatioTileRows {
		rows := min(simd.RatioTileRows, samples-i)
		clear(sums)
		for part := range r.features.Parts() {
			lo, hi := r.features.At(part)
			for at := lo; at < hi; at += ratioColumns {
				columns, from, stride := min(ratioColumns, hi-at), x.Data[i*x.Stride+at:], x.Stride
				if rows < simd.RatioTileRows || columns < ratioColumns {
					from, stride = edgeOf(rest, from, stride, rows, columns), ratioColumns
				}
				simd.RatioTile(ratios[at-lo:], ratioFeatures, from, stride, left[i*r.rank:], r.u[at*r.rank:][:ratioColumns*r.rank], r.floor)
			}
			for t := range r.tiles {
				ut := r.ut[lo*width+t*r.tile*(hi-lo):][:r.tile*(hi-lo)]
				simd.AddRowTile(sums[t*r.tile*simd.RatioTileRows:], ratios, ratioFeatures, ut, r.tile)
			}
		}
		for c := range r.rank {
			column := sums[c/r.tile*r.tile*simd.RatioTileRows+c%r.tile:]
			for j := range rows {
				dst.Data[c*dst.Stride+i+j] = column[j*r.tile]
			}
		}
	}
}

// layOut lays out the left factor of vᵀu in whole tiles of samples, and returns the room that is left.
func (r *Ratios) layOut(p *packed[float64], v Matrix) (left, rest []float64) {
	const unit = simd.RatioTileRows
	left, rest = cut(p.b[:], (v.Cols+unit-1)/unit*unit*r.rank)
	clear(left[v.Cols/unit*unit*r.rank:]) // of samples beyond the last
	p.pack(left, v.Data, v.Stride, false, 0, v.Cols, 0, r.rank, simd.TileRows)
	return left, rest
}

// edgeOf returns a tile of x that begins at its first number, with zeros beyond the rows and columns.
func edgeOf(room, x []float64, stride, rows, columns int) []float64 {
	edge := room[:simd.RatioTileRows*ratioColumns]
	clear(edge)
	for i := range rows {
		copy(edge[i*ratioColumns:][:columns], x[i*stride:])
	}
	return edge
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

func cut(x []float64, n int) (first, rest []float64) { return x[:n], x[n:] }

// roomFor returns x as long as n, a longer one where it has no room for that.
func roomFor(x []float64, n int) []float64 { return slices.Grow(x[:0], n)[:n] }
