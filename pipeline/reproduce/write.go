package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// Grid is one table of a paper in words: for each row what it is called and for each method
// what is printed and what was found here, with a mark where the two differ.
type Grid struct {
	Where, Score string
	Methods      []string
	Rows         [][]string
}

// missing is a cell of which nothing is printed.
const missing = "–"

// Grids are the tables of the paper, in percent.
func (o *Outcome) Grids() (grids []Grid) {
	for t, cells := range o.Tables {
		table := o.Recipe.Tables[t]
		g := Grid{Where: table.Where, Score: table.Score, Methods: table.Methods}
		for _, row := range table.Rows {
			words := []string{"average"}
			if row.At > 0 {
				words[0] = fmt.Sprint(row.At)
			}
			for _, m := range table.Methods {
				word := missing
				i := slices.IndexFunc(cells, func(c CellOutcome) bool { return c.Row == row.At && c.Method == m })
				if i >= 0 {
					word = o.cell(cells[i])
				}
				words = append(words, word)
			}
			g.Rows = append(g.Rows, words)
		}
		grids = append(grids, g)
	}
	return grids
}

// cell is a cell in words.
func (o *Outcome) cell(c CellOutcome) string {
	here := missing
	if c.Here.Draws > 0 {
		here = fmt.Sprintf("%.1f", 100*c.Here.Mean)
	}
	word := fmt.Sprintf("%.1f / %s", 100*c.Printed, here)
	switch c.Place {
	case Outside:
		word += " !"
	case Depends:
		word += " "
		for _, r := range c.Readings {
			if r.Gives {
				word += o.letter(r.Name)
			}
		}
	}
	return word
}

// letter stands for a reading.
func (o *Outcome) letter(name string) string {
	i := slices.IndexFunc(o.Recipe.Readings, func(v Variant) bool { return v.Name == name })
	return string(rune('a' + i))
}

// Legend says what the marks of grids mean, and how many cells have which.
func (o *Outcome) Legend() string {
	count := map[Place]int{}
	tried := map[string]bool{}
	total := 0
	for _, cells := range o.Tables {
		for _, c := range cells {
			count[c.Place]++
			total++
			for _, r := range c.Readings {
				tried[r.Name] = true
			}
		}
	}
	text := fmt.Sprintf("Printed / here, in percent, %s. Of %s %d are inside the interval in which a mean of %d draws is to lie",
		phrase.Count(o.Draws, "draw", "draws"), phrase.Count(total, "printed value", "printed values"), count[Inside], o.Recipe.Draws)
	if n := count[Depends]; n > 0 {
		text += fmt.Sprintf(", %d only with another reading, whose letters stand behind them", n)
	}
	if n := count[Outside]; n > 0 {
		text += fmt.Sprintf(", and %d outside (!)", n)
	}
	if n := count[Nowhere]; n > 0 {
		text += fmt.Sprintf(", and %d are not compared, for want of draws", n)
	}
	var readings []string
	for _, v := range o.Recipe.Readings {
		if tried[v.Name] {
			readings = append(readings, o.letter(v.Name)+" "+v.Name)
		}
	}
	if readings != nil {
		text += ". Readings: " + strings.Join(readings, "; ")
	}
	return text + "."
}

// Note says what the intervals are.
func (o *Outcome) Note() string {
	return fmt.Sprintf("Intervals are for this set, at the level of their look, so that with a probability of %g %% no claim is decided wrongly by chance. A gain holds where ours is surely more than half of it.", 100-100*Level)
}

// amount is a difference with its unit.
func (c *ClaimOutcome) amount(x float64) string {
	if c.Within > 0 {
		return fmt.Sprintf("%.1f", max(0, float64(c.Within)-x)) // iterations
	}
	return signed(100 * x)
}

func signed(x float64) string {
	text := fmt.Sprintf("%.1f", x)
	switch {
	case strings.Trim(text, "-0.") == "":
		return "0.0"
	case x < 0:
		return "−" + text[1:]
	}
	return "+" + text
}

// Ours is the difference that was found.
func (c *ClaimOutcome) Ours() string {
	if c.Here.Draws == 0 {
		return missing
	}
	text := c.amount(c.Here.Mean)
	switch {
	case len(c.Below) > 0:
		text += " of " + c.Against + " over " + c.Method
	case len(c.Over) > 1 || c.Some:
		text += " over " + c.Against
	}
	return text
}

