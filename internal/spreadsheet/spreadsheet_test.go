package spreadsheet

import (
	"testing"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"cat":               "cat",
		"=1+1":              "'=1+1",
		"@SUM(A1)":          "'@SUM(A1)",
		"+cmd|' /C calc'!A": "'+cmd|' /C calc'!A",
		"-1+2":              "'-1+2",
		"-1":                "-1",
		"+0.5e-7":           "+0.5e-7",
		"\t=1":              "'\t=1",
		"\r=1":              "'\r=1",
		"＝1":                "'＝1",
		"'=1":               "''=1",
		"''-1":              "'''-1",
		"'tis":              "'tis",
		"a=b":               "a=b",
	} {
		if got := Cell(text); got != want {
			t.Errorf("Cell(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{"", "=x", "'=x", "''=x", "-1", "'-1", "''-1", "'tis", "+", "'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cell := Cell(s)
		if got := Text(cell); got != s {
			t.Errorf("%q is written as %q and read as %q", s, cell, got)
		}
		if cell != "" && (cell[0] == '=' || cell[0] == '@' || cell[0] == '\t') {
			t.Errorf("%q is written as %q", s, cell)
		}
	})
}
