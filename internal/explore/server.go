// Package explore serves the page of a grouping on the loopback address, where a person corrects the groups. The
// address holds a secret token of 128 random bits, which keeps out other users and other pages.
package explore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/report"
)

// Session is the part of a feedback.Session that a server needs. Its methods are called one at a time.
type Session interface {
	State() *feedback.State
	Do(context.Context, feedback.Act) (*feedback.State, error)
	Undo(context.Context) (*feedback.State, error)
	Redo(context.Context) (*feedback.State, error)
}

// Server handles all requests of the page:
//
//	GET  /TOKEN/             the page and the files that it loads (see serveFile)
//	GET  /TOKEN/original/17  the picture of row 17
//	GET  /TOKEN/state        the feedback.State
//	GET  /TOKEN/search?text= {"rows": all rows, those first whose pictures the text describes best}
//	POST /TOKEN/act          a feedback.Act
//	POST /TOKEN/undo, redo   {}
//	POST /TOKEN/finish       {}: the person is finished
//
// A POST is answered with the State, or with an error status and a line of text. Status 422 is a mistake of the person,
// which changed nothing. A POST may also have the fields id and model. A request with the id of an earlier one does
// nothing, because clients repeat unanswered requests. A request with another model than the State's is refused.
type Server struct {
	ctx   context.Context // cancels acts
	token string
	model string // of the session's states
	page  *report.ServedPage
	root  *os.Root
	files []string
	find  func(text string) ([]int, error)
	pages http.Handler

	acting    sync.Mutex // held by the running act
	session   Session
	closed    bool
	recentIDs []string               // the ids of the last acts
	state     atomic.Pointer[[]byte] // as JSON
	finished  chan struct{}
	finish    sync.Once
}

const (
	largestBody = 1 << 20 // the largest size of a request in bytes
	largestID   = 100     // the largest size of an id in bytes
	mostDone    = 1000    // the number of remembered ids
	longestText = 1000    // the largest size of a description in bytes
)

var acceptable = 20 * time.Second // the time limit for a request, and for reading an answer

// New returns a server of the results of partwise cluster in dir. files holds the file of each picture, by row, or "".
// find, which may be nil, orders all rows by a description, and is called concurrently. Acts are cancelled when ctx ends.
func New(ctx context.Context, session Session, dir string, files []string, find func(text string) ([]int, error)) (*Server, error) {
	state := session.State()
	has := func(i int) bool { return i < len(files) && files[i] != "" }
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{ctx: ctx, token: tokenOf(dir), model: state.Model, root: root, files: files, find: find, session: session, finished: make(chan struct{})}
	err = guard.Try(func() {
		s.page = guard.Must(report.ServePage(root.FS(), has, find != nil))
		if n := len(state.Groups); s.page.Samples != n {
			guard.Fail("the page shows %d images but the groups have %d: run partwise cluster again", s.page.Samples, n)
		}
		guard.Must(s.setState(state))
	})
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	mux := http.NewServeMux()
	for pattern, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET {$}": s.servePage, "GET state": s.serveState, "GET original/{row}": s.serveOriginal, "GET search": s.serveSearch, "GET {file...}": s.serveFile,
		"POST act": s.change(session.Do), "POST finish": s.finishSession,
		"POST undo": s.change(func(ctx context.Context, _ feedback.Act) (*feedback.State, error) { return session.Undo(ctx) }),
		"POST redo": s.change(func(ctx context.Context, _ feedback.Act) (*feedback.State, error) { return session.Redo(ctx) }),
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+s.Path()+path, func(w http.ResponseWriter, r *http.Request) {
			answer(w, func() error { return do(w, r) })
		})
	}
	s.pages = http.NewCrossOriginProtection().Handler(mux)
	return s, nil
}

// Path returns the path of the page: the token between slashes.
func (s *Server) Path() string { return "/" + s.token + "/" }

// Close waits for the running act, and refuses further ones.
func (s *Server) Close() error {
	s.acting.Lock()
	defer s.acting.Unlock()
	s.closed = true
	return s.root.Close()
}

