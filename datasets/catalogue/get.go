package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filelock"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Downloader downloads known sets. Its zero value downloads the preferred form from the owners' addresses.
type Downloader struct {
	// Client makes the requests, or http.DefaultClient. docs/reference/data.md says which redirects are followed.
	Client *http.Client
	// Mirror is the address of a folder that replaces all other addresses, or "".
	Mirror string
	From   string // the form, "mat" or "raw"; "" is the first one that can be downloaded
	// Insecure allows plain http for files without a known sum, which an attacker on the network can change.
	Insecure bool
	// Progress, if set, is called repeatedly with a file, its bytes so far, and its size or −1.
	Progress func(what string, done, total int)
	// Report, if set, is called with messages: waiting for another process, or a file without a known sum.
	Report func(message string)
	// Pause is the time before the first retry of a request, doubled for each further one; 0 means a second.
	Pause time.Duration

	leastBytes int // that a server must send in a window; 0 means slowBytes and slowWindow
	window     time.Duration
}

const lockPause = 200 * time.Millisecond // the time between two checks whether another process is done

// Get downloads the known set called name into a folder of that name in dir. Open finds it there if dir is a data
// folder (see DataDir). Get never removes or overwrites existing files, and resumes interrupted downloads. It checks
// files against their published sums, or against the sum that the first download wrote beside the set. Get unpacks
// archives. A file or folder gets its name only when it is complete and verified; until then it is in the folder
// .partwise-get, which one process at a time can use.
func (d *Downloader) Get(ctx context.Context, name, dir string) error {
	if name == Generated {
		return nil
	}
	info, ok := Lookup(name)
	if !ok {
		return Unknown(name)
	}
	forms, err := info.forms(d.From)
	if err != nil {
		return err
	}
	for i := range forms {
		if f := &forms[i]; len(f.Files) > 0 {
			return guard.Wrap(d.getForm(ctx, f, dir, filepath.Join(dir, name)), "get %s", name)
		}
	}
	return fmt.Errorf("get %s: no automatic download: %s (%s)", name, info.How, info.Home)
}

const (
	// workName is the folder of a set for downloads, notes of their sources, and archives being unpacked.
	workName   = ".partwise-get"
	partSuffix = ".part"
	noteSuffix = ".from"
	unpackName = "unpack"
	rawName    = "raw" // the folder for unpacked archives in the folder of the set
)

// getForm downloads the missing files of a form, to dir if root has none of them.
func (d *Downloader) getForm(ctx context.Context, f *Form, root, dir string) (err error) {
	defer guard.Catch(&err)
	at, missing := f.missing(root, dir)
	if _, err := os.Lstat(filepath.Join(at, workName)); len(missing) == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock := guard.Must(d.lock(ctx, root, dir))
	defer lock.Release()
	// Another process may have downloaded the files in the meantime.
	dir, missing = f.missing(root, dir)
	_, err = os.Lstat(dir)
	isNew, work := errors.Is(err, fs.ErrNotExist), filepath.Join(dir, workName)
	guard.Check(os.MkdirAll(work, 0o777))
	if stat, err := os.Lstat(work); err != nil || !stat.IsDir() {
		return errors.Join(fmt.Errorf("%s is not a folder", work), err)
	}
	defer func() {
		// A folder that is not empty stays: its downloads can resume.
		if os.Remove(work) == nil && isNew {
			os.Remove(dir)
		}
	}()
	clearWork(work, missing)
	guard.Check(atomicfile.RemoveStale(dir)) // left by a process killed while it noted a sum
	for _, file := range missing {
		if file.Unpack {
			d.getArchive(ctx, f, file, dir)
		} else {
			from := d.download(ctx, file, dir)
			d.moveIntoPlace(file, from, from, filepath.Join(dir, file.File))
		}
	}
	clearWork(work, nil)
	return nil
}

