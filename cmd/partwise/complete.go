package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// completeValues makes shells complete the flags and arguments of all commands below root. A setting without
// an entry is completed by its tags, and what is neither as files.
func completeValues(root *cobra.Command) {
	lists := filesOf("csv", "tsv", "txt")
	tables := filesOf("npz", "mat", "csv")
	flags := map[string]cobra.CompletionFunc{ // of all commands, or of one
		"solver": words(append([]string{bestSolver}, kindNamed("solvers").names()...)...),
		"k":      words("auto"),
		"rank":   words("auto", "k", "k+1", "2k"), "fit --rank": words("auto"),
		"labels": lists, "run --labels": words("none", "10%", "20%", "30%"),
		"truth": lists,
		"links": lists, "run --links": nil,
		"set": dataValues, "run --set": nil,
		"train":      words("50%", "60%", "80%"),
		"test":       words("rest", "20%", "40%"),
		"memory":     words("25%", "50%", "2GB", "4GB", "8GB"),
		"cache-size": words("5GB", "10GB", "20GB", "50GB"),
		"budget":     words("10m", "40m", "2h"),
		"get --from": words("raw", "mat"),
		"out":        foldersOnly, "features --out": tables, "apply --out": tables, "assign --out": filesOf("csv"), "fit --out": filesOf("npz"),
		"trace": filesOf("csv"), "doc": filesOf("md"), "words": filesOf("npz"), "start": filesOf("npz"),
		"data": foldersOnly, "cache": foldersOnly, "to": foldersOnly, "pictures": foldersOnly, "dir": foldersOnly,
	}
	arguments := map[string]cobra.CompletionFunc{
		"cluster": atFirst(dataValues), "features": atFirst(dataValues), "fit": atFirst(dataValues),
		"run":    atFirst(filesOf("yaml", "yml")),
		"report": atFirst(foldersOnly), "explore": atFirst(foldersOnly), "compare": foldersOnly,
	}
	var each func(*cobra.Command)
	each = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			each(cmd)
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				complete, ok := flags[cmd.Name()+" --"+f.Name]
				if !ok {
					complete = flags[f.Name]
				}
				if v, ok := f.Value.(*settingFlag); ok && complete == nil {
					complete = v.complete
				} else if t := f.Value.Type(); t == "int" || t == "uint64" {
					complete = words()
				}
				if complete != nil {
					_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it has one already
				}
			})
			if cmd.ValidArgsFunction == nil {
				cmd.ValidArgsFunction = arguments[cmd.Name()]
			}
		}
	}
	each(root)
}

// commandNames completes the commands that help is asked for.
func commandNames(cmd *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		names = subcommands(about)
	}
	return among(begun, names), cobra.ShellCompDirectiveNoFileComp
}

// among returns the words that begin as what was typed.
func among(begun string, words []string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begun) {
			out = append(out, w)
		}
	}
	return out
}

// words completes a value that is one of some.
func words(list ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return among(begun, list), cobra.ShellCompDirectiveNoFileComp
	}
}

// filesOf completes files of some extensions.
func filesOf(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func foldersOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// atFirst completes the first argument, and no other.
func atFirst(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, begun)
	}
}

func knownNames() (names []string) {
	for _, s := range datasets.Known() {
		names = append(names, s.Name)
	}
	return names
}

// dataValues completes a known set, or a file or folder.
func dataValues(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	out := among(begun, knownNames())
	dir, base := filepath.Split(begun)
	entries, _ := os.ReadDir(filepath.Join(".", dir)) // without any there is nothing to complete
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		name := dir + e.Name()
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			name += string(filepath.Separator)
			directive |= cobra.ShellCompDirectiveNoSpace // more may follow
		}
		out = append(out, name)
	}
	return out, directive
}

