package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/filing"
)

// job is a command that is interrupted. It runs in a folder of its own, beside the
// scene's photographs and experiment files, and has its cache in the folder "cache"
// of it.
type job struct {
	name string
	// before are the commands that were run in the folder before.
	before [][]string
	args   []string
	caches bool // it writes into the cache
	// keeps is the one file of those before that it must keep, or "" for all: a run
	// with other settings begins with removing the pages of the one before.
	keeps string
	// own tells that the folder has photographs of its own, in "photos".
	own bool
	// takeBack is the command that takes back what args did, all of it or a part, where
	// args does not go on from a part.
	takeBack []string
	// undoes tells that args takes back, and refuses to where that was done before.
	undoes bool
	// disks tells that onDisks are disks of their own. whole is one of them: then the power fails
	// where the command is killed, and that disk has all that was done to it.
	disks bool
	whole string

	state   string        // the folder as it is before the command
	begin   tree          // what it holds
	want    tree          // and as it is after it
	lasting time.Duration // how long the command takes
	// ignoresCache leaves the cache out of what is compared.
	ignoresCache bool
}

// note is a file of the user's in the results, which nobody may touch.
const (
	noteFile = "out/my notes.txt"
	noteText = "not partwise's\n"
)

var (
	runHalf    = []string{"run", "../half.yaml", "--out", "out"}
	runWhole   = []string{"run", "../whole.yaml", "--out", "out"}
	clusterTwo = []string{"cluster", "../photos", "-k", "2", "--out", "out"}
	clusterAll = []string{"cluster", "../photos", "-k", "3", "--out", "out"}
	npz        = []string{"features", "../photos", "--features", "sift=dense,words=10", "--force", "--out", "out/features.npz", "--words", "out/words.npz"}
	clusterOwn = []string{"cluster", "photos", "-k", "3", "--out", "out"}
	sortCopies = []string{"sort", "out", "--to", "out/sorted", "--copy"}
	sortMoves  = []string{"sort", "out", "--to", "out/sorted", "--move"}
	sortUndo   = []string{"sort", "out", "--to", "out/sorted", "--undo"}
	clusterNew = []string{"cluster", "../photos", "-k", "2", "--out", "groups"}
	assignNew  = []string{"assign", "groups", "../photos", "--force", "--out", "out/assigned.csv"}
	fitMore    = []string{"fit", "../photos", "--rank", "3", "--iterations", "50", "--force", "--out", "out/factors.npz"}
	csv        = []string{"features", "../photos", "--features", "pixels=12", "--force", "--out", "out/features.csv"}
)

func jobs() []*job {
	return []*job{
		{name: "run", args: runWhole, caches: true},
		{name: "run over earlier results", before: [][]string{runHalf}, args: runWhole, keeps: "out/results.jsonl"},
		{name: "cluster", args: clusterAll, caches: true},
		{name: "cluster over earlier groups", before: [][]string{clusterTwo}, args: clusterAll},
		{name: "assign over an earlier list", before: [][]string{clusterNew, assignNew}, args: assignNew},
		{name: "fit over earlier factors", before: [][]string{fitMore}, args: fitMore},
		{name: "features to .npz", args: npz, caches: true},
		{name: "features to .csv over an earlier file", before: [][]string{csv}, args: csv},
		{name: "datasets get, .zip", args: []string{"datasets", "get", "one", "--data", "out", "--mirror", "MIRROR"}},
		{name: "datasets get, .tar.gz", args: []string{"datasets", "get", "two", "--data", "out", "--mirror", "MIRROR"}},
		{name: "sort --copy", own: true, before: [][]string{clusterOwn}, args: sortCopies, takeBack: sortUndo},
		{name: "sort --move", own: true, before: [][]string{clusterOwn}, args: sortMoves, takeBack: sortUndo},
		{name: "sort --undo", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo, undoes: true},
		{name: "sort --move onto another disk", own: true, before: [][]string{clusterOwn}, args: sortMoves, takeBack: sortUndo, disks: true},
		{name: "sort --undo from another disk", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo, undoes: true, disks: true},
		{name: "sort --move onto another disk, power failure", own: true, before: [][]string{clusterOwn}, args: sortMoves, takeBack: sortUndo, disks: true, whole: "photos"},
		{name: "sort --undo from another disk, power failure", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo, undoes: true, disks: true, whole: "out"},
	}
}

