// Package browsertest opens pages in a headless browser, for tests of what a person sees.
//
// It drives Chromium over a pipe by the Chrome DevTools protocol, version 1.3, with nothing but the
// standard library. A test fails on whatever its page says on the console, warnings and
// violations of the content-security policy included, on exceptions that nobody
// catches, and on each request that goes elsewhere than the page may.
package browsertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// programs are the names of browsers that understand the protocol.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// patience is how long any one answer of the browser is waited for.
const patience = 60 * time.Second

// find returns the path of a browser, and skips the test where there is none.
func find(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browser is spoken to over inherited files, which Windows does not have")
	}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("there is none of %v", programs)
	return ""
}

// browser is a running browser.
type browser struct {
	out     *os.File
	writing sync.Mutex

	mu      sync.Mutex
	last    int                  // number of the last call
	answers map[int]chan message // those that are waited for
	err     error                // why there will be no more
	event   func(session, method string, params json.RawMessage)
}

// message is what goes over the pipe, in both directions; a zero byte ends each.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// start starts a browser, which ends with the test, or skips the test where it does not start,
// as some that are only names of a package do not. The event is called for each event, one at a time.
func start(t testing.TB, event func(session, method string, params json.RawMessage)) *browser {
	t.Helper()
	path := find(t)
	profile, err := os.MkdirTemp("", "browsertest-")
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours, err := pipes()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path,
		"--headless", "--remote-debugging-pipe", "--user-data-dir="+profile,
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
		"--force-color-profile=srgb", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = theirs[:]
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range theirs {
		f.Close()
	}
	b := &browser{out: ours[1], answers: map[int]chan message{}, event: event}
	go b.read(ours[0])
	t.Cleanup(func() {
		b.call("", "Browser.close", nil, nil)
		ended := make(chan error)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
		b.out.Close()
		// Processes of the browser that end a moment later still write into its folder.
		for range 50 {
			if os.RemoveAll(profile) == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	if err := b.call("", "Browser.getVersion", nil, nil); err != nil {
		t.Skipf("%s does not start: %v", path, err)
	}
	return b
}

// pipes returns the ends that the browser has, its files 3 and 4, and ours: what we read
// and what we write.
func pipes() (theirs, ours [2]*os.File, err error) {
	theirs[0], ours[1], err = os.Pipe()
	if err == nil {
		ours[0], theirs[1], err = os.Pipe()
	}
	return theirs, ours, err
}

// read takes what the browser says until it says no more.
func (b *browser) read(from *os.File) {
	defer from.Close()
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(text[:len(text)-1], &m)
		}
		b.mu.Lock()
		if err != nil {
			b.err = errors.New("the browser has ended")
			for _, answer := range b.answers {
				close(answer)
			}
			b.answers = nil
			b.mu.Unlock()
			return
		}
		answer := b.answers[m.ID]
		delete(b.answers, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		} else if m.Method != "" {
			b.event(m.Session, m.Method, m.Params)
		}
	}
}

// call calls a method of the protocol and waits for its result.
func (b *browser) call(session, method string, params, result any) error {
	m := message{Session: session, Method: method}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			return err
		}
		m.Params = text
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return fmt.Errorf("%s: %w", method, b.err)
	}
	b.last++
	m.ID = b.last
	b.answers[m.ID] = answer
	b.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	b.writing.Lock()
	_, err = b.out.Write(append(text, 0))
	b.writing.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser has ended", method)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer in %s", method, patience)
	}
}

// texts gathers lines from several goroutines.
type texts struct {
	mu    sync.Mutex
	lines []string
}

func (l *texts) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// take returns what was gathered, and begins anew.
func (l *texts) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.lines)
	l.lines = nil
	return out
}
