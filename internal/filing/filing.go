// Package filing puts files into folders by a list, and takes that back. No file is ever
// overwritten, and what is removed holds the bytes of a file that stays.
//
// The list is in a journal in the folder, which is there before the first file is
// touched. So Undo works after a stop at any moment, and looks at each file for what was
// done.
package filing

import (
	"bytes"
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
	"syscall"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/enum"
	"github.com/seed4492f2cd/partwise/internal/filelock"
	"github.com/seed4492f2cd/partwise/internal/output"
)

// Way is how a file comes to its place.
type Way int

// The ways. Link makes symbolic links.
const (
	Copy Way = iota
	Link
	Move
)

var ways = enum.Of[Way]("way", "copy", "link", "move")

func (w Way) String() string                { return ways.String(w) }
func (w *Way) UnmarshalText(b []byte) error { return ways.UnmarshalText(w, b) }
func (w Way) MarshalText() ([]byte, error)  { return ways.MarshalText(w) }

// Values returns the names of the ways.
func (Way) Values() []string { return ways.Values() }

// Item is a file and where it is to be.
type Item struct {
	// From is the absolute path of the file.
	From string `json:"from"`
	// To is its place in the folder, with forward slashes, in a folder of its own.
	To string `json:"to"`
}

// line is an item in the journal. Names that are no text in UTF-8 stand there as bytes, in base64.
type line struct {
	Item
	FromBytes []byte `json:"fromBytes,omitempty"`
	ToBytes   []byte `json:"toBytes,omitempty"`
}

func lineOf(it Item) line {
	l := line{Item: it}
	if !utf8.ValidString(it.From) {
		l.FromBytes = []byte(it.From)
	}
	if !utf8.ValidString(it.To) {
		l.ToBytes = []byte(it.To)
	}
	return l
}

func (l line) item() Item {
	it := l.Item
	if l.FromBytes != nil {
		it.From = string(l.FromBytes)
	}
	if l.ToBytes != nil {
		it.To = string(l.ToBytes)
	}
	return it
}

// JournalFile is the name of the journal in the folder: a line of JSON that says the way,
// then one for each file.
const JournalFile = ".partwise-sorted.jsonl"

// lockFile keeps a second process out.
const lockFile = ".partwise-sorted.lock"

// format is the version of the journal's form.
const format = 1

// maxJournal bounds the size of a journal that is read, in bytes.
const maxJournal = 1 << 30

type head struct {
	Format int `json:"format"`
	Way    Way `json:"way"`
	// Made tells that the folder was not there before.
	Made bool `json:"made"`
}

// File puts the items into their places below dir, which it makes if need be. Before it
// touches a file it refuses a folder that has a journal, folders of items that are there
// already, files that are not there or no regular ones, and two items of one place.
// progress, which may be nil, is called after each file. An error, that of the context
// among them, leaves what was done by then, which Undo takes back.
func File(ctx context.Context, dir string, way Way, items []Item, progress func(done, total int)) (err error) {
	if err := check(dir, way, items); err != nil {
		return err
	}
	_, missing := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	lock, err := filelock.Acquire(filepath.Join(dir, lockFile))
	if err != nil {
		return locked(dir, err)
	}
	defer lock.Release()
	if err := atomicfile.RemoveStale(dir); err != nil {
		return err
	}
	if err := writeJournal(dir, head{format, way, missing != nil}, items); err != nil {
		return err
	}
	for i, it := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(it.To))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := way.put(ctx, it.From, to); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, len(items))
		}
	}
	return nil
}

func locked(dir string, err error) error {
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: another partwise is at work in this folder", dir)
	}
	return err
}

