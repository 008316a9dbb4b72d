package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/document"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// settingFlag is the value of a flag that sets a field of a struct by its setting tags.
type settingFlag struct {
	settings.Setting
	to    any // a pointer to the struct
	field reflect.Type
	texts []string
	value *settings.Value
}

// addSettings adds a flag for each setting of the struct to which to points, or for the named ones.
func addSettings(cmd *cobra.Command, to any, names ...string) {
	of := reflect.TypeOf(to).Elem()
	for _, s := range settings.List(to) {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		v := &settingFlag{Setting: s, to: to}
		for _, field := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(field.Tag.Get("setting"), ","); name == s.Name {
				v.field = field.Type
			}
		}
		name, shorthand := flagOf(s.Name), ""
		if len(name) == 1 {
			shorthand = name
		}
		f := cmd.Flags().VarPF(v, name, shorthand, s.Help)
		if v.Type() == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// flagOf returns the flag for a setting.
func flagOf(setting string) string {
	switch setting {
	case "data": // which is the folder of the known sets
		return "set"
	case "methods":
		return "method"
	}
	return setting
}

func (f *settingFlag) String() string { return strings.Join(f.texts, " ") }

// GetSlice returns the values of all uses of the flag, as pflag.SliceValue does.
func (f *settingFlag) GetSlice() []string { return f.texts }

func (f *settingFlag) Type() string {
	if f.field.Kind() == reflect.Bool {
		return "bool"
	}
	return "string"
}

// Set sets the field. Methods are collected, and other settings keep the last value.
func (f *settingFlag) Set(text string) error {
	if text == "" {
		return errEmpty
	}
	v, err := f.parse(text)
	if err != nil {
		return messageOf(err)
	}
	if f.Name != "methods" {
		f.texts, f.value = []string{text}, v
		return f.apply()
	}
	if f.value == nil {
		f.value = &settings.Value{Kind: settings.KindList}
	}
	f.texts = append(f.texts, text)
	if v.Kind == settings.KindText {
		for name := range strings.SplitSeq(v.Text, ",") {
			f.value.Items = append(f.value.Items, settings.Of(name))
		}
	} else {
		f.value.Items = append(f.value.Items, v)
	}
	return f.apply()
}

// errEmpty is the error of a flag without a value, as of a shell's variable that is not set.
var errEmpty = errors.New("is empty")

// apply sets the field anew.
func (f *settingFlag) apply() error {
	field := settings.Field{Key: settings.Of(f.Name), Value: f.value}
	return messageOf(settings.Decode(&settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{field}}, f.to))
}

// messageOf returns an error without its line and column, which a flag does not have.
func messageOf(err error) error {
	var placed *settings.Error
	if errors.As(err, &placed) {
		return errors.New(placed.Message)
	}
	return err
}

// firstKeys are the keys of the part of a flag's value that stands first without one: ccf,init=nmf is
// {name: ccf, init: nmf}.
var firstKeys = map[string]string{
	"data": "set", "methods": "name", "cluster": "by", "classifier": "by", "significance": "by", "neighbours": "k", "rank": "among",
}

func (f *settingFlag) parse(text string) (*settings.Value, error) {
	switch {
	case f.field.Kind() == reflect.String && f.Name != "name":
		return settings.Of(text), nil
	case strings.ContainsFunc(text, unicode.IsControl):
		return nil, errors.New("want one line")
	case f.Name == "scores":
		return settings.Of(strings.Split(text, ",")), nil
	case f.Name == "features":
		return parseFeatures(text)
	}
	return parsePairs(text, firstKeys[f.Name])
}

// parsePairs reads "ccf,init=nmf", or a value as a file has it.
func parsePairs(text, first string) (*settings.Value, error) {
	if !strings.Contains(text, "=") || strings.HasPrefix(text, "{") {
		return parseValue(text)
	}
	out := &settings.Value{Kind: settings.KindMapping}
	var keys, values []string
	for i, part := range split(text, func(rest string) bool { return rest[0] == ',' }) {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok:
		case i == 0 && first != "":
			key, value = first, part
		case i == 0: // a feature with settings
			key, value = part, "{}"
		default: // a comma in a value
			values[len(values)-1] += "," + part
			continue
		}
		keys, values = append(keys, key), append(values, value)
	}
	for i, key := range keys {
		v, err := parseValue(values[i])
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, settings.Field{Key: settings.Of(key), Value: v})
	}
	return out, nil
}

