package reproduce

import (
	"bytes"
	"cmp"
	_ "embed"
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
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

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

func (o *Outcome) legend() string {
	count := map[Place]int{}
	total := 0
	for _, t := range o.Tables {
		for _, c := range t.Cells {
			count[c.Place]++
			total++
		}
	}
	text := fmt.Sprintf("Cells show printed / measured percentages, from %s. Of %s, %d are inside the range expected of a mean of %d draws",
		phrase.Count(o.Draws, "draw", "draws"), phrase.Count(total, "printed value", "printed values"), count[Inside], o.PaperDraws)
	words := map[Place]string{Depends: "only under other readings (letters)", Outside: "outside (!)", Nowhere: "not compared (too few draws)"}
	for _, place := range []Place{Depends, Outside, Nowhere} {
		if n := count[place]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, words[place])
		}
	}
	return text + "."
}

// remarks returns the notes and, if any readings were run, all readings with their letters.
func (o *Outcome) remarks() []string {
	run := slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return len(c.Readings) > 0 })
	for _, t := range o.Tables {
		run = run || slices.ContainsFunc(t.Cells, func(c CellOutcome) bool { return len(c.Readings) > 0 })
	}
	if !run {
		return o.Notes
	}
	names := lists.Map(o.Readings, func(name string) string { return o.letter(name) + " " + name })
	return append(slices.Clone(o.Notes), "Readings, marked if they agree with the paper: "+strings.Join(names, "; ")+".")
}

var note = fmt.Sprintf("With a probability of at least %g %%, no claim of a recipe is decided wrongly by chance. A claim with a printed gain holds if the interval is above half the gain.", 100-100*Level)

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

func (c *ClaimOutcome) ourText() string {
	if c.Here.Draws == 0 {
		return missing
	}
	text := c.amount(c.Here.Mean)
	switch {
	case len(c.Below) > 0:
		text += " (" + c.Against + " over " + c.Method + ")"
	case len(c.Over) > 1 || c.Some:
		text += " over " + c.Against
	}
	return text
}

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

