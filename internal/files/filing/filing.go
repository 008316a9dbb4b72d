// Package filing copies, links or moves files into folders by a list, and can undo that. It never overwrites a file, and
// removes a file only when an identical one is on disk.
//
// A journal in the folder lists the files. It is synced to disk before the first file changes, so Undo works after a kill
// or a power failure at any time. Undo determines the state of each file from the disk.
package filing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filelock"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Way is the operation on files: copy, symbolic link or move.
type Way string

const (
	Copy Way = "copy"
	Link Way = "link"
	Move Way = "move"
)

var ways = []Way{Copy, Link, Move}

// Item is the absolute path of a file and its target, relative to the output folder with forward slashes.
type Item struct {
	From string `json:"from"`
	To   string `json:"to"`
	With string `json:"-"` // the path of a file without which this one is not moved, or ""
}

// line is an item in the journal. Names that are not valid UTF-8 are stored as base64 bytes.
type line struct {
	Item
	FromBytes []byte `json:"fromBytes,omitempty"`
	ToBytes   []byte `json:"toBytes,omitempty"`
}

// JournalFile is the name of the journal: a JSON line for the operation, then one for each file.
const JournalFile = ".partwise-sorted.jsonl"

const lockFile = ".partwise-sorted.lock"

// Result is the result of File or Undo.
type Result struct {
	Way Way
	// Files is the number of files that were filed or undone, and Folders the number of folders created. Partners is the
	// number of files that follow another one.
	Files, Folders, Partners int
	Left                     []string // the reason for each file that was left unchanged

	total    int
	progress func(done, total int)
}

// record counts a file, or records the reason why it is left unchanged.
func (r *Result) record(why string) {
	if why == "" {
		r.Files++
	} else {
		r.Left = append(r.Left, why)
	}
	if r.progress != nil {
		r.progress(r.Files+len(r.Left), r.total)
	}
}

// File copies, links or moves the items to their targets below dir, which it creates if necessary. Before it changes a
// file, it refuses a folder that has a journal, existing target folders, files that are missing or not regular, and two
// items with the same target. It does not move symbolic links, or files that Undo could not move back: home reports
// whether files may be moved to a path. progress, which may be nil, is called after each file. After an error or the end
// of ctx, Undo reverts the files that were done.
func File(ctx context.Context, dir string, way Way, items []Item, home func(string) (bool, error), progress func(done, total int)) (*Result, error) {
	r := &Result{Way: way, total: len(items), progress: progress}
	return r, guard.Try(func() { r.file(ctx, dir, items, home) })
}

func (r *Result) file(ctx context.Context, dir string, items []Item, home func(string) (bool, error)) {
	if items = r.validate(dir, items, home); len(items) == 0 {
		return
	}
	guard.Check(os.MkdirAll(dir, 0o777))
	defer guard.Must(Acquire(dir))()
	files, lines := make([]pair, len(items)), make([]line, len(items))
	folders := map[string]bool{}
	for i, it := range items {
		files[i] = pair{it.From, filepath.Join(dir, filepath.FromSlash(it.To))}
		folders[filepath.Dir(files[i].to)] = true
		lines[i].Item = it
		if !utf8.ValidString(it.From) {
			lines[i].FromBytes = []byte(it.From)
		}
		if !utf8.ValidString(it.To) {
			lines[i].ToBytes = []byte(it.To)
		}
	}
	guard.Check(CreateJournal(filepath.Join(dir, JournalFile), r.Way, lines))
	flush(dir)
	makeFolders(folders)
	r.Folders = len(folders)
	if r.Way == Move {
		r.move(ctx, files)
		return
	}
	for _, f := range files {
		guard.Check(ctx.Err())
		if r.Way == Copy {
			guard.Check(duplicate(ctx, f.from, f.to))
		} else {
			guard.Check(os.Symlink(f.from, f.to))
		}
		r.record("")
	}
}

// Acquire locks a folder and removes temporary files of killed processes. release also removes the folder if it is empty.
func Acquire(dir string) (release func(), err error) {
	lock, err := filelock.Acquire(filepath.Join(dir, lockFile))
	if errors.Is(err, filelock.ErrLocked) {
		err = fmt.Errorf("%s: another partwise process is using this folder", dir)
	}
	if err != nil {
		return nil, err
	}
	if err := atomicfile.RemoveStale(dir); err != nil {
		lock.Release()
		return nil, err
	}
	return func() {
		lock.Release()
		_ = os.Remove(dir)
	}, nil
}