// parseFeatures reads "sift,power=0.5+colour". A + joins features where a letter is behind it, and
// otherwise belongs to a value, as in grid=1x1+2x2.
func parseFeatures(text string) (*settings.Value, error) {
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		return parseValue(text)
	}
	list := &settings.Value{Kind: settings.KindList}
	joined := func(rest string) bool { return rest[0] == '+' && len(rest) > 1 && 'a' <= rest[1] && rest[1] <= 'z' }
	for _, one := range split(text, joined) {
		v, err := parsePairs(one, "")
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, v)
	}
	if len(list.Items) == 1 {
		return list.Items[0], nil
	}
	return list, nil
}

// split cuts a text at the bytes at which is is true of the rest, but for those in brackets.
func split(text string, is func(rest string) bool) (parts []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && is(text[i:]):
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// parseValue reads a value as a file has it. What is no YAML is a text, such as the pattern {class}-*.
func parseValue(text string) (*settings.Value, error) {
	if text == "" {
		return &settings.Value{}, nil
	}
	v, err := document.Parse([]byte(text))
	marked := strings.ContainsRune(`['"`, rune(text[0])) || text[0] == '{' && (text == "{}" || strings.Contains(text, ":"))
	if !marked && (err != nil || v.Kind == settings.KindList || v.Kind == settings.KindMapping || v.Kind == settings.KindText && v.Data == any(v.Text)) {
		return settings.Of(text), nil
	}
	return v, err
}

// dataFlags adds the flags of how classes are found and where sets are.
func dataFlags(cmd *cobra.Command, d *pipeline.Data) {
	addSettings(cmd, d, "pool", "from", "pattern", "truth", "no-classes")
	rootFlag(cmd.Flags(), &d.Root)
}

// labelsFlag adds the flag of the file of known classes.
func labelsFlag(cmd *cobra.Command, d *pipeline.Data) { addSettings(cmd, d, "labels") }

// linksFlag adds the flag of the file of known pairs.
func linksFlag(f *pflag.FlagSet, links *string) {
	f.StringVar(links, "links", "", "CSV file of pairs, two file names and must or cannot in each line")
}

// rootFlag adds the flag of where known sets are.
func rootFlag(f *pflag.FlagSet, root *string) {
	f.StringVar(root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
}

// workersFlag adds the flag of how many trials run at once.
func workersFlag(f *pflag.FlagSet, workers *int) {
	f.IntVar(workers, "workers", 0, "trials at once (default one for each processor)")
}

// What cluster and fit do unless they are told otherwise.
const (
	defaultMethod         = "nmf"
	defaultLabelledMethod = "cnmf"
	bestSolver            = "best"
)

// solverFlag adds the flag of the solver of one method.
func solverFlag(f *pflag.FlagSet, solver *string) {
	f.StringVar(solver, "solver", bestSolver, "what lowers the method's objective; best is fast, where that serves the method, until little changes; see partwise list solvers")
}

// oneMethod returns the method of --method, or else the fallback, with a solver and, unless it is 0, a number of iterations.
func oneMethod(cmd *cobra.Command, fallback, solver string, iterations int) (pipeline.Method, error) {
	name, method := fallback, settings.Of(fallback)
	if f := cmd.Flags().Lookup("method").Value.(*settingFlag); f.value != nil {
		name, method = f.String(), f.value.Items[0]
		if len(f.value.Items) > 1 {
			return pipeline.Method{}, fmt.Errorf("--method %q: want one method with one setting", name)
		}
	}
	if method.Kind == settings.KindText {
		method = &settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{{Key: settings.Of("name"), Value: method}}}
	}
	if _, known := factor.LookupSolver(solver); !known && solver != bestSolver {
		return pipeline.Method{}, fmt.Errorf("--solver %q: there is no such solver; partwise list solvers lists them, and %s is the best of them that serves", solver, bestSolver)
	}
	var list pipeline.Methods
	all := &settings.Value{Kind: settings.KindList, Items: []*settings.Value{method}}
	err := settings.Decode(all, &list)
	add := func(flag string, value any) {
		if err != nil {
			return
		}
		method.Fields = append(method.Fields, settings.Field{Key: settings.Of(flag), Value: settings.Of(value)})
		if err = messageOf(settings.Decode(all, &list)); err != nil {
			err = fmt.Errorf("--%s %v: %w", flag, value, err)
		}
	}
	if iterations > 0 {
		add("iterations", iterations)
	}
	if solver != bestSolver {
		add("solver", solver)
	}
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("--method %q: want one method with one setting", name)
	}
	if err != nil {
		return pipeline.Method{}, err
	}
	return list[0], nil
}
