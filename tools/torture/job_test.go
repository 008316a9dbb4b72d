//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/filing"
)

// job is a command that is interrupted. It runs in its own folder, with its cache in the folder "cache".
type job struct {
	name   string
	before [][]string // commands that ran in the folder before
	args   []string
	caches bool // it writes into the cache
	// keeps is the only earlier file that it must keep, or "" for all: a run with other settings first removes earlier
	// pages.
	keeps string
	own   bool // the folder has its own photographs, in "photos"
	// takeBack undoes args, completely or in part, if args does not continue from a part.
	takeBack []string
	undoes   bool // args undoes, and fails if that was done before
	// disks is true if the folders onDisks are disks. If whole is one of them, a kill is a power failure, and that disk
	// has all changes.
	disks bool
	whole string

	once        sync.Once
	state       string // the folder before the command
	begin, want tree   // its content, and its content after the command
	took        time.Duration
}

// A file of the user's in the results, which must stay.
const (
	noteFile = "out/my notes.txt"
	noteText = "not partwise's\n"
)

func words(s string) []string { return strings.Fields(s) }

var (
	runHalf    = words("run ../half.yaml --out out")
	runWhole   = words("run ../whole.yaml --out out")
	clusterTwo = words("cluster ../photos -k 2 --out out")
	clusterAll = words("cluster ../photos -k 3 --out out")
	npz        = words("features ../photos --features sift=dense,words=10 --force --out out/features.npz --words out/words.npz")
	clusterOwn = words("cluster photos -k 3 --out out")
	sortCopies = words("sort out --to out/sorted --copy")
	sortMoves  = words("sort out --to out/sorted --move")
	sortUndo   = words("sort out --to out/sorted --undo")
	clusterNew = words("cluster ../photos -k 2 --out groups")
	assignNew  = words("assign groups ../photos --force --out out/assigned.csv")
	fitMore    = words("fit ../photos --rank 3 --iterations 50 --force --out out/factors.npz")
	csv        = words("features ../photos --features pixels=12 --force --out out/features.csv")
	getZip     = words("datasets get one --data out --mirror MIRROR")
	getTar     = words("datasets get two --data out --mirror MIRROR")
)

var jobs = []*job{
	{name: "run", args: runWhole, caches: true},
	{name: "run over earlier results", before: [][]string{runHalf}, args: runWhole, keeps: "out/results.jsonl"},
	{name: "cluster", args: clusterAll, caches: true},
	{name: "cluster over earlier groups", before: [][]string{clusterTwo}, args: clusterAll},
	{name: "assign over an earlier list", before: [][]string{clusterNew, assignNew}, args: assignNew},
	{name: "fit over earlier factors", before: [][]string{fitMore}, args: fitMore},
	{name: "features to .npz", args: npz, caches: true},
	{name: "features to .csv over an earlier file", before: [][]string{csv}, args: csv},
	{name: "datasets get, .zip", args: getZip},
	{name: "datasets get, .tar.gz", args: getTar},
	{name: "sort --copy", own: true, before: [][]string{clusterOwn}, args: sortCopies, takeBack: sortUndo},
	{name: "sort --move", own: true, before: [][]string{clusterOwn}, args: sortMoves, takeBack: sortUndo},
	{name: "sort --undo", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo, undoes: true},
	{name: "sort --move onto another disk", own: true, before: [][]string{clusterOwn}, args: sortMoves, takeBack: sortUndo,
		disks: true},
	{name: "sort --undo from another disk", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo, undoes: true,
		disks: true},
	{name: "sort --move onto another disk, power failure", own: true, before: [][]string{clusterOwn}, args: sortMoves,
		takeBack: sortUndo, disks: true, whole: "photos"},
	{name: "sort --undo from another disk, power failure", own: true, before: [][]string{clusterOwn, sortMoves}, args: sortUndo,
		undoes: true, disks: true, whole: "out"},
}

