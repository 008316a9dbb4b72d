package plaintext

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"photos/Élan vital 猫 👩\u200d👩\u200d👧.jpg": "photos/Élan vital 猫 👩\u200d👩\u200d👧.jpg",
		`C:\photos\new`:            `C:\photos\new`,
		"می\u200cخواهم":            "می\u200cخواهم", // with a zero-width non-joiner
		"a\x1b[2J\x1b]0;title\x07": `a\x1b[2J\x1b]0;title\a`,
		"one\npartwise: two\r\tx":  `one\npartwise: two\r\tx`,
		"\u009b31m":                `\u009b31m`,
		"\u202egpj.exe\u2066":      `\u202egpj.exe\u2066`,
		"a\u200f.\u200e\u061c":     `a\u200f.\u200e\u061c`,
		"a\u2028b\u2029":           `a\u2028b\u2029`,
		"caf\xe9 \xff":             `caf\xe9 \xff`,
		"real \ufffd":              "real \ufffd",
		"\ufffe\uffff\U0010ffff":   `\ufffe\uffff\U0010ffff`,
		"\x7f\x00":                 `\x7f\x00`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	in := "file.yaml: line 2\n\n\t2 | \x1b[31mname\n      ^\nnone: \xff\r\n"
	want := "file.yaml: line 2\n  \n  \t2 | \\x1b[31mname\n        ^\n  none: \\xff"
	if got := Lines(in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type stringer struct{}

func (stringer) String() string { return "a\nb" }

func TestFprintf(t *testing.T) {
	var b strings.Builder
	Fprintf(&b, "%s|%v|%v|%d\n", "a\x1b", errors.New("x\ny\x1b"), stringer{}, 3)
	if want := "a\\x1b|x\n  y\\x1b|a\\nb|3\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[1m", "a\nb", "\xff\u202e\u2028\ufffe", "\U0001f600\u0085"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("Line(%q) is %q", s, line)
		}
		if Line(line) != line {
			t.Errorf("Line(%q) changes a second time", s)
		}
		var text string
		if err := xml.Unmarshal([]byte("<t>"+strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(line)+"</t>"), &text); err != nil || text != line {
			t.Errorf("Line(%q) as XML: %q, error %v", s, text, err)
		}
		for i, l := range strings.Split(Lines(s), "\n") {
			if strings.ContainsFunc(strings.ReplaceAll(l, "\t", ""), unicode.IsControl) || i > 0 && !strings.HasPrefix(l, "  ") {
				t.Errorf("Lines(%q) has the line %q", s, l)
			}
		}
	})
}
