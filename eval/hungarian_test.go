package eval

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// permutations calls f with every order of the numbers below n.
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

func TestHungarianMatchesPlain(t *testing.T) {
	random := rng.New(1, "hungarian")
	for range 600 {
		rows, columns := 1+random.IntN(6), 1+random.IntN(6)
		profit := make([][]int, rows)
		for r := range profit {
			profit[r] = make([]int, columns)
			for c := range profit[r] {
				profit[r][c] = random.IntN(9) - 2
			}
		}
		most := math.MinInt
		permutations(max(rows, columns), func(order []int) {
			sum := 0
			for r, c := range order {
				if r < rows && c < columns {
					sum += profit[r][c]
				}
			}
			most = max(most, sum)
		})
		sum, matches := 0, 0
		used := map[int]bool{}
		for r, c := range hungarian(profit) {
			if c < 0 {
				continue
			}
			if used[c] {
				t.Fatalf("%v: column %d is matched twice", profit, c)
			}
			used[c] = true
			sum += profit[r][c]
			matches++
		}
		if sum != most || matches != min(rows, columns) {
			t.Fatalf("%v: %d matches for %d, want %d for %d", profit, matches, sum, min(rows, columns), most)
		}
	}
}

// TestHungarianLarge matches rows and columns that were shuffled.
func TestHungarianLarge(t *testing.T) {
	const n = 300
	random := rng.New(1, "large")
	to := random.Perm(n)
	profit := make([][]int, n)
	for r := range profit {
		profit[r] = make([]int, n)
		for c := range profit[r] {
			profit[r][c] = random.IntN(100)
		}
		profit[r][to[r]] = 100
	}
	if diff := cmp.Diff(to, hungarian(profit)); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}
