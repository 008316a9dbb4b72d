package explore

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Listen listens on the loopback address, of IPv4 if possible, at a port, or with 0 at a free one.
func Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l, nil
	}
	if l, err6 := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err6 == nil {
		return l, nil
	}
	return nil, err
}

// Run serves the results of partwise cluster in dir, as New does, until the person is finished,
// which is no error, or ctx ends. It gives the address of the page to ready. When it returns no
// call of the session runs, and there will be none.
func Run(ctx context.Context, session Session, dir string, files []string, port int, ready func(address string) error) error {
	s, err := New(ctx, session, dir, files)
	if err != nil {
		return err
	}
	l, err := Listen(port)
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
