package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// listen listens on the loopback address, of IPv4 if possible, at a port, or with 0 at a free one.
func listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if l, err6 := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err6 == nil {
			return l, nil
		}
	}
	return l, err
}

// Run serves the results of partwise cluster in dir, as New does, until the person is finished,
// which is no error, or ctx ends. It gives the address of the page to ready. When it returns no
// call of the session runs, and there will be none.
func Run(ctx context.Context, session Session, dir string, files []string, port int, ready func(address string) error) error {
	s, err := New(ctx, session, dir, files)
	if err != nil {
		return err
	}
	l, err := listen(port)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: acceptable, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: log.New(io.Discard, "", 0), // connections that broke off
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	err = ready("http://" + l.Addr().String() + s.Path())
	if err == nil {
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case err = <-served:
		case <-s.finished:
		}
	}
	// Requests that were begun are answered. Idle connections that browsers keep open are closed.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if web.Shutdown(last) != nil {
		_ = web.Close()
	}
	return errors.Join(err, s.Close())
}

// tokenFile holds the token of a folder of results, so that the address stays the same. If others could
// read the file, there is a new token.
const tokenFile = ".partwise-explore"

var tokenForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// tokenOf returns the token of the results in dir, and keeps it there if it can.
func tokenOf(dir string) string {
	path := filepath.Join(dir, tokenFile)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() <= 32 {
		isPrivate := runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0
		if text, err := os.ReadFile(path); err == nil && tokenForm.Match(text) {
			if isPrivate {
				return string(text)
			}
			_ = os.Remove(path)
		}
	}
	token := rand.Text()
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = f.WriteString(token) // the next address is another one otherwise
		_ = f.Close()
	}
	return token
}
