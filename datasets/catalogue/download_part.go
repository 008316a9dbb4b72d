package catalogue

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// part is what is there of a file whose download broke off, and what the
// server said of the whole file.
type part struct {
	size    int64  // 0 where nothing can be gone on with
	version string // the ETag or the date of the file on the server
	total   int64  // its size, or -1
}

// unfinished returns what is there of a file, if its note says that it came
// from the same address and of which version it is.
func unfinished(work *os.Root, name, note string, from *url.URL) part {
	text, err := work.ReadFile(note)
	if err != nil {
		return part{}
	}
	lines := strings.Split(string(text), "\n")
	stat, err := work.Lstat(name)
	if err != nil || !stat.Mode().IsRegular() || len(lines) != 4 || lines[0] != from.String() || lines[1] == "" {
		return part{}
	}
	total, err := strconv.ParseInt(lines[2], 10, 64)
	if err != nil || total >= 0 && stat.Size() > total {
		return part{}
	}
	return part{stat.Size(), lines[1], total}
}

// unfinishedNote returns the note of a file that comes in an answer: address,
// version and size, a line each.
func unfinishedNote(from *url.URL, resp *http.Response, total int64) []byte {
	return fmt.Appendf(nil, "%s\n%s\n%d\n", from, versionOf(resp), total)
}

// versionOf returns what tells the version of a file on a server apart from
// others, or "".
func versionOf(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// continues returns an error unless the answer, 206, holds all of the same
// file that follows the part.
func (p part) continues(resp *http.Response) error {
	if v := versionOf(resp); v != p.version {
		return fmt.Errorf("it is of the version %q, and what is there of %q", v, p.version)
	}
	header := resp.Header.Get("Content-Range")
	from, to, total, ok := contentRange(header)
	if !ok || from != p.size || to != total-1 || p.total >= 0 && total != p.total {
		return fmt.Errorf("it has the range %q", header)
	}
	if n := resp.ContentLength; n != to-from+1 {
		return fmt.Errorf("it has the range %q and %d bytes", header, n)
	}
	return nil
}

// contentRange parses a header such as "bytes 100-199/200".
func contentRange(header string) (from, to, total int64, ok bool) {
	rest, isBytes := strings.CutPrefix(header, "bytes ")
	span, last, hasTotal := strings.Cut(rest, "/")
	first, second, hasSpan := strings.Cut(span, "-")
	var errs [3]error
	from, errs[0] = strconv.ParseInt(first, 10, 64)
	to, errs[1] = strconv.ParseInt(second, 10, 64)
	total, errs[2] = strconv.ParseInt(last, 10, 64)
	return from, to, total, isBytes && hasTotal && hasSpan && errors.Join(errs[:]...) == nil && from >= 0 && from <= to && to < total
}

// pace ends a request whose server sends too little in a window of time.
type pace struct {
	bytes atomic.Int64
	least int64
	done  chan struct{}
}

func newPace(window time.Duration, least int64, cancel context.CancelCauseFunc) *pace {
	p := &pace{least: least, done: make(chan struct{})}
	go func() {
		ticker := time.NewTicker(window)
		defer ticker.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-ticker.C:
				if err := p.tick(window); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return p
}

// tick ends a window.
func (p *pace) tick(window time.Duration) error {
	if n := p.bytes.Swap(0); n < p.least {
		return fmt.Errorf("the server is too slow: it sent %d bytes in %v, less than %d", n, window, p.least)
	}
	return nil
}

func (p *pace) count(n int) { p.bytes.Add(int64(n)) }

func (p *pace) stop() { close(p.done) }