// complete completes the value of a setting by its tags, and those of the settings behind it.
func (f *settingFlag) complete(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	const short = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	switch f.Name {
	case "methods":
		return settingValues(begun, "", kinds[0].names(), methodSettings), short
	case "features":
		return featureValues(begun), short
	case "scores":
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		var out []string
		for _, s := range eval.Scores() {
			if s.Optional {
				out = append(out, before+s.Name)
			}
		}
		return among(begun, out), cobra.ShellCompDirectiveNoFileComp
	}
	inner := f.field
	if inner.Kind() == reflect.Slice {
		inner = inner.Elem()
	}
	if inner.Kind() != reflect.Struct || f.Values != nil {
		return among(begun, f.Values), cobra.ShellCompDirectiveNoFileComp
	}
	list, by := settings.List(reflect.Zero(inner).Interface()), firstKeys[f.Name]
	var first []string
	if f.Name == "data" {
		first = knownNames()
	} else if i := slices.IndexFunc(list, func(s settings.Setting) bool { return s.Name == by }); i >= 0 {
		first = valuesOf(list[i])
	}
	return settingValues(begun, by, first, func(string) []settings.Setting { return list }), short
}

// methodSettings returns the settings of a method.
func methodSettings(name string) []settings.Setting {
	for _, e := range methodEntries() {
		if e.name == name {
			return append(slices.Clone(e.settings), e.shared...)
		}
	}
	return nil
}

// kindNamed returns the kind of things of a name.
func kindNamed(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

// settingValues completes a value such as ccf,init=nmf: what stands first, whose key is by, the keys
// behind commas, and their values. of returns the settings that go with what stands first.
func settingValues(begun, by string, first []string, of func(string) []settings.Setting) (out []string) {
	comma := strings.LastIndexByte(begun, ',')
	before, last := begun[:comma+1], begun[comma+1:]
	name, _, _ := strings.Cut(before, ",")
	key, _, hasValue := strings.Cut(last, "=")
	if comma < 0 {
		out = slices.Clone(first)
	}
	for _, s := range of(name) {
		switch {
		case s.Name == by && (comma >= 0 || !hasValue) && !strings.Contains(name, "="):
		case hasValue && s.Name == key:
			for _, v := range valuesOf(s) {
				out = append(out, before+key+"="+v)
			}
		case !hasValue && !strings.Contains(","+before, ","+s.Name+"="):
			out = append(out, before+s.Name+"=")
		}
	}
	return among(begun, out)
}

// valuesOf returns the values that a setting can have, nil where they are not a few.
func valuesOf(s settings.Setting) []string {
	switch {
	case s.Values != nil:
		return s.Values
	case s.Default == "true" || s.Default == "false":
		return []string{"true", "false"}
	case s.Name == "by":
		return append(pipeline.Clusterers(), pipeline.Largest)
	case s.Name == "solver":
		return kindNamed("solvers").names()
	}
	return nil
}

// featureValues completes features, with + between several of them, and their settings.
func featureValues(begun string) (out []string) {
	plus := strings.LastIndexByte(begun, '+')
	before, last := begun[:plus+1], begun[plus+1:]
	var first []string
	own := map[string][]settings.Setting{}
	for _, i := range features.Extractors() {
		first = append(first, i.Name)
		own[i.Name] = append(own[i.Name], settings.List(i.Zero)...)
		if i.Form != "" {
			first = append(first, i.Name+"="+i.Form)
		}
		if i.Descriptors() {
			own[i.Name] = append(own[i.Name], settings.List(pipeline.Words{})...)
			own[i.Name] = append(own[i.Name], settings.Setting{Name: "words"})
		}
	}
	shared := slices.Concat(settings.List(pipeline.Weighted{}), settings.List(pipeline.Features{}))
	for _, v := range settingValues(last, "", first, func(name string) []settings.Setting {
		if name == "" {
			return nil
		}
		name, _, _ = strings.Cut(name, "=")
		return append(slices.Clone(own[name]), shared...)
	}) {
		out = append(out, before+v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
