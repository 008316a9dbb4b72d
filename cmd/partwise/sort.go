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
		Short: "Put pictures into folders, one for each of their groups",
		Long: `Sort puts the pictures that cluster has grouped into folders, one for each group: copies
of them, symbolic links to them, or the files themselves. RESULTS is the folder of
cluster's results, whose assignments.csv you may edit before, or with --pictures a file that
partwise assign wrote. Corrections of an explore that runs or was killed count. A folder is
called after its group's name or class.

No file is ever overwritten. --undo, which needs only --to, removes the copies and links, and
moves files back to where they were.`,
		Example: `  partwise cluster photos -k 10
  partwise sort results/photos-groups --to sorted --copy
  partwise sort --to sorted --undo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if undo {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				if pictures == "" && len(args) > 0 {
					_, pictures, _ = output.Written(args[0]) // without results the journal suffices
				}
				return undoSort(cmd, to, pictures)
			}
			g, err := sorting.Read(args[0])
			if err != nil {
				return err
			}
			printNotes(cmd, g.Notes)
			if g.Data = cmp.Or(pictures, g.Data); g.Data == "" {
				return usageError{fmt.Errorf("where are the pictures of %s? say it with --pictures", args[0])}
			}
			for way, isChosen := range ways {
				if *isChosen {
					return sortFiles(cmd, g, way, to, root)
				}
			}
			return nil // the flags exclude it
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "folder in which there is to be a folder for each group")
	f.BoolVar(ways[filing.Copy], "copy", false, "copy the pictures")
	f.BoolVar(ways[filing.Link], "link", false, "make symbolic links to the pictures")
	f.BoolVar(ways[filing.Move], "move", false, "move the pictures")
	f.BoolVar(&undo, "undo", false, "take back what was put there")
	_ = cmd.MarkFlagRequired("to")
	cmd.MarkFlagsOneRequired("copy", "link", "move", "undo")
	cmd.MarkFlagsMutuallyExclusive("copy", "link", "move", "undo")
	picturesFlag(f, &pictures)
	rootFlag(f, &root)
	return cmd
}

func sortFiles(cmd *cobra.Command, g *sorting.Groups, way filing.Way, to, root string) error {
	ctx, data := cmd.Context(), g.Data
	set, err := datasets.Open(ctx, data, datasets.OpenOptions{Root: root, NoClasses: true, SkipBad: true})
	if err != nil {
		return fmt.Errorf("the pictures: %w (--pictures says where they are now)", err)
	}
	defer set.Close()
	if set.Files == nil {
		return fmt.Errorf("the samples of %s are no image files, which could be sorted", data)
	}
	if inside, err := output.Inside(data, to); err != nil {
		return usageError{err}
	} else if inside && way != filing.Move {
		return usageError{fmt.Errorf("%s is among the pictures, where the files would count twice; say with --to where else", to)}
	}
	if info, err := os.Stat(data); way == filing.Move && (err != nil || !info.IsDir()) {
		return usageError{fmt.Errorf("%s is a known set, which stays whole: --copy or --link its pictures", data)}
	}
	files := make(map[string]string, set.Len())
	for i, name := range set.Names {
		if files[name], err = filepath.Abs(set.Files[i]); err != nil {
			return err
		}
	}
	items, err := g.Places(files)
	if err != nil {
		return err
	}
	bar := &stages{w: cmd.ErrOrStderr()}
	r, err := filing.File(ctx, to, way, items, sorting.Home(data), func(done, total int) { bar.show("sorting", done, total) })
	bar.end()
	printLeft(cmd, r.Left)
	sorted := phrase.Count(r.Files, "image", "images")
	switch {
	case err != nil && r.Files > 0:
		return fmt.Errorf("%w; %s were sorted before, which --undo takes back", err, sorted)
	case err != nil:
		return err
	case r.Files == 0:
		return fmt.Errorf("no picture of %s was moved into %s", data, to)
	}
	did := map[filing.Way]string{filing.Copy: "copied", filing.Link: "linked", filing.Move: "moved"}[way]
	return say(cmd, "%s %s into %s in %s; --undo reverses this.\n", sorted, did, phrase.Count(r.Folders, "folder", "folders"), to)
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

func undoSort(cmd *cobra.Command, to, pictures string) error {
	bar := &stages{w: cmd.ErrOrStderr()}
	u, err := filing.Undo(cmd.Context(), to, sorting.Home(pictures), func(done, total int) { bar.show("taking back", done, total) })
	bar.end()
	if err != nil {
		return err
	}
	printLeft(cmd, u.Left)
	if n := len(u.Left); n > 0 {
		return fmt.Errorf("%s could not be taken back; --pictures says where the pictures are, and the list of them stays in %s", phrase.Count(n, "picture", "pictures"), filepath.Join(to, filing.JournalFile))
	}
	did := map[filing.Way]string{filing.Copy: "copies removed", filing.Link: "links removed", filing.Move: "images moved back"}[u.Way]
	return say(cmd, "%d %s.\n", u.Files, did)
}
