package catalogue

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

const (
	attempts     = 3 // for a file from one address
	maxRedirects = 5
	// A server must send slowBytes in slowWindow, 1 kB a second.
	slowBytes  = 60_000
	slowWindow = time.Minute
)

// download downloads a file from the first address that provides it, to the folder workName of dir. It calls guard.Fail.
func (d *Downloader) download(ctx context.Context, file *Download, dir string) (path string) {
	path = filepath.Join(dir, workName, file.File)
	want := guard.Must(file.expectedSum(dir))
	if want.verify(path) == nil {
		return path // an interrupted process has downloaded it
	}
	addresses := file.URLs
	if d.Mirror != "" {
		mirrored, err := url.JoinPath(d.Mirror, file.File)
		guard.Check(guard.Wrap(err, "mirror %q", d.Mirror))
		addresses = []string{mirrored}
	}
	var errs []error
	for _, text := range addresses {
		err := guard.Try(func() {
			address := d.address(file, text)
			guard.Check(d.fetchFrom(ctx, address, file, path))
			if err := want.verify(path + partSuffix); err != nil {
				guard.Fail("%s: %w", address, errors.Join(err, os.Remove(path+partSuffix)))
			}
		})
		if err == nil {
			guard.Check(os.Rename(path+partSuffix, path))
			return path
		}
		guard.FailIf(ctx.Err() != nil || isDiskError(err), "%w", err)
		errs = append(errs, err)
	}
	guard.Check(errors.Join(errs...))
	return path
}

// address returns an address of the file. It calls guard.Fail if it is unusable.
func (d *Downloader) address(file *Download, text string) *url.URL {
	u := guard.Must(url.Parse(text))
	guard.FailIf(u.Host == "" || u.Scheme != "http" && u.Scheme != "https", "%s: expected an http or https URL", text)
	guard.FailIf(u.Scheme == "http" && !file.hasSum() && !d.Insecure,
		"%s: a plain HTTP download without a published checksum could be altered on the way; insecure allows it", text)
	return u
}

// client follows redirects from https only to https, and only to the set's hosts unless a sum is published.
func (d *Downloader) client(file *Download, first *url.URL) *http.Client {
	c := *cmp.Or(d.Client, http.DefaultClient)
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from, to := via[len(via)-1].URL, req.URL
		switch secure := to.Scheme == "https"; {
		case len(via) > maxRedirects:
			return finalErrorf("redirected more than %d times", maxRedirects)
		case !secure && to.Scheme != "http":
			return finalErrorf("redirected to a scheme other than http and https")
		case !secure && from.Scheme == "https":
			return finalErrorf("redirected from https to plain http")
		case to.Host == first.Host, slices.Contains(file.Hosts, to.Host), secure && file.hasSum():
			return nil
		}
		return finalErrorf("redirected to another host, which needs https and a published checksum")
	}
	return &c
}

// finalError marks failures that a retry cannot fix.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func finalErrorf(format string, a ...any) error { return finalError{fmt.Errorf(format, a...)} }

