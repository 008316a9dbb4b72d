package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAddTiles: each number of c gains the sum of its products, added in the order of depth
// with one rounding each, whatever the registers hold.
func TestAddTiles(t *testing.T) {
	if !HasTile() {
		t.Skip("this processor has no AVX2")
	}
	defer func(w bool) { wide = w }(wide)
	for _, w := range []bool{wide, false} {
		wide = w
		for rows := 1; rows <= 20; rows++ {
			for _, depth := range []int{1, 2, 17, 256} {
				t.Run(fmt.Sprintf("%v/%d×%d", w, rows, depth), func(t *testing.T) {
					src := rand.New(rand.NewPCG(uint64(rows), uint64(depth)))
					for thirds := 1; thirds <= 3; thirds++ {
						testTiles(t, rows, depth, thirds, TileColumns(), AddTiles, src.NormFloat64, math.FMA)
						testTiles(t, rows, depth, thirds, TileColumns32(), AddTiles32, exactNumbers(src), multiplyAdd)
					}
				})
			}
		}
	}
}

// TestAddRowTile: the same of rows that lie apart, in tiles of all widths.
func TestAddRowTile(t *testing.T) {
	if !HasRowTile() {
		t.Skip("this processor has no AVX-512")
	}
	src := rand.New(rand.NewPCG(1, 3))
	for sixths := 2; sixths <= 6; sixths++ {
		testRowTile(t, sixths*MostTileColumns/6, AddRowTile, src.NormFloat64, math.FMA)
		testRowTile(t, sixths*MostTileColumns32/6, AddRowTile32, exactNumbers(src), multiplyAdd)
	}
}

func testRowTile[T float32 | float64](t *testing.T, columns int, add func(tile, x []T, stride int, b []T, columns int), draw func() T, fma func(a, b, c T) T) {
	for _, depth := range []int{1, 2, 17, 256} {
		stride := depth + 5
		x, b, c := numbers(RowTileRows*stride, draw), numbers(columns*depth, draw), numbers(RowTileRows*columns+2, draw)
		want := slices.Clone(c)
		for i := range RowTileRows {
			for j := range columns {
				var sum T
				for d := range depth {
					sum = fma(x[i*stride+d], b[d*columns+j], sum)
				}
				want[i*columns+j] += sum
			}
		}
		add(c, x, stride, b, columns)
		if !slices.Equal(c, want) {
			t.Errorf("%T, %d columns, depth %d: other numbers", c, columns, depth)
		}
	}
}

// exactNumbers draws numbers of which sums and products are exact in single precision.
func exactNumbers(src *rand.Rand) func() float32 {
	return func() float32 { return float32(src.IntN(64)-32) / 8 }
}

func multiplyAdd(a, b, c float32) float32 { return a*b + c }

// TestAddToSums: each number of the sums is what one product after another is added to, with
// one rounding each, whatever the registers hold.
func TestAddToSums(t *testing.T) {
	if !HasTile() {
		t.Skip("this processor has no AVX2")
	}
	defer func(w bool) { wide = w }(wide)
	for _, w := range []bool{wide, false} {
		wide = w
		src := rand.New(rand.NewPCG(2, 3))
		testSums(t, TileColumns(), AddToSums, src.NormFloat64, math.FMA)
		testSums(t, TileColumns32(), AddToSums32, exactNumbers(src), multiplyAdd)
	}
}

func testSums[T float32 | float64](t *testing.T, columns int, add func(sums, a, x []T, stride, depth int), draw func() T, fma func(a, b, c T) T) {
	for _, rows := range []int{4, 8, 12, 20} {
		for _, depth := range []int{1, 2, 16} {
			stride := columns + 7
			a, x, sums := numbers(rows*depth, draw), numbers(depth*stride, draw), numbers(rows*columns+1, draw)
			want := slices.Clone(sums)
			for d := range depth {
				for i := range rows {
					for j := range columns {
						want[i*columns+j] = fma(a[i/TileRows*TileRows*depth+d*TileRows+i%TileRows], x[d*stride+j], want[i*columns+j])
					}
				}
			}
			add(sums, a, x, stride, depth)
			if !slices.Equal(sums, want) {
				t.Errorf("%T, wide %v, %d rows, depth %d: other numbers", sums, wide, rows, depth)
			}
		}
	}
}