// jobsHere returns the jobs that can be run here.
func jobsHere(scratch string) (list []*job, notes []string) {
	list = jobs()
	probe := filepath.Join(scratch, "probe")
	defer unmountDisks(probe)
	if err := mountDisks(probe); err != nil {
		list = slices.DeleteFunc(list, func(j *job) bool { return j.disks })
		notes = []string{"This process may not mount, so nothing was tried with two disks."}
	}
	return list, notes
}

// outcome is how a command ended.
type outcome struct {
	code    int
	printed string
	lasted  time.Duration
	killed  bool
}

// run runs a command to its end, or kills it after some time where that is above 0.
func run(cmd *exec.Cmd, killAfter time.Duration) (outcome, error) {
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	timer := time.AfterFunc(orForever(killAfter), func() { cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	o := outcome{code: cmd.ProcessState.ExitCode(), printed: printed.String(), lasted: time.Since(begin)}
	o.killed = o.code == -1
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return o, err
	}
	return o, nil
}

// patience is how long a command may take that nobody kills.
const patience = 5 * time.Minute

func orForever(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return patience
}

// finish runs the job's command to its end in the folder dir and reports everything
// in which that is not as it should be. Where a command takes back what was done, that is
// run before, and once more at the end, which must leave what was there before.
func (j *job) finish(s *scene, dir string) error {
	if err := j.undo(s, dir); err != nil {
		return err
	}
	if err := j.runWhole(s, dir); err != nil || j.takeBack == nil {
		return err
	}
	if err := j.undo(s, dir); err != nil {
		return err
	}
	// Who was killed before it wrote its list leaves an empty folder.
	_ = os.Remove(filepath.Join(dir, "out", "sorted"))
	return j.compareWith(dir, j.begin)
}

// undo takes back what was done in the folder, where something was.
func (j *job) undo(s *scene, dir string) error {
	if !j.sorted(dir) {
		return nil
	}
	o, err := run(s.command(dir, filepath.Join(dir, "cache"), j.takeBack), 0)
	if err == nil && o.code != 0 {
		err = fmt.Errorf("%s: exit code %d: %s", strings.Join(j.takeBack, " "), o.code, lastLines(o.printed))
	}
	return err
}

// sorted tells whether there is something to take back.
func (j *job) sorted(dir string) bool { return j.takeBack != nil && hasJournal(dir) }

func hasJournal(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "out", "sorted", filing.JournalFile))
	return err == nil
}

func (j *job) runWhole(s *scene, dir string) error {
	o, err := run(s.command(dir, filepath.Join(dir, "cache"), j.args), 0)
	switch {
	case err != nil:
		return err
	case o.code != 0 && !(j.undoes && !hasJournal(dir)):
		return fmt.Errorf("exit code %d: %s", o.code, lastLines(o.printed))
	}
	return j.compare(dir)
}

func (j *job) compare(dir string) error { return j.compareWith(dir, j.want) }

func (j *job) compareWith(dir string, want tree) error {
	got, err := readTree(dir)
	if err == nil && j.own {
		err = eachPhoto(dir, checkPhoto)
	}
	if err != nil {
		return err
	}
	if j.ignoresCache {
		maps.DeleteFunc(got, func(name, _ string) bool { return inCache(name) })
	}
	if diff := got.differences(want); len(diff) > 0 {
		return fmt.Errorf("%d differences from an unbroken run: %s", len(diff), strings.Join(diff[:min(len(diff), 5)], "; "))
	}
	return nil
}

