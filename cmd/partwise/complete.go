package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// valueOf completes what stands after a flag, or an argument.
type valueOf = cobra.CompletionFunc

// completeValues makes shells complete the values of the flags of all commands below root,
// by what a flag of its name takes. Others are completed as files, which is what shells do by
// themselves.
func completeValues(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		completeValues(cmd)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if complete := flagValues(cmd, f); complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it has one already
			}
		})
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = argumentValues(cmd)
		}
	}
}

// argumentValues completes the arguments of a command, nil where the shell does.
func argumentValues(cmd *cobra.Command) valueOf {
	switch cmd.Name() {
	case "cluster", "features", "fit":
		return atFirst(dataValues)
	case "run":
		return atFirst(filesOf("yaml", "yml"))
	case "report", "explore":
		return atFirst(foldersOnly)
	case "compare":
		return foldersOnly
	}
	return nil
}

// commandNames completes the commands that help is asked for.
func commandNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range about.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return among(begun, names), cobra.ShellCompDirectiveNoFileComp
}

// flagValues completes the values of a flag of a command, nil where the shell does.
func flagValues(cmd *cobra.Command, f *pflag.Flag) valueOf {
	inRun := cmd.Name() == "run"
	switch f.Name {
	case "method":
		return withSettings("", methodSettings)
	case "solver":
		return words(append([]string{bestSolver}, kindNamed("solvers").names()...)...)
	case "cluster":
		return withSettings("by", settingsOfAny(pipeline.Clusterers(), pipeline.Cluster{}))
	case "classifier":
		return withSettings("by", settingsOfAny(nil, pipeline.Classifier{}))
	case "neighbours":
		return withSettings("k", settingsOfAny(nil, pipeline.Neighbours{}))
	case "features":
		return featureValues
	case "set":
		return withSettings("", settingsOfAny(knownNames(), pipeline.Data{}))
	case "scores":
		return scoreValues
	case "labels", "truth", "links":
		switch {
		case inRun && f.Name == "links":
			return withSettings("", settingsOfAny(nil, pipeline.Links{}))
		case inRun:
			return words("none", "10%", "20%", "30%")
		}
		return filesOf("csv", "tsv", "txt")
	case "k":
		return words("auto")
	case "rank":
		if cmd.Name() == "fit" {
			return words("auto")
		}
		return words("auto", "k", "k+1", "2k")
	case "from":
		return words("raw", "mat")
	case "memory":
		return words("25%", "50%", "2GB", "4GB", "8GB")
	case "cache-size":
		return words("5GB", "10GB", "20GB", "50GB")
	case "out":
		switch cmd.Name() {
		case "features", "apply":
			return filesOf("npz", "mat", "csv")
		case "assign", "fit":
			return filesOf(map[string]string{"assign": "csv", "fit": "npz"}[cmd.Name()])
		}
		return foldersOnly
	case "trace":
		return filesOf("csv")
	case "doc":
		return filesOf("md")
	case "budget":
		return words("10m", "40m", "2h")
	case "words", "start":
		return filesOf("npz")
	case "data", "cache", "to", "pictures", "dir":
		return foldersOnly
	case "format":
		return nil // which the command knows
	case "train":
		return words("50%", "60%", "80%")
	case "test":
		return words("rest", "20%", "40%")
	}
	for _, s := range settings.List(pipeline.Experiment{}) {
		if inRun && s.Name == f.Name && len(s.Values) > 0 {
			return words(s.Values...)
		}
	}
	if value := f.Value.Type(); value == "int" || value == "uint64" || inRun && slices.Contains([]string{"name", "classes", "repeats", "seed"}, f.Name) {
		return words()
	}
	return nil
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
func words(list ...string) valueOf {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return among(begun, list), cobra.ShellCompDirectiveNoFileComp
	}
}

// filesOf completes files of some extensions.
func filesOf(extensions ...string) valueOf {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func foldersOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// atFirst completes the first argument, and no other.
func atFirst(complete valueOf) valueOf {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, begun)
	}
}

func knownNames() (names []string) {
	for _, s := range catalogue.Known() {
		names = append(names, s.Name)
	}
	return names
}

// dataValues completes a known set, or a file or folder.
func dataValues(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	out := among(begun, knownNames())
	dir, base := filepath.Split(begun)
	at := dir
	if at == "" {
		at = "."
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
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

// choices are what stands first in a value such as ccf,init=nmf, and the settings behind one.
type choices func() (first []string, of func(name string) []settings.Setting)

func settingsOfAny(first []string, of any) choices {
	return func() ([]string, func(string) []settings.Setting) {
		list := settings.List(of)
		return first, func(string) []settings.Setting { return list }
	}
}

func methodSettings() (first []string, of func(name string) []settings.Setting) {
	entries := methodEntries()
	return kinds[0].names(), func(name string) []settings.Setting {
		for _, e := range entries {
			if e.name == name {
				return append(slices.Clone(e.settings), e.shared...)
			}
		}
		return nil
	}
}

// kindNamed returns the kind of things of a name.
func kindNamed(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

// withSettings completes what stands first, keys behind commas, and the values of these. by is the
// key of what stands first without one, where there is one.
func withSettings(by string, choose choices) valueOf {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		first, of := choose()
		return settingValues(begun, by, first, of), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func settingValues(begun, by string, first []string, of func(string) []settings.Setting) (out []string) {
	comma := strings.LastIndexByte(begun, ',')
	before, last := begun[:comma+1], begun[comma+1:]
	name, _, _ := strings.Cut(before, ",")
	list := of(name)
	if comma < 0 {
		list = of("")
		out = append(out, first...)
	}
	key, _, hasValue := strings.Cut(last, "=")
	for _, s := range list {
		switch {
		case s.Name == by && comma < 0 && !hasValue && len(first) == 0:
			out = append(out, s.Values...)
		case s.Name == by && comma >= 0 && !strings.Contains(name, "="):
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
func featureValues(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	plus := strings.LastIndexByte(begun, '+')
	before, last := begun[:plus+1], begun[plus+1:]
	var first []string
	own := map[string][]settings.Setting{}
	for _, i := range features.Extractors() {
		if own[i.Name] == nil {
			first = append(first, i.Name)
		}
		own[i.Name] = append(own[i.Name], settings.List(i.Zero)...)
		if i.Form != "" {
			first = append(first, i.Name+"="+i.Form)
		}
		if i.Descriptors() {
			for _, key := range []string{"words", "grid", "idf"} {
				own[i.Name] = append(own[i.Name], settings.Setting{Name: key})
			}
		}
	}
	shared := append(settings.List(pipeline.Weighted{}),
		settings.Setting{Name: "power"}, settings.Setting{Name: "normalise", Values: []string{"l2", "l1", "max", "none"}}, settings.Setting{Name: "crop", Values: []string{"square", "whole"}})
	var out []string
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
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// scoreValues completes a list of scores that are computed where they are asked for.
func scoreValues(_ *cobra.Command, _ []string, begun string) (out []string, _ cobra.ShellCompDirective) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	for _, s := range eval.Scores() {
		if s.Optional {
			out = append(out, before+s.Name)
		}
	}
	return among(begun, out), cobra.ShellCompDirectiveNoFileComp
}
