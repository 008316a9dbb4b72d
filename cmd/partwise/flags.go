package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// settingFlag is the value of a flag that sets a field of a struct by its setting tags.
type settingFlag struct {
	settings.Setting
	target any // a pointer to the struct
	texts  []string
	value  *settings.Value
}

// addSettings adds a flag for each setting of the struct that to points to, or for the named ones.
func addSettings(cmd *cobra.Command, to any, names ...string) {
	for _, s := range settings.List(to) {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		name, shorthand := flagOf(s.Name), ""
		if len(name) == 1 {
			shorthand = name
		}
		v := &settingFlag{Setting: s, target: to}
		f := cmd.Flags().VarPF(v, name, shorthand, s.Help)
		if v.Type() == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

func addDefault(cmd *cobra.Command, flag, text string) {
	cmd.Flags().Lookup(flag).Usage += " (default " + text + ")"
}

func flagOf(setting string) string {
	switch setting {
	case "data": // the flag --data is the folder of known sets
		return "set"
	case "methods":
		return "method"
	}
	return setting
}

func (f *settingFlag) String() string { return strings.Join(f.texts, " ") }

func (f *settingFlag) Type() string {
	if f.Setting.Type.Kind() == reflect.Bool {
		return "bool"
	}
	return "string"
}

// Set sets the field. Methods are collected; for other settings the last value counts.
func (f *settingFlag) Set(text string) error {
	v, err := settings.Of(text), error(nil)
	if f.Setting.Type.Kind() != reflect.String || f.Name == "name" {
		v, err = spec.ParseShort(f.Name, text)
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

func (f *settingFlag) apply() error {
	field := settings.Field{Key: settings.Of(f.Name), Value: f.value}
	return messageOf(settings.Decode(&settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{field}}, f.target))
}

// messageOf returns an error without line and column, which flags do not have.
func messageOf(err error) error {
	if placed, ok := errors.AsType[*settings.Error](err); ok {
		return errors.New(placed.Message)
	}
	return err
}

// dataFlags adds the flags for the classes and the location of sets.
func dataFlags(cmd *cobra.Command, d *spec.Data) {
	addSettings(cmd, d, "pool", "from", "pattern", "truth", "no-classes")
	cmd.Flags().Lookup("truth").Usage = "CSV file of classes (file,class), used only for scores"
	rootFlag(cmd.Flags(), &d.Root)
}

func vectorFlags(cmd *cobra.Command, d *spec.Data) { addSettings(cmd, d, "missing", "weights", "mask") }

func linksFlag(f *pflag.FlagSet, links *string) {
	f.StringVar(links, "links", "", "CSV file of links: two file names, then must or cannot")
}

func picturesFlag(f *pflag.FlagSet, pictures *string) {
	f.StringVar(pictures, "pictures", "", "folder of the photos, if it has moved since they were grouped")
}

func rootFlag(f *pflag.FlagSet, root *string) {
	f.StringVar(root, "data", "", "folder of known sets (default $PARTWISE_DATA, then the user cache)")
}

func workersFlag(f *pflag.FlagSet, workers *uint) {
	f.UintVar(workers, "workers", 0, "parallel trials (default: number of cores)")
}

const bestSolver = "best"

func solverFlag(f *pflag.FlagSet, solver *string) {
	f.StringVar(solver, "solver", bestSolver, "solver of the factorisation: best, mu or fast")
}

// oneMethod returns the method of --method, or else the fallback, with a solver and, unless it is 0, a number of
// iterations. Wrong values are usage errors.
func oneMethod(cmd *cobra.Command, fallback, solver string, iterations int) spec.Method {
	all := &settings.Value{Kind: settings.KindList, Items: []*settings.Value{settings.Of(fallback)}}
	flag := cmd.Flags().Lookup("method").Value.(*settingFlag)
	if flag.value != nil {
		all.Items = flag.value.Items
	}
	method := *all.Items[0]
	if method.Kind == settings.KindText {
		method = settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{{Key: settings.Of("name"), Value: all.Items[0]}}}
	}
	with := func(name string, value any) {
		method.Fields = append(slices.Clip(method.Fields), settings.Field{Key: settings.Of(name), Value: settings.Of(value)})
	}
	if iterations > 0 {
		with("iterations", iterations)
	}
	if solver != bestSolver {
		with("solver", solver)
	}
	all.Items = append([]*settings.Value{&method}, all.Items[1:]...)
	var list spec.Methods
	err := settings.Decode(all, &list)
	switch placed, ok := errors.AsType[*settings.Error](err); {
	case ok && placed.Key != "":
		err = fmt.Errorf("--%s: %s", flagOf(placed.Key), placed.Message)
	case err == nil && len(list) != 1:
		err = fmt.Errorf("--method %q: expected one method and one value of each setting", flag)
	}
	checkUse(messageOf(err))
	return list[0]
}

// Annotations of cobra on flags that exclude each other, and on flags of which one is required.
const exclusive, alternative = "cobra_annotation_mutually_exclusive", "cobra_annotation_one_required"

// validateFlags refuses missing flags, flags that exclude each other, and empty values, as from an unset shell variable.
func validateFlags(cmd *cobra.Command) (err error) {
	isSet := cmd.Flags().Changed
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Changed && f.Value.Type() == "string" && f.Value.String() == "":
			err = fmt.Errorf("--%s is empty", f.Name)
		case !f.Changed && f.Annotations[cobra.BashCompOneRequiredFlag] != nil:
			err = fmt.Errorf("--%s is missing", f.Name)
		}
		for _, names := range f.Annotations[exclusive] {
			if set := slices.DeleteFunc(strings.Fields(names), func(n string) bool { return !isSet(n) }); len(set) > 1 {
				err = fmt.Errorf("--%s cannot be used together", strings.Join(set, " and --"))
			}
		}
		for _, names := range f.Annotations[alternative] {
			if all := strings.Fields(names); !slices.ContainsFunc(all, isSet) {
				err = fmt.Errorf("one of --%s is missing", strings.Join(all, ", --"))
			}
		}
	})
	return err
}

