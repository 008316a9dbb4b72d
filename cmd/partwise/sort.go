package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/sorting"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

func sortCommand() *cobra.Command {
	var to, pictures, root string
	var undo bool
	ways := map[filing.Way]*bool{filing.Copy: new(bool), filing.Link: new(bool), filing.Move: new(bool)}
	cmd := &cobra.Command{
		Use:   "sort RESULTS",
		Short: "Sort photos into one folder per group",
		Long: `Copy, link or move the grouped photos, with their sidecars, raw images and live videos, into one
folder per group. RESULTS is the folder of partwise cluster or, with --pictures, the CSV file of
partwise assign. Existing files are never overwritten, and --undo reverses a sort.`,
		Example: `  partwise cluster photos -k 10
  partwise sort results/photos-groups --to sorted --copy
  partwise sort --to sorted --undo`,
		Args: resultsUnless(&undo),
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				return undoSort(cmd, args, to, pictures)
			}
			g, files, err := openGroups(cmd, args[0], pictures, root)
			if err != nil {
				return err
			}
			for way, isChosen := range ways {
				if *isChosen {
					if err := checkTarget(g.Data, to, way, way == filing.Move); err != nil {
						return err
					}
					return sortFiles(cmd, g, files, way, to)
				}
			}
			return nil // the flags exclude it
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "target folder, with one subfolder per group")
	f.BoolVar(ways[filing.Copy], "copy", false, "copy the photos")
	f.BoolVar(ways[filing.Link], "link", false, "create symbolic links to the photos")
	f.BoolVar(ways[filing.Move], "move", false, "move the photos")
	f.BoolVar(&undo, "undo", false, "undo an earlier sort into --to")
	_ = cmd.MarkFlagRequired("to")
	cmd.MarkFlagsOneRequired("copy", "link", "move", "undo")
	cmd.MarkFlagsMutuallyExclusive("copy", "link", "move", "undo")
	picturesFlag(f, &pictures)
	rootFlag(f, &root)
	return cmd
}

// resultsUnless checks the argument RESULTS, which is optional with undo.
func resultsUnless(undo *bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *undo {
			return cobra.MaximumNArgs(1)(cmd, args)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
}

// openGroups reads the groups of RESULTS and the paths of the photos by their names.
func openGroups(cmd *cobra.Command, results, pictures, root string) (g *sorting.Groups, files map[string]string, err error) {
	if g, err = sorting.Read(results); err != nil {
		return nil, nil, err
	}
	printNotes(cmd, g.Notes)
	if g.Data = cmp.Or(pictures, g.Data); g.Data == "" {
		return nil, nil, usageError{fmt.Errorf("the folder of the photos of %s is unknown; set --pictures", results)}
	}
	files, err = openFiles(cmd, g, root)
	return g, files, err
}

// openFiles returns the paths of the photos of g by their names.
func openFiles(cmd *cobra.Command, g *sorting.Groups, root string) (files map[string]string, err error) {
	set, err := datasets.Open(cmd.Context(), g.Data, datasets.OpenOptions{Root: root, NoClasses: true, SkipBad: true})
	if err != nil {
		return nil, fmt.Errorf("the photos: %w (--pictures sets their folder)", err)
	}
	defer set.Close()
	if set.Files == nil {
		return nil, fmt.Errorf("the samples of %s are not image files", g.Data)
	}
	if err := filesIn(cmd.Context()).ReadsSet(set, g.Data); err != nil {
		return nil, err
	}
	files = make(map[string]string, set.Len())
	for i, name := range set.Names {
		if files[name], err = filepath.Abs(set.Files[i]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checkTarget refuses a target folder inside the data unless that is allowed, and moves of a known set.
func checkTarget(data, to string, way filing.Way, allowInside bool) error {
	if inside, err := output.Inside(data, to); err != nil {
		return usageError{err}
	} else if inside && !allowInside {
		return usageError{fmt.Errorf("%s is inside the folder of the photos; choose another with --to", to)}
	}
	if info, err := os.Stat(data); way == filing.Move && (err != nil || !info.IsDir()) {
		return usageError{fmt.Errorf("%s is a known set, whose files cannot be moved; use --copy or --link", data)}
	}
	return nil
}

func sortFiles(cmd *cobra.Command, g *sorting.Groups, files map[string]string, way filing.Way, to string) error {
	data := g.Data
	items, err := g.Places(files)
	if err != nil {
		return err
	}
	bar := &stages{w: cmd.ErrOrStderr()}
	r, err := filing.File(cmd.Context(), to, way, items, sorting.Home(data), func(done, total int) { bar.show("sorting", done, total) })
	bar.end()
	printLeft(cmd, r.Left)
	switch {
	case err != nil && r.Files > 0:
		return fmt.Errorf("%w; %s were sorted before the error, and --undo reverses that", err, phrase.Count(r.Files, "file", "files"))
	case err != nil:
		return err
	case r.Files == 0:
		return fmt.Errorf("no photo of %s was moved into %s", data, to)
	}
	did := map[filing.Way]string{filing.Copy: "copied", filing.Link: "linked", filing.Move: "moved"}[way]
	sorted, partners := phrase.Count(r.Files-r.Partners, "image", "images"), ""
	if r.Partners > 0 {
		partners = " with " + phrase.Count(r.Partners, "partner file", "partner files")
	}
	return say(cmd, "%s%s %s into %s in %s; --undo reverses this.\n", sorted, partners, did, phrase.Count(r.Folders, "folder", "folders"), to)
}

// printLeft prints why the first of the remaining files were not moved.
func printLeft(cmd *cobra.Command, left []string) {
	const most = 10
	for _, why := range left[:min(len(left), most)] {
		warner(cmd)(why)
	}
	if n := len(left) - most; n > 0 {
		warner(cmd)(fmt.Sprintf("and %d more", n))
	}
}

// undoSort moves the files in a folder back to the folder of the pictures, by default the one in the results.
func undoSort(cmd *cobra.Command, results []string, to, pictures string) error {
	if pictures == "" && len(results) > 0 {
		_, pictures, _ = output.Written(results[0]) // without results the journal suffices
	}
	bar := &stages{w: cmd.ErrOrStderr()}
	u, err := filing.Undo(cmd.Context(), to, sorting.Home(pictures), func(done, total int) { bar.show("restoring", done, total) })
	bar.end()
	if err != nil {
		return err
	}
	printLeft(cmd, u.Left)
	if n := len(u.Left); n > 0 {
		return fmt.Errorf("%s could not be restored (listed in %s); set --pictures to the folder of the photos", phrase.Count(n, "file", "files"), filepath.Join(to, filing.JournalFile))
	}
	did := map[filing.Way]string{filing.Copy: "copies removed", filing.Link: "links removed", filing.Move: "files moved back"}[u.Way]
	return say(cmd, "%d %s.\n", u.Files, did)
}
