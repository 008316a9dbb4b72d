package eval

import (
	"math"
	"slices"
)

// hungarian solves the assignment problem: it returns each row's matched column, or −1, so that no column is matched
// twice and the sum of the matched counts is maximal. Missing cells, which count 0, are never matched. It adds one row at
// a time along a shortest augmenting path (Kuhn 1955, Munkres 1957, Jonker and Volgenant 1987).
func hungarian(rows [][]cell, columns int) []int {
	h := &matching{
		rows: rows, columnOf: make([]int, len(rows)), rowOf: slices.Repeat([]int{-1}, columns),
		rowPrice: make([]int, len(rows)), columnPrice: make([]int, columns),
		distance: make([]int, columns), from: make([]int, columns), settled: make([]bool, columns),
	}
	for r, cells := range rows {
		h.columnOf[r] = -1
		for _, x := range cells {
			h.rowPrice[r] = max(h.rowPrice[r], x.count)
		}
	}
	// Match rows greedily with the column of their largest count if it is free, which settles most rows.
	for r, cells := range rows {
		for _, x := range cells {
			if x.count == h.rowPrice[r] && h.rowOf[x.class] < 0 {
				h.columnOf[r], h.rowOf[x.class] = x.class, r
				break
			}
		}
	}
	for r := range rows {
		if h.columnOf[r] < 0 {
			h.match(r)
		}
	}
	return h.columnOf
}

// matching is a matching in progress. Invariants: the reduced cost of a cell, rowPrice + columnPrice − count, is ≥ 0, and
// 0 for matched cells. Prices are ≥ 0, and 0 for unmatched columns and for unmatched rows that were tried. Hence the
// matching has the largest sum.
type matching struct {
	rows                  [][]cell
	columnOf, rowOf       []int // the match of each row and column, or −1
	rowPrice, columnPrice []int

	distance, from []int // in a search: distance of each column, and the row before it
	settled        []bool
	order          []int // settled columns, nearest first
}

// match matches row start, or leaves it or another row unmatched, whichever has the lowest cost.
func (h *matching) match(start int) {
	h.order = h.order[:0]
	clear(h.settled)
	for c := range h.distance {
		h.distance[c] = math.MaxInt
	}
	// The path ends in a free column, or in a row that becomes unmatched.
	giveUp, least, free := start, h.rowPrice[start], -1
	row, length := start, 0
	for {
		for _, x := range h.rows[row] {
			c := x.class
			d := length + h.rowPrice[row] + h.columnPrice[c] - x.count
			if d < least && d < h.distance[c] {
				h.distance[c], h.from[c] = d, row
			}
		}
		next := -1
		for c, d := range h.distance {
			if d < least && !h.settled[c] && (next < 0 || d < h.distance[next]) {
				next = c
			}
		}
		if next < 0 {
			break
		}
		length = h.distance[next]
		if h.rowOf[next] < 0 {
			free, least = next, length
			break
		}
		h.order, h.settled[next] = append(h.order, next), true
		row = h.rowOf[next]
		if d := length + h.rowPrice[row]; d < least {
			giveUp, least = row, d
		}
	}
	// Adjust the prices so that the reduced costs along the path are 0.
	h.rowPrice[start] -= least
	for _, c := range h.order {
		if by := least - h.distance[c]; by > 0 {
			h.rowPrice[h.rowOf[c]] -= by
			h.columnPrice[c] += by
		}
	}
	at := free
	if free < 0 {
		if giveUp == start {
			return
		}
		at = h.columnOf[giveUp]
		h.columnOf[giveUp] = -1
	}
	for {
		r := h.from[at]
		h.rowOf[at], at, h.columnOf[r] = r, h.columnOf[r], at
		if r == start {
			return
		}
	}
}
