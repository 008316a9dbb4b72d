// Package prose tests the words of the documentation, messages and comments.
package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rule is a phrase that readers must read twice, with its replacement.
type rule struct {
	phrase *regexp.Regexp
	use    string
}

// rules are phrases that are always wrong. Words that are right in some sentences do not belong here.
var rules = []rule{
	phrase(`told|tells? of|untold`, "labelled, labels"),
	phrase(`somebody (says|said|gave)`, "name who"),
	phrase(`what (is|it|they|was|makes)`, "the noun"),
	phrase(`what (came|comes) of`, "the result"),
	phrase(`what lowers`, "the solver"),
	phrase(`that of|those (of|that|which|whose|there)`, "the noun"),
	phrase(`that there (is|are)`, "the existing, all"),
	phrase(`(are|is) held to`, "must, are checked against"),
	phrase(`by turns`, "interleaved"),
	phrase(`of a processor`, "CPU seconds, the processor's"),
	phrase(`by the clock`, "wall time"),
	phrase(`no more than`, "at most"),
	phrase(`no less than`, "at least"),
	phrase(`(is|are) to be`, "must be, is"),
	phrase(`(is|are) said to`, "the noun"),
	phrase(`which is said|is said (with|on|in|by|and)`, "which is reported"),
	phrase(`so many (of|as|at)|at most so many|in so many`, "n"),
	phrase(`(goes|go|going) on (where|from|with|at)`, "resumes, continues"),
	phrase(`in place of`, "instead of, replaces"),
	phrase(`in the place of`, "instead of"),
	phrase(`(the|each) time anew|anew`, "again"),
	phrase(`other way round`, "transpose, reverse"),
	phrase(`brings? nearer|until little changes`, "converges, until convergence"),
	phrase(`the plain (one|path)`, "baseline, reference implementation"),
	phrase(`whole or not at all`, "atomic"),
	phrase(`unless it is said|where nothing (else )?is said`, "default"),
	phrase(`if (it is )?left out`, "default"),
	phrase(`cannot be taken`, "is rejected"),
	phrase(`the least of (three|five|ten)`, "minimum of n"),
	phrase(`say (one|both|either) of`, "give one of"),
	phrase(`nothing is known of`, "unknown"),
	phrase(`as many as there (is|are)`, "n, all"),
	{regexp.MustCompile(`(?m)(\A|[.!?:]\s|\n\s*\n)\s*(What|Where|Those)\s`), "the noun first"},
}

func phrase(words, use string) rule {
	return rule{regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(words, " ", `\s+`) + `)\b`), use}
}

// code is the text of files that is no prose, by their extensions.
var code = map[string][]*regexp.Regexp{
	".md":   {regexp.MustCompile("(?ms)^ *```.*?^ *```"), regexp.MustCompile("`[^`\n]*`")},
	".html": {regexp.MustCompile(`<[^>]*>|{{[^}]*}}`)},
	".yaml": {},
}

var blank = regexp.MustCompile(`[^\n]`)

// TestPhrases: no page, message or comment has a phrase of the rules.
func TestPhrases(t *testing.T) {
	root := os.DirFS("../..")
	if err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && strings.HasPrefix(base, ".") || base == "testdata" || base == "results" || base == "dist" || name == "tools" {
				return fs.SkipDir
			}
			return nil
		case code[path.Ext(name)] != nil:
			text, err := fs.ReadFile(root, name)
			check(t, name, 1, withoutCode(string(text), code[path.Ext(name)]))
			return err
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "prose_test.go"):
			return checkGo(t, root, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// withoutCode blanks the code in a text, so that lines keep their numbers.
func withoutCode(text string, code []*regexp.Regexp) string {
	for _, c := range code {
		text = c.ReplaceAllStringFunc(text, func(s string) string { return blank.ReplaceAllString(s, " ") })
	}
	return text
}

// checkGo checks the comments and the string literals of a file.
func checkGo(t *testing.T, root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	for _, group := range file.Comments {
		check(t, name, files.Position(group.Pos()).Line, commentMarks.ReplaceAllString(string(text[files.Position(group.Pos()).Offset:files.Position(group.End()).Offset]), "$1"))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				check(t, name, files.Position(lit.Pos()).Line, s)
			}
		}
		return true
	})
	return nil
}

// commentMarks begin the lines of a comment, so that a phrase can go over two lines.
var commentMarks = regexp.MustCompile(`(?m)^(\s*)//`)

// check reports the phrases of a text that begins in a line of a file.
func check(t *testing.T, name string, line int, text string) {
	t.Helper()
	for _, r := range rules {
		for _, at := range r.phrase.FindAllStringIndex(text, -1) {
			found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			t.Errorf("%s:%d: %q; write: %s", name, line+strings.Count(text[:at[0]], "\n"), found, r.use)
		}
	}
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		if r.use == "" || r.phrase.MatchString(r.use) {
			t.Errorf("%v: the replacement is %q", r.phrase, r.use)
		}
	}
}
