package reproduce

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// missing is an empty cell.
const missing = "–"

// grid returns a table of the paper in percent: for each row its name, and for each method the printed value and ours,
// with a mark if they differ.
func (o *Outcome) grid(t TableOutcome) (rows [][]string) {
	for _, at := range t.Rows {
		words := []string{"average"}
		if at > 0 {
			words[0] = fmt.Sprint(at)
		}
		for _, m := range t.Methods {
			word := missing
			if i := slices.IndexFunc(t.Cells, func(c CellOutcome) bool { return c.Row == at && c.Method == m }); i >= 0 {
				word = o.cell(t.Cells[i])
			}
			words = append(words, word)
		}
		rows = append(rows, words)
	}
	return rows
}

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

func (o *Outcome) letter(name string) string {
	return string(rune('a' + slices.Index(o.Readings, name)))
}

// legend explains and counts the marks of grids.
func (o *Outcome) legend() string {
	count := map[Place]int{}
	tried := map[string]bool{}
	total := 0
	for _, t := range o.Tables {
		for _, c := range t.Cells {
			count[c.Place]++
			total++
			for _, r := range c.Readings {
				tried[r.Name] = true
			}
		}
	}
	text := fmt.Sprintf("Printed / here, in percent, %s. Of %s %d are inside the interval in which a mean of %d draws is to lie",
		phrase.Count(o.Draws, "draw", "draws"), phrase.Count(total, "printed value", "printed values"), count[Inside], o.PaperDraws)
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
	for _, name := range o.Readings {
		if tried[name] {
			readings = append(readings, o.letter(name)+" "+name)
		}
	}
	if readings != nil {
		text += ". Readings: " + strings.Join(readings, "; ")
	}
	return text + "."
}

// note explains the intervals.
var note = fmt.Sprintf("Intervals are for this set, at the level of their look, so that with a probability of %g %% no claim is decided wrongly by chance. A gain holds where ours is surely more than half of it.", 100-100*Level)

// amount formats a difference, in points or iterations.
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