// missing returns the folder of the form's files, else dir, and the missing files. It calls guard.Fail.
func (f *Form) missing(root, dir string) (string, []*Download) {
	switch found := f.find(root); {
	case found == "":
	case f.VectorFile != "":
		dir = filepath.Dir(found)
	case f.IDX:
		dir = found
	default:
		return dir, nil
	}
	var missing []*Download
	for i := range f.Files {
		file := &f.Files[i]
		if file.Unpack {
			raw := filepath.Join(dir, rawName)
			if _, err := os.Lstat(raw); !errors.Is(err, fs.ErrNotExist) {
				guard.Check(errors.Join(fmt.Errorf("%s exists but does not contain %s; move it away to download again", raw, f), err))
			}
			missing = append(missing, file)
			continue
		}
		path := filepath.Join(dir, file.File)
		err := file.checkSum(path)
		if plain := strings.TrimSuffix(path, ".gz"); err != nil && plain != path {
			if plainErr := file.checkSum(plain); plainErr == nil || errors.Is(err, fs.ErrNotExist) {
				path, err = plain, plainErr
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, file)
		case err != nil:
			guard.Fail("%s exists but is not the file of the set: %w; move it away to download again", path, err)
		}
	}
	return dir, missing
}

// lock waits until no other process downloads a set into the folder dir in root.
func (d *Downloader) lock(ctx context.Context, root, dir string) (*filelock.Lock, error) {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return nil, err
	}
	for waits := false; ; waits = true {
		lock, err := filelock.Acquire(lockOf(root, dir))
		if !errors.Is(err, filelock.ErrLocked) {
			return lock, err
		}
		if !waits {
			d.report(fmt.Sprintf("waiting for another process that downloads into %s", dir))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

func lockOf(root, dir string) string {
	return filepath.Join(root, workName+"-"+filepath.Base(dir)+".lock")
}

func (d *Downloader) report(message string) {
	if d.Report != nil {
		d.Report(message)
	}
}

// clearWork removes the files of killed processes in work, except parts of missing files. It calls guard.Fail.
func clearWork(work string, missing []*Download) {
	var keep []string
	for _, file := range missing {
		keep = append(keep, file.File, file.File+partSuffix, file.File+noteSuffix)
	}
	for _, e := range guard.Must(os.ReadDir(work)) {
		if !slices.Contains(keep, e.Name()) {
			guard.Check(os.RemoveAll(filepath.Join(work, e.Name())))
		}
	}
}

// getArchive downloads an archive of a form and unpacks it to the folder rawName in dir, which must not exist. It calls
// guard.Fail.
func (d *Downloader) getArchive(ctx context.Context, f *Form, file *Download, dir string) {
	archive := filepath.Join(dir, file.File)
	mine := file.checkSum(archive) == nil // the user's own archive is used, and stays
	if !mine {
		archive = d.download(ctx, file, dir)
	}
	tmp := filepath.Join(dir, workName, unpackName)
	guard.Check(errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o777)))
	defer os.RemoveAll(tmp)
	err := guard.Try(func() { f.unpack(ctx, file, archive, tmp) })
	if err != nil && !mine && !isDiskError(err) && ctx.Err() == nil {
		err = errors.Join(err, os.Remove(archive)) // so that the next attempt downloads it again
	}
	guard.Check(err)
	d.moveIntoPlace(file, archive, tmp, filepath.Join(dir, rawName))
}

// unpack unpacks an archive, and its inner archive if any, into the folder tmp. It calls guard.Fail.
func (f *Form) unpack(ctx context.Context, file *Download, archive, tmp string) {
	limit := cmp.Or(file.MaxUnpacked, defaultMaxUnpacked)
	guard.Check(unpack(ctx, archive, tmp, limit))
	if file.Inner != "" {
		inner := filepath.Join(tmp, filepath.FromSlash(file.Inner))
		if _, err := os.Lstat(inner); err != nil {
			guard.Fail("%s does not contain %s", file.File, file.Inner)
		}
		guard.Check(unpack(ctx, inner, filepath.Dir(inner), limit))
		guard.Check(os.Remove(inner))
	}
	guard.FailIf(f.FindIn(tmp, maxDepth-1) == "", "%s does not contain %s", file.File, f)
}

// moveIntoPlace notes the sum of a download and moves its file or content into place. It calls guard.Fail.
func (d *Downloader) moveIntoPlace(file *Download, download, from, to string) {
	d.noteSum(file, download, filepath.Dir(to))
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		guard.Check(errors.Join(fmt.Errorf("%s was created during the download", to), err))
	}
	guard.Check(os.Rename(from, to))
}
