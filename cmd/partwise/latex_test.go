package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLaTeXPaper: all LaTeX tables of an experiment on three sets, and of a comparison, stand in one
// two-column article without an overfull line or a warning.
func TestLaTeXPaper(t *testing.T) {
	workplace(t)
	write(t, "paper.yaml", `name: paper
data: [generated, {set: generated, largest: 5}, {set: generated, largest: 4}]
features: {pixels: 5}
methods:
  - {name: kmeans}
  - {name: semi-gnmf, iterations: 3}
  - {name: ccf, iterations: 3}
  - {name: gnmf, iterations: 3, lambda: [0.001, 1, 100]}
classes: [2, 4]
repeats: 6
labels: 30%
cluster: {restarts: 2}
`)
	must(t, "run", "paper.yaml")
	generated := filepath.Join("results", "paper", "generated")
	write(t, "compared.tex", must(t, "compare", generated, generated, "--format", "latex"))
	tables := []string{"compared.tex"}
	err := fs.WalkDir(os.DirFS("."), "results", func(path string, _ fs.DirEntry, err error) error {
		for _, name := range []string{"ac", "nmi"} {
			if ok, _ := regexp.MatchString(`/(best-)?`+name+`(-sets|-pairs)?\.tex$`, path); ok {
				tables = append(tables, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 1+2*(2+3*2) {
		t.Fatalf("the tables are %q", tables)
	}
	text := `\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}\begin{document}`
	formula := regexp.MustCompile(`\$[^$]*\$`)
	for _, name := range tables {
		tex := read(t, filepath.Dir(name), filepath.Base(name))
		if strings.Contains(formula.ReplaceAllString(tex, ""), "<") {
			t.Errorf("%s: < outside of formulas, which the fonts of TeX show as an inverted exclamation mark", name)
		}
		for _, f := range formula.FindAllString(tex, -1) {
			if regexp.MustCompile(`[0-9] +[0-9]`).MatchString(f) {
				t.Errorf("%s: the numbers of %s run together", name, f)
			}
		}
		text += fmt.Sprintf(`\input{%s}\clearpage`, name)
	}
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
	}
	write(t, "paper.tex", text+`\end{document}`)
	latex := func() string {
		out, err := exec.CommandContext(t.Context(), "pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	latex() // which writes the labels
	if bad := regexp.MustCompile(`(?m)^(Overfull|LaTeX.*Warning|Package.*Warning).*$`).FindAllString(latex(), -1); bad != nil {
		t.Errorf("LaTeX says:\n%s", strings.Join(bad, "\n"))
	}
}
