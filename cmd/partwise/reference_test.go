package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/jsontext"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var updatePages = flag.Bool("update", false, "rewrite the pages of docs/reference that are generated")

// generatedPages are the pages of docs/reference that TestReference writes.
var generatedPages = []string{"commands.md", "experiment-file.md", "json.md", "methods.md"}

// TestReference: docs/reference has the commands, settings and methods of the program. -update writes the pages.
func TestReference(t *testing.T) {
	for i, want := range []string{commandsPage(), settingsPage(), jsonPage(), methodsPage()} {
		name := generatedPages[i]
		file := filepath.Join("..", "..", "docs", "reference", name)
		if *updatePages {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, file, want)
		}
		if got := read(t, file); got != want {
			t.Errorf("docs/reference/%s is not what the program says; go test ./cmd/partwise -run Reference -update writes it", name)
		}
	}
}

// codeWord is a flag, a setting with its value, a variable or a value in braces.
var codeWord = regexp.MustCompile(`^(--?[a-z][a-z-]*(=.*)?|\$[A-Z_]+|[a-z][a-z-]*=[^ ]+|\{.*\}[^ ]*|[a-zA-Z0-9_/.-]+\.(csv|npz|yaml|html|jsonl|onnx))$`)

// markdown returns a text of help with code marked and special characters escaped.
func markdown(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		core := strings.TrimLeft(word, "('\"")
		before := word[:len(word)-len(core)]
		core = strings.TrimRight(core, ",;:.)'\"")
		after := word[len(before)+len(core):]
		if codeWord.MatchString(core) {
			words[i] = strings.Trim(before, "'\"") + "`" + core + "`" + strings.TrimLeft(after, "'\"")
			continue
		}
		words[i] = strings.NewReplacer("*", `\*`, "<", "&lt;", "[", `\[`).Replace(word)
	}
	return strings.Join(words, " ")
}

// row returns a row of a table.
func row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "|" + strings.Join(cells, "|") + "|\n"
}

func header(cells ...string) string {
	return "\n" + row(cells...) + strings.Repeat("|---", len(cells)) + "|\n"
}

func code(text string) string { return "`" + text + "`" }

// codes marks each of a list of values.
func codes(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = code(text)
	}
	return strings.Join(out, ", ")
}

// maxSections is the largest number of subcommands that have sections of their own.
const maxSections = 3

func jsonPage() string {
	var out strings.Builder
	out.WriteString("# JSON documents\n\n" + jsonLead + header("field", "type", "meaning"))
	t := reflect.TypeFor[document]()
	for i := range t.NumField() {
		name, _ := jsontext.NameOf(t.Field(i))
		out.WriteString(row(code(name), jsonType(t.Field(i).Type), markdown(t.Field(i).Tag.Get("help"))))
	}
	return out.String()
}

const jsonLead = `With ` + "`--json`" + `, a command prints one JSON object on standard output, also if it fails. Progress, warnings and
errors go to standard error, and the exit code is as without the flag. Numbers that are not finite are ` + "`null`" + `. This page is
generated.

` + "```text" + `
$ partwise fit generated --rank 5 --out nmf.npz --json
{"version":1,"command":"fit","out":"nmf.npz","files":["nmf.npz"],"seconds":0.95,"samples":720,"features":1024,
"method":"nmf","rank":5,"n_iter":23,"objective":949543005.7,"relative_error":0.4987}
$ partwise fit generated --rank 5 --out nmf.npz --json
{"version":1,"command":"fit","error":"nmf.npz already exists; --force replaces it","seconds":0.02}
` + "```" + `

` + "`version`, `command` and `seconds`" + ` are always present, other fields if the command has them.
`

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Slice:
		return "list of " + jsonType(t.Elem()) + "s"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.String:
		return "string"
	}
	return "number"
}

// flagsShared is the least number of commands with the same flag that is described once.
const flagsShared = 3

