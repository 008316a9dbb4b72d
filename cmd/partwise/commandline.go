package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLine returns the command line that does again what cmd does, without
// what changes no result.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{cmd.CommandPath()}, quoteAll(args)...)
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
			case f.Value.Type() == "bool" && v == "true":
				words = append(words, "--"+f.Name)
			case f.Value.Type() == "bool": // false, the default of all
			case len(f.Name) == 1:
				words = append(words, "-"+f.Name, quote(v))
			default:
				words = append(words, "--"+f.Name, quote(v))
			}
		}
	})
	return strings.Join(words, " ")
}

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return out
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
