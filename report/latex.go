package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/filename"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// latexEscape keeps the characters of names from being read as LaTeX: those with
// a meaning of their own, brackets and stars, which would be arguments of the \\
// before them, and what the fonts join or babel turns into commands.
var latexEscape = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`,
	`[`, `{[}`, `]`, `{]}`, `*`, `{*}`, "`", "\\`{}", `"`, `{\char34}`, `'`, `{'}`,
	`--`, `-{}-`, `?`, `?{}`, `!`, `!{}`, `,,`, `,{},`,
	`<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `±`, `$\pm$`, `≥`, `$\geq$`, `–`, `--`, `—`, `---`, `…`, `\ldots{}`,
	`α`, `$\alpha$`, `β`, `$\beta$`, `γ`, `$\gamma$`, `λ`, `$\lambda$`, `μ`, `$\mu$`, `σ`, `$\sigma$`,
)

// latexOwn does so for our own words, which may hold marks.
var latexOwn = strings.NewReplacer(`%`, `\%`, `±`, `$\pm$`, `≥`, `$\geq$`, `–`, `--`)

// latexText returns a name as LaTeX that shows nothing but it.
func latexText(name string) string { return latexEscape.Replace(plaintext.Line(name)) }

var latexMarks = marks{best: "Bold", tied: `$\sim$`, foreign: latexText, own: latexOwn.Replace}

// latexSettings is the name of a method with settings behind it.
var latexSettings = regexp.MustCompile(`^(\S.*?)((?: [A-Za-z][A-Za-z-]*=[A-Za-z0-9.+/-]+)+)$`)

// latexSymbols are the settings that papers write as Greek letters.
var latexSymbols = map[string]string{
	"alpha": `\alpha`, "beta": `\beta`, "gamma": `\gamma`, "lambda": `\lambda`, "mu": `\mu`, "sigma": `\sigma`,
}

var (
	latexNumber = regexp.MustCompile(`^[+-]?[0-9.]+$`)
	latexPower  = regexp.MustCompile(`^([+-]?[0-9.]+)[eE]([+-]?)0*([0-9]+)$`)
)

// latexMethod returns the name of a method as LaTeX, its settings as formulas:
// "gnmf lambda=10" is "gnmf ($\lambda = 10$)".
func latexMethod(name string) string {
	parts := latexSettings.FindStringSubmatch(name)
	if parts == nil {
		return latexText(name)
	}
	return latexText(parts[1]) + " (" + latexSetting(parts[2]) + ")"
}

// latexSetting returns settings as formulas.
func latexSetting(settings string) string {
	fields := strings.Fields(settings)
	for i, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok || !latexSettings.MatchString("x "+field) {
			fields[i] = latexText(field)
			continue
		}
		symbol, known := latexSymbols[key]
		if !known {
			symbol = `\mathit{` + key + `}`
		}
		power := latexPower.FindStringSubmatch(value)
		switch {
		case power != nil:
			sign := strings.TrimPrefix(power[2], "+")
			if value = fmt.Sprintf(`%s \cdot 10^{%s%s}`, power[1], sign, power[3]); power[1] == "1" {
				value = fmt.Sprintf(`10^{%s%s}`, sign, power[3])
			}
		case !latexNumber.MatchString(value):
			value = `\mbox{` + latexText(value) + `}`
		}
		fields[i] = fmt.Sprintf("$%s = %s$", symbol, value)
	}
	return strings.Join(fields, ", ")
}

// latexLabel names a table by the experiment and the score, in ASCII. Names that
// are changed by this have a part of their sum behind them, so that no two
// experiments share a label.
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
	ascii := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '-'
		}
		return r
	}, name)
	return filename.Safe(ascii)
}

// latexFonts is a line for tables whose names hold letters that pdfTeX has no
// fonts for.
const latexFonts = "% Holds characters that take XeLaTeX or LuaLaTeX and a font that has them\n"

// needsFonts tells whether LaTeX holds such letters: all but those of Europe in
// Latin script.
func needsFonts(latex string) bool {
	return strings.ContainsFunc(latex, func(r rune) bool { return r > 0x17f && !strings.ContainsRune("‘’“”", r) })
}

// columnWidth is about how many characters, with their gaps, stand side by side
// in a paper.
const columnWidth = 70

// blockMethods is the largest number of methods side by side; with more the
// letters would shrink too far.
const blockMethods = 8

// LaTeX writes the table as a floating table with a caption and the label
// tab:EXPERIMENT-SCORE, the best of each row in bold. It needs the package booktabs,
// and graphicx where the table is wide and may have to shrink. More than eight
// methods are broken into blocks of one scale, one below the other.
func (t *Table) LaTeX(w io.Writer) error {
	var out strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&out, format+"\n", a...) }

	cells := t.text(` \pm `, `\phantom{0}`)
	width := len("Average")
	for _, method := range t.Methods {
		width += max(utf8.RuneCountInString(method), len("00.0 ± 0.0")) + 2
	}
	wide := width > columnWidth
	float, packages := "table", "booktabs"
	if wide {
		float, packages = "table*", "booktabs,graphicx"
	}
	line(`%% Needs \usepackage{%s}`, packages)
	line(`\begin{%s}`, float)
	line(`  \centering`)
	line(`  \caption{%s}`, t.caption(latexMarks))
	line(`  \label{%s}`, latexLabel(t.Name, t.Score.Name))
	if wide {
		line(`  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%%`)
	}
	blocks := (len(t.Methods) + blockMethods - 1) / blockMethods
	if blocks > 1 {
		line(`  \begin{tabular}{@{}c@{}}`)
	}
	for block := range blocks {
		if block > 0 {
			line(`  \\[\bigskipamount]`)
		}
		t.tabular(line, cells, block*len(t.Methods)/blocks, (block+1)*len(t.Methods)/blocks)
	}
	if blocks > 1 {
		line(`  \end{tabular}%%`)
	}
	if wide {
		line(`  }`)
	}
	line(`\end{%s}`, float)
	return writeLaTeX(w, out.String())
}

// writeLaTeX writes a table, below a line about fonts where it needs some.
func writeLaTeX(w io.Writer, table string) error {
	if needsFonts(table) {
		table = latexFonts + table
	}
	_, err := io.WriteString(w, table)
	return err
}

// LaTeX writes the table as a floating table with a caption and the label
// tab:EXPERIMENT-best-SCORE, the best in bold. It needs the package booktabs.
func (b *Best) LaTeX(w io.Writer) error {
	var out strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&out, format+"\n", a...) }
	columns := ""
	headings := b.headings()
	for i, heading := range headings {
		if heading == rankHeading || i == len(headings)-1 {
			columns += "r"
		} else {
			columns += "l"
		}
		headings[i] = latexText(heading)
	}
	line(`%% Needs \usepackage{booktabs}`)
	line(`\begin{table}`)
	line(`  \centering`)
	line(`  \caption{%s}`, b.caption(latexMarks))
	line(`  \label{%s}`, latexLabel(b.Table.Name, "best "+b.Table.Score.Name))
	line(`  \begin{tabular}{%s}`, columns)
	line(`    \toprule`)
	line(`    %s \\`, strings.Join(headings, " & "))
	line(`    \midrule`)
	cells := b.texts(` \pm `, `\phantom{0}`)
	for i, row := range b.Rows {
		words := b.what(row)
		for j := range words {
			if words[j] == row.Setting {
				words[j] = latexSetting(words[j])
			} else {
				words[j] = latexText(words[j])
			}
		}
		line(`    %s \\`, strings.Join(append(words, cells[i].latex()), " & "))
	}
	line(`    \bottomrule`)
	line(`  \end{tabular}`)
	line(`\end{table}`)
	return writeLaTeX(w, out.String())
}

// tabular writes the methods from (inclusive) to (exclusive).
func (t *Table) tabular(line func(string, ...any), cells [][]cellText, from, to int) {
	columns := fmt.Sprintf("*{%d}{r}", to-from+1)
	if t.ByClass {
		columns = fmt.Sprintf("l*{%d}{r}", to-from)
	}
	line(`  \begin{tabular}{%s}`, columns)
	line(`    \toprule`)
	header := []string{t.heading()}
	for _, method := range t.Methods[from:to] {
		header = append(header, fmt.Sprintf(`\multicolumn{1}{c}{%s}`, latexMethod(method)))
	}
	line(`    %s \\`, strings.Join(header, " & "))
	line(`    \midrule`)
	for r, row := range t.all() {
		if row.Average {
			line(`    \midrule`)
		}
		words := []string{latexText(row.label())}
		for _, cell := range cells[r][from:to] {
			words = append(words, cell.latex())
		}
		line(`    %s \\`, strings.Join(words, " & "))
	}
	line(`    \bottomrule`)
	line(`  \end{tabular}`)
}

// latex is the cell with its mark hung behind it, where it moves nothing.
func (c cellText) latex() string {
	if c.Value == missing {
		return "--"
	}
	s := "$" + c.Value + "$"
	if c.Best {
		s = `$\mathbf{` + c.Value + `}$`
	}
	if c.N > 0 {
		s = fmt.Sprintf("(%d) %s", c.N, s)
	}
	if c.Tied {
		s += `\rlap{$^{\sim}$}`
	}
	return s
}
