package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/tagging"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

func tagCommand() *cobra.Command {
	var pictures, root, table string
	var undo, force bool
	cmd := &cobra.Command{
		Use:   "tag RESULTS",
		Short: "Write group names as keywords into XMP sidecars",
		Long: `Write the name of each photo's group as a keyword into its XMP sidecar, which photo programs
read: dc:subject, and lr:hierarchicalSubject below "partwise". RESULTS is as for partwise sort.
An existing sidecar keeps everything else. Image files are never changed, and --undo reverses all.`,
		Example: `  partwise cluster photos -k 10
  partwise tag results/photos-groups
  partwise tag results/photos-groups --undo
  partwise tag results/photos-groups --csv tags.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				if pictures == "" {
					var err error
					if _, pictures, err = output.Written(args[0]); err != nil {
						return fmt.Errorf("%w; set --pictures", err)
					}
				}
				return undoTags(cmd, pictures)
			}
			if err := checkNewFiles(force, table); err != nil {
				return err
			}
			g, files, err := openGroups(cmd, args[0], pictures, root)
			if err != nil {
				return err
			}
			tags, err := g.Tags(files)
			if err != nil {
				return err
			}
			if table != "" {
				if err := writeFile(table, force, func(w io.Writer) error { return tagging.WriteCSV(w, tags) }); err != nil {
					return err
				}
				return say(cmd, "%s listed in %s; exiftool -csv+=%[2]s FOLDER adds them to the images of a folder.\n", phrase.Count(len(tags), "tag", "tags"), table)
			}
			return writeTags(cmd, g.Data, tags)
		},
	}
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
	dir, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("%s is a known set, whose files get no sidecars; use --csv", data)}
	}
	bar := &stages{w: cmd.ErrOrStderr()}
	r, err := tagging.Write(cmd.Context(), dir, tags, func(done, total int) { bar.show("tagging", done, total) })
	bar.end()
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
	dir, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	bar := &stages{w: cmd.ErrOrStderr()}
	r, err := tagging.Undo(cmd.Context(), dir, func(done, total int) { bar.show("restoring", done, total) })
	bar.end()
	printLeft(cmd, r.Left)
	if err != nil {
		return err
	}
	return say(cmd, "%s removed or restored.\n", phrase.Count(r.Undone, "sidecar", "sidecars"))
}