// readingsText lists the differences of a claim under readings, with a mark on both sides if they agree with the paper.
func (o *Outcome) readingsText(c *ClaimOutcome, mark string) string {
	var words []string
	for _, r := range c.Readings {
		word := o.letter(r.Name) + " " + signed(100*r.Value)
		if r.Gives {
			word = mark + word + mark
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

const inWords = "%d claims hold, %d do not hold, %d not decided"

func (o *Outcome) count(format string) string {
	n := map[Verdict]int{}
	for _, c := range o.Claims {
		n[c.Verdict]++
	}
	return fmt.Sprintf(format, n[Holds], n[Fails], n[Open])
}

// Text returns the outcome in lines of at most width letters, with tables in lines of at most tableWidth; 0 means no
// limit.
func (o *Outcome) Text(width, tableWidth int) string {
	var b strings.Builder
	line := func(lead, words string) { b.WriteString(columns.Hanging(lead, plaintext.Line(words), width)) }
	line("", o.Recipe+": "+o.Paper)
	b.WriteByte('\n')
	line("", phrase.Count(o.Draws, "draw", "draws")+"; "+o.count(inWords)+".")
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
		if len(c.Readings) > 0 {
			words += "; readings: " + o.readingsText(c, "*")
		}
		line(strings.Repeat(" ", 15), words)
	}
	b.WriteByte('\n')
	line("", note)
	for _, remark := range o.remarks() {
		line("- ", remark)
	}
	for _, of := range o.Tables {
		b.WriteString("\n" + plaintext.Line(of.Where+", "+of.Score) + "\n\n")
		t := columns.Table{Header: append([]string{""}, of.Methods...)}
		for _, row := range o.grid(of) {
			t.Row(lists.Map(row, func(word string) any { return plaintext.Line(word) })...)
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
	return o.markdown(level, fmt.Sprintf("%s. %s; %s.", escapeMarkdown(o.Paper), phrase.Count(o.Draws, "draw", "draws"), o.count(inWords)), o.remarks(), false)
}

// markdown is Markdown with the given texts. With short, tables that have averages show only these.
func (o *Outcome) markdown(level int, paper string, remarks []string, short bool) string {
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("|" + strings.Join(cells, "|") + "|\n") }
	head := func(cells ...string) {
		row(cells...)
		b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
	}
	fmt.Fprintf(&b, "%s %s\n\n%s\n", strings.Repeat("#", level), escapeMarkdown(o.Recipe), paper)
	for i, remark := range remarks {
		fmt.Fprintf(&b, "%s- %s\n", "\n"[min(i, 1):], escapeMarkdown(remark))
	}
	b.WriteByte('\n')
	beyond := lists.Unique(lists.Map(o.Claims, func(c ClaimOutcome) string { return c.Beyond }))
	beyond = slices.DeleteFunc(beyond, func(population string) bool { return population == "" })
	head("Claim", "Verdict", "Measured", "Interval", "For "+cmp.Or(strings.Join(beyond, " or "), "other draws"), "Printed", "Draws", "Readings")
	for i := range o.Claims {
		c := &o.Claims[i]
		verdict := string(c.Verdict)
		if c.Verdict != Open {
			verdict = "**" + verdict + "**"
		}
		says := strings.TrimSuffix(c.Says+", "+c.Where, ", ")
		row(escapeMarkdown(says), verdict, escapeMarkdown(c.ourText()), c.interval(c.Here), c.interval(c.Wider), c.printedText(), fmt.Sprint(c.Here.Draws), o.readingsText(c, "**"))
	}
	if len(o.Tables) > 0 {
		fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(o.legend()))
	}
	for _, t := range o.Tables {
		fmt.Fprintf(&b, "\n%s, %s\n\n", escapeMarkdown(t.Where), escapeMarkdown(t.Score))
		head(append([]string{""}, lists.Map(t.Methods, escapeMarkdown)...)...)
		if short && slices.Contains(t.Rows, 0) {
			t.Rows = []int{0}
		}
		for _, cells := range o.grid(t) {
			row(cells...)
		}
	}
	return b.String()
}

var escapeMarkdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ").Replace

// Document holds the outcomes of several recipes. It is written as a Markdown file and a JSON file beside it, and read
// from the JSON file.
type Document struct {
	Outcomes []*Outcome `json:"outcomes"`

	file string
}

const documentHead = "# The papers, reproduced\n"

//go:embed document.md
var documentStart string

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
			return nil, fmt.Errorf("%s holds outcomes, but its data file %s is missing; name another document", file, DocumentJSON(file))
		}
		return d, err
	}
	if err == nil {
		err = json.Unmarshal(text, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", DocumentJSON(file), err)
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
func (d *Document) Write(notRun []string) (err error) {
	defer guard.Catch(&err)
	var b bytes.Buffer
	fmt.Fprintf(&b, documentHead+documentStart, note)
	for _, o := range d.Outcomes {
		fmt.Fprintf(&b, "|%s|%d|%d|%s|\n", escapeMarkdown(o.Recipe), o.Draws, len(o.Claims), o.count("%d|%d|%d"))
	}
	for i, o := range d.Outcomes {
		paper, remarks := escapeMarkdown(o.Paper), slices.Clone(o.remarks())
		if at := slices.IndexFunc(d.Outcomes[:i], func(e *Outcome) bool { return e.Paper == o.Paper }); at >= 0 {
			paper = fmt.Sprintf("Paper: see [%s](#%[1]s), which also lists shared notes and readings", d.Outcomes[at].Recipe)
			remarks = slices.DeleteFunc(remarks, func(r string) bool { return slices.Contains(d.Outcomes[at].remarks(), r) })
		}
		b.WriteString("\n" + o.markdown(2, paper+".", remarks, true))
	}
	missing := slices.DeleteFunc(slices.Clone(notRun), func(name string) bool { return d.index(name) >= 0 })
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\n## Not run\n\nThese need data or a build that were missing: %s.\n", strings.Join(missing, ", "))
	}
	text := guard.Must(toJSON(d))
	guard.Check(atomicfile.Write(DocumentJSON(d.file), text))
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