func (r *Result) validate(dir string, items []Item, home func(string) (bool, error)) (files []Item) {
	if exists(filepath.Join(dir, JournalFile)) {
		guard.Fail("%s already has sorted files: undo that sort or choose another folder", dir)
	}
	places := make(map[string]string, len(items))
	folders, stays := map[string]bool{}, map[string]bool{}
	for _, it := range items {
		if r.Way == Move {
			info, err := os.Lstat(it.From)
			inside, failed := home(it.From)
			switch {
			case failed != nil || !inside || err == nil && info.Mode()&fs.ModeSymlink != 0:
				r.record(it.From + " is not moved: its path has a symbolic link; copy or link it instead")
				stays[it.From] = true
				continue
			case stays[it.With]:
				r.record(fmt.Sprintf("%s is not moved: it stays with %s", it.From, it.With))
				continue
			}
		}
		info, err := os.Stat(it.From)
		other, twice := places[it.To]
		switch {
		case err != nil:
			guard.Check(err)
		case !info.Mode().IsRegular():
			guard.Fail("%s is not a regular file", it.From)
		case !isPlace(it.To):
			guard.Fail("%q is not a path in a folder of %s", it.To, dir)
		case twice:
			guard.Fail("%s and %s would both become %s; rename one of them", other, it.From, it.To)
		}
		places[it.To] = it.From
		files = append(files, it)
		if it.With != "" {
			r.Partners++
		}
		folders[path.Dir(it.To)] = true
	}
	for name := range folders {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(at); err == nil {
			guard.Fail("%s already exists", at)
		} else if !errors.Is(err, fs.ErrNotExist) {
			guard.Check(err)
		}
	}
	return files
}

// step is called before each change that matters for the safety of a move, so that tests can interrupt there.
var step = func(do, name string) error { return nil }

// flush syncs a file, or the entries of a folder, to disk. It calls guard.Fail, as the functions below.
func flush(name string) {
	guard.Check(step("flush", name))
	guard.Check(atomicfile.Sync(name))
}

// makeFolders creates missing folders and syncs their parents to disk.
func makeFolders(names map[string]bool) {
	above := map[string]bool{}
	for name := range names {
		guard.Check(os.MkdirAll(name, 0o777))
		for at := filepath.Dir(name); !above[at]; at = filepath.Dir(at) {
			above[at] = true
		}
	}
	for name := range above {
		if err := guard.Try(func() { flush(name) }); !errors.Is(err, fs.ErrPermission) {
			guard.Check(err)
		}
	}
}

type pair struct{ from, to string }

const atOnce = 100 // number of files that are moved before their folders are synced

// move moves files into existing folders. It removes the original only when the new file and its folder are synced to
// disk, so that neither a kill nor a power failure loses it.
func (r *Result) move(ctx context.Context, files []pair) {
	for batch := range slices.Chunk(files, atOnce) {
		folders := map[string]bool{}
		for _, f := range batch {
			linkOrCopy(ctx, f.from, f.to)
			folders[filepath.Dir(f.to)] = true
			r.record("")
		}
		for name := range folders {
			flush(name)
		}
		for _, f := range batch {
			if why := drop(ctx, f.from, f.to); why != "" {
				r.Files--
				r.Left = append(r.Left, why)
			}
		}
	}
}

// linkOrCopy creates a hard link to a file, or a copy on another disk. On a file system without hard links it renames the
// file. A file that is already at its target is kept.
func linkOrCopy(ctx context.Context, from, to string) {
	guard.Check(ctx.Err())
	if info, err := os.Lstat(to); err == nil {
		if info.Mode().IsRegular() {
			flush(to)
		}
		return
	}
	err := step("link", to)
	if err == nil {
		err = os.Link(from, to)
	}
	if err != nil && !otherDisk(err) && !errors.Is(err, fs.ErrExist) {
		err = atomicfile.RenameNew(from, to)
	}
	if otherDisk(err) {
		guard.Check(duplicate(ctx, from, to))
		flush(to)
		return
	}
	guard.Check(err)
}

