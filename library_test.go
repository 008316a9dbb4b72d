package partwise_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestLibraryPage checks that docs/library.md shows the programs of the examples and their output.
func TestLibraryPage(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs/library.md")
	parts := regexp.MustCompile(`(?s)^(.*?)\n\t// Output:\n(.*?)(\n}\n.*)$`).FindStringSubmatch(read("example_library_test.go"))
	program := strings.NewReplacer("package partwise_test", "package main", "func Example_library()", "func main()").Replace(parts[1] + parts[3])
	program = regexp.MustCompile(`(?m)^.*// test only\n`).ReplaceAllString(program, "")
	output := strings.ReplaceAll(strings.TrimPrefix(parts[2], "\t// "), "\n\t// ", "\n")
	wanted := []string{"```go\n" + program + "```", "```text\n" + output + "\n```"}
	for _, body := range regexp.MustCompile(`(?s)func Example\w+\(\) {\n(.*?)\t// Output:`).FindAllStringSubmatch(read("example_test.go"), -1) {
		wanted = append(wanted, "```go\n"+strings.ReplaceAll(strings.TrimPrefix(body[1], "\t"), "\n\t", "\n")+"```")
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("docs/library.md does not show\n%s", want)
		}
	}
}