func asUsage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	use := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	return usageError{fmt.Errorf("%w (usage: %s; help: %s --help)", err, use, cmd.CommandPath())}
}

// checkUsage turns errors in the flags and arguments of a command and its subcommands into usage errors.
func checkUsage(cmd *cobra.Command) {
	var names []string
	for _, sub := range cmd.Commands() {
		checkUsage(sub)
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return asUsage(cmd, flagError(cmd, err)) })
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		wanted := strings.Fields(cmd.Use)[1:]
		needed := slices.IndexFunc(append(wanted, "["), func(word string) bool { return word[0] == '[' })
		if undo, _ := cmd.Flags().GetBool("undo"); undo {
			needed = 0
		}
		switch {
		case slices.Contains(args, ""):
			return asUsage(cmd, errors.New("an argument is empty"))
		case len(args) < needed:
			return asUsage(cmd, fmt.Errorf("%s is missing", wanted[len(args)]))
		case len(args) <= len(wanted) || strings.HasSuffix(cmd.Use, "..."):
			return nil
		case len(wanted) == 0 && names != nil:
			return unknown("command", args[0], names)
		}
		return asUsage(cmd, fmt.Errorf("unexpected argument %q", args[len(wanted)]))
	}
}

// expected describes the values of flags that are not settings, by type.
var expected = map[string]string{
	"bool": "true or false", "int": "a whole number", "uint": "a whole number of 0 or more",
	"uint16": "a whole number from 0 to 65535", "float64": "a number", "duration": "a time such as 90s, 40m or 2h",
}

func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag: -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		return fmt.Errorf("%w%s", err, phrase.Guess("--"+unknown.GetSpecifiedName(), flags))
	case errors.As(err, &missing):
		return fmt.Errorf("%s needs a value", nameOfFlag(missing.GetFlag()))
	case errors.As(err, &invalid):
		f, given, cause := invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap()
		if _, ok := f.Value.(*settingFlag); !ok {
			cause = fmt.Errorf("expected %s", expected[f.Value.Type()])
		}
		if strings.Contains(cause.Error(), given) {
			return fmt.Errorf("%s: %w", nameOfFlag(f), cause)
		}
		return fmt.Errorf("%s %s: %w", nameOfFlag(f), given, cause)
	}
	return err
}

