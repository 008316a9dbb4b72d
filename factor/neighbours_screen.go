package factor

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

const (
	// screenedWork is from how many multiplications on neighbours are screened, and
	// mostScreened up to how many features: there the bound on errors is not wide.
	screenedWork = 1 << 34
	mostScreened = 1 << 16
	// mostInBlock is how many samples are in a block, and blockNumbers how many numbers.
	mostInBlock  = 512
	blockNumbers = 1 << 20
	// shortest is how long a sample must be beside the longest to be screened.
	shortest = 1e-15
	// later is the limit of a sample that is compared with all others in the end, since
	// it has too many candidates or is too short.
	later = -1
)

// screen finds the neighbours of the rows of dense data in two steps. Inner products of
// type T, of each pair of samples once, bound half the squared distance from below and
// from above. Candidates of a sample are those whose lower bound is at most its p-th
// least upper bound. Of the candidates distances are computed in double precision: so
// the neighbours are exact in either precision.
type screen[T blas.Number] struct {
	*neighbours
	x       *mat.Dense
	m, size int       // features, and samples of a block
	scale   []float64 // what rows are multiplied by, so that none is longer than 1 or nearly
	low     []T       // half the squared lengths after that, less the bound on errors
	limit   []T       // the p-th least upper bounds, or later
	width   T         // from lower to upper bounds, for each unit of the halves
	lists   []candidates[T]
}

// candidates are those of one sample.
type candidates[T blas.Number] struct {
	found []candidate[T]
	least []T // the least upper bounds, up to p, rising
}

type candidate[T blas.Number] struct {
	j   int32
	low T
}

// screenRoom is what a goroutine needs: two blocks of samples and their products.
type screenRoom[T blas.Number] struct{ a, b, products []T }

func inBlock(m int) int { return min(max(blockNumbers/m, gramRows), mostInBlock) }

func screenWith[T blas.Number](ctx context.Context, of *neighbours, x *mat.Dense) error {
	n, m := x.Dims()
	unit := 0x1p-53
	if _, single := any(T(0)).(float32); single {
		unit = 0x1p-24
	}
	// A sum of m products is off by m units, and what is done with it by fewer than 16
	// more; within the least of widths distances count as 0.
	width := max(1.5*float64(m+16)*unit, 2e-13)
	s := &screen[T]{
		neighbours: of, x: x, m: m, size: inBlock(m), width: T(2 * width / (1 - width)),
		scale: make([]float64, n), low: make([]T, n), limit: make([]T, n), lists: make([]candidates[T], n),
	}
	_, exponent := math.Frexp(math.Sqrt(slices.Max(of.square)))
	for i, square := range of.square {
		s.scale[i] = math.Ldexp(1, -exponent)
		if of.cosine {
			s.scale[i] = 1 / math.Sqrt(square)
		}
		s.low[i] = T((1 - width) / 2 * square * s.scale[i] * s.scale[i])
		s.limit[i] = T(math.Inf(1))
		if math.Sqrt(square)*s.scale[i] < shortest {
			s.limit[i] = later
		}
	}
	if err := s.screen(ctx); err != nil {
		return err
	}
	parallel.Do(n, s.choose)
	var rest []int
	for i, limit := range s.limit {
		if limit == later {
			rest = append(rest, i)
		}
	}
	s.lists = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := of.compare(ctx, rest)
	return err
}