// drop removes a file if it exists and twin has the same content; otherwise it returns the reason.
func drop(ctx context.Context, name, twin string) (why string) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	guard.Check(err)
	other, err := os.Stat(twin)
	switch {
	case err != nil || !other.Mode().IsRegular():
		return fmt.Sprintf("%s stays: the file %s does not exist", name, twin)
	case os.SameFile(info, other):
		if !areHardLinks(name, twin) {
			return fmt.Sprintf("%s stays: %s is the same file", name, twin)
		}
	default:
		a, _, errA := atomicfile.Sum(ctx, name)
		b, _, errB := atomicfile.Sum(ctx, twin)
		if guard.Check(errors.Join(errA, errB)); a != b {
			return fmt.Sprintf("%s stays: %s has different content", name, twin)
		}
	}
	guard.Check(step("remove", name))
	guard.Check(os.Remove(name))
	return ""
}

// areHardLinks reports whether two paths of the same file are two hard links in different folders, not one name reached
// through a symbolic link or in another case.
func areHardLinks(a, b string) bool {
	for _, name := range []string{a, b} {
		if !guard.Must(os.Lstat(name)).Mode().IsRegular() {
			return false
		}
	}
	return !os.SameFile(guard.Must(os.Stat(filepath.Dir(a))), guard.Must(os.Stat(filepath.Dir(b))))
}

// otherDisk reports whether a rename failed because the target is on another file system.
func otherDisk(err error) bool {
	const notSameDevice = syscall.Errno(17) // ERROR_NOT_SAME_DEVICE
	return errors.Is(err, syscall.EXDEV) || runtime.GOOS == "windows" && errors.Is(err, notSameDevice)
}

// duplicate copies a file with its permissions, owner and modification time.
func duplicate(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return atomicfile.Writer{New: true, Like: info, Time: info.ModTime()}.Write(to, func(w io.Writer) error {
		_, err := io.Copy(atomicfile.UntilDone(ctx, w), f)
		return err
	})
}

// head is the first line of a journal.
type head struct {
	Format int `json:"format"`
	Way    Way `json:"way,omitempty"`
}

const format = 1 // version of the format

// CreateJournal writes a new journal of changes of the user's files: the operation, then a JSON line for each entry.
func CreateJournal[T any](path string, way Way, entries []T) error {
	return atomicfile.CreateFunc(path, func(w io.Writer) error {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		err := lines.Encode(head{format, way})
		for _, e := range entries {
			err = cmp.Or(err, lines.Encode(e))
		}
		return err
	})
}

// ReadJournal reads a journal of changes that what describes, with one of the operations. It is not trusted: isValid
// checks each entry.
func ReadJournal[T any](path, what string, ways []Way, isValid func(*T) bool) (way Way, entries []T, err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%s: not a list of %s", path, what)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s: no %s", filepath.Dir(path), what, filepath.Base(path))
	}
	if err != nil {
		return "", nil, err
	}
	way, entries, err = parseJournal(text, what, ways, isValid)
	return way, entries, guard.Wrap(err, "%s", path)
}

func parseJournal[T any](text []byte, what string, ways []Way, isValid func(*T) bool) (way Way, entries []T, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var h head
	switch err := json.Unmarshal(first, &h); {
	case err != nil || h.Format == 0 || h.Format == format && !slices.Contains(ways, h.Way):
		return "", nil, fmt.Errorf("line 1: not a list of %s", what)
	case h.Format != format:
		return "", nil, fmt.Errorf("line 1: format %d; this version reads format %d", h.Format, format)
	}
	for text := range bytes.Lines(rest) {
		var e T
		if err := json.Unmarshal(text, &e); err != nil || !isValid(&e) {
			return "", nil, fmt.Errorf("line %d: not an entry of a list of %s", len(entries)+2, what)
		}
		entries = append(entries, e)
	}
	return h.Way, entries, nil
}

// isValid restores the names of a line and reports whether it may be undone.
func (l *line) isValid() bool {
	l.From = cmp.Or(string(l.FromBytes), l.From)
	l.To = cmp.Or(string(l.ToBytes), l.To)
	return filepath.IsAbs(l.From) && isPlace(l.To)
}

