package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// page is README.md or a page of docs.
type page struct {
	name   string // its path from the module's folder, with slashes
	prose  string // the text without fenced blocks
	blocks []block
	words  int
}

// block is a fenced block.
type block struct {
	line  int    // of its first line of text, from 1
	info  string // follows the opening fence
	lines []string
}

var (
	fence     = regexp.MustCompile("^( *)```+(.*)$")
	fileTitle = regexp.MustCompile(`title="([^"]+)"`)
)

func readPages(t *testing.T) (pages []page) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md"}
	if err := fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text := read(t, root, filepath.FromSlash(name))
		p := page{name: name, words: len(strings.Fields(text))}
		var open *block
		indent := ""
		for i, line := range strings.Split(text, "\n") {
			found := fence.FindStringSubmatch(line)
			switch {
			case open == nil && found != nil:
				indent, open = found[1], &block{line: i + 2, info: strings.TrimSpace(found[2])}
			case open == nil:
				p.prose += line + "\n"
			case found != nil && strings.TrimSpace(found[2]) == "":
				p.blocks, open = append(p.blocks, *open), nil
			default:
				open.lines = append(open.lines, strings.TrimPrefix(line, indent))
			}
		}
		if open != nil {
			t.Errorf("%s:%d: the block is not closed", name, open.line)
		}
		pages = append(pages, p)
	}
	return pages
}

// step is a command of a block with the output that the page shows.
type step struct {
	line    int
	command string
	output  []string
}