// screen bounds the distances of all pairs, block by block. In a round each block is in
// one pair of blocks, so that what belongs to a sample is one goroutine's at a time, and
// the order of rounds is the same on any number of cores.
func (s *screen[T]) screen(ctx context.Context) error {
	blocks := parallel.Count(s.n, s.size)
	rooms := make([]screenRoom[T], parallel.Cores())
	sums := make([]float64, blocks*blocks) // of the distances
	for round := range blocks {
		err := parallel.Blocks(ctx, len(rooms), blocks, 1, func(worker, a, _ int) {
			if b := (round - a + blocks) % blocks; a <= b {
				sums[a*blocks+b] = s.pair(&rooms[worker], a*s.size, b*s.size)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, sum := range sums {
		s.meanDistance += 2 * sum / float64(s.n) / float64(s.n)
	}
	return nil
}

// pair bounds the distances of the pairs of two blocks, given by their first samples,
// and returns the sum of the distances if their mean is wanted.
func (s *screen[T]) pair(room *screenRoom[T], first, second int) (sum float64) {
	if room.a == nil {
		room.a, room.b, room.products = make([]T, s.size*s.m), make([]T, s.size*s.m), make([]T, s.size*s.size)
	}
	a := s.fill(room.a, first)
	b := a
	if second != first {
		b = s.fill(room.b, second)
	}
	blas.MultiplyAlone(blas.NoTrans, blas.Trans, 1, a, b, 0, blas.Of[T]{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: room.products})
	low, limit := s.low[second:][:b.Rows], s.limit[second:][:b.Rows]
	for r := range a.Rows {
		i, from := first+r, 0
		if first == second {
			from = r + 1
		}
		products := room.products[r*b.Rows:][:b.Rows]
		if s.mean {
			unscaled := 1 / (s.scale[i] * s.scale[i])
			for c := from; c < b.Rows; c++ {
				sum += math.Sqrt(squaredDistance(s.square[i], s.square[second+c], float64(products[c])*unscaled))
			}
		}
		half := s.low[i]
		for c := from; c < len(products); c++ {
			bound := half + low[c] - products[c]
			if bound <= s.limit[i] {
				s.add(i, second+c, bound)
			}
			if bound <= limit[c] {
				s.add(second+c, i, bound)
			}
		}
	}
	return sum
}

// fill writes the block of samples from the first on to room.
func (s *screen[T]) fill(room []T, first int) blas.Of[T] {
	block := blas.Of[T]{Rows: min(s.size, s.n-first), Cols: s.m, Stride: s.m, Data: room}
	for r := range block.Rows {
		to := room[r*s.m:][:s.m]
		for f, v := range s.x.RawRowView(first + r) {
			to[f] = T(v * s.scale[first+r])
		}
	}
	return block
}

// add makes j a candidate of i.
func (s *screen[T]) add(i, j int, low T) {
	list := &s.lists[i]
	upper := low + s.width*(s.low[i]+s.low[j])
	if len(list.least) < s.p || upper < s.limit[i] {
		list.least = list.least[:min(len(list.least), s.p-1)]
		at, _ := slices.BinarySearch(list.least, upper)
		list.least = slices.Insert(list.least, at, upper)
		if len(list.least) == s.p {
			s.limit[i] = list.least[s.p-1]
		}
	}
	if most := 64 + 8*s.p; len(list.found) == most {
		list.found = slices.DeleteFunc(list.found, func(c candidate[T]) bool { return c.low > s.limit[i] })
		if len(list.found) > most/2 {
			s.limit[i], *list = later, candidates[T]{}
			return
		}
	}
	list.found = append(list.found, candidate[T]{int32(j), low})
}

// choose finds the neighbours of sample i among its candidates.
func (s *screen[T]) choose(i int) {
	if s.limit[i] == later {
		return
	}
	row := s.x.RawRowView(i)
	nearest := make([]neighbour, 0, s.p)
	for _, c := range s.lists[i].found {
		if c.low > s.limit[i] {
			continue
		}
		j := int(c.j)
		other := s.x.RawRowView(j)
		var d float64
		if s.cosine {
			d = -dot(row, other) / math.Sqrt(s.square[i]*s.square[j])
		} else {
			d = orCopy(distance(row, other), s.square[i], s.square[j])
		}
		nearest = topk.Insert(nearest, s.p, neighbour{j, d}, nearer)
	}
	s.nearest[i] = nearest
}

// distance is ‖a − b‖².
func distance(a, b []float64) float64 {
	var s0, s1 float64
	for len(a) >= 2 && len(b) >= 2 {
		d0, d1 := a[0]-b[0], a[1]-b[1]
		s0 += d0 * d0
		s1 += d1 * d1
		a, b = a[2:], b[2:]
	}
	for f, v := range a {
		s0 += (v - b[f]) * (v - b[f])
	}
	return s0 + s1
}
