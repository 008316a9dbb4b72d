package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filelock"
)

// Downloader fetches known sets. Its zero value fetches the preferred form of
// each from where its owners, or those who keep it for them, put it.
type Downloader struct {
	// Client makes the requests; nil stands for http.DefaultClient. Its
	// CheckRedirect is not used: see docs/data.md for what is followed.
	Client *http.Client
	// Mirror, if not empty, is the address of a folder that has all files,
	// which takes the place of all others.
	Mirror string
	// From is the form to fetch, "mat" or "raw"; "" is the first one that can
	// be downloaded.
	From string
	// Insecure lets files whose sum is not known come over plain http, where
	// anybody on the way can change them.
	Insecure bool
	// Progress, if not nil, is told now and then which file comes, how many bytes of it
	// are there, and how many there will be, or -1 where that is not known.
	Progress func(what string, done, total int)
	// Report, if not nil, is told what the user should know: that another
	// process is waited for, and the sum of a file that could not be compared
	// with a published one.
	Report func(message string)
	// Pause is the time to wait before a request that failed is made again,
	// doubled every time; 0 stands for a second.
	Pause time.Duration

	// A server that sends fewer than leastBytes in a window is given up; 0
	// stands for slowBytes and slowWindow.
	leastBytes int64
	window     time.Duration
}

const (
	// attempts is how often a file is asked for from one address.
	attempts = 3
	// slowBytes in slowWindow, 1 kB a second, is the least that a server must
	// send.
	slowBytes  = 60_000
	slowWindow = time.Minute
	// maxRedirects is how often a request may be sent elsewhere.
	maxRedirects = 5
	// lockPause is the time between two looks at whether another process is
	// done.
	lockPause = 200 * time.Millisecond
)