// isDiskError reports whether an error comes from the disk, not from a server.
func isDiskError(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// fetchFrom downloads a file from one address to its part beside path.
func (d *Downloader) fetchFrom(ctx context.Context, from *url.URL, file *Download, path string) error {
	pause := cmp.Or(d.Pause, time.Second)
	for attempt := 1; ; attempt++ {
		err := d.request(ctx, from, file, path)
		if err == nil {
			return os.RemoveAll(path + noteSuffix)
		}
		if isDiskError(err) {
			return err
		}
		err = fmt.Errorf("%s: %w", from, err)
		if _, isFinal := errors.AsType[finalError](err); isFinal || attempt == attempts || ctx.Err() != nil {
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

// request makes one request for the missing rest of the part.
func (d *Downloader) request(ctx context.Context, from *url.URL, file *Download, path string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	window, least := cmp.Or(d.window, slowWindow), cmp.Or(d.leastBytes, slowBytes)
	slow := time.AfterFunc(window, func() {
		cancel(fmt.Errorf("the server is too slow: it sent less than %d bytes in %v", least, window))
	})
	defer slow.Stop()
	recent := 0
	count := func(n int) {
		if recent += n; recent >= least {
			recent = 0
			slow.Reset(window)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return finalError{err}
	}
	req.Header.Set("User-Agent", "partwise")
	req.Header.Set("Accept-Encoding", "identity") // the file as it is, even if it is gzipped
	have := unfinished(path, from)
	if have.size > 0 && have.size == have.total {
		return nil // interrupted between the last byte and its check
	}
	if have.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have.size))
		req.Header.Set("If-Range", have.version)
	}
	resp, err := d.client(file, from).Do(req)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		have.size = 0
	case code == http.StatusPartialContent && have.size == 0:
		return finalErrorf("the server sent part of the file instead of all of it")
	case code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable:
		total := have.size + resp.ContentLength
		want, got := fmt.Sprintf("bytes %d-%d/%d", have.size, total-1, total), resp.Header.Get("Content-Range")
		if v := versionOf(resp); v != have.version {
			err = fmt.Errorf("version %q, but the partial download has version %q", v, have.version)
		} else if got != want || total <= have.size || have.total >= 0 && total != have.total {
			err = fmt.Errorf("range %q with %d bytes", got, resp.ContentLength)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("the server did not resume the partial download: %s: %w", resp.Status, err), dropPart(path))
		}
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return errors.New(resp.Status)
	default:
		return finalErrorf("%s", resp.Status)
	}
	have.version, have.total = versionOf(resp), resp.ContentLength
	if have.total >= 0 {
		have.total += have.size
	}
	err = d.receive(file, path, from, resp.Body, have, count)
	return cmp.Or(context.Cause(ctx), err)
}

