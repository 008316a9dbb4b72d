package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// arguments checks that there are from least to most arguments. Its errors name
// those that the command's Use names.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		use := cmd.UseLine()
		if cmd.HasAvailableFlags() {
			use = strings.TrimSuffix(use, " [flags]")
		}
		var err error
		switch {
		case slices.Contains(args, ""):
			err = fmt.Errorf("an argument is empty: %s", use)
		case least <= len(args) && len(args) <= most:
			return nil
		case len(args) < least:
			_, name, _ := strings.Cut(cmd.Use, " ")
			err = fmt.Errorf("%s is missing: %s", name, use)
		case cmd.HasAvailableSubCommands():
			names := subcommands(cmd)
			err = fmt.Errorf("unknown command %q for %q%s; there are %s", args[most], cmd.CommandPath(), phrase.Guess(args[most], names), strings.Join(names, ", "))
		default:
			err = fmt.Errorf("%q is one argument too many: %s", args[most], use)
		}
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	}
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noEmptyFlags refuses flags whose value is empty, as that of a shell's variable
// that is not set, which would count for flags that are not given.
func noEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = usageError{fmt.Errorf("%s is empty; see %s --help", dashed(f.Name), cmd.CommandPath())}
		}
	})
	return err
}

// flagError says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		f := value.GetFlag()
		want := "want " + cmp.Or(map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}[f.Value.Type()], "another value")
		if _, ok := f.Value.(*settingFlag); ok {
			want = value.Unwrap().Error()
		} else if errors.Is(err, strconv.ErrRange) {
			want = "the number is too large"
		}
		err = fmt.Errorf("%s %q: %s", dashed(f.Name), value.GetValue(), want)
		if errors.Is(value, errEmpty) {
			err = fmt.Errorf("%s is empty", dashed(f.Name))
		}
	case errors.As(err, &missing):
		err = fmt.Errorf("%s needs a value", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &unknown):
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, dashed(f.Name)) })
		name := dashed(unknown.GetSpecifiedName())
		err = fmt.Errorf("unknown flag: %s%s", name, phrase.Guess(name, flags))
	}
	return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
}

// unknown returns the error that there is no thing of a kind with a name.
func unknown(kind, name string, names []string) error {
	return usageError{fmt.Errorf("there is no %s %q%s; there are %s", kind, name, phrase.Guess(name, names), strings.Join(names, ", "))}
}

// dashed returns a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// completion makes the command that writes scripts for shells refuse shells that it
// does not know. It writes to where root's output goes when it is called.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = arguments(0, 0)
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			shell.Args = arguments(0, 0)
		}
	}
}

// commandLine returns the command line that does again what cmd does, without
// what changes no result.
func commandLine(cmd *cobra.Command, args []string) string {
	words := []string{cmd.CommandPath()}
	for _, a := range args {
		words = append(words, quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "workers", "out", "memory", "cache-size", "profile", "times":
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch {
			case f.Value.Type() != "bool":
				words = append(words, dashed(f.Name), quote(v))
			case v == "true": // false is the default of all
				words = append(words, dashed(f.Name))
			}
		}
	})
	return strings.Join(words, " ")
}

// quote puts a word in quotes where a shell would not leave it alone.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./,:%@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