// setState stores a state for the page, and returns it as JSON. Names and sentences are escaped by plaintext.Line.
func (s *Server) setState(state *feedback.State) ([]byte, error) {
	shown := *state
	shown.Names = lists.Map(state.Names, plaintext.Line)
	shown.Undo, shown.Redo, shown.Effect = plaintext.Line(state.Undo), plaintext.Line(state.Redo), plaintext.Line(state.Effect)
	text, err := json.Marshal(&shown)
	if err == nil {
		s.state.Store(&text)
	}
	return text, err
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for key, value := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(key, value)
	}
	answer(w, func() error {
		token, _, whole := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case !forLoopback(r):
			return failure(http.StatusForbidden, "%q is not the address of this page", r.Host)
		case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
			return errNothing
		case path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/"):
			return errNothing // the multiplexer would redirect
		case !whole:
			http.Redirect(w, r, s.Path(), http.StatusPermanentRedirect)
			return nil
		}
		s.pages.ServeHTTP(w, r)
		return nil
	})
}

func answer(w http.ResponseWriter, do func() error) {
	err := guard.Call(do)
	if err == nil {
		return
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	limitAnswer(w)
	http.Error(w, plaintext.Line(err.Error()), status)
}

func limitAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(acceptable)) // only a test's writer does not support it
}

type statusError struct {
	status int
	error
}

func (e *statusError) Unwrap() error { return e.error }

func failure(status int, format string, args ...any) error {
	return &statusError{status, fmt.Errorf(format, args...)}
}

func fail(status int, format string, args ...any) { guard.Check(failure(status, format, args...)) }

var errNothing = failure(http.StatusNotFound, "no page at this address: use the address that partwise explore printed")

// forLoopback reports whether a request names this server by a loopback address. Otherwise a page of another name that
// resolves to this address could read the page.
func forLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	_, port, err := net.SplitHostPort(local.String())
	host, hasPort := strings.CutSuffix(r.Host, ":"+port)
	return err == nil && (hasPort || port == "80") && // browsers omit port 80
		slices.Contains([]string{"127.0.0.1", "localhost", "[::1]"}, host)
}

// change handles an act, with the act of the request, if any. It answers with the new state, even if the client has gone,
// and without the lock, so that a client that does not read cannot block others.
func (s *Server) change(do func(context.Context, feedback.Act) (*feedback.State, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		return writeState(w, s.applyChange(decodeRequest(w, r), do))
	}
}

type posted struct {
	feedback.Act
	ID    string `json:"id"`
	Model string `json:"model"`
}

// finishSession signals that the person is finished, after the running act.
func (s *Server) finishSession(w http.ResponseWriter, r *http.Request) error {
	decodeRequest(w, r)
	s.acting.Lock()
	s.finish.Do(func() { close(s.finished) })
	s.acting.Unlock()
	return s.serveState(w, r)
}

// decodeRequest and applyChange call guard.Fail.
func decodeRequest(w http.ResponseWriter, r *http.Request) (a posted) {
	if r.Header.Get("Content-Type") != "application/json" {
		fail(http.StatusUnsupportedMediaType, "a request must be application/json")
	}
	limits := http.NewResponseController(w)
	_ = limits.SetReadDeadline(time.Now().Add(acceptable)) // only a test's writer does not support it
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		fail(http.StatusRequestEntityTooLarge, "the request is too large: select fewer images")
	} else if err != nil {
		fail(http.StatusBadRequest, "the request ends early: %w", err)
	}
	_ = limits.SetReadDeadline(time.Time{})
	if err := output.Unmarshal(text, &a); err != nil {
		fail(http.StatusBadRequest, "the request cannot be read: %w", err)
	}
	return a
}

func (s *Server) applyChange(a posted, do func(context.Context, feedback.Act) (*feedback.State, error)) []byte {
	if len(a.ID) > largestID {
		fail(http.StatusBadRequest, "the id is longer than %d bytes", largestID)
	}
	if a.Model != "" && a.Model != s.model {
		fail(http.StatusConflict, "the groups have changed since this page was opened: reload it")
	}
	s.acting.Lock()
	defer s.acting.Unlock()
	if s.closed || s.ctx.Err() != nil {
		fail(http.StatusServiceUnavailable, "partwise explore is stopping")
	}
	if a.ID != "" && slices.Contains(s.recentIDs, a.ID) {
		return *s.state.Load()
	}
	var state *feedback.State
	err := guard.Call(func() (err error) {
		state, err = do(s.ctx, a.Act)
		return err
	})
	if mistake, ok := errors.AsType[*feedback.MistakeError](err); ok {
		guard.Check(&statusError{http.StatusUnprocessableEntity, mistake})
	}
	if err != nil && s.ctx.Err() != nil {
		fail(http.StatusServiceUnavailable, "partwise explore was stopped")
	} else if err != nil {
		_, err2 := s.setState(s.session.State())
		guard.Check(errors.Join(err, err2))
	}
	s.recentIDs = append(s.recentIDs[max(0, len(s.recentIDs)+1-mostDone):], a.ID)
	return guard.Must(s.setState(state))
}