// TestAddSums: tiles of sums are added to rows that lie apart, and to nothing beside them.
func TestAddSums(t *testing.T) {
	if !HasTile() {
		t.Skip("this processor has no AVX2")
	}
	src := rand.New(rand.NewPCG(1, 5))
	testAddSums(t, TileColumns(), AddSums, src.NormFloat64)
	testAddSums(t, TileColumns32(), AddSums32, func() float32 { return float32(src.NormFloat64()) })
}

func testAddSums[T float32 | float64](t *testing.T, tile int, add func(c []T, stride int, sums []T), draw func() T) {
	for rows := range 6 {
		stride := tile + 3
		c, sums := numbers(rows*stride, draw), numbers(rows*tile, draw)
		want := slices.Clone(c)
		for r := range rows {
			for j := range tile {
				want[r*stride+j] += sums[r*tile+j]
			}
		}
		if add(c, stride, sums); !slices.Equal(c, want) {
			t.Errorf("%T, %d rows: other numbers", c, rows)
		}
	}
}

func testTiles[T float32 | float64](t *testing.T, rows, depth, thirds, tile int, add func(write bool, c []T, stride, rows, columns int, a, b []T), draw func() T, fma func(a, b, c T) T) {
	columns := thirds * tile / 3
	stride := tile + 3
	a, b, c := numbers((rows+TileRows-1)/TileRows*TileRows*depth, draw), numbers(tile*depth, draw), numbers(rows*stride, draw)
	added, written := slices.Clone(c), slices.Clone(c)
	for i := range rows {
		for j := range columns {
			var sum T
			for d := range depth {
				sum = fma(a[i/TileRows*TileRows*depth+d*TileRows+i%TileRows], b[d*tile+j], sum)
			}
			added[i*stride+j] += sum
			written[i*stride+j] = sum
		}
	}
	check := func(write bool, want []T) {
		got := slices.Clone(c)
		add(write, got, stride, rows, columns, a, b)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%d of %d columns, written %v: row %d, column %d is %v, want %v", columns, tile, write, i/stride, i%stride, got[i], want[i])
			}
		}
	}
	check(false, added)
	check(true, written)
}

// TestLayOut: what Interleave and CopyRows write, and that they write nothing else.
func TestLayOut(t *testing.T) {
	if !HasTile() {
		t.Skip("this processor has no AVX2")
	}
	src := rand.New(rand.NewPCG(1, 2))
	for depth := range 40 {
		testLayOut(t, depth, Interleave, src.Float64)
		testLayOut(t, depth, Interleave32, src.Float32)
	}
}

func testLayOut[T float32 | float64](t *testing.T, depth int, interleave func(dst []T, tile int, x []T, stride, lines, depth int), draw func() T) {
	const stride, tile, width = 60, 24, 16
	x := numbers(depth*stride+4*stride, draw)
	check := func(what string, got, want []T) {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s, depth %d: place %d is %v, want %v", what, depth, i, got[i], want[i])
			}
		}
	}
	got, want := make([]T, (depth+1)*tile), make([]T, (depth+1)*tile)
	for lines := 1; lines <= 4; lines++ {
		for d := range depth {
			for s := range 4 {
				want[d*tile+4+s] = x[min(s, lines-1)*stride+d]
			}
		}
		interleave(got[4:], tile, x[:(lines-1)*stride+depth], stride, lines, depth)
		check(fmt.Sprintf("%d lines interleaved", lines), got, want)
	}

	clear(got)
	clear(want)
	for d := range depth {
		copy(want[d*width:][:width], x[d*stride:])
	}
	CopyRows(got, x, stride, width, depth)
	check("copied", got, want)
}
