package table

import (
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// hostileRecords are finished trials of methods of these names.
func hostileRecords() []record.Record {
	records := fakeRecords(hostile, []int{2, 3}, 3)
	for _, r := range records {
		r.Scores[hostile[7]] = 0.5
	}
	return records
}

func hostileTable() *Table {
	t := New(hostileRecords(), "AC", hostile, Tests{})
	t.Name = strings.Join(hostile[:30], " ")
	return t
}

// hostileClasses is a table whose rows have such names.
func hostileClasses() *Table {
	var records []record.Record
	confusion := make([][]int, len(hostile))
	for i := range confusion {
		confusion[i] = make([]int, len(hostile))
		confusion[i][i] = 1
	}
	for _, method := range []string{"nmf", hostile[0]} {
		records = append(records, record.Record{Classes: len(hostile), Method: method, Confusion: confusion})
	}
	return PerClass(records, []string{"nmf", hostile[0]}, hostile, Tests{})
}

// shown renders a table.
func shown(t *testing.T, table interface{ Document() *Document }, write func(io.Writer, *Document, Options) error, opt Options) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b, table.Document(), opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHostileText(t *testing.T) {
	for _, table := range []*Table{hostileTable(), hostileClasses()} {
		for format, out := range map[string]string{
			"text":     shown(t, table, Text, Options{}),
			"narrow":   shown(t, table, Text, Options{Width: 60}),
			"Markdown": shown(t, table, writeMarkdown, Options{}),
			"LaTeX":    shown(t, table, writeLaTeX, Options{}),
			"HTML":     shown(t, table, HTML, Options{}),
		} {
			if !utf8.ValidString(out) {
				t.Errorf("%s: not UTF-8", format)
			}
			for _, r := range strings.ReplaceAll(out, "\n", "") {
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 {
					t.Errorf("%s: holds %U", format, r)
				}
			}
			if !strings.Contains(out, "one") || !strings.Contains(out, "猫") {
				t.Errorf("%s: names are lost", format)
			}
		}
	}
	if out := shown(t, hostileClasses(), Text, Options{}); strings.Count(out, "\n") < len(hostile)+5 || strings.Contains(out, "\npartwise: two") {
		t.Errorf("a name begins a line:\n%s", out)
	}
}

func TestHostileMarkdown(t *testing.T) {
	table := hostileClasses()
	lines := strings.Split(shown(t, table, writeMarkdown, Options{}), "\n")
	// Bars and other special characters of Markdown are escaped.
	bare := regexp.MustCompile(`\\.`)
	for i, name := range hostile {
		cells := strings.Split(bare.ReplaceAllString(lines[2+i], ""), "|")
		if len(cells) != 5 {
			t.Errorf("%q: %d cells in %q", name, len(cells)-2, lines[2+i])
			continue
		}
		if strings.ContainsAny(cells[1], "<>[]`*_&$#~") || strings.Contains(cells[1], "://") || strings.Contains(cells[1], "www.") {
			t.Errorf("%q: %q is Markdown", name, lines[2+i])
		}
	}
	for _, name := range []string{"1. one", "- two", "    code", "+ x", "12) y", "# head"} {
		table.Name = name
		out := shown(t, table, writeMarkdown, Options{})
		caption := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
		if !regexp.MustCompile(`^[a-z0-9\\]*\\|^code`).MatchString(caption) {
			t.Errorf("%q: the caption %.40q is no paragraph", name, caption)
		}
	}
}

func TestHostileCSV(t *testing.T) {
	table := hostileTable()
	lines, err := csv.NewReader(strings.NewReader(shown(t, table, writeCSV, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for i, cell := range line {
			if i != 2 && !strings.HasPrefix(cell, "-") {
				continue
			}
			if strings.IndexAny(cell, "=+-@\t\r") == 0 {
				t.Errorf("%q is a formula", cell)
			}
		}
	}
	if lines[1+18][2] != "'"+hostile[18] {
		t.Errorf("%q is %q", hostile[18], lines[1+18][2])
	}
}

func TestLaTeXNames(t *testing.T) {
	for name, want := range map[string]string{
		"gnmf lambda=0.1":          `gnmf ($\lambda = 0.1$)`,
		"ogl beta=1e-05 init=nmf":  `ogl ($\beta = 10^{-5}$, $\mathit{init} = \mbox{nmf}$)`,
		"ccf graph=cosine iter=10": `ccf ($\mathit{graph} = \mbox{cosine}$, $\mathit{iter} = 10$)`,
		"d=1":                      `d=1`,
		"a b=$c":                   `a b=\$c`,
		"[cat] b":                  `{[}cat{]} b`,
		"λ_1":                      `$\lambda$\_1`,
		"a\n\nb":                   `a\textbackslash{}n\textbackslash{}nb`,
	} {
		if got := latexMethod(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	for _, names := range [][2]string{{"a b", "a-b"}, {"日本", "中国"}, {"A", "a"}, {"x", "x!"}} {
		if a, b := latexLabel(names[0], "AC"), latexLabel(names[1], "AC"); a == b {
			t.Errorf("%q and %q share the label %s", names[0], names[1], a)
		}
	}
	if got := latexLabel("demo", "AC free"); got != "tab:demo-ac-free" {
		t.Errorf("label %s", got)
	}
}

// LaTeX compiles the tables, if it is installed.
func TestLaTeXCompiles(t *testing.T) {
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not installed")
	}
	inLatin := func(names []string) []string {
		var out []string
		for _, name := range names {
			if !needsFonts(name) && len(name) < 500 {
				out = append(out, name)
			}
		}
		return out
	}
	names := inLatin(hostile)
	classes := hostileClasses()
	for i := range classes.Rows {
		if needsFonts(classes.Rows[i].Name) || len(classes.Rows[i].Name) > 500 {
			classes.Rows[i].Name = "left out"
		}
	}
	methods := New(fakeRecords(names, []int{2, 3}, 7), "AC", names, Tests{})
	methods.Name = strings.Join(names, " ")
	best := NewBest(fakeRecords(sweptMethods, []int{2, 3}, 7), "AC", sweptMethods, lambdaSweep, Tests{})
	best.Table.Name = names[0]
	dir := t.TempDir()
	text := `\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}\begin{document}`
	for name, table := range map[string]interface{ Document() *Document }{"methods": methods, "classes": classes, "best": best} {
		if err := os.WriteFile(filepath.Join(dir, name+".tex"), []byte(shown(t, table, writeLaTeX, Options{})), 0o666); err != nil {
			t.Fatal(err)
		}
		text += `\input{` + name + `.tex}\clearpage`
	}
	if err := os.WriteFile(filepath.Join(dir, "all.tex"), []byte(text+`\end{document}`), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pdflatex, "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "all.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
