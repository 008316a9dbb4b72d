package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
)

// completeValues makes shells complete the flags and arguments of all commands below root. A setting without
// an entry is completed by its tags, and anything else as files.
func completeValues(root *cobra.Command) {
	lists, csv, npz := filesOf("csv", "tsv", "txt"), filesOf("csv"), filesOf("npz")
	tables := filesOf("npz", "mat", "csv")
	flags := map[string]cobra.CompletionFunc{ // of all commands, or of one
		"solver": words(append([]string{bestSolver}, choices.Names("solvers")...)...),
		"k":      words("auto"),
		"rank":   words("auto", "k", "k+1", "2k"), "fit --rank": words("auto"),
		"labels": lists, "run --labels": words("none", "10%", "20%", "30%"), "truth": lists,
		"links": lists, "run --links": nil,
		"set": setsOrFiles, "run --set": nil,
		"train":      words("50%", "60%", "80%"),
		"test":       words("rest", "20%", "40%"),
		"memory":     words("25%", "50%", "2GB", "4GB", "8GB"),
		"cache-size": words("5GB", "10GB", "20GB", "50GB"),
		"budget":     words("10m", "40m", "2h"),
		"get --from": words("raw", "mat"),
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
	each(root)
}

// words completes a value that is one of some.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// filesOf completes files of some extensions.
func filesOf(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

var foldersOnly = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

func knownNames() (names []string) {
	for _, s := range catalogue.Known() {
		names = append(names, s.Name)
	}
	return names
}

// setsOrFiles completes a known set, or a file or folder where none begins so.
func setsOrFiles(_ *cobra.Command, _ []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	for _, name := range knownNames() {
		if begun != "" && strings.HasPrefix(name, begun) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// complete completes the value of a setting and of the settings behind it, by their tags.
func (f *settingFlag) complete(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	values, more := choices.Complete(f.Setting, f.Setting.Type, begun)
	if more {
		return values, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}
