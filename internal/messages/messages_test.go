// Package messages has no code: its test lists what the program tells its users, for a person to read.
package messages

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// sentence matches texts of two words or more.
var sentence = regexp.MustCompile(`[\pL%]\S*\s\S*[\pL%]`)

// TestMessages compares testdata/messages.txt with the texts of two words or more in the Go files of the program:
// errors, warnings, help and labels, and the help and want tags of settings, in the order of the files. Parts of a
// text that are not constants are shown as "…".
func TestMessages(t *testing.T) {
	var b strings.Builder
	for _, path := range goFiles(t, "../..") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if texts := textsOf(file); len(texts) > 0 {
			name, _ := filepath.Rel("../..", path)
			fmt.Fprintf(&b, "\n%s\n", filepath.ToSlash(name))
			for _, text := range texts {
				fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t\t"))
			}
		}
	}
	got, golden := strings.TrimPrefix(b.String(), "\n"), filepath.Join("testdata", "messages.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); read the difference, then go test ./internal/messages -update:\n%s", golden, diff)
	}
}

// goFiles returns the sorted Go files of the program below root, without tests, what only tests import, and tools.
func goFiles(t *testing.T, root string) (paths []string) {
	skipped := []string{"tools", "testdata", "testkit", "browsertest", "reporttest", "simd"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains(skipped, name)):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d Go files in %s: %v", len(paths), root, err)
	}
	return paths
}

// textsOf returns the texts of a file in their order.
func textsOf(file *ast.File) (texts []string) {
	add := func(prefix, text string) {
		if sentence.MatchString(text) {
			texts = append(texts, prefix+text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				for _, key := range []string{"default", "help", "want"} {
					add(key+": ", reflect.StructTag(tag).Get(key))
				}
				n.Tag = nil
			}
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok {
				add("", text)
				return false
			}
		case *ast.BasicLit:
			text, _ := joined(n)
			add("", text)
		}
		return true
	})
	return texts
}

// joined returns the text of a literal or a concatenation, and whether any part of it is a literal.
func joined(n ast.Expr) (string, bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			text, err := strconv.Unquote(n.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		a, okA := joined(n.X)
		b, okB := joined(n.Y)
		return a + b, n.Op == token.ADD && (okA || okB)
	}
	return "…", false
}
