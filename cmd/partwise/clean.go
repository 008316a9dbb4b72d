package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/sorting"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/report"
)

func cleanCommand() *cobra.Command {
	var to, photos, root, kinds string
	var undo bool
	var notSame []string
	cmd := &cobra.Command{
		Use:   "clean RESULTS",
		Short: "Find copies, bursts, blurred and blank photos, and move them away",
		Long: `List stacks of copies and bursts, blurred and blank photos on a page. RESULTS is the folder of
partwise cluster. With --to, move all photos of each stack but the one to keep, and blank photos.
--undo moves them back.`,
		Example: `  partwise cluster photos -k 10
  partwise clean results/photos-groups
  partwise clean results/photos-groups --to removed`,
		Args: resultsUnless(&undo),
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo && to == "" {
				return usageError{fmt.Errorf("--undo needs --to, the folder with the moved photos")}
			}
			if undo {
				return undoSort(cmd, args, to, photos)
			}
			chosen := strings.Split(kinds, ",")
			for _, kind := range chosen {
				if !slices.Contains(report.Kinds, kind) {
					return usageError{fmt.Errorf("--kinds: unknown kind %q: expected %s", kind, phrase.List(report.Kinds))}
				}
			}
			var pairs [][2]string
			for _, text := range notSame {
				a, b, ok := strings.Cut(text, ",")
				if a, b = strings.TrimSpace(a), strings.TrimSpace(b); !ok || a == b || a == "" || b == "" {
					return usageError{fmt.Errorf("--not-same %q: expected two photos, as in a.jpg,b.jpg", text)}
				}
				pairs = append(pairs, [2]string{a, b})
			}
			_, data, err := output.Written(args[0])
			if err != nil {
				return err
			}
			data = cmp.Or(photos, data)
			if to != "" {
				if err := checkTarget(data, to, filing.Move, false); err != nil {
					return err
				}
			}
			c, err := report.ReadCleaning(args[0], pairs...)
			if err != nil {
				return err
			}
			if err := c.WritePage(cmd.Context(), args[0], commandLine(cmd, args)); err != nil {
				return err
			}
			if err := say(cmd, "%s\nAs a page: %s\n", cmp.Or(c.Summary(), "no copies, bursts, blurred or blank photos"), filepath.Join(args[0], report.CleaningPage)); err != nil || to == "" {
				return err
			}
			rest := c.Rest(chosen)
			if len(rest) == 0 {
				return say(cmd, "No photo is moved.\n")
			}
			groups := &sorting.Groups{Assigned: rest, Data: data, List: filepath.Join(args[0], report.PicturesFile)}
			files, err := openFiles(cmd, groups, root)
			if err != nil {
				return err
			}
			return sortFiles(cmd, groups, files, filing.Move, to)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "target folder, with one subfolder per kind")
	f.StringVar(&kinds, "kinds", "copies,bursts,blank", "kinds to move; also blurred")
	f.StringArrayVar(&notSame, "not-same", nil, "two photos that are no copies, as in a.jpg,b.jpg; remembered")
	f.BoolVar(&undo, "undo", false, "move the photos in --to back")
	picturesFlag(f, &photos)
	rootFlag(f, &root)
	return cmd
}
