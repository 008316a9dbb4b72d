package table

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// latexEscape escapes LaTeX's special characters, brackets and stars, which \\ would read as arguments, and character
// pairs that fonts join or babel replaces.
var latexEscape = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`,
	`[`, `{[}`, `]`, `{]}`, `*`, `{*}`, "`", "\\`{}", `"`, `{\char34}`, `'`, `{'}`,
	`--`, `-{}-`, `?`, `?{}`, `!`, `!{}`, `,,`, `,{},`,
	`<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `±`, `$\pm$`, `≥`, `$\geq$`, `−`, `$-$`, `–`, `--`, `—`, `---`, `…`, `\ldots{}`,
	`α`, `$\alpha$`, `β`, `$\beta$`, `γ`, `$\gamma$`, `λ`, `$\lambda$`, `μ`, `$\mu$`, `σ`, `$\sigma$`,
)

// latexText returns LaTeX that shows exactly the name.
func latexText(name string) string { return latexEscape.Replace(plaintext.Line(name)) }

var latexMarks = Marks{
	Foreign: latexText, Method: func(name string) string { return `\multicolumn{1}{c}{` + latexMethod(name) + `}` }, Setting: latexSetting,
	Own: strings.NewReplacer("@best", "Bold", "@tied", `$\sim$`, "@same", `$=$`, "@differs", `$^{*}$`,
		`%`, `\%`, `±`, `$\pm$`, `≥`, `$\geq$`, `<`, `$<$`, `–`, `--`, `−`, `$-$`),
	Number:    strings.NewReplacer(missing, "--", "−", "-", ", ", ", ", " ", "$ $").Replace,
	PlusMinus: ` \pm `, Pad: `\phantom{0}`, Enclose: "$%s$", EncloseBest: `$\mathbf{%s}$`,
	// Marks have no width.
	Mark: [...]string{MarkTied: `\rlap{$^{\sim}$}`, MarkEquivalent: `\rlap{$^{=}$}`, MarkDiffers: `\rlap{$^{*}$}`},
}

// latexSymbols are the settings that papers write as Greek letters.
var latexSymbols = strings.Fields("alpha beta gamma lambda mu sigma")

var (
	latexSettings = regexp.MustCompile(`^(\S.*?)((?: [A-Za-z][A-Za-z-]*=[A-Za-z0-9.+/-]+)+)$`) // after a method
	latexNumber   = regexp.MustCompile(`^[+-]?[0-9.]+$`)
	latexPower    = regexp.MustCompile(`^([+-]?[0-9.]+)[eE]([+-]?)0*([0-9]+)$`)
)

// latexMethod returns the name of a method in LaTeX: "gnmf lambda=10" is "gnmf ($\lambda = 10$)".
func latexMethod(name string) string {
	parts := latexSettings.FindStringSubmatch(name)
	if parts == nil {
		return latexText(name)
	}
	return latexText(parts[1]) + " (" + latexSetting(parts[2]) + ")"
}

func latexSetting(settings string) string {
	fields := strings.Fields(settings)
	for i, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok || !latexSettings.MatchString("x "+field) {
			fields[i] = latexText(field)
			continue
		}
		symbol := `\mathit{` + key + `}`
		if slices.Contains(latexSymbols, key) {
			symbol = `\` + key
		}
		if power := latexPower.FindStringSubmatch(value); power != nil {
			value = fmt.Sprintf(`10^{%s%s}`, strings.TrimPrefix(power[2], "+"), power[3])
			if power[1] != "1" {
				value = power[1] + ` \cdot ` + value
			}
		} else if !latexNumber.MatchString(value) {
			value = `\mbox{` + latexText(value) + `}`
		}
		fields[i] = fmt.Sprintf("$%s = %s$", symbol, value)
	}
	return strings.Join(fields, ", ")
}

// latexLabel returns the label of a table by experiment and score, in ASCII. Names that this changes end in a part of
// their hash.
func latexLabel(experiment, table string) string {
	if experiment == "" {
		return "tab:" + latexWord(table)
	}
	word := latexWord(experiment)
	if word != experiment {
		sum := sha256.Sum256([]byte(experiment))
		word += fmt.Sprintf("-%x", sum[:3])
	}
	return "tab:" + word + "-" + latexWord(table)
}

// latexWord returns a name in small ASCII letters, digits and hyphens.
func latexWord(name string) string {
	return filename.Safe(strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '-'
		}
		return r
	}, name))
}

const latexFonts = "% Some characters need XeLaTeX or LuaLaTeX and a font that has them\n"

// needsFonts reports whether the text has letters beyond European Latin script.
func needsFonts(latex string) bool {
	return strings.ContainsFunc(latex, func(r rune) bool { return r > 0x17f && !strings.ContainsRune("‘’“”", r) })
}

const (
	latexColumn = 246  // the width in points of a column of a two-column article at 10 points
	latexPage   = 510  // the width of the page in points
	latexShrink = 0.75 // the smallest factor by which the letters of a wide table shrink
)

//go:embed latex.tmpl
var latexTemplate string

var latexTables = template.Must(template.New("latex").Delims("<<", ">>").Funcs(template.FuncMap{
	"columns": Grid.latexColumns, "lines": Grid.latexLines,
}).Parse(latexTemplate))

type latexTable struct {
	Float, Caption, Label string
	Blocks                []Grid // blocks of columns, one below the other
}

// writeLaTeX writes each grid as a floating table. The tables need the packages booktabs and graphicx.
func writeLaTeX(w io.Writer, d *Document, _ Options) error {
	var tables []latexTable
	for _, g := range d.Grids {
		t := g.latex()
		if t.Caption = latexMarks.text(g.Caption); g.Caption == "" {
			t.Caption = latexMarks.caption(d)
		}
		if g.Title != "" {
			t.Caption = latexText(strings.TrimPrefix(d.Name+": "+g.Title, ": ")) + ". " + t.Caption
		}
		t.Label = latexLabel(d.Name, g.Name)
		tables = append(tables, t)
	}
	var out strings.Builder
	if err := latexTables.Execute(&out, map[string]any{"Heading": latexMarks.lines(d), "Tables": tables}); err != nil {
		return err
	}
	table := out.String()
	if needsFonts(table) {
		table = latexFonts + table
	}
	_, err := io.WriteString(w, table)
	return err
}

// points estimates the width of a column.
func (g Grid) points(column int) float64 {
	letters := utf8.RuneCountInString(g.Columns[column].Heading)
	for _, l := range g.Lines {
		w := l.Words[column]
		n := utf8.RuneCountInString(w.Text)
		if w.Deviation != "" {
			n += len(" ± ") + w.Pad + len(w.Deviation)
		}
		letters = max(letters, n)
	}
	return float64(5*letters + 12)
}

// latex returns a floating table over one or both columns of the page, or in blocks if its letters would shrink too
// far.
func (g Grid) latex() latexTable {
	var keys, values float64
	for i := range g.Columns {
		if i < g.Keys {
			keys += g.points(i)
		} else {
			values += g.points(i)
		}
	}
	t := latexTable{Float: "table"}
	if keys+values > latexColumn/latexShrink {
		t.Float = "table*"
	}
	n := len(g.Columns) - g.Keys
	blocks := max(1, min(n, int(math.Ceil(values/max(1, latexPage/latexShrink-keys)))))
	for block := range blocks {
		t.Blocks = append(t.Blocks, g.valueColumns(block*n/blocks, (block+1)*n/blocks))
	}
	return t
}

// latexLines returns the lines of a tabular between its outer rules.
func (g Grid) latexLines() []string {
	l := g.layout(latexMarks)
	lines := []string{strings.Join(l.lines[0], " & ") + ` \\`, `\midrule`}
	for i, words := range l.lines[1:] {
		if i > 0 && i+1 == l.average {
			lines = append(lines, `\midrule`)
		}
		lines = append(lines, strings.Join(words, " & ")+` \\`)
	}
	return lines
}

// latexColumns returns the alignment of the columns, with methods grouped.
func (g Grid) latexColumns() string {
	letters := ""
	for _, c := range g.Columns {
		letters += map[bool]string{true: "r", false: "l"}[c.Right]
	}
	if n := len(strings.TrimLeft(letters, "l")); g.Fields != nil && n > 0 {
		return fmt.Sprintf("%s*{%d}{r}", strings.Repeat("l", len(letters)-n), n)
	}
	return letters
}