// Interval is that of an estimate of the claim.
func (c *ClaimOutcome) Interval(e Estimate) string {
	low, high := e.Low, e.High
	if c.Within > 0 {
		low, high = high, low // of iterations
	}
	if !e.HasInterval {
		return missing
	}
	return "[" + c.amount(low) + ", " + c.amount(high) + "]"
}

// Theirs is what is printed, with where it lies.
func (c *ClaimOutcome) Theirs() string {
	switch {
	case c.Within > 0:
		return fmt.Sprintf("within %d iterations", c.Within)
	case c.Gain == 0:
		return "above"
	case c.Printed == Nowhere:
		return signed(c.Gain)
	case c.Printed == Depends:
		return signed(c.Gain) + ", depends"
	}
	return signed(c.Gain) + ", " + c.Printed.String()
}

// Tried says what readings give, "" where none was made.
func (c *ClaimOutcome) Tried() string {
	var gives, others []string
	for _, r := range c.Readings {
		words := r.Name + " (" + signed(100*r.Value) + ")"
		if r.Gives {
			gives = append(gives, words)
		} else {
			others = append(others, words)
		}
	}
	verb, noun := "gives what is printed", "the printed value"
	if c.Gain == 0 {
		verb, noun = "makes it hold", "the claim"
	}
	switch {
	case gives != nil && others != nil:
		return fmt.Sprintf("what %s: %s; what does not: %s", verb, strings.Join(gives, ", "), strings.Join(others, ", "))
	case gives != nil:
		return fmt.Sprintf("what %s: %s", verb, strings.Join(gives, ", "))
	case others != nil:
		return fmt.Sprintf("none of these readings gives %s: %s", noun, strings.Join(others, ", "))
	}
	return ""
}

// Count says how many claims have which verdict.
func (o *Outcome) Count() string {
	count := map[Verdict]int{}
	for _, c := range o.Claims {
		count[c.Verdict]++
	}
	return fmt.Sprintf("%s: %d hold, %d do not, %d not decided", phrase.Count(len(o.Claims), "claim", "claims"), count[Holds], count[Fails], count[Open])
}

// Markdown writes a section of a document on the outcome. Its heading is of the given level.
func (o *Outcome) Markdown(w io.Writer, level int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s\n\n%s; %s.\n\n", strings.Repeat("#", level), marked(o.Recipe.Name), marked(o.Recipe.Paper.Paper), phrase.Count(o.Draws, "draw", "draws"), o.Count())
	b.WriteString("| Claim | Verdict | Here | Interval | For others | Printed | Draws |\n|---|---|---|---|---|---|---|\n")
	var tried []string
	for i := range o.Claims {
		c := &o.Claims[i]
		verdict := c.Verdict.String()
		if c.Verdict != Open {
			verdict = "**" + verdict + "**"
		}
		says := marked(c.Says)
		if c.Where != "" {
			says += ", " + marked(c.Where)
		}
		if text := c.Tried(); text != "" {
			tried = append(tried, marked(c.Says)+": "+marked(text)+".")
			says += fmt.Sprintf(" (%d)", len(tried))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d |\n", says, verdict, marked(c.Ours()), c.Interval(c.Here), c.Interval(c.Wider), c.Theirs(), c.Here.Draws)
	}
	fmt.Fprintf(&b, "\n%s The interval for others takes in that draws overlap: it is one for %s.\n", o.Note(), o.beyond())
	for i, text := range tried {
		fmt.Fprintf(&b, "\n(%d) %s\n", i+1, text)
	}
	for _, note := range o.Recipe.Notes {
		fmt.Fprintf(&b, "\n- %s", marked(note))
	}
	if len(o.Recipe.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, g := range o.Grids() {
		fmt.Fprintf(&b, "\n%s, %s\n\n| |", marked(g.Where), marked(g.Score))
		for _, m := range g.Methods {
			fmt.Fprintf(&b, " %s |", marked(m))
		}
		b.WriteString("\n|" + strings.Repeat("---|", len(g.Methods)+1) + "\n")
		for _, row := range g.Rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	if len(o.Tables) > 0 {
		fmt.Fprintf(&b, "\n%s\n", marked(o.Legend()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// beyond is for what the wider intervals are.
func (o *Outcome) beyond() string {
	var words []string
	for _, c := range o.Claims {
		if c.Beyond != "" && !slices.Contains(words, c.Beyond) {
			words = append(words, c.Beyond)
		}
	}
	return cmp.Or(strings.Join(words, " or "), "other draws")
}

// marked is a text in which nothing is a mark of Markdown.
func marked(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ").Replace(text)
}