// prepare makes the folder for the command, once. It runs the command unbroken twice and checks that both runs end with
// equal bytes. Without the right to mount, it skips jobs on disks.
func (j *job) prepare(t *testing.T) {
	t.Helper()
	if j.disks && !mayLoop() {
		t.Skip("this process may not mount")
	}
	j.once.Do(func() {
		j.state = filepath.Join(scene.dir, strings.NewReplacer(" ", "-", ",", "").Replace(j.name))
		err := os.MkdirAll(filepath.Join(j.state, "out"), 0o777)
		err = errors.Join(err, os.WriteFile(filepath.Join(j.state, noteFile), []byte(noteText), 0o666))
		if j.own {
			err = errors.Join(err, os.CopyFS(filepath.Join(j.state, "photos"), os.DirFS(filepath.Join(scene.dir, "photos"))))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range j.before {
			(&trial{T: t, job: j, dir: j.state, cache: filepath.Join(j.state, "cache")}).must(args)
		}
		j.begin = readTree(t, j.state)
		for i := range 2 {
			x := j.start(t, j.state+"-unbroken")
			o := x.must(j.args)
			if i == 0 {
				j.want, j.took = readTree(t, x.dir), o.took
			} else {
				x.compare(j.want)
				j.took = min(j.took, o.took)
			}
			x.remove()
		}
	})
	if j.want == nil {
		t.Fatal("the job could not be prepared")
	}
}

// trial is a job that runs in a folder.
type trial struct {
	*testing.T
	*job
	dir, cache   string
	limit        string // of the size of files, in blocks of 512 bytes, or ""
	ignoresCache bool   // the cache is not compared
}

// The permissions of sorted photographs, wherever they are.
const photoMode = 0o640

var photoTime = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

// start makes the folder for the command.
func (j *job) start(t *testing.T, dir string) *trial {
	t.Helper()
	x := &trial{T: t, job: j, dir: dir, cache: filepath.Join(dir, "cache")}
	var err error
	if j.disks {
		err = mountDisks(dir)
	}
	if err = errors.Join(err, os.CopyFS(dir, os.DirFS(j.state))); err == nil && j.undoes { // the journal names the folder
		journal := filepath.Join(dir, "out", "sorted", filing.JournalFile)
		var text []byte
		text, err = os.ReadFile(journal)
		err = errors.Join(err, os.WriteFile(journal, bytes.ReplaceAll(text, []byte(j.state+"/"), []byte(dir+"/")), 0o666))
	}
	err = errors.Join(err, x.eachPhoto(func(path string, _ fs.FileInfo) error {
		return errors.Join(os.Chmod(path, photoMode), os.Chtimes(path, photoTime, photoTime))
	}))
	if j.disks {
		for _, name := range onDisks {
			err = errors.Join(err, syncDisk(filepath.Join(dir, name)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// remove undoes start.
func (x *trial) remove() {
	if x.disks {
		unmountDisks(x.dir)
	}
	os.RemoveAll(x.dir)
}

func (x *trial) run(args []string, killAfter time.Duration) outcome {
	return runCommand(x.T, x.dir, x.cache, args, killAfter, x.limit)
}

// must runs a command that must succeed.
func (x *trial) must(args []string) outcome {
	x.Helper()
	o := x.run(args, patience)
	if o.code != 0 {
		x.Fatalf("%s: %s", strings.Join(args, " "), o.lastLines())
	}
	return o
}

// finish runs the job's command to its end, which must leave the files of an unbroken run. A command that undoes also
// runs before it and at the end: then everything must be as in the beginning.
func (x *trial) finish() {
	x.Helper()
	x.undo()
	if o := x.run(x.args, patience); o.code != 0 && !x.mayRefuse() {
		x.Fatalf("the last run: %s", o.lastLines())
	}
	x.compare(x.want)
	if x.takeBack != nil {
		x.undo()
		_ = os.Remove(filepath.Join(x.dir, "out", "sorted")) // a kill before the journal was written left it empty
		x.compare(x.begin)
	}
}

// undo undoes an earlier command, if any.
func (x *trial) undo() {
	x.Helper()
	if x.takeBack != nil && x.hasJournal() {
		x.must(x.takeBack)
	}
}

// mayRefuse reports whether the command may refuse to continue from another command's files.
func (x *trial) mayRefuse() bool {
	return x.takeBack != nil && x.hasJournal() || x.undoes && !x.hasJournal()
}

func (x *trial) hasJournal() bool {
	_, err := os.Lstat(filepath.Join(x.dir, "out", "sorted", filing.JournalFile))
	return err == nil
}

// compare compares the folder with its expected content.
func (x *trial) compare(want tree) {
	x.Helper()
	x.checkOwned()
	got := readTree(x.T, x.dir)
	var other []string
	add := func(name, what string) {
		if !x.ignoresCache || !inCache(name) {
			other = append(other, name+what)
		}
	}
	for name, text := range want {
		if now, ok := got[name]; !ok {
			add(name, " is missing")
		} else if now != text {
			add(name, " has other content")
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			add(name, " is left over")
		}
	}
	if len(other) > 0 {
		slices.Sort(other)
		x.Fatalf("%d differences from an unbroken run: %s", len(other), strings.Join(other[:min(len(other), 5)], "; "))
	}
}

// checkOwned reports changed files of the user.
func (x *trial) checkOwned() {
	x.Helper()
	if text, err := os.ReadFile(filepath.Join(x.dir, noteFile)); err != nil || string(text) != noteText {
		x.Fatalf("%s is %q: %v", noteFile, text, err)
	}
	if err := x.eachPhoto(func(path string, info fs.FileInfo) error {
		if info.Mode() != photoMode || !info.ModTime().Equal(photoTime) {
			return fmt.Errorf("%s has the permissions %v and the time %v", path, info.Mode(), info.ModTime())
		}
		return nil
	}); err != nil {
		x.Fatal(err)
	}
}

// eachPhoto calls do for each of the job's own photographs, sorted or not.
func (x *trial) eachPhoto(do func(path string, info fs.FileInfo) error) error {
	if !x.own {
		return nil
	}
	for _, folder := range []string{"photos", "out/sorted"} {
		err := filepath.WalkDir(filepath.Join(x.dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != photoExt {
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

// tree is the content of each file below a folder by path, and the type of other entries.
type tree map[string]string

func readTree(t *testing.T, dir string) tree {
	t.Helper()
	out := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil || name == ".":
		case inCache(name) && strings.HasSuffix(name, ".tmp"):
			// The cache removes a killed process's files by age, because another process may be writing them.
		case d.Name() == filing.JournalFile: // it holds the paths of the folder
		case !d.Type().IsRegular():
			out[name] = d.Type().String()
		default:
			var text []byte
			text, err = os.ReadFile(path)
			out[name] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inCache reports whether a file of a job's folder is in its cache.
func inCache(name string) bool {
	return name == "cache" || strings.HasPrefix(name, "cache/")
}