// Get downloads the known set called name into a folder of that name in dir, where
// Open finds it if dir is a data folder (see DataDir).
// What is in dir already is left alone, and what broke off is taken up again.
// Files are checked against their published sums or, where there is none,
// against the sum that the first download wrote beside the set. Archives are
// unpacked, and a file or folder gets its name only when it is complete and
// right; until then it is in the folder workName, which only Get writes in and
// only one process at a time. Nothing else is removed or overwritten.
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
			if err := d.getForm(ctx, f, dir, filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("get %s: %w", name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("get %s: it cannot be downloaded: %s (%s)", name, info.How, info.Home)
}

const (
	// workName is the folder, in that of the set, in which files are made. It
	// holds the lock, downloads that are not complete with a note of what they
	// are a part of, those that are, and a folder that is being unpacked.
	workName   = ".partwise-get"
	lockName   = "lock"
	partSuffix = ".part"
	noteSuffix = ".from"
	unpackName = "unpack"
	// rawName is the folder in that of the set that archives are unpacked to.
	rawName = "raw"
)

// getForm downloads what is missing of a form. A form that is nowhere in root
// goes into the folder dir.
func (d *Downloader) getForm(ctx context.Context, f *Form, root, dir string) (err error) {
	dir, missing, err := f.missing(root, dir)
	if err != nil {
		return err
	}
	work := filepath.Join(dir, workName)
	if len(missing) == 0 {
		if _, err := os.Lstat(work); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	_, statErr := os.Lstat(dir)
	isNew := errors.Is(statErr, fs.ErrNotExist)
	lock, err := d.lock(ctx, work)
	if err != nil {
		return err
	}
	defer func() {
		lock.Release()
		// What is not empty stays: downloads to go on with, or the lock of the
		// process that comes next.
		if os.Remove(work) == nil && isNew {
			os.Remove(dir)
		}
	}()
	// Another process may have brought the files in the meantime.
	if dir, missing, err = f.missing(root, dir); err != nil {
		return err
	}
	if err := clearWork(work, missing); err != nil {
		return err
	}
	if err := atomicfile.RemoveStale(dir); err != nil { // of a process killed while it noted a sum
		return err
	}
	for _, file := range missing {
		if file.Unpack {
			err = d.getArchive(ctx, f, file, dir)
		} else {
			err = d.getFile(ctx, file, dir)
		}
		if err != nil {
			return err
		}
	}
	return clearWork(work, nil)
}

// missing returns the folder that the form's files belong in, dir where it is
// nowhere in root, and those that are not there. It is an error if something
// else has the name of one of them.
func (f *Form) missing(root, dir string) (string, []*Download, error) {
	switch found := f.find(root); {
	case found == "":
	case f.VectorFile != "":
		dir = filepath.Dir(found)
	case f.IDX:
		dir = found
	default:
		return dir, nil, nil
	}
	var missing []*Download
	for i := range f.Files {
		file := &f.Files[i]
		if file.Unpack {
			raw := filepath.Join(dir, rawName)
			if _, err := os.Lstat(raw); !errors.Is(err, fs.ErrNotExist) {
				return "", nil, errors.Join(fmt.Errorf("%s is there and does not hold %s; move it away to have it downloaded", raw, f), err)
			}
			missing = append(missing, file)
			continue
		}
		path := filepath.Join(dir, file.File)
		var wrong error
		have := false
		for _, path := range slices.Compact([]string{path, strings.TrimSuffix(path, ".gz")}) {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			err := file.checkSum(path, strings.HasSuffix(path, ".gz"))
			have = have || err == nil
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("%s is there and is not the file of the set: %w; move it away to have it downloaded", path, err)
			}
		}
		if !have && wrong != nil {
			return "", nil, wrong
		}
		if !have {
			missing = append(missing, file)
		}
	}
	return dir, missing, nil
}

// lock makes the folder work and waits until no other process works in it.
func (d *Downloader) lock(ctx context.Context, work string) (*filelock.Lock, error) {
	for waits := false; ; {
		if err := makeShared(work); err != nil {
			return nil, err
		}
		if stat, err := os.Lstat(work); err == nil && !stat.IsDir() {
			return nil, fmt.Errorf("%s is not a folder", work)
		}
		lock, err := filelock.Acquire(filepath.Join(work, lockName))
		switch {
		case err == nil:
			return lock, nil
		case errors.Is(err, filelock.ErrLocked):
			if !waits {
				d.report(fmt.Sprintf("another process is getting it into %s; waiting for that", filepath.Dir(work)))
				waits = true
			}
		case errors.Is(err, fs.ErrNotExist): // the process before has just removed the folder
		default:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

// makeShared makes a folder that other processes may remove meanwhile, and the one
// that it is in: os.MkdirAll fails where they do that between two of its steps.
func makeShared(dir string) (err error) {
	for range 100 {
		err = os.MkdirAll(dir, 0o777)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (d *Downloader) report(message string) {
	if d.Report != nil {
		d.Report(message)
	}
}

// clearWork removes what processes that were killed left in the folder work,
// but for the lock and what the missing files can be made of.
func clearWork(work string, missing []*Download) error {
	keep := []string{lockName}
	for _, file := range missing {
		keep = append(keep, file.File, file.File+partSuffix, file.File+noteSuffix)
	}
	entries, err := os.ReadDir(work)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			if err := os.RemoveAll(filepath.Join(work, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// getFile downloads a file into the folder dir.
func (d *Downloader) getFile(ctx context.Context, file *Download, dir string) error {
	from, err := d.complete(ctx, file, dir)
	if err != nil {
		return err
	}
	if err := d.noteSum(file, from, dir); err != nil {
		return err
	}
	to := filepath.Join(dir, file.File)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s has appeared while it was downloaded", to), err)
	}
	return os.Rename(from, to)
}

// getArchive downloads an archive of a form and unpacks it to the folder
// rawName in dir, which must not exist.
func (d *Downloader) getArchive(ctx context.Context, f *Form, file *Download, dir string) error {
	// One that the user put there is taken, and stays.
	archive, mine := filepath.Join(dir, file.File), true
	if _, err := os.Lstat(archive); err != nil || file.checkSum(archive, strings.HasSuffix(archive, ".gz")) != nil {
		mine = false
		if archive, err = d.complete(ctx, file, dir); err != nil {
			return err
		}
	}
	err := d.unpackForm(ctx, f, file, archive, dir)
	var bad badArchive
	if errors.As(err, &bad) && !ofDisk(err) && !mine {
		// The next attempt is to fetch it anew. Where it is the disk that
		// failed, the archive is still good.
		return errors.Join(err, os.Remove(archive))
	}
	return err
}

// unpackForm unpacks an archive and gives its folder the name rawName in dir
// in one step.
func (d *Downloader) unpackForm(ctx context.Context, f *Form, file *Download, archive, dir string) error {
	tmp := filepath.Join(dir, workName, unpackName)
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o777)); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	limit := cmp.Or(file.MaxUnpacked, defaultMaxUnpacked)
	if err := unpackInto(ctx, archive, tmp, limit); err != nil {
		return err
	}
	if file.Inner != "" {
		inner := filepath.Join(tmp, filepath.FromSlash(file.Inner))
		if _, err := os.Lstat(inner); err != nil {
			return badArchive{fmt.Errorf("%s does not hold %s", file.File, file.Inner)}
		}
		if err := unpackInto(ctx, inner, filepath.Dir(inner), limit); err != nil {
			return err
		}
		if err := os.Remove(inner); err != nil {
			return err
		}
	}
	if f.FindIn(tmp, maxDepth-1) == "" {
		return badArchive{fmt.Errorf("%s does not hold %s", file.File, f)}
	}
	if err := d.noteSum(file, archive, dir); err != nil {
		return err
	}
	raw := filepath.Join(dir, rawName)
	if _, err := os.Lstat(raw); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s has appeared while it was downloaded", raw), err)
	}
	return os.Rename(tmp, raw)
}

// complete returns the path of the complete file in the folder workName of
// dir, which it downloads from the first of its addresses that has it.
func (d *Downloader) complete(ctx context.Context, file *Download, dir string) (string, error) {
	work, err := os.OpenRoot(filepath.Join(dir, workName))
	if err != nil {
		return "", err
	}
	defer work.Close()
	path := filepath.Join(work.Name(), file.File)
	gzipped := strings.HasSuffix(file.File, ".gz")
	want, err := file.expect(dir)
	if err != nil {
		return "", err
	}
	if stat, err := work.Lstat(file.File); err == nil && stat.Mode().IsRegular() && want.check(path, gzipped) == nil {
		return path, nil // a process that was stopped has brought it
	}
	addresses, err := d.addresses(file)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, address := range addresses {
		err := d.fetchFrom(ctx, address, file, work)
		if err == nil {
			part := file.File + partSuffix
			if err = want.check(filepath.Join(work.Name(), part), gzipped); err == nil {
				return path, work.Rename(part, file.File)
			}
			err = fmt.Errorf("%s: %w", address, errors.Join(err, work.Remove(part)))
		}
		if ctx.Err() != nil || ofDisk(err) {
			return "", err
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// addresses returns the addresses that the file may be fetched from.
func (d *Downloader) addresses(file *Download) ([]*url.URL, error) {
	texts := file.URLs
	if d.Mirror != "" {
		mirrored, err := url.JoinPath(d.Mirror, file.File)
		if err != nil {
			return nil, fmt.Errorf("mirror %q: %w", d.Mirror, err)
		}
		texts = []string{mirrored}
	}
	var addresses []*url.URL
	var errs []error
	for _, text := range texts {
		u, err := url.Parse(text)
		switch {
		case err != nil:
			errs = append(errs, err)
		case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			errs = append(errs, fmt.Errorf("%s: not an address of http or https", text))
		case u.Scheme == "http" && !file.known() && !d.Insecure:
			errs = append(errs, fmt.Errorf("%s: it comes over plain http and its sum is not known, so that anybody on the way could change it; insecure gets it all the same", text))
		default:
			addresses = append(addresses, u)
		}
	}
	if len(addresses) == 0 {
		return nil, errors.Join(errs...)
	}
	return addresses, nil
}

// client returns the client that fetches the file. It follows redirects from
// https to https only, to the hosts of the set and, where the file's sum is
// known, to any.
func (d *Downloader) client(file *Download, first *url.URL) *http.Client {
	c := *cmp.Or(d.Client, http.DefaultClient)
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from, to := via[len(via)-1].URL, req.URL
		switch secure := to.Scheme == "https"; {
		case len(via) > maxRedirects:
			return final("redirected more than %d times", maxRedirects)
		case !secure && to.Scheme != "http":
			return final("redirected to another scheme")
		case !secure && from.Scheme == "https":
			return final("redirected from https to plain http")
		case host(to) == host(first), slices.Contains(file.Hosts, host(to)), secure && file.known():
			return nil
		}
		return final("redirected to another host, which is followed over https only and where the sum of the file is known")
	}
	return &c
}

// host returns the host of an address, with its port where it is not that of
// the scheme.
func host(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && (u.Scheme != "http" || port != "80") && (u.Scheme != "https" || port != "443") {
		return name + ":" + port
	}
	return name
}

// finalError marks failures that asking again will not mend.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(format string, a ...any) error { return finalError{fmt.Errorf(format, a...)} }

// onDisk returns an error of the folder work as one that asking again will not
// mend, with the whole path, which a Root leaves out.
func onDisk(work *os.Root, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && !strings.HasPrefix(at.Path, work.Name()) {
		err = &fs.PathError{Op: strings.TrimSuffix(at.Op, "at"), Path: filepath.Join(work.Name(), at.Path), Err: at.Err}
	}
	return finalError{err}
}

// ofDisk tells whether an error is one of the disk and not of a server.
func ofDisk(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk)
}

// fetchFrom downloads a file from one address to its part in the folder work.
func (d *Downloader) fetchFrom(ctx context.Context, from *url.URL, file *Download, work *os.Root) error {
	pause := cmp.Or(d.Pause, time.Second)
	for attempt := 1; ; attempt++ {
		err := d.try(ctx, from, file, work)
		if err == nil {
			return work.RemoveAll(file.File + noteSuffix)
		}
		var last finalError
		if ofDisk(err) {
			return err
		}
		err = fmt.Errorf("%s: %w", from, err)
		if attempt == attempts || errors.As(err, &last) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", from, context.Cause(ctx))
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// try makes one request for what is missing of the part.
func (d *Downloader) try(ctx context.Context, from *url.URL, file *Download, work *os.Root) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	count := watch(ctx, cmp.Or(d.window, slowWindow), cmp.Or(d.leastBytes, slowBytes), cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return finalError{err}
	}
	req.Header.Set("User-Agent", "partwise")
	req.Header.Set("Accept-Encoding", "identity") // the file as it is, also where it is gzipped
	limit := cmp.Or(file.MaxBytes, defaultMaxBytes)
	partName, noteName := file.File+partSuffix, file.File+noteSuffix
	drop := func(err error) error { return errors.Join(err, work.RemoveAll(partName), work.RemoveAll(noteName)) }
	have := unfinished(work, partName, noteName, from)
	if have.size > 0 && have.size == have.total {
		return nil // stopped between the last byte and its check
	}
	if have.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have.size))
		req.Header.Set("If-Range", have.version)
	}
	resp, err := d.client(file, from).Do(req)
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	done, total := int64(0), resp.ContentLength
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
	case code == http.StatusPartialContent && have.size == 0:
		return final("the server sent a part where all was asked for")
	case code == http.StatusPartialContent:
		if err := have.continues(resp); err != nil {
			return drop(fmt.Errorf("the server did not send the rest of what is there: %w", err))
		}
		done, total = have.size, have.size+resp.ContentLength
	case code == http.StatusRequestedRangeNotSatisfiable:
		return drop(fmt.Errorf("the server did not send the rest of what is there: %s", resp.Status))
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return errors.New(resp.Status)
	default:
		return final("%s", resp.Status)
	}
	if total > limit {
		return final("the server has %d bytes for it, and %d is the most that it may be", total, limit)
	}

	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if done == 0 {
		mode |= os.O_TRUNC
	}
	out, err := work.OpenFile(partName, mode, 0o666)
	if err != nil {
		return onDisk(work, err)
	}
	defer out.Close()
	if err := work.WriteFile(noteName, unfinishedNote(from, resp, total), 0o666); err != nil {
		return onDisk(work, err)
	}
	buf := make([]byte, 1<<16)
	for {
		n, err := resp.Body.Read(buf)
		count(n)
		if done+int64(n) > limit {
			return drop(final("the server sent more than the %d bytes that it may be", limit))
		}
		if _, err := out.Write(buf[:n]); err != nil {
			return onDisk(work, err)
		}
		done += int64(n)
		if d.Progress != nil {
			d.Progress(file.File, int(done), int(total))
		}
		if err == io.EOF && ctx.Err() == nil {
			if err := errors.Join(out.Sync(), out.Close()); err != nil {
				return onDisk(work, err)
			}
			return nil
		}
		if err != nil {
			return cause(ctx, err)
		}
	}
}

// cause returns why ctx ended, if it did, or else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