func commandsPage() string {
	root := rootCommand()
	var all []*cobra.Command
	var gather func(c *cobra.Command)
	gather = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			if all = append(all, sub); len(sub.Commands()) <= maxSections {
				gather(sub)
			}
		}
	}
	gather(root)
	count := map[string]int{}
	for _, c := range all {
		eachFlag(c, func(f *pflag.Flag) { count[f.Name+f.Usage]++ })
	}
	var out strings.Builder
	out.WriteString("# Commands\n\nAll commands of `partwise` with their flags, as `partwise COMMAND --help` prints them. This page is generated.\n")
	for _, c := range all {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", c.CommandPath(), paragraphs(cmp.Or(c.Long, c.Short)))
		fmt.Fprintf(&out, "\n```text\n%s\n```\n", c.UseLine())
		table, shared := "", []string(nil)
		eachFlag(c, func(f *pflag.Flag) {
			if count[f.Name+f.Usage] < flagsShared {
				table += flagRow(f)
			} else {
				shared = append(shared, "--"+f.Name)
			}
		})
		if table != "" {
			out.WriteString(header("flag", "meaning") + table)
		}
		if shared != nil {
			fmt.Fprintf(&out, "\n[Shared flags](#shared-flags): %s.\n", codes(shared))
		}
		if subs := c.Commands(); len(subs) > maxSections {
			out.WriteString(header("subcommand", "meaning"))
			for _, sub := range subs {
				out.WriteString(row(code(sub.Use), markdown(sub.Short)))
			}
		}
		if c.Example != "" {
			fmt.Fprintf(&out, "\n```sh\n%s\n```\n", strings.TrimSpace(strings.ReplaceAll(c.Example, "\n  ", "\n")))
		}
	}
	fmt.Fprintf(&out, "\n## Shared flags\n\nFlags that several commands have.\n%s", header("flag", "meaning"))
	for _, c := range all {
		eachFlag(c, func(f *pflag.Flag) {
			if count[f.Name+f.Usage] >= flagsShared {
				count[f.Name+f.Usage] = 0
				out.WriteString(flagRow(f))
			}
		})
	}
	return out.String()
}

// eachFlag calls do with the flags of a command, but for --help.
func eachFlag(c *cobra.Command, do func(*pflag.Flag)) {
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			do(f)
		}
	})
}

func flagRow(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand == f.Name {
		name = "-" + f.Name
	}
	kind, usage := pflag.UnquoteUsage(f)
	switch {
	case strings.Contains(kind, "int"), strings.HasPrefix(kind, "float"):
		name += " N"
	case kind != "":
		name += " " + strings.ToUpper(kind)
	}
	if !slices.Contains([]string{"", "false", "0", "[]", "0s"}, f.DefValue) && !strings.Contains(usage, "(default") {
		usage += " (default " + f.DefValue + ")"
	}
	return row(code(name), markdown(usage))
}

// paragraphs returns a long text of help, in which lines that begin with two spaces are code.
func paragraphs(long string) string {
	var out []string
	for part := range strings.SplitSeq(long, "\n\n") {
		if text, isCode := strings.CutPrefix(part, "  "); isCode {
			out = append(out, "```sh\n"+strings.ReplaceAll(text, "\n  ", "\n")+"\n```")
			continue
		}
		out = append(out, markdown(strings.Join(strings.Fields(part), " ")))
	}
	text := strings.Join(out, "\n\n")
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "```") {
		text += "."
	}
	return text
}

// wholeExperiment is the example on top of the page. TestSettingsForms reads it.
const wholeExperiment = `name: faces                          # the results go to results/faces
data: {set: yale, samples: 150}
features: {pixels: 32, normalise: l2}
methods:
  - kmeans
  - {name: gnmf, lambda: [1, 10, 100]}   # a list is a sweep: one method for each value
  - {name: ccf, as: CCF, init: nmf, iterations: 1000}
classes: 2..10                       # a row of the tables for each number of classes
repeats: 10                          # draws for each number of classes
labels: 30%                          # labelled samples of each class
rank: k+1
cluster: {distance: cosine, restarts: 20}
scores: [VI]
significance: {by: t, overlap: corrected}
seed: 1
`

// section is a mapping of an experiment file.
type section struct {
	title, about string
	zero         any
	only, not    []string // of its settings
}

