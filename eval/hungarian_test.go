package eval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// permutations calls f with every permutation of the numbers below n.
func permutations(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var place func(at int)
	place = func(at int) {
		if at == n {
			f(order)
			return
		}
		for i := at; i < n; i++ {
			order[at], order[i] = order[i], order[at]
			place(at + 1)
			order[at], order[i] = order[i], order[at]
		}
	}
	place(0)
}

// sum returns the sum of the matched counts. It fails the test if a column is matched twice or a match is outside of
// the matrix.
func sum(t *testing.T, rows [][]cell, matched []int) (total int) {
	t.Helper()
	used := map[int]bool{}
	for r, c := range matched {
		if c < 0 {
			continue
		}
		at := slices.IndexFunc(rows[r], func(x cell) bool { return x.class == c })
		if at < 0 || used[c] {
			t.Fatalf("%v: row %d is matched with column %d, used %v", rows, r, c, used[c])
		}
		used[c] = true
		total += rows[r][at].count
	}
	return total
}

func TestHungarianMatchesPlain(t *testing.T) {
	random := rng.New(1, "hungarian")
	for range 3000 {
		n, columns := 1+random.IntN(6), 1+random.IntN(6)
		largest := 1 + random.IntN(9)
		profit := make([][]int, n)
		rows := make([][]cell, n)
		for r := range profit {
			profit[r] = make([]int, columns)
			for c := range profit[r] {
				if x := max(random.IntN(largest+4)-3, 0); x > 0 {
					profit[r][c] = x
					rows[r] = append(rows[r], cell{c, x})
				}
			}
		}
		most := 0
		permutations(max(n, columns), func(order []int) {
			total := 0
			for r, c := range order {
				if r < n && c < columns {
					total += profit[r][c]
				}
			}
			most = max(most, total)
		})
		if got := sum(t, rows, hungarian(rows, columns)); got != most {
			t.Fatalf("%v: matches for %d, want %d", profit, got, most)
		}
	}
}

// TestHungarianLarge matches rows and columns that were shuffled.
func TestHungarianLarge(t *testing.T) {
	const n = 300
	random := rng.New(1, "large")
	to := random.Perm(n)
	rows := make([][]cell, n)
	for r := range rows {
		for c := range n {
			x := 1 + random.IntN(99)
			if c == to[r] {
				x = 100
			}
			rows[r] = append(rows[r], cell{c, x})
		}
	}
	if diff := cmp.Diff(to, hungarian(rows, n)); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

// TestHungarianPrices checks a matching of many rows; the prices prove that it is optimal.
func TestHungarianPrices(t *testing.T) {
	for seed := range 40 {
		random := rng.New(uint64(seed), "prices")
		n, columns := 1+random.IntN(200), 1+random.IntN(200)
		rows := make([][]cell, n)
		for r := range rows {
			for c := range columns {
				if random.IntN(8) == 0 {
					rows[r] = append(rows[r], cell{c, 1 + random.IntN(1+seed)})
				}
			}
		}
		got := sum(t, rows, hungarian(rows, columns))
		if want := auction(rows, columns); got != want {
			t.Fatalf("seed %d: %d rows and %d columns are matched for %d, want %d", seed, n, columns, got, want)
		}
	}
}

// auction returns the optimal sum by the auction algorithm (Bertsekas 1988). With steps below 1/rows it is exact for
// counts.
func auction(rows [][]cell, columns int) (total int) {
	step := 1 / float64(len(rows)+1)
	price, owner := make([]float64, columns), make([]int, columns)
	for c := range owner {
		owner[c] = -1
	}
	var todo []int
	for r := range rows {
		todo = append(todo, r)
	}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		best, most, second := -1, 0.0, 0.0 // the row may stay alone
		for _, x := range rows[r] {
			if gain := float64(x.count) - price[x.class]; gain > most {
				best, most, second = x.class, gain, most
			} else {
				second = max(second, gain)
			}
		}
		if best < 0 {
			continue
		}
		if owner[best] >= 0 {
			todo = append(todo, owner[best])
		}
		owner[best] = r
		price[best] += most - second + step
	}
	for c, r := range owner {
		for _, x := range rows[max(r, 0)] {
			if r >= 0 && x.class == c {
				total += x.count
			}
		}
	}
	return total
}

// BenchmarkAC has 3,000 classes of 10 samples, in random clusters and in clusters that are right for two samples of
// three.
func BenchmarkAC(b *testing.B) {
	for _, right := range []int{0, 2} {
		b.Run(fmt.Sprintf("right=%d of 3", right), func(b *testing.B) {
			random := rng.New(1, "benchmark")
			const k = 3000
			truth, assigned := make([]int, 10*k), make([]int, 10*k)
			for i := range truth {
				truth[i], assigned[i] = i%k, random.IntN(k)
				if random.IntN(3) < right {
					assigned[i] = k - i%k
				}
			}
			for b.Loop() {
				AC(truth, assigned)
			}
		})
	}
}
