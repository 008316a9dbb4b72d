package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Best is the table of each method at its best mean, over the ranks and the settings of a sweep.
type Best struct {
	Ranks, Swept bool   // whether ranks, and settings of a sweep, were chosen
	Rows         []Peak // in the order of the methods, one for a sweep, without methods that lack the score
	Table        *Table // a column for each row, of the trials at its best
}

// NewBest returns the best of the given methods by one score. It is nil with at most one rank and no sweep.
func NewBest(records []record.Record, score string, methods []string, sweeps []spec.Sweep, by Tests) *Best {
	all := New(records, score, methods, Tests{Rule: significance.Rule{By: significance.ByNone}})
	b := &Best{Ranks: all.ChoosesRank(), Swept: len(sweeps) > 0}
	if len(all.Rows) == 0 || !b.Ranks && !b.Swept {
		return nil
	}
	peaks := slices.DeleteFunc(Peaks(all, sweeps), func(p Peak) bool { return p.Row == 0 })
	var chosen []record.Record
	for _, r := range Finished(records, methods) {
		i := slices.IndexFunc(peaks, func(p Peak) bool { return p.Label == r.Method })
		if i < 0 || b.Ranks && r.Row != peaks[i].Row {
			continue
		}
		if b.Ranks {
			peaks[i].Rank, r.Row = r.Rank, 0 // a draw is the same at every rank
		}
		chosen = append(chosen, r)
	}
	b.Table = New(chosen, score, Labels(peaks), by)
	for i, c := range b.Table.lastRow().Cells {
		peaks[i].Cell = c
	}
	b.Rows = peaks
	return b
}

// Peak is the best row and setting of a method.
type Peak struct {
	Method, Setting string // a setting of a sweep, as "lambda=10", or ""
	Label           string // the method's name in the records with this setting
	Row             int    // a rank if there are several, else the largest number of classes; 0 without trials
	Rank            int    // set by NewBest; 0 for methods without a rank
	Cell            Cell   // set by NewBest, tested against the best of all methods
}

// Peaks returns the best row and setting of each method of a table. For rows of classes, it compares the means over the
// rows. Ties go to the first, and a method without trials gets its first setting.
func Peaks(t *Table, sweeps []spec.Sweep) []Peak {
	var peaks []Peak
	done := map[string]bool{}
	for _, method := range t.Methods {
		if done[method] {
			continue
		}
		candidates, sweep := []string{method}, spec.Sweep{Name: method}
		if at := slices.IndexFunc(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }); at >= 0 {
			sweep = sweeps[at]
			candidates = sweep.Methods
		}
		best := Peak{Method: sweep.Name, Label: method}
		mean, found := 0.0, false
		for _, label := range candidates {
			done[label] = true
			if column := slices.Index(t.Methods, label); column >= 0 {
				if row, c := t.Level(column); c.N > 0 && (!found || t.Score.Better(c.Mean, mean)) {
					best.Label, best.Row, mean, found = label, row, c.Mean, true
				}
			}
		}
		if at := slices.Index(sweep.Methods, best.Label); at >= 0 {
			var words []string
			for i, name := range sweep.Settings {
				words = append(words, name+"="+sweep.Values[at][i])
			}
			best.Setting = strings.Join(words, " ")
		}
		peaks = append(peaks, best)
	}
	return peaks
}

// Labels returns the labels of the peaks.
func Labels(peaks []Peak) []string {
	out := make([]string, len(peaks))
	for i, p := range peaks {
		out[i] = p.Label
	}
	return out
}

// chosenNames returns the methods with the chosen ranks and settings.
func (b *Best) chosenNames() []string {
	names := make([]string, len(b.Rows))
	for i, r := range b.Rows {
		chosen := r.Setting
		if r.Rank > 0 {
			chosen = strings.TrimSuffix(fmt.Sprintf("rank %d, %s", r.Rank, chosen), ", ")
		}
		if names[i] = r.Method; chosen != "" {
			names[i] += " (" + chosen + ")"
		}
	}
	return names
}

func (b *Best) caption() string {
	e := b.Table.explained()
	chosen := "rank and setting"
	if !b.Swept {
		chosen = "rank"
	} else if !b.Ranks {
		chosen = "setting"
	}
	e.At = " at the best " + chosen + " of each method"
	e.Last = e.cellKindsOf(b.Table.lastRow())
	if b.Table.Average != nil {
		var numbers []int
		for _, r := range b.Table.Rows {
			numbers = append(numbers, r.Number)
		}
		e.Numbers = phrase.Numbers(numbers)
	}
	return caption("best", e)
}

// Finding names the best method, with its rank and setting, in a sentence.
func (b *Best) Finding() string {
	return finding(b.Table.Score, b.chosenNames(), b.Table.lastRow().Cells, "with each method at its best")
}

// Document returns the table in words.
func (b *Best) Document() *Document {
	score := b.Table.Score
	g := Grid{Name: "best " + score.Name, Score: score.Name, KeyFields: []string{"method", "rank", "setting"}, Columns: []Column{{Heading: "Method"}}}
	if b.Ranks {
		g.Columns = append(g.Columns, Column{Heading: "Rank", Right: true})
	}
	if b.Swept {
		g.Columns = append(g.Columns, Column{Heading: "Setting", Settings: true})
	}
	g.Keys = len(g.Columns)
	g.Columns = append(g.Columns, valueColumn(scoreLabel(score), cellFields...))
	words := b.Table.words()
	for i, row := range b.Rows {
		rank := strings.TrimPrefix(strconv.Itoa(row.Rank), "0") // "" without a rank
		line := Line{Words: []Word{{Text: row.Method}}, Keys: []string{row.Method, rank, row.Setting}}
		if b.Ranks {
			line.Words = append(line.Words, Word{Text: cmp.Or(rank, missing)})
		}
		if b.Swept {
			line.Words = append(line.Words, Word{Text: cmp.Or(row.Setting, missing)})
		}
		line.Words = append(line.Words, words[len(words)-1][i])
		g.Lines = append(g.Lines, line)
	}
	return &Document{Name: b.Table.Name, Class: "chosen", Title: score.Title, Caption: b.caption(), Grids: append([]Grid{g}, b.Table.differences(g.Name, b.chosenNames(), "with each method at its best")...)}
}

// Chosen holds the numbers that were chosen for draws with a number of classes.
type Chosen struct {
	Classes int
	Numbers []int
}

// ChosenDocument returns a table of chosen numbers, for example "ranks": the mean, the smallest, the largest, and all
// of them. With off it also has the mean of |ln(number/classes)|.
func ChosenDocument(name, what string, rows []Chosen, off bool) *Document {
	g := Grid{Name: "chosen " + what, Score: what, Keys: 1, KeyFields: []string{"classes"}, Columns: []Column{
		{Heading: "Classes", Right: true}, valueColumn("Mean", "mean"), valueColumn("Smallest", "least"), valueColumn("Largest", "most"),
	}}
	d := &Document{Name: name, Title: strings.ToUpper(what[:1]) + what[1:] + " chosen for the draws of each number of classes."}
	if off {
		g.Columns = append(g.Columns, valueColumn("Off", "off"))
		d.Caption = "Off: mean of |ln(chosen/classes)|; 0.1 is about 10 % too few or too many."
	}
	g.Columns = append(g.Columns, Column{Heading: "Each draw", Fields: []string{"draws"}})
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
	d.Grids = []Grid{g}
	return d
}