// sections are the mappings of an experiment file in the order of the page.
func settingSections() []section {
	words := settings.Names(spec.Learning{})
	list := []section{
		{title: "Top level", about: "The keys of the file. `data` and `methods` are required.", zero: spec.Experiment{}},
		{title: "Data", about: "Settings of `data`. A name or a path alone is `set`. A list of sets runs the experiment on each.", zero: spec.Data{}},
		{title: "Features", about: "Settings of all features. A name alone, such as `hog`, is the feature with its defaults. A list joins the columns of several features.", zero: spec.Features{}},
		{title: "Joined features", about: "Settings of each feature in a list of several.", zero: spec.Weighted{}},
		{title: "Crop", about: "Settings of `crop`.", zero: spec.Crop{}},
	}
	for _, i := range features.Extractors() {
		name := i.Name
		if i.Form != "" {
			name += ": " + i.Form
		}
		if len(settings.Names(i.Zero)) == 0 {
			continue
		}
		list = append(list, section{title: "Feature " + name, about: fmt.Sprintf("%s: %s. The feature %s.", i.Title, i.Help, i.Images), zero: i.Zero})
	}
	return append(list,
		section{title: "Visual words", about: "Settings of `words`. A number alone is `count`.", zero: spec.Words{}, only: words},
		section{title: "Counting of visual words", about: "Keys beside `words`.", zero: spec.Words{}, not: words},
		section{title: "Method", about: "Settings of each entry of `methods`. A name alone is the method with its defaults. A method takes its [own parameters](methods.md) beside these. A list of values is a sweep: one method for each value or combination.", zero: spec.Method{}},
		section{title: "Tune", about: "Settings of `tune`, beside a list of values for each setting to choose: `tune: {lambda: [1, 10], by: labelled}`.", zero: spec.Tune{}},
		section{title: "Cluster", about: "Settings of `cluster`. A name alone is `by`.", zero: spec.Cluster{}},
		section{title: "Links", about: "Settings of `links`.", zero: spec.Links{}},
		section{title: "Rank", about: "Settings of `rank` if partwise chooses it.", zero: spec.AutoRank{}},
		section{title: "Classifier", about: "Settings of `classifier`. A name alone is `by`.", zero: spec.Classifier{}},
		section{title: "Neighbours", about: "Settings of `neighbours`. A number alone is `k`.", zero: spec.Neighbours{}},
		section{title: "Significance", about: "Settings of `significance`. A name alone is `by`.", zero: significance.Rule{}},
	)
}

// form describes a setting with a form of its own.
type form struct {
	help     string   // replaces the help of the flag, if set
	values   []string // examples, each of which can be read
	fallback string   // the default
}

// forms are the forms of settings, by the title of the section and the name of the setting.
var forms = map[string]form{
	"Top level/name":                {"", []string{"faces"}, "the file's name"},
	"Top level/data":                {"known set, path, or several of them", []string{"yale", "photos/faces", "{set: orl, from: mat}", "[yale, orl]"}, "required"},
	"Top level/features":            {"features of the images", []string{"hog", "{pixels: 64, colour: true}", "{sift: dense, words: 200}", "[hog, {colour: hsv, weight: 0.2}]"}, "32×32 grey pixels, unit length"},
	"Top level/methods":             {"methods to compare", []string{"[nmf, {name: gnmf, lambda: 10}]"}, "required"},
	"Top level/classes":             {"number of classes in a draw; one row of the tables for each", []string{"5", "2..10", "[2, 5, 10]"}, "all classes"},
	"Top level/labels":              {"labelled samples of each class; a percentage labels at least 2 unless `min` is set", []string{"none", "30%", "3", "{share: 10%, min: 2}"}, "none"},
	"Top level/links":               {"pairs that must or cannot share a cluster: a percentage of all pairs, or a file", []string{"none", "3%", "{file: pairs.csv}", "{feedback: logs.csv}"}, "none"},
	"Top level/train":               {"training samples of each class", []string{"60%", "100"}, "required to classify"},
	"Top level/test":                {"test samples of each class", []string{"rest", "40%", "100"}, "required to classify"},
	"Top level/rank":                {"number of basis vectors, for k classes; one row of the tables for each of several", []string{"k", "k+1", "2k", "20", "5..40", "[5, 10, 20]", "auto", "{among: 2..60, by: stability}"}, "k"},
	"Top level/cluster":             {"clustering of the coefficients", []string{"ncut", "{distance: cosine, restarts: 20}"}, "kmeans"},
	"Top level/classifier":          {"classifier of the test samples", []string{"neighbours", "linear", "{by: linear, c: 10}"}, "neighbours"},
	"Top level/neighbours":          {"number of nearest training samples that vote", []string{"5", "{k: 5, distance: cosine}"}, "10"},
	"Top level/scores":              {"optional scores to compute", []string{"[VI]"}, "none"},
	"Top level/significance":        {"significance test of the tables", []string{"signed-rank", "{by: bayes-t, rope: 2}"}, "t"},
	"Top level/seed":                {"", nil, "0"},
	"Data/set":                      {"", []string{"yale", "photos/faces"}, "required"},
	"Data/pattern":                  {"", []string{"'subject{class}.*'", "'{class}{number}'"}, ""},
	"Data/shape":                    {"", []string{"32", "28x20"}, ""},
	"Features/crop":                 {"part of each image", []string{"square", "whole", "{box: [0, 0, 32, 32]}", "{eyes: landmarks.csv}"}, "the feature's own"},
	"Crop/box":                      {"", []string{"[0, 0, 32, 32]"}, ""},
	"Feature pixels/pixels":         {"", []string{"64", "24x32"}, ""},
	"Feature colour: hsv/grid":      {"", []string{"1x1", "2x2"}, ""},
	"Counting of visual words/grid": {"", []string{"4x4", "1x1", "1x1+2x2+4x4"}, ""},
	"Cluster/by":                    {"", append(spec.Clusterers(), spec.Largest), ""},
	"Cluster/k":                     {"", []string{"10", "5..30", "auto"}, ""},
	"Rank/among":                    {"", []string{"2..60", "auto"}, "2..40, or half of the samples or features"},
	"Method/tune":                   {"settings to choose in each draw ([settings](#tune))", []string{"{lambda: [1, 10], by: labelled}"}, "none"},
	"Tune/by":                       {"", nil, "required"},
	"Method/name":                   {"", nil, "required"},
}

