package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// shortage is one way in which a disk takes no more. The folder of the job is on it,
// or the cache alone.
type shortage struct {
	name      string
	cacheOnly bool
	// most is how many sizes there are at most; they are tried until one is
	// enough.
	most int
	// disk makes a disk of a folder that is there, and short leaves it a size
	// beside what is on it. mend gives it enough, and remove takes it away.
	disk   func(dir string) error
	short  func(dir string, size int) error
	mend   func(dir string) error
	remove func(dir string) error
	// fileLimit is the most that a file may hold, in blocks of 512 bytes for each
	// size, or 0.
	fileLimit int
}

// disk runs the jobs on disks that are full at every size at which they can be, that
// take no more files, and that are read-only, or at every step-th of these sizes. The
// command must do its work or end with one error that names a path. Where it could not
// it must do it once the disk is mended.
func disk(ctx context.Context, s *scene, list []*job, step, workers int, log io.Writer) (rows []Row, notes []string, err error) {
	for i, j := range list {
		if err := j.prepare(s, i); err != nil {
			return nil, nil, err
		}
		j.ignoresCache = true // what it lacks is no failure here
		for _, compared := range []tree{j.begin, j.want} {
			maps.DeleteFunc(compared, func(name, _ string) bool { return inCache(name) })
		}
	}
	kinds, notes := shortages(s.dir)
	type task struct {
		kind shortage
		job  *job
		row  *Row
	}
	tasks := make(chan task)
	var group sync.WaitGroup
	var mu sync.Mutex
	for w := range workers {
		group.Go(func() {
			for t := range tasks {
				dir := filepath.Join(s.dir, fmt.Sprintf("disk-%d", w))
				failure := sweep(ctx, s, t.job, t.kind, dir, step, t.row)
				mu.Lock()
				if failure != nil && err == nil {
					err = fmt.Errorf("%s: %w", t.row.What, failure)
				}
				fmt.Fprintf(log, "%s: %d times, %d refused, %d failures\n", t.row.What, t.row.Times, t.row.Refused, t.row.Failures)
				for _, e := range t.row.Examples {
					fmt.Fprintln(log, "FAILURE:", e)
				}
				mu.Unlock()
			}
		})
	}
	all := make([]Row, 0, len(kinds)*len(list))
	for _, k := range kinds {
		for _, j := range list {
			if k.cacheOnly && !j.caches || ctx.Err() != nil {
				continue
			}
			all = append(all, Row{What: "`" + j.name + "`, " + k.name})
			tasks <- task{k, j, &all[len(all)-1]}
		}
	}
	close(tasks)
	group.Wait()
	return slices.DeleteFunc(all, func(r Row) bool { return r.Times == 0 }), notes, err
}

// sweep tries a job on disks of rising size until one is enough.
func sweep(ctx context.Context, s *scene, j *job, kind shortage, dir string, step int, row *Row) error {
	for size := 0; size < kind.most && ctx.Err() == nil; size += step {
		refused, failure, err := tryShortage(s, j, kind, dir, size)
		if err != nil {
			return err
		}
		row.Times++
		if refused {
			row.Refused++
		}
		if failure != "" {
			row.Failures++
			if len(row.Examples) < 5 {
				row.Examples = append(row.Examples, fmt.Sprintf("size %d: %s", size, failure))
			}
		}
		if !refused && failure == "" && !kind.cacheOnly {
			return nil
		}
	}
	return nil
}

// tryShortage runs a job once on a disk that is short and, where it fails there, once
// more when it is mended.
func tryShortage(s *scene, j *job, kind shortage, dir string, size int) (refused bool, failure string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	if err := kind.disk(dir); err != nil {
		return false, "", err
	}
	defer kind.remove(dir)
	work, cache := dir, filepath.Join(dir, "cache")
	if kind.cacheOnly {
		work, cache = dir+"-work", dir
		defer os.RemoveAll(work)
		if err := os.MkdirAll(work, 0o777); err != nil {
			return false, "", err
		}
	}
	if err := j.start(work); err != nil {
		return false, "", err
	}
	before, err := readContents(work)
	if err != nil {
		return false, "", err
	}
	if err := kind.short(dir, size); err != nil {
		return false, "", err
	}
	cmd := s.command(work, cache, j.args)
	if kind.fileLimit > 0 {
		cmd = limited(cmd, kind.fileLimit*size)
	}
	o, err := run(cmd, 0)
	if err != nil {
		return false, "", err
	}
	refused = o.code != 0
	if failure = kind.check(o); failure == "" {
		failure = j.lost(work, before)
	}
	if err := kind.mend(dir); err != nil || failure != "" {
		return refused, failure, err
	}
	if refused {
		if err := j.finish(s, work); err != nil {
			return true, "on the mended disk: " + err.Error(), nil
		}
	} else if err := j.compare(work); err != nil {
		return false, "though the exit code is 0: " + err.Error(), nil
	}
	return refused, "", nil
}

// check reports in which way a command ended that is wrong on such a disk.
func (k shortage) check(o outcome) string {
	for _, trace := range []string{"panic:", "goroutine ", "runtime error"} {
		if strings.Contains(o.printed, trace) {
			return "a trace: " + lastLines(o.printed)
		}
	}
	if o.code == 0 {
		return ""
	}
	if k.cacheOnly {
		return fmt.Sprintf("exit code %d for the cache's sake: %s", o.code, lastLines(o.printed))
	}
	if o.code != 1 && o.code != 2 {
		return fmt.Sprintf("exit code %d: %s", o.code, lastLines(o.printed))
	}
	at := strings.LastIndex("\n"+o.printed, "\npartwise: ")
	if at < 0 || !strings.Contains(o.printed[at:], "out") {
		return "the error names no path: " + lastLines(o.printed)
	}
	return ""
}

// readContents returns the content of each file below a folder.
func readContents(dir string) (map[string]string, error) {
	t, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, sum := range t {
		if sum == "folder" || inCache(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		out[name] = string(text)
	}
	return out, nil
}

// lost says which file of those that were there is neither as it was nor as an
// unbroken run leaves it. A file that is appended to must still begin as it did.
func (j *job) lost(dir string, before map[string]string) string {
	now, err := readTree(dir)
	if err != nil {
		return err.Error()
	}
	for name, old := range before {
		if now[name] == sumOf([]byte(old)) || now[name] == j.want[name] || filepath.Base(name) == output.ManifestFile ||
			j.keeps != "" && name != j.keeps && name != noteFile ||
			j.takeBack != nil && strings.HasPrefix(name, "photos") { // finish looks whether they come back
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "lost: " + err.Error()
		}
		if !bytes.HasPrefix(text, []byte(old)) {
			return "lost: " + name + " has neither its old nor its new content"
		}
	}
	return ""
}

// limited returns the command with a limit to the size of the files that it writes,
// in blocks of 512 bytes.
func limited(cmd *exec.Cmd, blocks int) *exec.Cmd {
	out := exec.Command("/bin/sh", append([]string{"-c", "ulimit -f " + strconv.Itoa(blocks) + ` && exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)...)
	out.Dir, out.Env = cmd.Dir, cmd.Env
	return out
}

// chmodFolders changes the permissions of a folder and of all below it.
func chmodFolders(dir string, mode os.FileMode) error {
	if mode&0o200 != 0 {
		if err := os.Chmod(dir, mode); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
}

// inCache tells whether a file of a job's folder is in its cache.
func inCache(name string) bool {
	return name == "cache" || strings.HasPrefix(name, "cache"+string(filepath.Separator))
}
