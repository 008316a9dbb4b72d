package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/seed4492f2cd/partwise/eval"
)

// Experiment says what is to be compared on what data. Its YAML form is in
// docs/experiments.md.
type Experiment struct {
	// Name is what its results are called.
	Name string `yaml:"name"`
	// Task is what the methods are compared by.
	Task Task `yaml:"task"`
	// Data is where the samples come from.
	Data Data `yaml:"data"`
	// Features is what is made of them.
	Features Features `yaml:"features"`
	// Methods are compared, in this order.
	Methods Methods `yaml:"methods"`
	// Classes are the numbers of classes drawn, a row of the tables each;
	// empty means all classes at once.
	Classes Classes `yaml:"classes"`
	// Repeats is how often each number of classes is drawn; 0 means 10.
	Repeats Count `yaml:"repeats"`
	// Labels is how many samples of each class are labelled.
	Labels Portion `yaml:"labels"`
	// Links is which pairs of samples are told to belong together or not.
	Links Links `yaml:"links"`
	// Train and Test are how many samples of each class a classification
	// learns from and how many it is tested on.
	Train Portion `yaml:"train"`
	Test  Portion `yaml:"test"`
	// Rank is the number of basis vectors.
	Rank Ranks `yaml:"rank"`
	// Cluster is how representations are clustered.
	Cluster Cluster `yaml:"cluster"`
	// Neighbours is how samples are classified.
	Neighbours Neighbours `yaml:"neighbours"`
	// Scores are optional ones that are computed too.
	Scores []string `yaml:"scores"`
	// Seed makes it all repeatable.
	Seed Seed `yaml:"seed"`
	// Command is the command line that runs it, for the report.
	Command string `yaml:"-"`
}

// Load reads an experiment file. Unknown keys and values that cannot be are an
// error with line and column.
func Load(path string) (*Experiment, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	e, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return e, nil
}

// Parse reads the text of an experiment file. It returns an error for every text
// that is none: one of more than 256 KiB, one that nests lists and mappings more
// than 32 deep, and one with tags, anchors, aliases or control characters too.
func Parse(text []byte) (*Experiment, error) {
	e := &Experiment{}
	if err := decode(text, e, excerptOf(text)); err != nil {
		return nil, err
	}
	return e, nil
}

// Set sets one key of the experiment file, "classes" for example, to a value as
// the file would hold it.
func (e *Experiment) Set(key, value string) error {
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("an experiment file has no key %q", key)
	}
	if strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("%s %q: want one line", key, value)
	}
	if err := decode([]byte(key+": "+value), e, yaml.Error.GetMessage); err != nil {
		return fmt.Errorf("%s %q: %w", key, value, err)
	}
	return nil
}

// Check reports what is missing or does not go together.
func (e *Experiment) Check() error {
	switch {
	case e.Data.Set == "":
		return errors.New("the experiment names no data")
	case len(e.Methods) == 0:
		return errors.New("the experiment names no methods")
	case strings.TrimSpace(e.Name) == "":
		return errors.New("the experiment has no name")
	case strings.ContainsAny(e.Name, "/\\\x00") || strings.HasPrefix(e.Name, "."):
		return fmt.Errorf("the name %q cannot name a folder: it must not hold /, \\ or NUL, or begin with a dot", e.Name)
	}
	if err := e.checkTask(); err != nil {
		return err
	}
	task := eval.Clustering
	if e.Task == Classification {
		task = eval.Classification
	}
	if err := eval.CheckScores(task, e.Scores); err != nil {
		return fmt.Errorf("scores: %w", err)
	}
	seen := map[string]bool{}
	for _, m := range e.Methods {
		if m.Name == "" {
			return errors.New("a method has no name")
		}
		if seen[m.Label()] {
			return fmt.Errorf("two methods are called %q; give one another name with \"as\"", m.Label())
		}
		seen[m.Label()] = true
		if task, own := builtin(m.Name); own && task != e.Task {
			return fmt.Errorf("the method %s is for the task %s", m.Name, task)
		}
		if m.Recode != nil && e.Task != Classification {
			return fmt.Errorf("the method %s has recode, which is for the task classify", m.Label())
		}
		if e.Task == Clustering && m.needsLabels() && e.Labels.None() && !(m.takesLinks() && !e.Links.None()) {
			return fmt.Errorf("the method %s needs labels, and the experiment gives none (labels: 30%%, for example)", m.Label())
		}
	}
	return nil
}