func settingsPage() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Experiment file\n\nAll keys of the YAML file that `partwise run FILE` reads. This page is generated.\n\n```yaml\n%s```\n", wholeExperiment)
	out.WriteString(`
- Unknown keys and invalid values are errors that give the line and column.
- Names of methods, solvers and scores may be in upper or lower case.
- A file has one document of at most 256 KiB in UTF-8, at most 32 levels and 10,000 methods, sweeps included.
- Tags, anchors, aliases, merge keys and directives are errors. Quote a value that begins with ` + "`!`, `&`, `*` or `%`" + `.
- Paths start at the folder in which the program is started.
`)
	for _, s := range settingSections() {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n%s", s.title, s.about, header("key", "meaning", "values", "default"))
		for _, of := range s.settings() {
			out.WriteString(settingRow(s, of))
		}
	}
	return out.String()
}

func (s section) settings() []settings.Setting {
	return slices.DeleteFunc(settings.List(s.zero), func(of settings.Setting) bool {
		return s.only != nil && !slices.Contains(s.only, of.Name) || slices.Contains(s.not, of.Name)
	})
}

func settingRow(s section, of settings.Setting) string {
	f := forms[s.title+"/"+of.Name]
	help, values, fallback := cmp.Or(f.help, markdown(of.Help)), valuesCell(of), cmp.Or(f.fallback, of.Default)
	for _, other := range settingSections()[1:] {
		if s.title == "Top level" && strings.TrimSuffix(of.Name, "s") == strings.TrimSuffix(strings.ToLower(other.title), "s") {
			help += fmt.Sprintf(" ([settings](#%s))", strings.ToLower(other.title))
		}
	}
	if f.values != nil {
		values = codes(f.values)
	}
	whole := of.Type.Kind() == reflect.Int
	if fallback == "0" && (of.Range == "" && whole || strings.Contains(of.Range, "from 1 ")) {
		fallback = "" // the help says what 0 stands for
	}
	return row(code(of.Name), help, values, markdown(fallback))
}

// shortRange shortens the range of a number in words.
var shortRange = strings.NewReplacer("a whole number from 1 to 1000000000", "integer ≥ 1", "a whole number from 1 to 1000000", "integer ≥ 1",
	"a whole number from ", "integer, ", "a number from -1e+06 to 1e+06", "number", "a number from 1 to 1e+06", "number ≥ 1", "a number from ", "number, ",
	"a number above ", "number > ", " up to 1e+06", "", " up to 1e+09", "", " up to 1e+100", "", " to below ", " to < ", " to 1e+06", "", " to 1e+09", "", " to 1e+100", "")

// valuesCell returns the values that a setting can have.
func valuesCell(of settings.Setting) string {
	t := of.Type
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case of.Values != nil:
		return codes(of.Values)
	case of.Range != "":
		return shortRange.Replace(of.Range)
	case t.Kind() == reflect.Bool:
		return codes([]string{"true", "false"})
	case t.Kind() == reflect.Int:
		return "integer ≥ 1"
	case t.Kind() == reflect.Uint64:
		return "integer ≥ 0"
	case t.Kind() == reflect.Float64:
		return "number ≥ 0"
	case t.Kind() == reflect.String:
		return "text"
	}
	return ""
}

