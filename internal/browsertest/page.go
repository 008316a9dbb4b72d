package browsertest

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Page is an open page. Its methods end the test where the page or the browser fails them.
type Page struct {
	t        testing.TB
	browser  *browser
	session  string
	problems texts
	requests texts
	loaded   chan struct{}
}

// FileURL is the address of a file.
func FileURL(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// Open opens the page at an address in a browser of its own, which ends with the test, and
// waits until it is loaded. Its window is 1200×800. The test is skipped where there is no
// browser, and fails on what the package describes. A page may request what lies in its own folder, and what begins with
// one of the addresses allowed: another folder, or all of a server.
func Open(t testing.TB, address string, allowed ...string) *Page {
	t.Helper()
	address, _, _ = strings.Cut(address, "#")
	own, _, _ := strings.Cut(address, "?")
	allowed = append([]string{own[:1+strings.LastIndexByte(own, '/')], "data:", "blob:"}, allowed...)
	p := &Page{t: t, loaded: make(chan struct{}, 1)}
	p.browser = start(t, func(session, method string, params json.RawMessage) { p.event(method, params, allowed) })
	t.Cleanup(func() {
		for _, line := range p.problems.take() {
			t.Errorf("%s: %s", address, line)
		}
	})
	var target struct {
		ID string `json:"targetId"`
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	p.must(p.browser.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target))
	p.must(p.browser.call("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &session))
	p.session = session.ID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", nil, nil)
	}
	p.Size(1200, 800)
	p.Go(address)
	return p
}

// event takes note of what the browser tells without being asked.
func (p *Page) event(method string, params json.RawMessage, allowed []string) {
	var e struct {
		Request struct{ URL string }
		Entry   struct{ Text, URL string }
		Args    []struct {
			Value       any
			Description string
		}
		ExceptionDetails exception
	}
	if err := json.Unmarshal(params, &e); err != nil {
		return // of another form, and so none of those below
	}
	switch method {
	case "Page.loadEventFired":
		select {
		case p.loaded <- struct{}{}:
		default:
		}
	case "Network.requestWillBeSent":
		p.requests.add(e.Request.URL)
		for _, prefix := range allowed {
			if strings.HasPrefix(e.Request.URL, prefix) {
				return
			}
		}
		p.problems.add("it requests " + e.Request.URL)
	case "Log.entryAdded":
		p.problems.add(strings.TrimSpace("the console says " + e.Entry.Text + " " + e.Entry.URL))
	case "Runtime.consoleAPICalled":
		text, _ := json.Marshal(e.Args)
		p.problems.add("the console says " + string(text))
	case "Runtime.exceptionThrown":
		p.problems.add(e.ExceptionDetails.String())
	}
}

// exception is what the protocol tells of one.
type exception struct {
	Text      string
	Exception struct{ Description, Value any }
}

func (e exception) String() string {
	for _, of := range []any{e.Exception.Description, e.Exception.Value} {
		if text, ok := of.(string); ok {
			return text
		}
	}
	return e.Text
}

func (p *Page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) call(method string, params, result any) {
	p.t.Helper()
	p.must(p.browser.call(p.session, method, params, result))
}

// Go goes to another address and waits until that is loaded.
func (p *Page) Go(address string) {
	p.t.Helper()
	var to struct{ ErrorText string }
	select {
	case <-p.loaded:
	default:
	}
	p.call("Page.navigate", map[string]any{"url": address}, &to)
	if to.ErrorText != "" {
		p.t.Fatalf("%s: %s", address, to.ErrorText)
	}
	select {
	case <-p.loaded:
	case <-time.After(patience):
		p.t.Fatalf("%s: not loaded in %s", address, patience)
	}
}

// prelude are functions for scripts: check throws what is wrong, until waits for what is true,
// at most ten seconds, $ and $$ find elements.
const prelude = `
const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
const check = (ok, ...what) => { if (!ok) throw what.join(" "); };
const until = async (what) => {
  for (let i = 0; i < 1000; i++) { if (await what()) return; await new Promise((done) => setTimeout(done, 10)); }
  throw "never: " + what;
};
`

// Run runs a script, the body of an asynchronous function, and reads what it returns into result
// unless that is nil. What it throws fails the test. Scripts may use the functions $, $$, check(ok, what) and
// until(what).
func (p *Page) Run(script string, result any) {
	p.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *exception
	}
	p.call("Runtime.evaluate", map[string]any{
		"expression": "(async () => {" + prelude + script + "\n})()", "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &out)
	if out.ExceptionDetails != nil {
		p.t.Fatalf("%s\nin %s", out.ExceptionDetails, script)
	}
	if result != nil {
		p.must(json.Unmarshal(out.Result.Value, result))
	}
}

// keys are those of a keyboard that write nothing, or nothing but themselves, with their codes.
var keys = map[string]int{
	"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "PageUp": 33, "PageDown": 34,
	"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "Backspace": 8,
}

// Press presses and releases keys one after the other, named as in events of the DOM: a letter, Enter,
// ArrowDown. Before a key may stand Shift+ or Control+.
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		modifiers := 0
		for {
			rest, shift := strings.CutPrefix(name, "Shift+")
			if shift {
				modifiers |= 8
			} else if rest, shift = strings.CutPrefix(name, "Control+"); shift {
				modifiers |= 2
			} else {
				break
			}
			name = rest
		}
		key := map[string]any{"type": "rawKeyDown", "key": name, "code": name, "modifiers": modifiers}
		code, known := keys[name]
		switch {
		case known:
			key["windowsVirtualKeyCode"] = code
		case utf8.RuneCountInString(name) == 1:
			key["code"], key["windowsVirtualKeyCode"] = "Key"+strings.ToUpper(name), int(strings.ToUpper(name)[0])
		default:
			p.t.Fatalf("no key is called %q", name)
		}
		text := map[string]string{"Enter": "\r", " ": " "}[name]
		if !known && modifiers&2 == 0 {
			text = name
		}
		if text != "" {
			key["type"], key["text"] = "keyDown", text
		}
		p.call("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		p.call("Input.dispatchKeyEvent", key, nil)
	}
}

// Type writes a text into what has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Mouse does something with the left button at a place in CSS pixels of the window: mousePressed,
// mouseMoved, mouseReleased.
func (p *Page) Mouse(what string, x, y float64) {
	p.t.Helper()
	buttons := 1
	if what == "mouseReleased" {
		buttons = 0
	}
	p.call("Input.dispatchMouseEvent", map[string]any{"type": what, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1}, nil)
}

// Click scrolls the first element of a selector into view and clicks its middle.
func (p *Page) Click(selector string) {
	p.t.Helper()
	x, y := p.Middle(selector)
	p.Mouse("mousePressed", x, y)
	p.Mouse("mouseReleased", x, y)
}

// Middle scrolls the first element of a selector into view and returns its middle in the window.
func (p *Page) Middle(selector string) (x, y float64) {
	p.t.Helper()
	quoted, err := json.Marshal(selector)
	p.must(err)
	var at [2]float64
	p.Run("const e = $("+string(quoted)+`);
check(e, "there is no", `+string(quoted)+`);
e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
const box = e.getBoundingClientRect();
check(box.width > 0 && box.height > 0, "hidden is", `+string(quoted)+`);
return [box.x + box.width / 2, box.y + box.height / 2];`, &at)
	return at[0], at[1]
}

// Size gives the window another size, in CSS pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark says that the person likes dark pages, or does not.
func (p *Page) Dark(on bool) {
	p.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Requests returns the addresses that were requested since the last call.
func (p *Page) Requests() []string { return p.requests.take() }

// Problems returns what would fail the test and forgets it, for tests of what must not be.
func (p *Page) Problems() []string { return p.problems.take() }

// Screenshot writes a PNG of the window into a file.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	p.must(err)
	p.must(os.WriteFile(path, picture, 0o644))
}