// ourText formats our difference.
func (c *ClaimOutcome) ourText() string {
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

// interval formats the interval of an estimate.
func (c *ClaimOutcome) interval(e Estimate) string {
	low, high := e.Low, e.High
	if c.Within > 0 {
		low, high = high, low // of iterations
	}
	if !e.HasInterval {
		return missing
	}
	return "[" + c.amount(low) + ", " + c.amount(high) + "]"
}

// printedText formats the printed result and its place.
func (c *ClaimOutcome) printedText() string {
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
	return signed(c.Gain) + ", " + string(c.Printed)
}

// readingsText describes the results of readings, "" without any.
func (c *ClaimOutcome) readingsText() string {
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
	switch text := fmt.Sprintf("what %s: %s", verb, strings.Join(gives, ", ")); {
	case gives != nil && others != nil:
		return text + "; what does not: " + strings.Join(others, ", ")
	case gives != nil:
		return text
	case others != nil:
		return fmt.Sprintf("none of these readings gives %s: %s", noun, strings.Join(others, ", "))
	}
	return ""
}

func (o *Outcome) count() string {
	count := map[Verdict]int{}
	for _, c := range o.Claims {
		count[c.Verdict]++
	}
	return fmt.Sprintf("%s: %d hold, %d do not, %d not decided", phrase.Count(len(o.Claims), "claim", "claims"), count[Holds], count[Fails], count[Open])
}

// Text returns the outcome in lines of at most width letters, with tables in lines of at most tableWidth; 0 means no
// limit.
func (o *Outcome) Text(width, tableWidth int) string {
	var b strings.Builder
	line := func(lead, words string) { b.WriteString(columns.Hanging(lead, plaintext.Line(words), width)) }
	line("", o.Recipe+": "+o.Paper)
	b.WriteByte('\n')
	line("", phrase.Count(o.Draws, "draw", "draws")+"; "+o.count()+".")
	for i := range o.Claims {
		c := &o.Claims[i]
		says := c.Says
		if c.Where != "" {
			says += " (" + c.Where + ")"
		}
		b.WriteByte('\n')
		line(fmt.Sprintf("%-14s ", c.Verdict), says)
		if c.Here.Draws == 0 {
			continue
		}
		words := fmt.Sprintf("here %s, %s after %d draws", c.ourText(), c.interval(c.Here), c.Here.Draws)
		if c.Wider.HasInterval && c.Wider != c.Here {
			words += fmt.Sprintf(", for %s %s", c.Beyond, c.interval(c.Wider))
		}
		words += "; printed: " + c.printedText()
		if tried := c.readingsText(); tried != "" {
			words += ". " + tried
		}
		line(strings.Repeat(" ", 15), words)
	}
	b.WriteByte('\n')
	line("", note)
	for _, remark := range o.Notes {
		line("- ", remark)
	}
	for _, of := range o.Tables {
		b.WriteString("\n" + plaintext.Line(of.Where+", "+of.Score) + "\n\n")
		t := columns.Table{Header: append([]string{""}, of.Methods...)}
		for _, row := range o.grid(of) {
			cells := make([]any, len(row))
			for i, word := range row {
				cells[i] = plaintext.Line(word)
			}
			t.Row(cells...)
		}
		b.WriteString(t.Text(tableWidth))
	}
	if len(o.Tables) > 0 {
		b.WriteByte('\n')
		line("", o.legend())
	}
	return b.String()
}

// Markdown returns the outcome as a section of a document, with a heading of the given level.
func (o *Outcome) Markdown(level int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s\n\n%s; %s.\n\n", strings.Repeat("#", level), escapeMarkdown(o.Recipe), escapeMarkdown(o.Paper), phrase.Count(o.Draws, "draw", "draws"), o.count())
	b.WriteString("| Claim | Verdict | Here | Interval | For others | Printed | Draws |\n|---|---|---|---|---|---|---|\n")
	var tried, beyond []string
	for i := range o.Claims {
		c := &o.Claims[i]
		verdict := string(c.Verdict)
		if c.Verdict != Open {
			verdict = "**" + verdict + "**"
		}
		says := escapeMarkdown(c.Says)
		if c.Where != "" {
			says += ", " + escapeMarkdown(c.Where)
		}
		if text := c.readingsText(); text != "" {
			tried = append(tried, escapeMarkdown(c.Says)+": "+escapeMarkdown(text)+".")
			says += fmt.Sprintf(" (%d)", len(tried))
		}
		if c.Beyond != "" && !slices.Contains(beyond, c.Beyond) {
			beyond = append(beyond, c.Beyond)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d |\n", says, verdict, escapeMarkdown(c.ourText()), c.interval(c.Here), c.interval(c.Wider), c.printedText(), c.Here.Draws)
	}
	fmt.Fprintf(&b, "\n%s The interval for others takes in that draws overlap: it is one for %s.\n", note, cmp.Or(strings.Join(beyond, " or "), "other draws"))
	for i, text := range tried {
		fmt.Fprintf(&b, "\n(%d) %s\n", i+1, text)
	}
	for _, remark := range o.Notes {
		fmt.Fprintf(&b, "\n- %s", escapeMarkdown(remark))
	}
	if len(o.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, t := range o.Tables {
		fmt.Fprintf(&b, "\n%s, %s\n\n| |", escapeMarkdown(t.Where), escapeMarkdown(t.Score))
		for _, m := range t.Methods {
			fmt.Fprintf(&b, " %s |", escapeMarkdown(m))
		}
		b.WriteString("\n|" + strings.Repeat("---|", len(t.Methods)+1) + "\n")
		for _, row := range o.grid(t) {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	if len(o.Tables) > 0 {
		fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(o.legend()))
	}
	return b.String()
}

// escapeMarkdown escapes Markdown.
var escapeMarkdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ").Replace

// Document holds the outcomes of several recipes. It is written as a Markdown file and a JSON file beside it, and read
// from the JSON file.
type Document struct {
	Outcomes []*Outcome `json:"outcomes"`

	file string
}

const documentHead = "# The papers, reproduced\n"

// DocumentJSON returns the path of the JSON file of a document.
func DocumentJSON(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".json" }

// OpenDocument reads a document, or starts an empty one if it does not exist.
func OpenDocument(file string) (*Document, error) {
	d := &Document{file: file}
	text, err := os.ReadFile(DocumentJSON(file))
	if errors.Is(err, fs.ErrNotExist) {
		page, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return d, nil
		case bytes.HasPrefix(page, []byte(documentHead)):
			return nil, fmt.Errorf("%s holds outcomes, and %s, from which they are kept, is missing; name another document", file, DocumentJSON(file))
		}
		return d, err
	}
	if err == nil {
		err = json.Unmarshal(text, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds no outcomes: %w", DocumentJSON(file), err)
	}
	return d, nil
}

// Put adds an outcome, or replaces the outcome of the same recipe.
func (d *Document) Put(o *Outcome) {
	if i := d.index(o.Recipe); i >= 0 {
		d.Outcomes[i] = o
		return
	}
	d.Outcomes = append(d.Outcomes, o)
}

func (d *Document) index(recipe string) int {
	return slices.IndexFunc(d.Outcomes, func(o *Outcome) bool { return o.Recipe == recipe })
}

// Write replaces both files. The document also lists the recipes notRun that have no outcome.
func (d *Document) Write(notRun []string) error {
	var b bytes.Buffer
	b.WriteString(documentHead + `
Written by ` + "`partwise reproduce`" + `. [reproducing.md](reproducing.md) says what a verdict means and what the
intervals are.

| recipe | draws | |
|---|---|---|
`)
	for _, o := range d.Outcomes {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", escapeMarkdown(o.Recipe), o.Draws, o.count())
	}
	for _, o := range d.Outcomes {
		b.WriteString("\n" + o.Markdown(2))
	}
	missing := slices.DeleteFunc(slices.Clone(notRun), func(name string) bool { return d.index(name) >= 0 })
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\n## Not run\n\nThe data, or the build, that these need were not there: %s.\n", strings.Join(missing, ", "))
	}
	text, err := toJSON(d)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(DocumentJSON(d.file), text); err != nil {
		return err
	}
	return atomicfile.Write(d.file, b.Bytes())
}

func toJSON(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(x)
	return b.Bytes(), err
}