// isPlace reports whether name is a local path of a file in a subfolder.
func isPlace(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Dir(name) != "."
}

// Undo reverts File in dir: it removes copies and links, and moves files back to paths that home allows, because the
// journal is not trusted. It removes a copy only if the original has the same content, and a link only if it points
// to the original. It never overwrites a file. It removes folders that become empty, and the journal when no file is
// left.
func Undo(ctx context.Context, dir string, home func(string) (bool, error), progress func(done, total int)) (*Result, error) {
	r := &Result{progress: progress}
	release, err := Acquire(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no sorted files: no %s", dir, JournalFile)
	}
	if err != nil {
		return r, err
	}
	defer release()
	at := filepath.Join(dir, JournalFile)
	way, lines, err := ReadJournal(at, "sorted files", ways, (*line).isValid)
	if err != nil {
		return r, err
	}
	r.Way, r.total = way, len(lines)
	return r, guard.Try(func() {
		if r.undo(ctx, dir, lines, home); len(r.Left) == 0 {
			guard.Check(os.Remove(at))
		}
	})
}

func (r *Result) undo(ctx context.Context, dir string, lines []line, home func(string) (bool, error)) {
	files := r.recoverFiles(dir, lines, home)
	var moved []pair
	parents := map[string]bool{}
	for _, f := range files {
		guard.Check(ctx.Err())
		info, err := os.Lstat(f.from)
		why := ""
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if r.Way == Move && !exists(f.to) {
				why = fmt.Sprintf("neither %s nor %s exists", f.from, f.to)
			}
		case err != nil:
			why = err.Error()
		case r.Way == Link:
			if target, err := os.Readlink(f.from); err != nil || target != f.to {
				why = f.from + " is not the link that partwise created"
			} else {
				guard.Check(os.Remove(f.from))
			}
		case !info.Mode().IsRegular():
			why = f.from + " is not the file that partwise sorted"
		case r.Way == Move:
			moved = append(moved, f)
			parents[filepath.Dir(f.to)] = true
			continue
		default:
			why = drop(ctx, f.from, f.to)
		}
		r.record(why)
	}
	makeFolders(parents)
	r.move(ctx, moved)
	for _, f := range files {
		_ = os.Remove(filepath.Dir(f.from)) // fails if the folder is not empty
	}
}

// recoverFiles returns the files to revert and their original paths. It removes temporary files in both folders. If
// exactly one file of a folder is missing, the folder's only temporary file is that file and gets its name back.
func (r *Result) recoverFiles(dir string, lines []line, home func(string) (bool, error)) (files []pair) {
	sorted := guard.Must(os.OpenRoot(dir))
	defer sorted.Close()
	missing := map[string][]string{} // by folder
	for _, it := range lines {
		f := pair{filepath.Join(dir, filepath.FromSlash(it.To)), it.From}
		// File does not create symbolic links to folders, and one could lead anywhere.
		folder, err := sorted.Lstat(filepath.FromSlash(path.Dir(it.To)))
		if err == nil && !folder.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.record(fmt.Sprintf("%s stays: %s is not a folder that partwise created", f.from, filepath.Dir(f.from)))
			continue
		}
		places := []string{f.from}
		if r.Way == Move {
			if ok, err := home(f.to); err != nil || !ok {
				r.record(fmt.Sprintf("%s stays: %s is not in the folder of the photos", f.from, f.to))
				continue
			}
			places = append(places, f.to)
		}
		gone := !exists(f.from) && !exists(f.to)
		for _, name := range places {
			at := filepath.Dir(name)
			if missing[at] = append(missing[at], name); !gone {
				missing[at] = missing[at][:len(missing[at])-1]
			}
		}
		files = append(files, f)
	}
	for folder, names := range missing {
		if !exists(folder) {
			continue
		}
		found := guard.Must(atomicfile.Stale(folder))
		switch {
		case len(names) == 0:
			guard.Check(atomicfile.RemoveStale(folder))
		case len(found) == 1 && len(names) == 1:
			guard.Check(atomicfile.RenameNew(found[0], names[0]))
		case len(found) > 0:
			r.Left = append(r.Left, fmt.Sprintf("%s stays: it may be any of %d missing files", strings.Join(found, ", "), len(names)))
		}
	}
	return files
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
