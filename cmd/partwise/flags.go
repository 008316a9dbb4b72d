package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
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

// addDefault adds the default of a command to the help of a flag.
func addDefault(cmd *cobra.Command, flag, text string) {
	cmd.Flags().Lookup(flag).Usage += " (default " + text + ")"
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
	v, err := settings.Of(text), error(nil)
	if f.field.Kind() != reflect.String || f.Name == "name" {
		v, err = experimentfile.ParseShort(f.Name, text)
	}
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

// dataFlags adds the flags of how classes are found and where sets are.
func dataFlags(cmd *cobra.Command, d *pipeline.Data) {
	addSettings(cmd, d, "pool", "from", "pattern", "truth", "no-classes")
	cmd.Flags().Lookup("truth").Usage = "CSV file of classes as that of --labels, which groups are compared with and no method is told"
	rootFlag(cmd.Flags(), &d.Root)
}

// labelsFlag adds the flag of the file of known classes.
func labelsFlag(cmd *cobra.Command, d *pipeline.Data) { addSettings(cmd, d, "labels") }

// linksFlag adds the flag of the file of known pairs.
func linksFlag(f *pflag.FlagSet, links *string) {
	f.StringVar(links, "links", "", "CSV file of pairs, two file names and must or cannot in each line")
}

// picturesFlag adds the flag of where pictures are that were grouped before.
func picturesFlag(f *pflag.FlagSet, pictures *string) {
	f.StringVar(pictures, "pictures", "", "folder of the pictures, where it is another than when they were grouped")
}

// rootFlag adds the flag of where known sets are.
func rootFlag(f *pflag.FlagSet, root *string) {
	f.StringVar(root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
}

// workersFlag adds the flag of how many trials run at once.
func workersFlag(f *pflag.FlagSet, workers *int) {
	f.IntVar(workers, "workers", 0, "trials at once (default one for each processor)")
}

const bestSolver = "best"

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
