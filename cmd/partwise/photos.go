package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/sorting"
	"github.com/seed4492f2cd/partwise/internal/tagging"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/report"
)

func sortCommand() *cobra.Command {
	var to, pictures, root string
	var undo bool
	ways := map[filing.Way]*bool{filing.Copy: new(bool), filing.Link: new(bool), filing.Move: new(bool)}
	cmd := newCommand("sort", func(cmd *cobra.Command, args []string) error {
		if undo {
			return undoSort(cmd, args, to, pictures)
		}
		g, files := openGroups(cmd, args[0], pictures, root)
		for way, isChosen := range ways {
			if *isChosen {
				checkTarget(g.Data, to, way, way == filing.Move)
				return sortFiles(cmd, g, files, way, to)
			}
		}
		return nil // the flags exclude it
	})
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

// openGroups reads the groups of RESULTS and the paths of the photos by their names.
func openGroups(cmd *cobra.Command, results, pictures, root string) (*sorting.Groups, map[string]string) {
	g := guard.Must(sorting.Read(results))
	printNotes(cmd, g.Notes)
	if g.Data = cmp.Or(pictures, g.Data); g.Data == "" {
		failUsage("the folder of the photos of %s is unknown; set --pictures", results)
	}
	return g, openFiles(cmd, g, results, root)
}

// openFiles leaves out of g the photos that partwise clean moved away. Without photos it opens nothing.
func openFiles(cmd *cobra.Command, g *sorting.Groups, results, root string) map[string]string {
	if len(g.Assigned) == 0 {
		return nil
	}
	set, err := datasets.Open(cmd.Context(), g.Data, datasets.OpenOptions{Root: root, NoClasses: true, SkipBad: true})
	if err != nil {
		guard.Fail("the photos: %w (--pictures sets their folder)", err)
	}
	defer set.Close()
	guard.FailIf(set.Files == nil, "the samples of %s are not image files", g.Data)
	filesIn(cmd.Context()).addReadSet(set, g.Data)
	files := make(map[string]string, set.Len())
	for i, name := range set.Names {
		files[name] = guard.Must(filepath.Abs(set.Files[i]))
	}
	gone, _ := report.Gone(results, set.Names)
	g.Assigned = slices.DeleteFunc(g.Assigned, func(a report.Assignment) bool { return gone[a.Sample] })
	noteGone(cmd, gone, g.Data)
	return files
}

func noteGone(cmd *cobra.Command, gone map[string]bool, data string) {
	if n := len(gone); n > 0 {
		warner(cmd)(fmt.Sprintf("left out: %s, listed by partwise clean and no longer in %s", phrase.Count(n, "photo", "photos"), data))
	}
}

// checkTarget refuses a target folder inside the data unless that is allowed, and moves of a known set.
func checkTarget(data, to string, way filing.Way, allowInside bool) {
	if !allowInside {
		refuseInside(data, to, "%s is inside the folder of the photos; choose another with --to", to)
	}
	if info, err := os.Stat(data); way == filing.Move && (err != nil || !info.IsDir()) {
		failUsage("%s is a known set, whose files cannot be moved; use --copy or --link", data)
	}
}

func sortFiles(cmd *cobra.Command, g *sorting.Groups, files map[string]string, way filing.Way, to string) error {
	data, items := g.Data, guard.Must(g.Places(files))
	r, err := withBar(cmd, "sorting", func(show func(done, total int)) (*filing.Result, error) {
		return filing.File(cmd.Context(), to, way, items, sorting.Home(data), show)
	})
	documentOf(cmd).Out, documentOf(cmd).Sorted = to, r
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
	u := guard.Must(withBar(cmd, "restoring", func(show func(done, total int)) (*filing.Result, error) {
		return filing.Undo(cmd.Context(), to, sorting.Home(pictures), show)
	}))
	documentOf(cmd).Sorted = u
	printLeft(cmd, u.Left)
	if n := len(u.Left); n > 0 {
		return fmt.Errorf("%s could not be restored (listed in %s); set --pictures to the folder of the photos", phrase.Count(n, "file", "files"), filepath.Join(to, filing.JournalFile))
	}
	did := map[filing.Way]string{filing.Copy: "copies removed", filing.Link: "links removed", filing.Move: "files moved back"}[u.Way]
	return say(cmd, "%d %s.\n", u.Files, did)
}

func cleanCommand() *cobra.Command {
	var to, photos, root, kinds string
	var undo bool
	var notSame []string
	cmd := newCommand("clean", func(cmd *cobra.Command, args []string) error {
		failUsageIf(undo && to == "", "--undo needs --to, the folder with the moved photos")
		if undo {
			return undoSort(cmd, args, to, photos)
		}
		chosen := strings.Split(kinds, ",")
		for _, kind := range chosen {
			failUsageIf(!slices.Contains(report.Kinds, kind),
				"--kinds: unknown kind %q: expected %s", kind, phrase.List(report.Kinds))
		}
		var pairs [][2]string
		for _, text := range notSame {
			a, b, ok := strings.Cut(text, ",")
			if a, b = strings.TrimSpace(a), strings.TrimSpace(b); !ok || a == b || a == "" || b == "" {
				failUsage("--not-same %q: expected two photos, as in a.jpg,b.jpg", text)
			}
			pairs = append(pairs, [2]string{a, b})
		}
		_, data, err := output.Written(args[0])
		guard.Check(err)
		data = cmp.Or(photos, data)
		if to != "" {
			checkTarget(data, to, filing.Move, false)
		}
		c := guard.Must(report.ReadCleaning(args[0], pairs...))
		documentOf(cmd).Cleaning = c
		guard.Check(c.WritePage(cmd.Context(), args[0], commandLine(cmd, args)))
		guard.Check(say(cmd, "%s\nAs a page: %s\n", cmp.Or(c.Summary(), "no copies, bursts, blurred or blank photos"), filepath.Join(args[0], report.CleaningPage)))
		if to == "" {
			return nil
		}
		groups := &sorting.Groups{Assigned: c.Rest(chosen), Data: data, List: filepath.Join(args[0], report.PicturesFile)}
		files := openFiles(cmd, groups, args[0], root)
		if len(groups.Assigned) == 0 {
			return say(cmd, "No photo is moved.\n")
		}
		return sortFiles(cmd, groups, files, filing.Move, to)
	})
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "target folder, with one subfolder per kind")
	f.StringVar(&kinds, "kinds", "copies,bursts,blank", "kinds to move; also blurred")
	f.StringArrayVar(&notSame, "not-same", nil, "two photos that are no copies, as in a.jpg,b.jpg; remembered")
	f.BoolVar(&undo, "undo", false, "move the photos in --to back")
	picturesFlag(f, &photos)
	rootFlag(f, &root)
	return cmd
}

