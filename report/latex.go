package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/filename"
)

// latexEscape keeps names and captions from being read as LaTeX.
var latexEscape = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `^`, `\textasciicircum{}`, `~`, `$\sim$`,
	`<`, `$<$`, `>`, `$>$`, `|`, `$|$`,
	`±`, `$\pm$`, `≥`, `$\geq$`, `–`, `--`,
)

// columnWidth is about how many characters, with their gaps, stand side by side
// in a paper.
const columnWidth = 70

// blockMethods is the largest number of methods side by side; with more the
// letters would shrink too far.
const blockMethods = 8

// LaTeX writes the table as a floating table with a caption and the label
// tab:SCORE, the best of each row in bold. It needs the package booktabs, and
// graphicx where the table is wide and may have to shrink. More than eight
// methods are broken into blocks, one below the other.
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
	line(`  \caption{%s}`, latexEscape.Replace(t.caption("Bold", "~")))
	line(`  \label{tab:%s}`, filename.Safe(t.Score))
	blocks := (len(t.Methods) + blockMethods - 1) / blockMethods
	for block := range blocks {
		if block > 0 {
			line(`  \par\medskip`)
		}
		if wide {
			line(`  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%%`)
		}
		t.tabular(line, cells, block*len(t.Methods)/blocks, (block+1)*len(t.Methods)/blocks)
		if wide {
			line(`  }`)
		}
	}
	line(`\end{%s}`, float)
	_, err := io.WriteString(w, out.String())
	return err
}

// LaTeX writes the table as a floating table with a caption and the label
// tab:best-SCORE, the best in bold. It needs the package booktabs.
func (b *Best) LaTeX(w io.Writer) error {
	var out strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&out, format+"\n", a...) }
	columns := ""
	for i, heading := range b.headings() {
		if heading == rankHeading || i == len(b.headings())-1 {
			columns += "r"
		} else {
			columns += "l"
		}
	}
	line(`%% Needs \usepackage{booktabs}`)
	line(`\begin{table}`)
	line(`  \centering`)
	line(`  \caption{%s}`, latexEscape.Replace(b.caption("Bold", "~")))
	line(`  \label{tab:best-%s}`, filename.Safe(b.Table.Score))
	line(`  \begin{tabular}{%s}`, columns)
	line(`    \toprule`)
	line(`    %s \\`, strings.Join(b.headings(), " & "))
	line(`    \midrule`)
	cells := b.texts(` \pm `, `\phantom{0}`)
	for i, row := range b.Rows {
		words := b.what(row)
		for j := range words {
			words[j] = latexEscape.Replace(words[j])
		}
		line(`    %s \\`, strings.Join(append(words, cells[i].latex()), " & "))
	}
	line(`    \bottomrule`)
	line(`  \end{tabular}`)
	line(`\end{table}`)
	_, err := io.WriteString(w, out.String())
	return err
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
		header = append(header, fmt.Sprintf(`\multicolumn{1}{c}{%s}`, latexEscape.Replace(method)))
	}
	line(`    %s \\`, strings.Join(header, " & "))
	line(`    \midrule`)
	for r, row := range t.all() {
		if row.Average {
			line(`    \midrule`)
		}
		words := []string{latexEscape.Replace(row.label())}
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