// serveState answers with the state, or with 304 if the client has it.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) error {
	text := *s.state.Load()
	if r.Header.Get("If-None-Match") == etagOf(text) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeState(w, text)
}

func etagOf(state []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(state)) }

func writeState(w http.ResponseWriter, text []byte) error {
	w.Header().Set("ETag", etagOf(text))
	return send(w, "application/json", text)
}

func (s *Server) serveSearch(w http.ResponseWriter, r *http.Request) error {
	text := r.FormValue("text")
	if s.find == nil {
		return errNothing
	} else if len(text) > longestText {
		return failure(http.StatusBadRequest, "the description is longer than %d bytes", longestText)
	}
	return send(w, "application/json", guard.Must(json.Marshal(map[string][]int{"rows": guard.Must(s.find(text))})))
}

func send(w http.ResponseWriter, kind string, content []byte) error {
	limitAnswer(w)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // the client may have gone
	return nil
}

// Run serves the results of partwise cluster in dir, as New does, until ctx ends or the person is finished, which is no
// error. It passes the address of the page to ready. After it returns, no method of the session is called.
func Run(ctx context.Context, session Session, dir string, files []string, find func(text string) ([]int, error), port int, ready func(address string) error) error {
	s, err := New(ctx, session, dir, files, find)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		var err6 error
		if l, err6 = net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port))); err6 != nil {
			return errors.Join(err, s.Close())
		}
	}
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: acceptable, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: log.New(io.Discard, "", 0), // for broken connections
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
	// Running requests are answered; idle connections of browsers are closed.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if web.Shutdown(last) != nil {
		_ = web.Close()
	}
	return errors.Join(err, s.Close())
}

// tokenFile holds the token of a folder of results, so that its address stays the same. If others can read the file, a
// new token replaces it.
const tokenFile = ".partwise-explore"

var tokenForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

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
		_, _ = f.WriteString(token) // on failure the next address is another one
		_ = f.Close()
	}
	return token
}

func (s *Server) servePage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Security-Policy", s.page.Policy+"; frame-ancestors 'none'")
	return send(w, "text/html; charset=utf-8", s.page.HTML)
}

var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".pdf": "application/pdf", ".csv": "text/csv; charset=utf-8",
}

// serveFile serves files of the page: no file outside of the folder, even through symbolic links, and none that a browser
// would run.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	kind := types[path.Ext(name)]
	if text, ok := s.page.Files[name]; ok {
		return send(w, kind, text)
	}
	known := name
	if folder, _, below := strings.Cut(name, "/"); below {
		known = folder + "/"
	}
	if !slices.Contains(report.GroupingFiles, known) || known == "page/" ||
		kind == "" || path.Ext(name) == ".js" || !fs.ValidPath(name) || strings.ContainsAny(name, `\:`) {
		return errNothing
	}
	return serveContent(w, r, s.root.Stat, s.root.Open, name, kind)
}

var safeTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp"}

func (s *Server) serveOriginal(w http.ResponseWriter, r *http.Request) error {
	i, err := strconv.Atoi(r.PathValue("row"))
	if err != nil || i < 0 || i >= len(s.files) || s.files[i] == "" || strconv.Itoa(i) != r.PathValue("row") {
		return errNothing
	}
	return serveContent(w, r, os.Stat, os.Open, s.files[i], "")
}

// serveContent serves a file of a media type; "" means an image of a safe type. The browser may cache it but must
// revalidate, because other results have the same address.
func serveContent(w http.ResponseWriter, r *http.Request, stat func(string) (fs.FileInfo, error),
	open func(string) (*os.File, error), name, kind string) error {
	unreadable := failure(http.StatusNotFound, "the file is missing or unreadable")
	info, err := stat(name)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return unreadable
	}
	f, err := open(name)
	if err != nil {
		return unreadable
	}
	defer f.Close()
	if kind == "" {
		begin, err := io.ReadAll(io.NewSectionReader(f, 0, 512))
		if err != nil {
			return unreadable
		}
		if kind = http.DetectContentType(begin); !slices.Contains(safeTypes, kind) {
			return failure(http.StatusUnsupportedMediaType, "browsers cannot show this image format")
		}
	}
	limitAnswer(w)
	h := w.Header()
	if kind != "application/pdf" { // browsers do not show PDF files in a sandbox
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	}
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	h.Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
	return nil
}
