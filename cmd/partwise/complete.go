package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
)

// completeValues makes shells complete the flags and arguments of all commands below root. A setting without
// an entry is completed by its tags, and what is neither as files.
func completeValues(root *cobra.Command) {
	lists := filesOf("csv", "tsv", "txt")
	tables := filesOf("npz", "mat", "csv")
	flags := map[string]cobra.CompletionFunc{ // of all commands, or of one
		"solver": words(append([]string{bestSolver}, choices.Names("solvers")...)...),
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
	for _, s := range catalogue.Known() {
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
	values, more := choices.Complete(f.Setting, f.field, begun)
	if more {
		return values, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}