// steps returns the commands of a block, which begin with "$ ".
func (b block) steps(t *testing.T, name string) (steps []step) {
	t.Helper()
	continued := false
	for i, line := range b.lines {
		command, isCommand := strings.CutPrefix(line, "$ ")
		last := len(steps) - 1
		switch {
		case continued:
			steps[last].command += " " + strings.TrimSpace(strings.TrimPrefix(line, "> "))
		case isCommand:
			steps = append(steps, step{line: b.line + i, command: command})
			last++
		case last < 0:
			t.Fatalf("%s:%d: a console block begins with a line \"$ command\"", name, b.line)
		default:
			steps[last].output = append(steps[last].output, line)
		}
		if isCommand || continued {
			steps[last].command, continued = strings.CutSuffix(steps[last].command, `\`)
		}
	}
	return steps
}

// harmless are programs that a page may run beside partwise.
var harmless = []string{"cat", "cmp", "cp", "cut", "diff", "echo", "grep", "head", "ls", "mkdir", "mv", "rm", "sort", "tail", "wc"}

// commands returns the words of the commands in a line of a shell, without redirections.
func commands(line string) (list [][]string) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, redirected := false, false
	endWord := func() {
		if begun && !redirected {
			words = append(words, word.String())
		}
		redirected = redirected && !begun
		begun = false
		word.Reset()
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote != 0 || !strings.ContainsRune(" |;&<>", r):
			begun = true
			word.WriteRune(r)
		default:
			endWord()
			if r == '<' || r == '>' {
				redirected = true
			}
			if strings.ContainsRune("|;&", r) && words != nil {
				list, words = append(list, words), nil
			}
		}
	}
	endWord()
	if words != nil {
		list = append(list, words)
	}
	return list
}

// checkFlags reports a command line of partwise whose command, flags or arguments do not exist.
func checkFlags(words []string) error {
	root := rootCommand()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	checkUsage(root)
	cmd, rest, err := root.Find(words[1:])
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if err := cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if help := cmd.Flags().Lookup("help"); help != nil && help.Changed {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// isParsedOnly reports whether a command needs a network, a browser, hours, or files that no page writes, so that only
// its flags are checked.
func isParsedOnly(words []string, s step) bool {
	has := func(word string) bool { return slices.Contains(words, word) }
	switch {
	case words[0] != "partwise":
		return !slices.Contains(harmless, words[0])
	case len(words) < 2 || has("--help"):
		return false
	case words[1] == "explore", words[1] == "datasets" && has("get"), strings.Contains(s.command, "/feedback/"), strings.Contains(s.command, ".onnx"):
		return true
	case words[1] == "reproduce":
		return len(words) > 2 && !has("--quick") && !has("--show")
	case words[1] == "run" && s.output == nil:
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "docs/experiments/") && w != "docs/experiments/demo.yaml"
		})
	}
	return false
}

// realSet returns the name of a set that the command reads in a folder and that must be downloaded, or "".
func realSet(folder string, words []string) string {
	if len(words) < 3 || words[1] == "datasets" || words[1] == "list" || words[1] == "methods" || slices.Contains(words, "--show") {
		return ""
	}
	names := words[2:]
	for _, word := range words[2:] {
		if words[1] == "reproduce" && !strings.HasPrefix(word, "-") {
			return word
		}
		if e, err := spec.Load(filepath.Join(folder, word)); err == nil && strings.HasSuffix(word, ".yaml") {
			for _, d := range append(e.Sets, e.Data) {
				names = append(names, d.Set)
			}
		}
	}
	for _, word := range names {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, catalogue.SetPrefix), ",")
		if info, ok := catalogue.Lookup(name); ok && len(info.Forms) > 0 {
			return name
		}
	}
	return ""
}

// TestPages runs the console blocks of each page in order, in a folder with photos and docs/experiments, and
// compares their output. Pages run in parallel. A line "..." stands for any lines. A block with a title is written to the file
// that it names.
func TestPages(t *testing.T) {
	testkit.Slow(t)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!" + shell + "\n" + asProgram + "=1 exec '" + program + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "partwise"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	data := os.Getenv(testkit.DataFolder)
	if data != "" && !filepath.IsAbs(data) {
		data, _ = filepath.Abs(filepath.Join("..", "..", data))
	}
	for _, p := range readPages(t) {
		if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.info == "console" || fileTitle.MatchString(b.info) }) {
			continue
		}
		t.Run(strings.TrimSuffix(p.name, ".md"), func(t *testing.T) {
			t.Parallel()
			folder := newWorkplace(t)
			for _, name := range []string{"labels.csv", "links.csv"} { // a page makes its own
				if err := os.Remove(filepath.Join(folder, name)); err != nil {
					t.Fatal(err)
				}
			}
			sh := exec.Cmd{Path: shell, Dir: folder, Env: append(os.Environ(), "PWD="+folder, "XDG_CACHE_HOME="+t.TempDir(),
				testkit.DataFolder+"="+data, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")}
			missing := false
			for _, b := range p.blocks {
				if title := fileTitle.FindStringSubmatch(b.info); title != nil {
					if !filepath.IsLocal(title[1]) {
						t.Fatalf("%s:%d: %q is not a path below the folder", p.name, b.line, title[1])
					}
					place(t, filepath.Join(folder, filepath.FromSlash(title[1])), strings.Join(b.lines, "\n")+"\n")
					continue
				}
				if strings.HasPrefix(b.info, "console") {
					for _, s := range b.steps(t, p.name) {
						missing = runStep(t, p.name, sh, s, data == "", missing)
					}
				}
			}
			if missing {
				t.Skipf("%s is not set", testkit.DataFolder)
			}
		})
	}
}

// runStep runs one command of a page by a copy of sh and compares its output. A command may fail only if the page shows
// its error. Once real data are missing, runStep only checks the flags of all later commands.
func runStep(t *testing.T, name string, sh exec.Cmd, s step, noData, missing bool) bool {
	t.Helper()
	parsedOnly := false
	for _, words := range commands(s.command) {
		if words[0] == "partwise" {
			if err := checkFlags(words); err != nil {
				t.Errorf("%s:%d: %s: %v", name, s.line, s.command, err)
				return missing
			}
		}
		parsedOnly = parsedOnly || isParsedOnly(words, s)
		missing = missing || noData && words[0] == "partwise" && realSet(sh.Dir, words) != ""
	}
	if parsedOnly || missing {
		if parsedOnly && s.output != nil && strings.HasPrefix(s.command, "partwise") {
			t.Errorf("%s:%d: no test runs %q, so the page must not show its output", name, s.line, s.command)
		}
		return missing
	}
	line := s.command
	if s.output == nil && strings.HasPrefix(line, "partwise run ") && !strings.Contains(line, "--repeats") {
		line += " --repeats 1" // as long as the page shows no numbers
	}
	sh.Args = []string{"sh", "-c", line}
	out, err := sh.CombinedOutput()
	if err != nil && !slices.ContainsFunc(s.output, func(line string) bool { return strings.HasPrefix(line, "partwise: ") }) {
		t.Fatalf("%s:%d: %s: %v\n%s", name, s.line, s.command, err, out)
	}
	if s.output != nil && !matches(string(out), s.output) {
		t.Errorf("%s:%d: %s prints\n%s\nand the page shows\n%s", name, s.line, s.command, out, strings.Join(s.output, "\n"))
	}
	return missing
}

// matches reports whether the lines of a page are an output, where "..." stands for any lines, or for any
// text within a line.
func matches(out string, lines []string) bool {
	pattern := "^"
	for _, line := range lines {
		line = strings.TrimRight(line, " ")
		if line == "..." {
			pattern += `(?:.*\n)*?`
			continue
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, ".*") + ` *\n`
	}
	return regexp.MustCompile(pattern + `\n*$`).MatchString(strings.TrimRight(out, "\n") + "\n")
}

func TestCommandsOfLine(t *testing.T) {
	got := commands(`partwise run 'a b.yaml' --name x > out.txt && cat "out.txt" | head -3; ls`)
	var lines []string
	for _, words := range got {
		lines = append(lines, strings.Join(words, "_"))
	}
	if want := "partwise_run_a b.yaml_--name_x cat_out.txt head_-3 ls"; strings.Join(lines, " ") != want {
		t.Errorf("got %q", lines)
	}
	if !matches("a\nb\nc 1 s\n", []string{"a", "...", "c ... s"}) || matches("a\nb\n", []string{"b"}) {
		t.Error("lines do not match")
	}
}

var (
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the anchors of the page's headings as GitHub and the site make them.
func (p page) anchors() (list []string) {
	for _, h := range heading.FindAllStringSubmatch(p.prose, -1) {
		text := linkText.ReplaceAllString(h[1], "$1")
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, text))
	}
	return list
}

// TestLinks: every relative link leads to a file and an anchor, and no link of docs leaves docs, so that the
// site is whole.
func TestLinks(t *testing.T) {
	pages := readPages(t)
	for _, p := range pages {
		for _, found := range linkTarget.FindAllStringSubmatch(inlineCode.ReplaceAllString(p.prose, ""), -1) {
			link := found[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			target, err := url.PathUnescape(target)
			if err != nil || path.IsAbs(target) {
				t.Errorf("%s: the link %s is not relative", p.name, link)
				continue
			}
			file := p.name
			if target != "" {
				file = path.Join(path.Dir(p.name), target)
			}
			if p.name != "README.md" && !strings.HasPrefix(file, "docs/") {
				t.Errorf("%s: the link %s leaves docs", p.name, link)
			}
			if info, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil || info.IsDir() {
				t.Errorf("%s: the link %s leads to no file", p.name, link)
				continue
			}
			to := slices.IndexFunc(pages, func(o page) bool { return o.name == file })
			if anchor != "" && (to < 0 || !slices.Contains(pages[to].anchors(), anchor)) {
				t.Errorf("%s: the link %s leads to no heading", p.name, link)
			}
		}
	}
}

// mostWords is the largest number of words of README.md and docs together, without the pages that
// TestReference writes: these are looked up, not read.
const mostWords = 30_000

// TestIndex: docs/index.md links every page once, and the pages stay within a length that a person can read.
func TestIndex(t *testing.T) {
	pages := readPages(t)
	index := pages[slices.IndexFunc(pages, func(p page) bool { return p.name == "docs/index.md" })]
	links, words := map[string]int{}, 0
	for _, found := range linkTarget.FindAllStringSubmatch(index.prose, -1) {
		links["docs/"+found[1]]++
	}
	for _, p := range pages {
		if !slices.Contains(generatedPages, strings.TrimPrefix(p.name, "docs/reference/")) {
			words += p.words
		}
		if links[p.name] != 1 && p.name != "README.md" && p.name != index.name {
			t.Errorf("docs/index.md links %s %d times, want once", p.name, links[p.name])
		}
	}
	if words > mostWords {
		t.Errorf("README.md and docs have %d words, want at most %d", words, mostWords)
	}
}