// checkTask reports settings of one task in an experiment of the other.
func (e *Experiment) checkTask() error {
	if len(e.Rank) > 1 && len(e.Classes) > 1 {
		return errors.New("the experiment has several numbers of classes and several ranks; a table has rows for one of them")
	}
	if e.Labels.Rest || e.Train.Rest {
		return errors.New("only test can be the rest")
	}
	if e.Task == Classification {
		switch {
		case e.Train.None() || e.Test.None():
			return errors.New("a classification needs train and test, how many samples of each class (train: 100, for example)")
		case !e.Labels.None():
			return errors.New("a classification tells the labels of all training samples; labels is for clustering")
		case !e.Links.None():
			return errors.New("links is for clustering; a classification tells all labels of its training samples")
		}
		return nil
	}
	if !e.Train.None() || !e.Test.None() || e.Neighbours != (Neighbours{}) {
		return errors.New("train, test and neighbours are for classification (task: classify)")
	}
	return nil
}

// repeats returns how often each number of classes is drawn.
func (e *Experiment) repeats() int {
	return cmp.Or(int(e.Repeats), 10)
}

// refuse returns an error at the place of a node.
func refuse(node ast.Node, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…" // which quotes a long value
	}
	return &yaml.SyntaxError{Message: message, Token: node.GetToken()}
}

// maxMessage is the length of the longest error about a value, in characters.
const maxMessage = 1000

// text returns the text of a scalar.
func text(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// pairs returns the keys and values of a mapping, or nil.
func pairs(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// keyText returns the key of a pair, without its quotes.
func keyText(v *ast.MappingValueNode) string {
	if s, ok := text(v.Key); ok {
		return s
	}
	return v.Key.String()
}

// keyOf returns the key of the name in a mapping.
func keyOf(node ast.Node, name string) ast.Node {
	for _, v := range pairs(node) {
		if keyText(v) == name {
			return v.Key
		}
	}
	return node
}

// fields calls set for each key of a mapping.
func fields(node ast.Node, set func(key string, value ast.Node) error) error {
	values := pairs(node)
	if values == nil {
		return refuse(node, "want keys and values in braces")
	}
	seen := map[string]bool{}
	for _, v := range values {
		key := keyText(v)
		if seen[key] {
			return refuse(v.Key, "the key %q stands twice", key)
		}
		seen[key] = true
		if err := set(key, v.Value); err != nil {
			var unknown unknownKey
			if errors.As(err, &unknown) {
				return refuse(v.Key, unknownText, key, string(unknown))
			}
			return err
		}
	}
	return nil
}

// unknownText says that there is no key of a name, and lists those that there are.
const unknownText = "unknown key %q; the keys here are %s"

// unknownKey is the error of the function that fields calls, for a key that there
// is not: a list of those that there are.
type unknownKey string

func (k unknownKey) Error() string { return "the keys are " + string(k) }

// Count is a whole number of 1 or more; 0 is that it is not given.
type Count int

// maxCount is the largest number that can be asked for.
const maxCount = 1_000_000

// UnmarshalYAML reads a whole number.
func (c *Count) UnmarshalYAML(node ast.Node) error {
	x, err := positive(node)
	*c = Count(x)
	return err
}

// Seed is the seed of all random choices.
type Seed uint64

// UnmarshalYAML reads a whole number of 0 or more.
func (d *Seed) UnmarshalYAML(node ast.Node) error {
	s, _ := text(node)
	x, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return refuse(node, "the seed is %q; want a whole number of 0 or more", node)
	}
	*d = Seed(x)
	return nil
}

// positive reads a whole number of 1 or more.
func positive(node ast.Node) (int, error) {
	s, _ := text(node)
	x, err := strconv.Atoi(s)
	if err != nil || x < 1 || x > maxCount {
		return 0, refuse(node, "want a whole number from 1 to %d", maxCount)
	}
	return x, nil
}