func nameOfFlag(f *pflag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

func unknown(kind, name string, names []string) error {
	return usageError{fmt.Errorf("unknown %s %q%s", kind, name, phrase.Choices(name, names))}
}

// commandLine returns the command line that repeats cmd, without flags that do not change results.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{cmd.CommandPath()}, lists.Map(args, quote)...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"workers", "out", "memory", "cache-size", "profile", "shard", "times", "json"}, f.Name) {
			return
		}
		name, values := nameOfFlag(f), []string{f.Value.String()}
		if list, ok := f.Value.(*settingFlag); ok {
			values = list.texts
		}
		for _, v := range values {
			switch {
			case f.Value.Type() != "bool":
				words = append(words, name, quote(v))
			case v == "true": // false is always the default
				words = append(words, name)
			}
		}
	})
	return strings.Join(words, " ")
}

func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// completeValues sets the shell completion of all flags and arguments below root. A setting without an entry is
// completed by its tags, and anything else as files.
func completeValues(root *cobra.Command) {
	lists, csv, npz := filesOf("csv", "tsv", "txt"), filesOf("csv"), filesOf("npz")
	tables := filesOf("npz", "mat", "csv")
	flags := map[string]cobra.CompletionFunc{ // of all commands, or of one
		"solver": completeWords(append([]string{bestSolver}, choices.Names("solvers")...)...),
		"k":      completeWords("auto"),
		"rank":   completeWords("auto", "k", "k+1", "2k"), "fit --rank": completeWords("auto"),
		"labels": lists, "run --labels": completeWords("none", "10%", "20%", "30%"), "truth": lists,
		"links": lists, "run --links": nil,
		"set": setsOrFiles, "run --set": nil,
		"train":      completeWords("50%", "60%", "80%"),
		"test":       completeWords("rest", "20%", "40%"),
		"memory":     completeWords("25%", "50%", "2GB", "4GB", "8GB"),
		"cache-size": completeWords("5GB", "10GB", "20GB", "50GB"),
		"budget":     completeWords("10m", "40m", "2h"),
		"get --from": completeWords("raw", "mat"),
		"out":        foldersOnly, "features --out": tables, "apply --out": tables, "assign --out": csv, "fit --out": npz,
		"trace": csv, "doc": filesOf("md"), "words": npz, "start": npz,
		"data": foldersOnly, "cache": foldersOnly, "to": foldersOnly, "pictures": foldersOnly, "dir": foldersOnly,
	}
	arguments := map[string]cobra.CompletionFunc{
		"cluster": setsOrFiles, "features": setsOrFiles, "fit": setsOrFiles, "run": filesOf("yaml", "yml"),
		"report": foldersOnly, "explore": foldersOnly, "compare": foldersOnly,
	}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			each(sub)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete, ok := flags[cmd.Name()+" --"+f.Name]
			if !ok {
				complete = flags[f.Name]
			}
			if v, ok := f.Value.(*settingFlag); ok && complete == nil {
				complete = v.complete
			} else if t := f.Value.Type(); t == "int" || strings.HasPrefix(t, "uint") {
				complete = completeWords()
			}
			if complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // fails only for a second registration
			}
		})
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = arguments[cmd.Name()]
		}
	}
	each(root)
}

func completeWords(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completeNames lists the names only when a shell asks for them, since each command of the program starts here.
func completeNames(names func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

func filesOf(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

var foldersOnly = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

func knownNames() []string {
	return lists.Map(catalogue.Known(), func(s catalogue.Info) string { return s.Name })
}

// setsOrFiles completes known sets, or files and folders if no set matches.
func setsOrFiles(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	none := func(name string) bool { return begun == "" || !strings.HasPrefix(name, begun) }
	return slices.DeleteFunc(knownNames(), none), cobra.ShellCompDirectiveDefault
}

// complete completes a setting's value, and further settings in it, by their tags.
func (f *settingFlag) complete(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	values, more := choices.Complete(f.Setting, f.Setting.Type, begun)
	if more {
		return values, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}