// receive appends the body to the part, which already has the bytes of have.
func (d *Downloader) receive(file *Download, path string, from *url.URL, body io.Reader, have partialFile, count func(n int)) (err error) {
	defer guard.Catch(&err)
	limit := cmp.Or(file.MaxBytes, defaultMaxBytes)
	if have.total > limit {
		return finalErrorf("the file has %d bytes, above the limit of %d", have.total, limit)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if have.size == 0 {
		mode |= os.O_TRUNC
	}
	out := guard.Must(os.OpenFile(path+partSuffix, mode, 0o666))
	defer out.Close()
	note := fmt.Appendf(nil, "%s\n%s\n%d\n", from, have.version, have.total)
	err = os.WriteFile(path+noteSuffix, note, 0o666)
	buf := make([]byte, 1<<16)
	for err == nil {
		var n int
		n, err = body.Read(buf)
		count(n)
		if have.size += int64(n); have.size > limit {
			return errors.Join(finalErrorf("the server sent more than the limit of %d bytes", limit), dropPart(path))
		}
		guard.Must(out.Write(buf[:n]))
		if d.Progress != nil {
			d.Progress(file.File, int(have.size), int(have.total))
		}
	}
	if err == io.EOF {
		return errors.Join(out.Sync(), out.Close())
	}
	return err
}

// partialFile is the beginning of a file whose download was interrupted.
type partialFile struct {
	size    int64  // 0 if the download cannot resume
	version string // the ETag or the date of the file on the server
	total   int64  // the size of the file, or −1
}

// unfinished returns the part of a file if its note names the same address.
func unfinished(path string, from *url.URL) partialFile {
	text, err := os.ReadFile(path + noteSuffix)
	stat, statErr := os.Lstat(path + partSuffix)
	lines := strings.Split(string(text), "\n")
	if err != nil || statErr != nil || !stat.Mode().IsRegular() || len(lines) != 4 || lines[0] != from.String() || lines[1] == "" {
		return partialFile{}
	}
	total, err := strconv.ParseInt(lines[2], 10, 64)
	if err != nil || total >= 0 && stat.Size() > total {
		return partialFile{}
	}
	return partialFile{stat.Size(), lines[1], total}
}

func dropPart(path string) error {
	return errors.Join(os.RemoveAll(path+partSuffix), os.RemoveAll(path+noteSuffix))
}

// versionOf returns an identifier of the version of a file on a server, or "".
func versionOf(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// sumSuffix ends the name of the file with the sum of a first download, in the format of sha256sum.
const sumSuffix = ".sha256"

// hasSum reports whether a sum of the file is published.
func (f *Download) hasSum() bool { return f.SHA256 != "" || f.MD5 != "" }

type fileSum struct {
	kind      string
	want      string // in hexadecimal; "" accepts any
	hash      func() hash.Hash
	ofContent bool // the sum of a gzipped file is the sum of its content
	max       int64
	source    string // the file that holds an unpublished sum
}

// expectedSum returns the expected sum of the file: the published one, or the one noted in dir.
func (f *Download) expectedSum(dir string) (fileSum, error) {
	s := fileSum{kind: "SHA-256", want: f.SHA256, hash: sha256.New, ofContent: true, max: cmp.Or(f.MaxUnpacked, defaultMaxUnpacked)}
	if f.SHA256 == "" && f.MD5 != "" {
		s.kind, s.want, s.hash, s.ofContent = "MD5", f.MD5, md5.New, false
	}
	noted := filepath.Join(dir, f.File+sumSuffix)
	text, err := os.ReadFile(noted)
	switch {
	case s.want != "" || errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, err
	}
	want, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size {
		return s, fmt.Errorf("%s has no SHA-256 checksum", noted)
	}
	s.want, s.ofContent, s.source = strings.ToLower(want), false, noted
	return s, nil
}

// checkSum returns an error if the file is missing or has another sum than expected.
func (f *Download) checkSum(path string) (err error) {
	defer guard.Catch(&err)
	return guard.Must(f.expectedSum(filepath.Dir(path))).verify(path)
}

// verify returns an error if the file, which may be a part, cannot be read or has another sum.
func (s fileSum) verify(path string) (err error) {
	defer guard.Catch(&err)
	f := guard.Must(os.Open(path))
	defer f.Close()
	if s.want == "" {
		return nil
	}
	name, r := strings.TrimSuffix(filepath.Base(path), partSuffix), io.Reader(f)
	if s.ofContent && strings.HasSuffix(name, ".gz") {
		r = guard.Must(gzip.NewReader(f))
	}
	h := s.hash()
	n := guard.Must(io.Copy(h, io.LimitReader(r, s.max+1)))
	guard.FailIf(n > s.max, "the content is larger than the limit of %d bytes", s.max)
	if got := hex.EncodeToString(h.Sum(nil)); got != s.want {
		err = fmt.Errorf("%s has the %s checksum %s, expected %s", name, s.kind, got, s.want)
		if s.source != "" {
			err = fmt.Errorf("%w, saved by an earlier download in %s; remove that file to accept the new one", err, s.source)
		}
	}
	return err
}

// noteSum writes the sum of a file without a published one into dir for later downloads, and reports it. It calls
// guard.Fail.
func (d *Downloader) noteSum(file *Download, path, dir string) {
	noted := filepath.Join(dir, file.File+sumSuffix)
	_, err := os.Lstat(noted)
	if file.hasSum() || err == nil {
		return // the file was checked
	}
	guard.FailIf(!errors.Is(err, fs.ErrNotExist), "%w", err)
	sum, _, err := atomicfile.Sum(context.Background(), path)
	guard.Check(err)
	d.report(fmt.Sprintf("%s has no published checksum; its SHA-256 is %x, saved in %s", file.File, sum, noted))
	guard.Check(atomicfile.Write(noted, fmt.Appendf(nil, "%x  %s\n", sum, file.File)))
}