// TestSettingsForms: the example of the page and all its forms of settings are read, and each form belongs to
// a setting.
func TestSettingsForms(t *testing.T) {
	if _, err := spec.Parse([]byte(wholeExperiment)); err != nil {
		t.Error(err)
	}
	places := map[string]string{
		"Top level": "%s", "Data": "data: {set: yale, %s}", "Features": "features: {%s}", "Crop": "features: {crop: {%s}}",
		"Feature pixels": "features: {%s}", "Feature colour: hsv": "features: {colour: hsv, %s}",
		"Counting of visual words": "features: {sift: dense, %s}",
		"Cluster":                  "cluster: {%s}", "Rank": "rank: {%s}", "Method": "methods: [{name: gnmf, %s}]",
	}
	found := map[string]bool{}
	for _, s := range settingSections() {
		for _, of := range s.settings() {
			name := s.title + "/" + of.Name
			found[name] = true
			for _, value := range forms[name].values {
				if s.title == "Data" && of.Name == "set" {
					value = "yale" // once
				}
				text := strings.ReplaceAll(places[s.title], "%s", of.Name+": "+value)
				text = strings.Replace(text, "set: yale, set:", "set:", 1)
				if _, err := spec.Parse([]byte(text)); err != nil || places[s.title] == "" {
					t.Errorf("%s: %s: %v", name, text, err)
				}
			}
			if valuesCell(of) == "" && forms[name].values == nil {
				t.Errorf("%s: the page gives no values", name)
			}
		}
	}
	for name := range forms {
		if !found[name] {
			t.Errorf("the page has no setting %s", name)
		}
	}
}

func methodsPage() string {
	var out strings.Builder
	out.WriteString("# Methods, solvers, features and scores\n\nAll names that an [experiment file](experiment-file.md) and the flags choose from, with their parameters. " +
		"`partwise list KIND NAME` also prints the objective, update rule and needs of one. [Methods](../methods.md) explains them. This page is generated.\n")
	for _, k := range choices.Kinds {
		entries := k.Entries()
		if k.Name == "methods" { // but for the clusterers, which are below
			clusterers := choices.Names("clusterers")
			entries = slices.DeleteFunc(entries, func(e choices.Entry) bool { return slices.Contains(clusterers, e.Name) })
		}
		fmt.Fprintf(&out, "\n## %s%s\n\nAll %s.\n", strings.ToUpper(k.Name[:1]), k.Name[1:], k.Title)
		columns := slices.DeleteFunc(slices.Clone(k.Columns), func(c string) bool { return c == "made of" })
		family := "none"
		for _, e := range entries {
			if e.Family != family {
				if family = e.Family; family != "" {
					fmt.Fprintf(&out, "\n### %s%s\n", strings.ToUpper(family[:1]), family[1:])
				}
				out.WriteString(header(append([]string{k.One, "title"}, columns...)...))
			}
			cells := []string{code(e.Name), markdown(e.Title)}
			for _, c := range columns {
				fact := ""
				for _, f := range e.Facts {
					if f[0] == c {
						fact = f[1]
					}
				}
				cells = append(cells, markdown(fact))
			}
			out.WriteString(row(cells...))
		}
		if k.Name == "methods" {
			out.WriteString("\nAll [clusterers](#clusterers) except `largest` are also methods: they cluster the features themselves. `parts` also takes the parameters of its [penalties](#penalties).\n")
		}
		out.WriteString(parameters(k, entries))
	}
	return out.String()
}

// parameters returns a table of the parameters of a kind, each once with all entries that have it.
func parameters(k choices.Kind, entries []choices.Entry) string {
	type parameter struct{ name, help, values, fallback string }
	var all []parameter
	var penalties []settings.Setting
	for _, i := range factor.PenaltyList() {
		penalties = append(penalties, i.Settings()...)
	}
	of := map[parameter][]string{}
	for _, e := range entries {
		for _, s := range e.Settings {
			if e.Name == "parts" && slices.ContainsFunc(penalties, func(p settings.Setting) bool { return p.Name == s.Name }) {
				continue
			}
			p := parameter{s.Name, s.Help, valuesCell(s), s.Default}
			if of[p] == nil {
				all = append(all, p)
			}
			of[p] = append(of[p], e.Name)
		}
	}
	if all == nil || k.Name == "features" { // which are in the page of experiment files
		return ""
	}
	slices.SortStableFunc(all, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	out := fmt.Sprintf("\nParameters of these %s.\n%s", k.Name, header("parameter", "of", "meaning", "values", "default"))
	for _, p := range all {
		out += row(code(p.name), codes(of[p]), markdown(p.help), p.values, markdown(p.fallback))
	}
	return out
}
