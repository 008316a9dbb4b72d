package catalogue

import (
	"context"
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
	total := p.size + resp.ContentLength
	want := fmt.Sprintf("bytes %d-%d/%d", p.size, total-1, total)
	if got := resp.Header.Get("Content-Range"); got != want || total <= p.size || p.total >= 0 && total != p.total {
		return fmt.Errorf("it has the range %q and %d bytes", got, resp.ContentLength)
	}
	return nil
}

// watch cancels a request whose server sends fewer than least bytes in a window of time,
// until ctx ends. It is told of bytes by count.
func watch(ctx context.Context, window time.Duration, least int64, cancel context.CancelCauseFunc) (count func(n int)) {
	var bytes atomic.Int64
	go func() {
		ticker := time.NewTicker(window)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if n := bytes.Swap(0); n < least {
					cancel(fmt.Errorf("the server is too slow: it sent %d bytes in %v, less than %d", n, window, least))
				}
			}
		}
	}()
	return func(n int) { bytes.Add(int64(n)) }
}
