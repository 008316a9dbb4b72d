package eval

// hungarian returns for each row the column that it is matched with, or -1, such that
// no column is matched twice and the counts of the cells that are matched sum to the
// most. A row's cells are those above 0: no other is ever matched. It grows the matching
// by one row at a time along a shortest path (Kuhn 1955, Munkres 1957, Jonker and
// Volgenant 1987), which it looks for among the cells only and no farther than the
// nearest end, in O(rows·cells·log columns) at most.
func hungarian(rows [][]cell, columns int) []int {
	h := &matching{
		rows: rows, columnOf: make([]int, len(rows)), rowOf: make([]int, columns),
		rowPrice: make([]int, len(rows)), columnPrice: make([]int, columns),
		distance: make([]int, columns), from: make([]int, columns), seen: make([]int, columns), settled: make([]int, columns),
	}
	for c := range h.rowOf {
		h.rowOf[c], h.seen[c], h.settled[c] = -1, -1, -1
	}
	for r, cells := range rows {
		h.columnOf[r] = -1
		for _, x := range cells {
			h.rowPrice[r] = max(h.rowPrice[r], x.count)
		}
	}
	// Most rows have their largest count in a column that no other row wants.
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

// matching is a matching under way. Its prices are such that rowPrice + columnPrice −
// count, the reduced cost of a cell, is never negative, 0 where row and column are
// matched; that no price is negative; and that of rows that are given up, and of columns
// that are not matched, it is 0. So no other matching has more.
type matching struct {
	rows                  [][]cell
	columnOf, rowOf       []int // -1 where there is none
	rowPrice, columnPrice []int

	// Of the search for a path: the distance of a column that has been seen or
	// settled in the search from the row of that number, and the row before it.
	distance, from, seen, settled []int
	queue                         []reached
	order                         []int // the columns settled, nearest first
}

// reached is a column that a search has reached.
type reached struct{ distance, column int }

func (a reached) before(b reached) bool {
	return a.distance < b.distance || a.distance == b.distance && a.column < b.column
}

// match matches the row, or gives up it or another one, whichever costs least.
func (h *matching) match(start int) {
	h.queue, h.order = h.queue[:0], h.order[:0]
	// The path may end in a column that is free, or in a row that is given up.
	giveUp, least, free := start, h.rowPrice[start], -1
	row, length := start, 0
	for {
		for _, x := range h.rows[row] {
			c := x.class
			if h.settled[c] == start {
				continue
			}
			d := length + h.rowPrice[row] + h.columnPrice[c] - x.count
			if d < least && (h.seen[c] != start || d < h.distance[c]) {
				h.seen[c], h.distance[c], h.from[c] = start, d, row
				h.push(reached{d, c})
			}
		}
		next := h.pop(start)
		if next < 0 || h.distance[next] >= least {
			break
		}
		length = h.distance[next]
		if h.rowOf[next] < 0 {
			free, least = next, length
			break
		}
		h.settled[next] = start
		h.order = append(h.order, next)
		row = h.rowOf[next]
		if d := length + h.rowPrice[row]; d < least {
			giveUp, least = row, d
		}
	}
	// Prices make every cell of the path cost nothing.
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

// push puts a column into the queue, a heap.
func (h *matching) push(x reached) {
	h.queue = append(h.queue, x)
	at := len(h.queue) - 1
	for at > 0 && x.before(h.queue[(at-1)/2]) {
		h.queue[at] = h.queue[(at-1)/2]
		at = (at - 1) / 2
	}
	h.queue[at] = x
}

// pop returns the nearest column that is not settled, or -1.
func (h *matching) pop(start int) int {
	for len(h.queue) > 0 {
		first, last := h.queue[0], h.queue[len(h.queue)-1]
		h.queue = h.queue[:len(h.queue)-1]
		if n := len(h.queue); n > 0 {
			at := 0
			for {
				child := 2*at + 1
				if child >= n {
					break
				}
				if child+1 < n && h.queue[child+1].before(h.queue[child]) {
					child++
				}
				if !h.queue[child].before(last) {
					break
				}
				h.queue[at] = h.queue[child]
				at = child
			}
			h.queue[at] = last
		}
		if h.settled[first.column] != start && first.distance == h.distance[first.column] {
			return first.column
		}
	}
	return -1
}