// prepare makes the folder as it is before the command, runs the command unbroken
// twice and checks that both end with the same bytes.
func (j *job) prepare(s *scene, number int) error {
	j.state = filepath.Join(s.dir, fmt.Sprintf("state-%d", number))
	cache := filepath.Join(j.state, "cache")
	if err := os.MkdirAll(filepath.Join(j.state, "out"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(j.state, noteFile), []byte(noteText), 0o666); err != nil {
		return err
	}
	if j.own {
		if err := os.CopyFS(filepath.Join(j.state, "photos"), os.DirFS(filepath.Join(s.dir, "photos"))); err != nil {
			return err
		}
	}
	for _, args := range j.before {
		if o, err := run(s.command(j.state, cache, args), 0); err != nil || o.code != 0 {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, lastLines(o.printed))
		}
	}
	var err error
	if j.begin, err = readTree(j.state); err != nil {
		return err
	}
	for i := range 2 {
		dir := filepath.Join(s.dir, fmt.Sprintf("unbroken-%d-%d", number, i))
		if err := j.start(dir); err != nil {
			return err
		}
		o, err := run(s.command(dir, filepath.Join(dir, "cache"), j.args), 0)
		if err != nil || o.code != 0 {
			return fmt.Errorf("%s: %v: %s", strings.Join(j.args, " "), err, lastLines(o.printed))
		}
		if i > 0 {
			if err := j.compare(dir); err != nil {
				return fmt.Errorf("%s is not repeatable: %w", j.name, err)
			}
			j.lasting = min(j.lasting, o.lasted)
		} else if j.want, err = readTree(dir); err != nil {
			return err
		} else {
			j.lasting = o.lasted
		}
		j.end(dir)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// start makes the folder as it is before the command.
func (j *job) start(dir string) error {
	if j.disks {
		if err := mountDisks(dir); err != nil {
			return err
		}
	}
	if err := os.CopyFS(dir, os.DirFS(j.state)); err != nil || !j.own {
		return err
	}
	if j.undoes { // the journal names the folder
		journal := filepath.Join(dir, "out", "sorted", filing.JournalFile)
		text, err := os.ReadFile(journal)
		if err == nil {
			err = os.WriteFile(journal, bytes.ReplaceAll(text, []byte(j.state+"/"), []byte(dir+"/")), 0o666)
		}
		if err != nil {
			return err
		}
	}
	err := eachPhoto(dir, func(path string, _ fs.FileInfo) error {
		return errors.Join(os.Chmod(path, photoMode), os.Chtimes(path, photoTime, photoTime))
	})
	if j.disks {
		for _, name := range onDisks {
			err = errors.Join(err, syncDisk(filepath.Join(dir, name)))
		}
	}
	return err
}

// end gives back what start took, but for the folder.
func (j *job) end(dir string) {
	if j.disks {
		unmountDisks(dir)
	}
}

// What photographs have that are sorted, wherever they are.
const photoMode = 0o640

var photoTime = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

func checkPhoto(path string, info fs.FileInfo) error {
	if info.Mode() != photoMode || !info.ModTime().Equal(photoTime) {
		return fmt.Errorf("%s has the permissions %v and the time %v", path, info.Mode(), info.ModTime())
	}
	return nil
}

// eachPhoto calls do with each photograph, sorted or not.
func eachPhoto(dir string, do func(path string, info fs.FileInfo) error) error {
	for _, folder := range []string{"photos", "out/sorted"} {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".png" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return do(path, info)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkNote reports a file of the user's that is not as it was.
func checkNote(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, noteFile))
	if err != nil {
		return err
	}
	if string(text) != noteText {
		return fmt.Errorf("%s has other content", noteFile)
	}
	return nil
}

// lastLines returns the end of what a command printed.
func lastLines(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
