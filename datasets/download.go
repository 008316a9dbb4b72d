package datasets

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Downloader fetches known sets. Its zero value fetches the preferred form of
// each from where its owners, or those who keep it for them, put it.
type Downloader struct {
	// Client makes the requests; nil stands for http.DefaultClient.
	Client *http.Client
	// Mirror, if not empty, is the address of a folder that has all files,
	// which takes the place of all others.
	Mirror string
	// From is the form to fetch, "mat" or "raw"; "" is the first one that can
	// be downloaded.
	From string
	// Progress, if not nil, is told now and then how many bytes of a file are
	// there, and how many there will be, or -1 where that is not known.
	Progress func(file string, done, total int64)
	// Pause is the time to wait before a request that failed is made again,
	// doubled every time; 0 stands for a second.
	Pause time.Duration
}

const (
	// attempts is how often a file is asked for from one address.
	attempts = 3
	// maxStall is how long a server may send nothing.
	maxStall = time.Minute
	// maxDownload and maxUnpacked bound what a server or an archive can fill
	// the disk with.
	maxDownload = 4 << 30
	maxUnpacked = 8 << 30
)

// Get downloads the known set called name into a folder of that name in dir,
// where Open finds it if dir is a data folder (see DataDir). See
// Downloader.Get.
func Get(ctx context.Context, name, dir string, progress func(file string, done, total int64)) error {
	return (&Downloader{Progress: progress}).Get(ctx, name, dir)
}

