package eval

import "math"

// hungarian returns for each row of a profit matrix the column that it is
// matched with, or -1, such that no row and no column is matched twice, as many
// as can be are matched, and the profits of the matches sum to the most. It
// grows the matching by one row at a time along a shortest path (Kuhn 1955,
// Munkres 1957, Jonker and Volgenant 1987), in O(rows²·columns) if there are no
// more rows than columns.
func hungarian(profit [][]int) []int {
	rows := len(profit)
	if rows == 0 {
		return nil
	}
	columns := len(profit[0])
	if rows > columns {
		matched := make([]int, rows)
		for r := range matched {
			matched[r] = -1
		}
		for c, r := range hungarian(transpose(profit)) {
			matched[r] = c
		}
		return matched
	}
	var (
		// The reduced cost −profit − rowPrice − columnPrice is never negative,
		// and 0 where row and column are matched.
		rowPrice    = make([]int, rows)
		columnPrice = make([]int, columns)
		rowOf       = make([]int, columns) // -1 where no row is matched
		distance    = make([]int, columns) // of the path to a column
		previous    = make([]int, columns) // the column before it on the path, -1 for none
		settled     = make([]bool, columns)
	)
	for c := range rowOf {
		rowOf[c] = -1
	}
	for start := range rows {
		for c := range columns {
			distance[c], previous[c], settled[c] = math.MaxInt, -1, false
		}
		row, from, length := start, -1, 0
		var end int
		for {
			nearest := -1
			for c := range columns {
				if settled[c] {
					continue
				}
				if d := length - profit[row][c] - rowPrice[row] - columnPrice[c]; d < distance[c] {
					distance[c], previous[c] = d, from
				}
				if nearest < 0 || distance[c] < distance[nearest] {
					nearest = c
				}
			}
			settled[nearest] = true
			length = distance[nearest]
			if rowOf[nearest] < 0 {
				end = nearest
				break
			}
			row, from = rowOf[nearest], nearest
		}
		// Prices make every matched pair of the path cost nothing.
		rowPrice[start] += length
		for c := range columns {
			if settled[c] && c != end {
				rowPrice[rowOf[c]] += length - distance[c]
				columnPrice[c] -= length - distance[c]
			}
		}
		for c := end; c >= 0; c = previous[c] {
			if previous[c] < 0 {
				rowOf[c] = start
			} else {
				rowOf[c] = rowOf[previous[c]]
			}
		}
	}
	matched := make([]int, rows)
	for c, r := range rowOf {
		if r >= 0 {
			matched[r] = c
		}
	}
	return matched
}

// transpose returns the matrix with rows and columns exchanged.
func transpose(a [][]int) [][]int {
	t := make([][]int, len(a[0]))
	for j := range t {
		t[j] = make([]int, len(a))
		for i := range a {
			t[j][i] = a[i][j]
		}
	}
	return t
}