// check refuses what File cannot do.
func check(dir string, way Way, items []Item) error {
	if _, err := os.Lstat(filepath.Join(dir, JournalFile)); err == nil {
		return fmt.Errorf("%s holds files that were sorted into it before: take that back, or choose another folder", dir)
	}
	places := make(map[string]string, len(items))
	folders := map[string]bool{}
	for _, it := range items {
		info, err := os.Lstat(it.From)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0 && way == Move:
			return fmt.Errorf("%s is a symbolic link, which may lead nowhere from another folder: copy or link it", it.From)
		case info.Mode()&fs.ModeSymlink != 0:
			if info, err = os.Stat(it.From); err != nil {
				return err
			}
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", it.From)
		}
		if !filepath.IsLocal(filepath.FromSlash(it.To)) || path.Dir(it.To) == "." {
			return fmt.Errorf("%q is no place in a folder of %s", it.To, dir)
		}
		if other, ok := places[it.To]; ok {
			return fmt.Errorf("%s and %s would both become %s", other, it.From, it.To)
		}
		places[it.To] = it.From
		folders[path.Dir(it.To)] = true
	}
	for name := range folders {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(at); err == nil {
			return fmt.Errorf("%s is there already", at)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// put brings a file to its place.
func (w Way) put(ctx context.Context, from, to string) error {
	switch w {
	case Link:
		return os.Symlink(from, to)
	case Move:
		err := atomicfile.RenameNew(from, to)
		if !otherDisk(err) {
			return err
		}
		if err := duplicate(ctx, from, to); err != nil {
			return err
		}
		same, err := equal(ctx, from, to)
		if err != nil {
			return err
		}
		if !same {
			return fmt.Errorf("%s changed while it was moved, and stays; %s is a copy of it", from, to)
		}
		return os.Remove(from)
	}
	return duplicate(ctx, from, to)
}

// otherDisk tells whether a file could not be renamed because its new place is on another
// file system.
func otherDisk(err error) bool {
	const notSameDevice = syscall.Errno(17) // ERROR_NOT_SAME_DEVICE
	return errors.Is(err, syscall.EXDEV) || runtime.GOOS == "windows" && errors.Is(err, notSameDevice)
}

// duplicate copies a file, with its permissions and its time.
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
	err = atomicfile.CreateFunc(to, func(w io.Writer) error {
		_, err := io.Copy(atomicfile.UntilDone(ctx, w), f)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// equal tells whether two files hold the same bytes.
func equal(ctx context.Context, a, b string) (bool, error) {
	var files [2]*os.File
	for i, name := range []string{a, b} {
		f, err := os.Open(name)
		if err != nil {
			return false, err
		}
		defer f.Close()
		files[i] = f
	}
	var buffers [2][1 << 16]byte
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, errA := io.ReadFull(files[0], buffers[0][:])
		m, errB := io.ReadFull(files[1], buffers[1][:])
		if !bytes.Equal(buffers[0][:n], buffers[1][:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if errA != nil {
			return errB != nil, nil
		}
	}
}

func writeJournal(dir string, h head, items []Item) error {
	return atomicfile.CreateFunc(filepath.Join(dir, JournalFile), func(w io.Writer) error {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		if err := lines.Encode(h); err != nil {
			return err
		}
		for _, it := range items {
			if err := lines.Encode(lineOf(it)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readJournal reads the journal of a folder. Its paths are a stranger's.
func readJournal(dir string) (h head, items []Item, err error) {
	at := filepath.Join(dir, JournalFile)
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, nil, fmt.Errorf("no files were sorted into %s: it has no %s", dir, JournalFile)
	case err != nil:
		return h, nil, err
	case !info.Mode().IsRegular() || info.Size() > maxJournal:
		return h, nil, fmt.Errorf("%s: not a list of files that were sorted", at)
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return h, nil, err
	}
	return parseJournal(at, text)
}

// parseJournal reads the text of the journal that is at a path.
func parseJournal(at string, text []byte) (h head, items []Item, err error) {
	number := 0
	for text := range bytes.Lines(text) {
		number++
		if number == 1 {
			if err := json.Unmarshal(text, &h); err != nil || h.Format == 0 {
				return h, nil, fmt.Errorf("%s: line 1: not a list of files that were sorted", at)
			}
			if h.Format != format {
				return h, nil, fmt.Errorf("%s: line 1: format %d, and this version reads format %d", at, h.Format, format)
			}
			continue
		}
		var l line
		err := json.Unmarshal(text, &l)
		it := l.item()
		if err != nil || !filepath.IsAbs(it.From) || !filepath.IsLocal(filepath.FromSlash(it.To)) || path.Dir(it.To) == "." {
			return h, nil, fmt.Errorf("%s: line %d: not a file that was sorted", at, number)
		}
		items = append(items, it)
	}
	if number == 0 {
		return h, nil, fmt.Errorf("%s: not a list of files that were sorted", at)
	}
	return h, items, nil
}

// Undone says what Undo did.
type Undone struct {
	Way Way
	// Back is the number of files that were taken back.
	Back int
	// Left says of each file that was left where it is why.
	Left []string
}

// Undo takes back what File did in dir: copies and links are removed, what was moved
// goes where it was, which must be in the folder root, since the journal may be a
// stranger's. A copy is removed only if its original holds the same bytes, a link
// only if it is the one that File made, and a file is moved only where there is
// none. Emptied folders of items are removed, and the journal where nothing is left.
func Undo(ctx context.Context, dir, root string, progress func(done, total int)) (u Undone, err error) {
	h, items, err := readJournal(dir)
	if err != nil {
		return u, err
	}
	lock, err := filelock.Acquire(filepath.Join(dir, lockFile))
	if err != nil {
		return u, locked(dir, err)
	}
	if err = atomicfile.RemoveStale(dir); err == nil {
		u, err = h.Way.undo(ctx, dir, root, items, progress)
	}
	if err == nil && len(u.Left) == 0 {
		err = os.Remove(filepath.Join(dir, JournalFile))
	}
	lock.Release()
	if err == nil && h.Made {
		_ = os.Remove(dir) // which fails where somebody's files are in it
	}
	return u, err
}

func (way Way) undo(ctx context.Context, dir, root string, items []Item, progress func(done, total int)) (Undone, error) {
	u := Undone{Way: way}
	if way == Move {
		for _, it := range items {
			inside, err := output.Inside(root, it.From)
			if err != nil {
				return u, err
			}
			if !inside {
				return u, fmt.Errorf("%s: %s was not moved out of %s", filepath.Join(dir, JournalFile), it.From, root)
			}
		}
	}
	folders := map[string]bool{}
	for i, it := range slices.Backward(items) {
		if err := ctx.Err(); err != nil {
			return u, err
		}
		to := filepath.Join(dir, filepath.FromSlash(it.To))
		why, err := elsewhere(dir, to)
		if why == "" && err == nil {
			folders[filepath.Dir(to)] = true
			why, err = way.takeBack(ctx, it.From, to)
		}
		switch {
		case err != nil:
			return u, err
		case why != "":
			u.Left = append(u.Left, why)
		default:
			u.Back++
		}
		if progress != nil {
			progress(len(items)-i, len(items))
		}
	}
	for folder := range folders {
		if err := atomicfile.RemoveStale(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return u, err
		}
		_ = os.Remove(folder) // which fails where somebody's files are in it
	}
	return u, nil
}

// elsewhere says where a place in dir is behind a symbolic link, which File does not make
// and which may lead anywhere, or in something else that is no folder.
func elsewhere(dir, to string) (why string, err error) {
	for at := filepath.Dir(to); len(at) > len(dir); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
		case err != nil && !errors.Is(err, syscall.ENOTDIR):
			return "", err
		default:
			return fmt.Sprintf("%s stays, for %s is no folder that was made", to, at), nil
		}
	}
	return "", nil
}

// takeBack takes back what put did. why says what speaks against it, and is empty where it
// is done or there is nothing to do.
func (w Way) takeBack(ctx context.Context, from, to string) (why string, err error) {
	info, err := os.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(from); err != nil && w == Move {
			return fmt.Sprintf("%s is no longer there, nor is %s", to, from), nil
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if w == Link {
		if target, err := os.Readlink(to); !link || err != nil || target != from {
			return to + " is not the link that was made", nil
		}
		return "", os.Remove(to)
	}
	if link || !info.Mode().IsRegular() {
		return to + " is not the file that was put there", nil
	}
	original, err := os.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist) && w == Move:
		if err := os.MkdirAll(filepath.Dir(from), 0o777); err != nil {
			return "", err
		}
		return "", Move.put(ctx, to, from)
	case errors.Is(err, fs.ErrNotExist):
		return to + " stays, for its original is no longer there", nil
	case err != nil:
		return "", err
	case !original.Mode().IsRegular():
		return fmt.Sprintf("%s stays, for %s is no regular file", to, from), nil
	}
	if os.SameFile(info, original) {
		two, err := w.twoNames(from, to)
		if err != nil {
			return "", err
		}
		if !two {
			return fmt.Sprintf("%s stays, for %s is the same file", to, from), nil
		}
	} else {
		same, err := equal(ctx, from, to)
		if err != nil {
			return "", err
		}
		if !same {
			return fmt.Sprintf("%s stays, for %s holds something else", to, from), nil
		}
	}
	return "", os.Remove(to)
}

// twoNames tells whether the two paths of one file are two names of it, as where a move was
// stopped between them, so that one can go. Otherwise they are one name, by a link to it or to
// its folder, or in other letters.
func (w Way) twoNames(from, to string) (bool, error) {
	info, err := os.Lstat(from)
	if err != nil || w != Move || !info.Mode().IsRegular() {
		return false, err
	}
	a, err := os.Stat(filepath.Dir(from))
	if err != nil {
		return false, err
	}
	b, err := os.Stat(filepath.Dir(to))
	return err == nil && !os.SameFile(a, b), err
}