// Get downloads the known set called name into a folder of that name in dir.
// What is in dir already and sound is left alone, and what broke off is taken
// up again: an unfinished file has ".part" at the end of its name. Files whose
// sum is known are checked, archives are unpacked, and a file or folder gets
// its name only when it is complete.
func (d *Downloader) Get(ctx context.Context, name, dir string) error {
	if name == generatedName {
		return nil
	}
	info, ok := Lookup(name)
	if !ok {
		return unknownSet(name)
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

// getForm downloads what is missing of a form. A form that is nowhere in root
// goes into the folder dir.
func (d *Downloader) getForm(ctx context.Context, f *Form, root, dir string) error {
	switch found := f.find(root); {
	case found == "":
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	case f.file != "":
		dir = filepath.Dir(found)
	case f.idx:
		dir = found
	default:
		return nil
	}
	for i := range f.Files {
		file := &f.Files[i]
		path := filepath.Join(dir, file.File)
		if checkSum(path, file.SHA256) != nil && checkSum(strings.TrimSuffix(path, ".gz"), file.SHA256) != nil {
			if err := d.fetch(ctx, file, path); err != nil {
				return err
			}
		}
		if file.Unpack {
			if err := unpackForm(ctx, f, file, path, filepath.Join(dir, "raw")); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpackForm unpacks the archive of a form into the folder dir, which must not
// exist, and removes it.
func unpackForm(ctx context.Context, f *Form, file *Download, archive, dir string) (err error) {
	tmp := dir + partSuffix
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o777)); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	err = unpack(ctx, archive, tmp, maxUnpacked)
	if ctx.Err() != nil {
		return err
	}
	// A broken archive goes too, so that the next attempt fetches it anew.
	defer func() { err = errors.Join(err, os.Remove(archive)) }()
	if err != nil {
		return err
	}
	if file.inner != "" {
		inner := filepath.Join(tmp, filepath.FromSlash(file.inner))
		if err := unpack(ctx, inner, filepath.Dir(inner), maxUnpacked); err != nil {
			return err
		}
		if err := os.Remove(inner); err != nil {
			return err
		}
	}
	if f.findIn(tmp, maxDepth-1) == "" {
		return fmt.Errorf("%s does not hold %s", file.File, f)
	}
	return os.Rename(tmp, dir)
}

// fetch downloads a file from the first of its addresses that has it.
func (d *Downloader) fetch(ctx context.Context, file *Download, path string) error {
	urls := file.URLs
	if d.Mirror != "" {
		mirrored, err := url.JoinPath(d.Mirror, file.File)
		if err != nil {
			return fmt.Errorf("mirror %q: %w", d.Mirror, err)
		}
		urls = []string{mirrored}
	}
	var errs []error
	for _, url := range urls {
		err := d.fetchFrom(ctx, url, path)
		if err == nil {
			if err = checkSum(path+partSuffix, file.SHA256); err == nil {
				return os.Rename(path+partSuffix, path)
			}
			err = fmt.Errorf("%s: %w", url, errors.Join(err, os.Remove(path+partSuffix)))
		}
		if ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

const (
	// An unfinished file is called so, and beside it stands a note of the
	// address and the version that it is a part of.
	partSuffix = ".part"
	noteSuffix = ".part.from"
)

// errGone marks failures that asking again will not mend.
var errGone = errors.New("not to be had there")

func (d *Downloader) fetchFrom(ctx context.Context, url, path string) error {
	pause := cmp.Or(d.Pause, time.Second)
	for attempt := 1; ; attempt++ {
		err := d.try(ctx, url, path)
		if err == nil {
			return os.RemoveAll(path + noteSuffix)
		}
		err = fmt.Errorf("%s: %w", url, err)
		if attempt == attempts || errors.Is(err, errGone) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", url, ctx.Err())
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// try makes one request for what is missing of the unfinished file.
func (d *Downloader) try(ctx context.Context, url, path string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(maxStall, func() { cancel(fmt.Errorf("nothing came for %v", maxStall)) })
	defer stalled.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return errors.Join(errGone, err)
	}
	req.Header.Set("User-Agent", "partwise")
	req.Header.Set("Accept-Encoding", "identity") // the file as it is, also where it is gzipped
	have, version := unfinished(url, path)
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", version)
	}
	resp, err := cmp.Or(d.Client, http.DefaultClient).Do(req)
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	switch code := resp.StatusCode; {
	case code == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case code == http.StatusOK:
		have = 0
	case code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(fmt.Errorf("the server did not send the part that was asked for: %s", resp.Status), os.RemoveAll(path+partSuffix))
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return errors.New(resp.Status)
	default:
		return fmt.Errorf("%w: %s", errGone, resp.Status)
	}
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}

	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if have == 0 {
		mode |= os.O_TRUNC
	}
	out, err := os.OpenFile(path+partSuffix, mode, 0o666)
	if err != nil {
		return errors.Join(errGone, err)
	}
	defer out.Close()
	if err := os.WriteFile(path+noteSuffix, []byte(url+"\n"+versionOf(resp)), 0o666); err != nil {
		return errors.Join(errGone, err)
	}
	buf := make([]byte, 1<<16)
	for {
		n, err := resp.Body.Read(buf)
		stalled.Reset(maxStall)
		if _, err := out.Write(buf[:n]); err != nil {
			return errors.Join(errGone, err)
		}
		if have += int64(n); have > maxDownload {
			return errors.Join(fmt.Errorf("%w: more than %d bytes", errGone, int64(maxDownload)), os.Remove(path+partSuffix))
		}
		if d.Progress != nil {
			d.Progress(filepath.Base(path), have, total)
		}
		if err == io.EOF && ctx.Err() == nil {
			return out.Close()
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

// unfinished returns how much of the file is there, and of which version, if
// it is known to have come from url; else 0.
func unfinished(url, path string) (have int64, version string) {
	note, err := os.ReadFile(path + noteSuffix)
	if err != nil {
		return 0, ""
	}
	from, version, _ := strings.Cut(string(note), "\n")
	stat, err := os.Stat(path + partSuffix)
	if err != nil || from != url || version == "" {
		return 0, ""
	}
	return stat.Size(), version
}

// versionOf returns what tells the version of a file on a server apart from
// others, or "".
func versionOf(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// checkSum returns an error if the file is not there or does not have the sum,
// which is that of its content where it is gzipped. Any file has the sum "".
func checkSum(path, sum string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if sum == "" {
		return nil
	}
	var r io.Reader = f
	if strings.HasSuffix(strings.TrimSuffix(path, partSuffix), ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return fmt.Errorf("%s has the SHA-256 sum %s, want %s", filepath.Base(path), got, sum)
	}
	return nil
}
