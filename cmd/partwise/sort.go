package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/filename"
	"github.com/seed4492f2cd/partwise/internal/filing"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/report"
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
cluster's results. Sort reads its assignments.csv, which you may edit before, or the corrected
groups of an explore that runs or was killed. A folder is called after its group's name or class.
RESULTS may also be a file that partwise assign wrote, with --pictures for the folder of its
pictures.

No file is ever overwritten. --undo removes the copies and links, and moves files back
to where they were. It needs only --to.`,
		Example: `  partwise cluster photos -k 10
  partwise sort results/photos-groups --to sorted --copy
  partwise sort --to sorted --undo`,
		Args: func(cmd *cobra.Command, args []string) error {
			least := 1
			if undo {
				least = 0
			}
			return arguments(least, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var way filing.Way
			chosen := 0
			for w, set := range ways {
				if *set {
					way = w
					chosen++
				}
			}
			switch {
			case to == "":
				return usageError{errors.New("where to? say it with --to")}
			case undo && chosen > 0:
				return usageError{errors.New("--undo takes back what was done, in whatever way: leave out --copy, --link and --move")}
			case !undo && chosen != 1:
				return usageError{errors.New("how? say one of --copy, --link and --move")}
			}
			if undo {
				if pictures == "" && len(args) > 0 {
					_, pictures, _ = output.Written(args[0]) // without results the journal is enough
				}
				return undoSort(cmd, to, pictures)
			}
			assigned, data, list, err := readGroups(cmd, args[0])
			if err != nil {
				return err
			}
			if data == "" && pictures == "" {
				return usageError{fmt.Errorf("where are the pictures of %s? say it with --pictures", args[0])}
			}
			if pictures != "" {
				data = pictures
			}
			return sortFiles(cmd, way, to, data, root, list, assigned)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "folder in which there is to be a folder for each group")
	f.BoolVar(ways[filing.Copy], "copy", false, "copy the pictures")
	f.BoolVar(ways[filing.Link], "link", false, "make symbolic links to the pictures")
	f.BoolVar(ways[filing.Move], "move", false, "move the pictures")
	f.BoolVar(&undo, "undo", false, "take back what was put there")
	f.StringVar(&pictures, "pictures", "", "folder of the pictures, where it is another than when they were grouped")
	f.StringVar(&root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
	return cmd
}

// readGroups returns which sample is in which group by a folder of results or a list, where
// the samples are, "" where that is not known, and the list.
func readGroups(cmd *cobra.Command, path string) (assigned []report.Assignment, data, list string, err error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		assigned, err = report.ReadAssignmentsFile(path)
		return assigned, "", path, err
	}
	if assigned, data, err = report.ReadAssignments(path); err != nil {
		return nil, "", "", err
	}
	list = filepath.Join(path, report.AssignmentsFile)
	kept := filepath.Join(path, report.FeedbackFolder)
	if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
		return assigned, data, list, nil
	}
	model, err := sumOfFile(filepath.Join(path, report.ModelFile))
	if err != nil {
		return nil, "", "", err
	}
	corrected, unapplied, err := feedback.Pending(kept, model)
	switch note := tell(cmd.ErrOrStderr()); {
	case err != nil:
	case unapplied:
		note(fmt.Sprintf("%s holds corrections of earlier groups; partwise explore %s applies them to these", kept, path))
	case corrected != "":
		note(fmt.Sprintf("%s holds corrections that are not in %s yet; they are used", corrected, list))
		assigned, err = report.ReadAssignmentsFile(corrected)
		list = corrected
	}
	return assigned, data, list, err
}

func sortFiles(cmd *cobra.Command, way filing.Way, to, data, root, list string, assigned []report.Assignment) error {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	set, err := datasets.Open(ctx, data, datasets.OpenOptions{Root: root, Folder: datasets.FolderOptions{NoClasses: true, SkipBad: true}})
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
	items, err := places(assigned, files, list)
	if err != nil {
		return err
	}
	working := newBar(stderr, "sorting")
	r, err := filing.File(ctx, to, way, items, home(data), working.count)
	working.end()
	tellLeft(stderr, r.Left)
	sorted := phrase.Count(r.Files, "picture", "pictures")
	switch {
	case err != nil && r.Files > 0:
		return fmt.Errorf("%w; %s were sorted before, which --undo takes back", err, sorted)
	case err != nil:
		return err
	case r.Files == 0:
		return fmt.Errorf("no picture of %s was moved into %s", data, to)
	}
	did := map[filing.Way]string{filing.Copy: "copied", filing.Link: "linked", filing.Move: "moved"}[way]
	_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%s %s into %s of %s; --undo takes it back.\n", sorted, did, phrase.Count(r.Folders, "folder", "folders"), to)
	return err
}

// home tells to which paths files may be moved back: those in the folder of the pictures. Where
// that is not known the journal alone says where, which may be a stranger's: then files that
// are called as images are, which do no harm wherever they are.
func home(pictures string) func(string) (bool, error) {
	return func(name string) (bool, error) {
		if pictures == "" {
			return imagefile.HasExtension(name), nil
		}
		return output.Inside(pictures, name)
	}
}

// tellLeft says of the first files that were left why.
func tellLeft(stderr io.Writer, left []string) {
	const most = 10
	for _, why := range left[:min(len(left), most)] {
		tell(stderr)(why)
	}
	if n := len(left) - most; n > 0 {
		tell(stderr)(fmt.Sprintf("and %d more", n))
	}
}

// places returns where each file goes. A file keeps its name; of two that would have
// one, the folder that it comes from stands before it.
func places(assigned []report.Assignment, files map[string]string, list string) ([]filing.Item, error) {
	most := 0
	for _, a := range assigned {
		most = max(most, a.Group)
	}
	folder := map[int]string{}
	taken := map[string]bool{filing.JournalFile: true}
	items := make([]filing.Item, 0, len(assigned))
	for _, a := range assigned {
		file, ok := files[a.Sample]
		if !ok {
			return nil, fmt.Errorf("%s: line %d: there is no picture %q", list, a.Line, a.Sample)
		}
		delete(files, a.Sample) // listed once
		if folder[a.Group] == "" {
			name := fmt.Sprintf("group-%0*d", len(fmt.Sprint(most)), a.Group)
			if a.Name != "" {
				name = filename.Folder(a.Name, runtime.GOOS == "windows")
			}
			folder[a.Group] = unused(name, "", taken)
		}
		place := path.Join(folder[a.Group], filepath.Base(file))
		if taken[filename.Key(place)] {
			place = path.Join(folder[a.Group], strings.ReplaceAll(a.Sample, "/", "-"))
		}
		ext := path.Ext(place)
		items = append(items, filing.Item{From: file, To: unused(strings.TrimSuffix(place, ext), ext, taken)})
	}
	return items, nil
}

// unused returns a name with its extension that is not taken, by a number between them if need
// be, and takes it.
func unused(name, ext string, taken map[string]bool) string {
	try := name + ext
	for n := 2; taken[filename.Key(try)]; n++ {
		try = fmt.Sprintf("%s-%d%s", name, n, ext)
	}
	taken[filename.Key(try)] = true
	return try
}

func undoSort(cmd *cobra.Command, to, pictures string) error {
	working := newBar(cmd.ErrOrStderr(), "taking back")
	u, err := filing.Undo(cmd.Context(), to, home(pictures), working.count)
	working.end()
	if err != nil {
		return err
	}
	tellLeft(cmd.ErrOrStderr(), u.Left)
	if n := len(u.Left); n > 0 {
		return fmt.Errorf("%s could not be taken back; the list of them stays in %s", phrase.Count(n, "picture", "pictures"), filepath.Join(to, filing.JournalFile))
	}
	did := map[filing.Way]string{filing.Copy: "copies removed", filing.Link: "links removed", filing.Move: "pictures moved back"}[u.Way]
	_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%d %s.\n", u.Files, did)
	return err
}
