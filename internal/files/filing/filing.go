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
)

// Way is the operation on files: copy, symbolic link or move.
type Way string

const (
	Copy Way = "copy"
	Link Way = "link"
	Move Way = "move"
)

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

const format = 1 // version of the journal's format

type head struct {
	Format int `json:"format"`
	Way    Way `json:"way"`
}

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
func File(ctx context.Context, dir string, way Way, items []Item, home func(string) (bool, error), progress func(done, total int)) (r *Result, err error) {
	r = &Result{Way: way, total: len(items), progress: progress}
	if items, err = r.validate(dir, items, home); err != nil || len(items) == 0 {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return r, err
	}
	release, err := Acquire(dir)
	if err != nil {
		return r, err
	}
	defer release()
	files := make([]pair, len(items))
	folders := map[string]bool{}
	for i, it := range items {
		files[i] = pair{it.From, filepath.Join(dir, filepath.FromSlash(it.To))}
		folders[filepath.Dir(files[i].to)] = true
	}
	if err = writeJournal(dir, head{format, way}, items); err == nil {
		err = makeFolders(folders)
	}
	if err != nil {
		return r, err
	}
	r.Folders = len(folders)
	if way == Move {
		return r, r.move(ctx, files)
	}
	for _, f := range files {
		if err = ctx.Err(); err == nil && way == Copy {
			err = duplicate(ctx, f.from, f.to)
		} else if err == nil {
			err = os.Symlink(f.from, f.to)
		}
		if err != nil {
			return r, err
		}
		r.record("")
	}
	return r, nil
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

func (r *Result) validate(dir string, items []Item, home func(string) (bool, error)) (files []Item, err error) {
	if exists(filepath.Join(dir, JournalFile)) {
		return nil, fmt.Errorf("%s already has sorted files: undo that sort or choose another folder", dir)
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
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file", it.From)
		case !isPlace(it.To):
			return nil, fmt.Errorf("%q is not a path in a folder of %s", it.To, dir)
		case twice:
			return nil, fmt.Errorf("%s and %s would both become %s; rename one of them", other, it.From, it.To)
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
			return nil, fmt.Errorf("%s already exists", at)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return files, nil
}

// step is called before each change that matters for the safety of a move, so that tests can interrupt there.
var step = func(do, name string) error { return nil }

// flush syncs a file, or the entries of a folder, to disk.
func flush(name string) error {
	if err := step("flush", name); err != nil {
		return err
	}
	return atomicfile.Sync(name)
}

// makeFolders creates missing folders and syncs their parents to disk.
func makeFolders(names map[string]bool) error {
	above := map[string]bool{}
	for name := range names {
		if err := os.MkdirAll(name, 0o777); err != nil {
			return err
		}
		for at := filepath.Dir(name); !above[at]; at = filepath.Dir(at) {
			above[at] = true
		}
	}
	for name := range above {
		if err := flush(name); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

type pair struct{ from, to string }

const atOnce = 100 // number of files that are moved before their folders are synced

// move moves files into existing folders. It removes the original only when the new file and its folder are synced to
// disk, so that neither a kill nor a power failure loses it.
func (r *Result) move(ctx context.Context, files []pair) error {
	for batch := range slices.Chunk(files, atOnce) {
		folders := map[string]bool{}
		for _, f := range batch {
			if err := linkOrCopy(ctx, f.from, f.to); err != nil {
				return err
			}
			folders[filepath.Dir(f.to)] = true
			r.record("")
		}
		for name := range folders {
			if err := flush(name); err != nil {
				return err
			}
		}
		for _, f := range batch {
			why, err := drop(ctx, f.from, f.to)
			if err != nil {
				return err
			}
			if why != "" {
				r.Files--
				r.Left = append(r.Left, why)
			}
		}
	}
	return nil
}

// linkOrCopy creates a hard link to a file, or a copy on another disk. On a file system without hard links it renames the
// file. A file that is already at its target is kept.
func linkOrCopy(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if info, err := os.Lstat(to); err == nil {
		if info.Mode().IsRegular() {
			err = flush(to)
		}
		return err
	}
	err := step("link", to)
	if err == nil {
		err = os.Link(from, to)
	}
	if err != nil && !otherDisk(err) && !errors.Is(err, fs.ErrExist) {
		err = atomicfile.RenameNew(from, to)
	}
	if otherDisk(err) {
		if err = duplicate(ctx, from, to); err == nil {
			err = flush(to)
		}
	}
	return err
}

// drop removes a file if it exists and twin has the same content; otherwise it returns the reason in why.
func drop(ctx context.Context, name, twin string) (why string, err error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	other, err := os.Stat(twin)
	switch {
	case err != nil || !other.Mode().IsRegular():
		return fmt.Sprintf("%s stays: the file %s does not exist", name, twin), nil
	case os.SameFile(info, other):
		if two, err := areHardLinks(name, twin); err != nil || !two {
			return fmt.Sprintf("%s stays: %s is the same file", name, twin), err
		}
	default:
		a, _, errA := atomicfile.Sum(ctx, name)
		b, _, errB := atomicfile.Sum(ctx, twin)
		if err := errors.Join(errA, errB); err != nil || a != b {
			return fmt.Sprintf("%s stays: %s has different content", name, twin), err
		}
	}
	if err := step("remove", name); err != nil {
		return "", err
	}
	return "", os.Remove(name)
}

// areHardLinks reports whether two paths of the same file are two hard links in different folders, not one name reached
// through a symbolic link or in another case.
func areHardLinks(a, b string) (bool, error) {
	for _, name := range []string{a, b} {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return false, err
		}
	}
	folderA, errA := os.Stat(filepath.Dir(a))
	folderB, errB := os.Stat(filepath.Dir(b))
	if err := cmp.Or(errA, errB); err != nil {
		return false, err
	}
	return !os.SameFile(folderA, folderB), nil
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
	return atomicfile.CreateLike(to, info, func(w io.Writer) error {
		_, err := io.Copy(atomicfile.UntilDone(ctx, w), f)
		return err
	})
}

func writeJournal(dir string, h head, items []Item) error {
	err := atomicfile.CreateFunc(filepath.Join(dir, JournalFile), func(w io.Writer) error {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		err := lines.Encode(h)
		for _, it := range items {
			l := line{Item: it}
			if !utf8.ValidString(it.From) {
				l.FromBytes = []byte(it.From)
			}
			if !utf8.ValidString(it.To) {
				l.ToBytes = []byte(it.To)
			}
			err = cmp.Or(err, lines.Encode(l))
		}
		return err
	})
	if err != nil {
		return err
	}
	return flush(dir)
}

func parseJournal(at string, text []byte) (h head, items []Item, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &h); err != nil || h.Format == 0 || h.Format == format && h.Way != Copy && h.Way != Link && h.Way != Move {
		return h, nil, fmt.Errorf("%s: line 1: not a list of sorted files", at)
	}
	if h.Format != format {
		return h, nil, fmt.Errorf("%s: line 1: format %d; this version reads format %d", at, h.Format, format)
	}
	for text := range bytes.Lines(rest) {
		var l line
		err := json.Unmarshal(text, &l)
		if l.FromBytes != nil {
			l.From = string(l.FromBytes)
		}
		if l.ToBytes != nil {
			l.To = string(l.ToBytes)
		}
		if err != nil || !filepath.IsAbs(l.From) || !isPlace(l.To) {
			return h, nil, fmt.Errorf("%s: line %d: not an entry of a sorted file", at, len(items)+2)
		}
		items = append(items, l.Item)
	}
	return h, items, nil
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
	var items []Item
	release, err := Acquire(dir)
	if err == nil {
		defer release()
		at := filepath.Join(dir, JournalFile)
		if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() {
			return &Result{}, fmt.Errorf("%s: not a list of sorted files", at)
		}
		var text []byte
		if text, err = os.ReadFile(at); err == nil {
			var h head
			h, items, err = parseJournal(at, text) // its paths are not trusted
			r.Way, r.total = h.Way, len(items)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no sorted files: no %s", dir, JournalFile)
	}
	if err != nil {
		return &Result{}, err
	}
	err = r.undo(ctx, dir, items, home)
	if err == nil && len(r.Left) == 0 {
		err = os.Remove(filepath.Join(dir, JournalFile))
	}
	return r, err
}

func (r *Result) undo(ctx context.Context, dir string, items []Item, home func(string) (bool, error)) error {
	files, err := r.recoverFiles(dir, items, home)
	if err != nil {
		return err
	}
	var moved []pair
	parents := map[string]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
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
			} else if err := os.Remove(f.from); err != nil {
				return err
			}
		case !info.Mode().IsRegular():
			why = f.from + " is not the file that partwise sorted"
		case r.Way == Move:
			moved = append(moved, f)
			parents[filepath.Dir(f.to)] = true
			continue
		default:
			if why, err = drop(ctx, f.from, f.to); err != nil {
				return err
			}
		}
		r.record(why)
	}
	if err = makeFolders(parents); err == nil {
		err = r.move(ctx, moved)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		_ = os.Remove(filepath.Dir(f.from)) // fails if the folder is not empty
	}
	return nil
}

// recoverFiles returns the files to revert and their original paths. It removes temporary files in both folders. If
// exactly one file of a folder is missing, the folder's only temporary file is that file and gets its name back.
func (r *Result) recoverFiles(dir string, items []Item, home func(string) (bool, error)) (files []pair, err error) {
	sorted, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer sorted.Close()
	missing := map[string][]string{} // by folder
	for _, it := range items {
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
		found, err := atomicfile.Stale(folder)
		switch {
		case err != nil:
		case len(names) == 0:
			err = atomicfile.RemoveStale(folder)
		case len(found) == 1 && len(names) == 1:
			err = atomicfile.RenameNew(found[0], names[0])
		case len(found) > 0:
			r.Left = append(r.Left, fmt.Sprintf("%s stays: it may be any of %d missing files", strings.Join(found, ", "), len(names)))
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
