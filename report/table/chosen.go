package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Chosen holds the numbers that were chosen for the draws of a number of classes.
type Chosen struct {
	Classes int
	Numbers []int
}

// ChosenDocument returns a table of chosen numbers, "ranks" for example: the mean, the least, the largest,
// and all of them. With off it has the mean of |ln(number/classes)|.
func ChosenDocument(name, what string, rows []Chosen, off bool) *Document {
	g := Grid{
		Name: "chosen " + what, Score: what, Keys: 1, KeyFields: []string{"classes"},
		Columns: []Column{
			{Heading: "Classes", Right: true}, {Heading: "Mean", Right: true, Fields: []string{"mean"}},
			{Heading: "Least", Right: true, Fields: []string{"least"}}, {Heading: "Most", Right: true, Fields: []string{"most"}},
		},
	}
	if off {
		g.Columns = append(g.Columns, Column{Heading: "Off", Right: true, Fields: []string{"off"}})
	}
	g.Columns = append(g.Columns, Column{Heading: "Draw by draw", Fields: []string{"draws"}})
	for _, r := range rows {
		var sum, apart float64
		texts := make([]string, len(r.Numbers))
		for i, n := range r.Numbers {
			sum += float64(n)
			apart += math.Abs(elementary.Log(float64(n) / float64(r.Classes)))
			texts[i] = strconv.Itoa(n)
		}
		count, classes := float64(len(r.Numbers)), strconv.Itoa(r.Classes)
		words := []string{fmt.Sprintf("%.1f", sum/count), strconv.Itoa(slices.Min(r.Numbers)), strconv.Itoa(slices.Max(r.Numbers))}
		if off {
			words = append(words, fmt.Sprintf("%.2f", apart/count))
		}
		line := Line{Words: []Word{{Text: classes}}, Keys: []string{classes}}
		for _, w := range append(words, strings.Join(texts, ", ")) {
			line.Words = append(line.Words, Word{Text: w, Fields: []string{w}})
		}
		g.Lines = append(g.Lines, line)
	}
	d := &Document{Name: name, Grids: []Grid{g}, Title: strings.ToUpper(what[:1]) + what[1:] + " chosen for the draws of so many classes."}
	if off {
		d.Caption = "Off: the mean distance of ln(chosen/classes) from 0, 0.1 for a tenth too few or too many."
	}
	return d
}