func tagCommand() *cobra.Command {
	var pictures, root, table string
	var undo, force bool
	cmd := newCommand("tag", func(cmd *cobra.Command, args []string) error {
		if undo {
			failUsageIf(pictures == "" && len(args) == 0, "--undo needs RESULTS or --pictures")
			if pictures == "" {
				var err error
				if _, pictures, err = output.Written(args[0]); err != nil {
					return fmt.Errorf("%w; set --pictures", err)
				}
			}
			return undoTags(cmd, pictures)
		}
		guard.Check(checkNewFiles(force, table))
		g, files := openGroups(cmd, args[0], pictures, root)
		tags := guard.Must(g.Tags(files))
		documentOf(cmd).Tags = tags
		if table == "" {
			return writeTags(cmd, g.Data, tags)
		}
		guard.Check(writeFile(table, force, func(w io.Writer) error { return tagging.WriteCSV(w, tags) }))
		return say(cmd, "%s listed in %s; exiftool -csv+=%[2]s FOLDER adds them to the images of a folder.\n", phrase.Count(len(tags), "tag", "tags"), table)
	})
	f := cmd.Flags()
	f.StringVar(&table, "csv", "", "write a CSV file for exiftool instead of sidecars")
	f.BoolVar(&force, "force", false, "replace an existing CSV file")
	f.BoolVar(&undo, "undo", false, "undo an earlier tag")
	cmd.MarkFlagsMutuallyExclusive("csv", "undo")
	picturesFlag(f, &pictures)
	rootFlag(f, &root)
	return cmd
}

func writeTags(cmd *cobra.Command, data string, tags []tagging.Tag) error {
	if info, err := os.Stat(data); err != nil || !info.IsDir() {
		failUsage("%s is a known set, whose files get no sidecars; use --csv", data)
	}
	r, err := withBar(cmd, "tagging", func(show func(done, total int)) (*tagging.Result, error) {
		return tagging.Write(cmd.Context(), data, tags, show)
	})
	documentOf(cmd).Tagged = r
	printLeft(cmd, r.Left)
	n := r.Created + r.Extended
	switch {
	case err != nil && n > 0:
		return fmt.Errorf("%w; %s were written before the error, and --undo reverses that", err, phrase.Count(n, "sidecar", "sidecars"))
	case err != nil:
		return err
	case n == 0:
		return say(cmd, "No sidecar was written: %d have the keywords.\n", r.Same)
	}
	existed := ""
	if r.Extended > 0 {
		existed = fmt.Sprintf(", of which %d existed before", r.Extended)
	}
	return say(cmd, "%s written in %s%s; --undo reverses this.\n", phrase.Count(n, "sidecar", "sidecars"), data, existed)
}

func undoTags(cmd *cobra.Command, data string) error {
	r, err := withBar(cmd, "restoring", func(show func(done, total int)) (*tagging.Result, error) {
		return tagging.Undo(cmd.Context(), data, show)
	})
	documentOf(cmd).Tagged = r
	printLeft(cmd, r.Left)
	guard.Check(err)
	return say(cmd, "%s removed or restored.\n", phrase.Count(r.Undone, "sidecar", "sidecars"))
}
