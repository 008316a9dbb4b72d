package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

func datasetsCommand() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "datasets [NAME]",
		Short: "List the known sets and where they are, or tell of one",
		Example: `  partwise datasets
  partwise datasets orl
  partwise datasets get orl`,
		Args:              arguments(0, 1),
		ValidArgsFunction: setNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSets(cmd.OutOrStdout(), root)
			}
			info, ok := catalogue.Lookup(args[0])
			if !ok {
				return usageError{unknownSet(args[0])}
			}
			return tellSet(cmd.OutOrStdout(), info, root)
		},
	}
	cmd.PersistentFlags().StringVar(&root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
	cmd.AddCommand(getCommand(&root))
	return cmd
}

func getCommand(root *string) *cobra.Command {
	var from, mirror string
	var insecure bool
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Download a known set",
		Long: `Get downloads a known set, goes on where a download broke off, and unpacks
archives. Files are checked against their published sums. Where there is none,
the sum of the first download is printed and noted beside the set, and later
downloads are held to it; over plain http such files come with --insecure only.
Nothing that is in the data folder already is changed or removed.`,
		Example:           "  partwise datasets get orl",
		Args:              arguments(1, 1),
		ValidArgsFunction: setNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			info, ok := catalogue.Lookup(args[0])
			switch {
			case !ok:
				return usageError{unknownSet(args[0])}
			case len(info.Forms) == 0:
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is made when it is asked for\n", info.Name)
				return err
			case from != "" && from != "raw" && from != "mat":
				return usageError{fmt.Errorf("--from %s; there are raw and mat", from)}
			}
			dir := *root
			if dir == "" {
				var err error
				if dir, err = catalogue.DataDir(); err != nil {
					return err
				}
			}
			bars := &stages{w: cmd.ErrOrStderr(), unit: bytesUnit}
			report := func(message string) {
				bars.end()
				plaintext.Fprintf(cmd.ErrOrStderr(), "%s\n", message)
			}
			d := catalogue.Downloader{From: from, Mirror: mirror, Insecure: insecure, Report: report, Progress: bars.show}
			err := d.Get(cmd.Context(), info.Name, dir)
			bars.end()
			if err != nil {
				return stopped(cmd.Context(), err, "getting "+info.Name, "what came is kept in "+filepath.Join(dir, info.Name)+", and the same command goes on from there")
			}
			_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%s is in %s\n", info.Name, dir)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the form to get: raw (images) or mat (a MATLAB file)")
	cmd.Flags().StringVar(&mirror, "mirror", "", "address of a folder to download from in place of the set's own")
	cmd.Flags().BoolVar(&insecure, "insecure", false, "get files without a published sum over plain http too")
	return cmd
}

func setNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, s := range catalogue.Known() {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func unknownSet(name string) error {
	names, _ := setNames(nil, nil, "")
	return fmt.Errorf("there is no known set %q%s; there are %s", name, phrase.Guess(name, names), strings.Join(names, ", "))
}

func listSets(w io.Writer, root string) error {
	t := listing{header: []string{"set", "samples", "classes", "what", "where"}, limits: []int{0, 0, 0, 40, 44}}
	for _, s := range catalogue.Known() {
		t.row(s.Name, s.Samples, s.Classes, s.Content, plaintext.Line(where(s, root)))
	}
	if err := t.print(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+hanging("", "partwise datasets NAME tells more of one: what to cite, its licence, how to get it.", columns(w)))
	return err
}

// where says where a set is.
func where(s catalogue.Info, root string) string {
	if len(s.Forms) == 0 {
		return "made when asked for"
	}
	path, err := catalogue.Find(s.Name, root, "")
	switch {
	case err == nil:
		return path
	case downloads(s):
		return "not here; partwise datasets get " + s.Name
	}
	return "not here"
}

func downloads(s catalogue.Info) bool {
	for _, f := range s.Forms {
		if len(f.Files) > 0 {
			return true
		}
	}
	return false
}

func tellSet(w io.Writer, s catalogue.Info, root string) error {
	t := listing{limits: []int{0, 90}}
	put := func(what, value string) {
		if value != "" {
			t.row(what, value)
		}
	}
	put("set", s.Name+": "+s.Title)
	put("samples", fmt.Sprintf("%d of %d classes", s.Samples, s.Classes))
	put("what", s.Content)
	put("cite", s.Citation)
	put("licence", s.Licence)
	put("home", s.Home)
	put("where", plaintext.Line(where(s, root)))
	put("how", s.How)
	for _, f := range s.Forms {
		for _, d := range f.Files {
			sum := "no sum is published"
			switch {
			case d.SHA256 != "":
				sum = "sha256 " + d.SHA256
			case d.MD5 != "":
				sum = "md5 " + d.MD5
			}
			put("from "+f.From, fmt.Sprintf("%s (%s)", strings.Join(d.URLs, " or "), sum))
		}
	}
	return t.print(w)
}
