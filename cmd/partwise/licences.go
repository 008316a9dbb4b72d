package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/licences"
)

func licencesCommand() *cobra.Command {
	var text bool
	cmd := &cobra.Command{
		Use:     "licences [NAME]",
		Aliases: []string{"licenses"},
		Short:   "List the licences of what is linked into this program, or print one",
		Example: `  partwise licences
  partwise licences cobra
  partwise licences --text`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return errors.New("this program was built without modules, and does not know what is linked into it")
			}
			linked, err := licences.Linked(info)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case len(args) == 1:
				var found []licences.Licence
				for _, l := range linked {
					if strings.Contains(strings.ToLower(l.Name), strings.ToLower(args[0])) {
						found = append(found, l)
					}
				}
				if len(found) == 0 {
					return usageError{fmt.Errorf("nothing that is linked into this program is called %q; \"partwise licences\" lists it", args[0])}
				}
				licences.Write(out, found)
			case text:
				licences.Write(out, linked)
			default:
				return listLicences(cmd.OutOrStdout(), linked)
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVar(&text, "text", false, "print the texts of all")
	return cmd
}

func listLicences(w io.Writer, linked []licences.Licence) error {
	t := columns.Table{Header: []string{"what", "version", "licence"}, Limits: []int{0, 0, 40}}
	for _, l := range linked {
		t.Row(l.Name, l.Version, cmp.Or(l.ID, "not known"))
	}
	return printTable(w, t, "partwise itself is under Apache-2.0. partwise licences NAME prints a text, --text all of them.")
}
