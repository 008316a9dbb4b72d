// Package browsertest opens pages in a headless browser for tests.
//
// A test fails on any console message of its page, including warnings and violations of the content security policy,
// on uncaught exceptions, and on requests to addresses that are not allowed.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const patience = 60 * time.Second

// Page is an open page. Its methods end the test with an error if they fail.
type Page struct {
	t   testing.TB
	ctx context.Context // context of the page's tab

	mu       sync.Mutex
	problems []string
}

// Open opens the page at an address in a new browser, which is closed after the test, and waits until it is loaded. The
// window is 1200×800. If no browser starts, the test is skipped. The page may request files of its own folder and
// addresses with one of the allowed prefixes.
func Open(t testing.TB, address string, allowed ...string) *Page {
	t.Helper()
	address, _, _ = strings.Cut(address, "#")
	own, _, _ := strings.Cut(address, "?")
	allowed = append([]string{own[:1+strings.LastIndexByte(own, '/')], "data:", "blob:"}, allowed...)

	ctx, cancel := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(
		chromedp.DisableGPU, chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true)))
	if err := chromedp.Do(ctx); err != nil {
		t.Skipf("no browser starts: %v", err)
	}
	p := &Page{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel() // waits until the browser has exited
		for _, line := range p.Problems() {
			t.Errorf("%s: %s", address, line)
		}
	})
	p.must(chromedp.Listen(ctx, func(event any) { p.record(event, allowed) }))
	p.Size(1200, 800)
	p.Go(address)
	return p
}

func (p *Page) record(event any, allowed []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(e.Request.URL, prefix) }) {
			p.problems = append(p.problems, "it requests "+e.Request.URL)
		}
	case *log.EventEntryAdded:
		p.problems = append(p.problems, strings.TrimSpace("the console says "+e.Entry.Text+" "+e.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		text, _ := json.Marshal(e.Args)
		p.problems = append(p.problems, "the console says "+string(text))
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, exceptionText(e.ExceptionDetails))
	}
}

func exceptionText(e *runtime.ExceptionDetails) string {
	var text string
	switch {
	case e.Exception == nil:
	case e.Exception.Description != "":
		return e.Exception.Description
	case json.Unmarshal(e.Exception.Value, &text) == nil:
		return text
	}
	return e.Text
}

func (p *Page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) perform(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	p.must(chromedp.Do(ctx, actions...))
}

// call returns the action that sends a DevTools protocol command.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

// Go navigates to an address and waits until it is loaded.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.perform(chromedp.Navigate(address))
}

// prelude defines functions for scripts: check throws unless its condition is true, until waits up to ten seconds for a
// condition, $ and $$ select elements.
const prelude = `
const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
const check = (ok, ...what) => { if (!ok) throw what.join(" "); };
const until = async (what) => {
  for (let i = 0; i < 1000; i++) { if (await what()) return; await new Promise((done) => setTimeout(done, 10)); }
  throw "never: " + what;
};
`

// Run runs a script, the body of an async function that may use $, $$, check(ok, what) and until(what), and decodes its
// result into result unless that is nil. An exception fails the test.
func (p *Page) Run(script string, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	yes := true
	out, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "(async () => {" + prelude + script + "\n})()", AwaitPromise: &yes, ReturnByValue: &yes, UserGesture: &yes,
	})
	p.must(err)
	if out.ExceptionDetails != nil {
		p.t.Fatalf("%s\nin %s", exceptionText(out.ExceptionDetails), script)
	}
	if result != nil {
		p.must(json.Unmarshal(out.Result.Value, result))
	}
}

// keys maps names of keys to chromedp's values.
var keys = map[string]string{
	"Tab": kb.Tab, "Enter": kb.Enter, "Escape": kb.Escape, "End": kb.End, "Home": kb.Home,
	"ArrowLeft": kb.ArrowLeft, "ArrowUp": kb.ArrowUp, "ArrowRight": kb.ArrowRight, "ArrowDown": kb.ArrowDown,
}

// Press presses and releases keys in sequence. Keys have the names of DOM events, such as a letter, Enter or ArrowDown,
// with an optional prefix Control+, Shift+ or both.
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		var held int64
		name, control := strings.CutPrefix(name, "Control+")
		name, shift := strings.CutPrefix(name, "Shift+")
		if control {
			held |= int64(kb.ModifierCtrl)
		}
		if shift {
			held |= int64(kb.ModifierShift)
		}
		if key, ok := keys[name]; ok {
			name = key
		} else if len([]rune(name)) != 1 {
			p.t.Fatalf("no key is called %q", name)
		}
		// chromedp.KeyEvent sends the character as a separate event, when the focus may have moved.
		events := kb.Encode([]rune(name)[0])
		down, up := *events[0], *events[len(events)-1]
		down.Modifiers, up.Modifiers = down.Modifiers|held, up.Modifiers|held
		if len(events) == 3 && !control {
			down.Text = events[1].Text
		}
		p.perform(call(input.DispatchKeyEvent, down), call(input.DispatchKeyEvent, up))
	}
}

// Type inserts text into the focused element.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.perform(call(input.InsertText, input.InsertTextParams{Text: text}))
}

// Mouse sends the event mousePressed, mouseMoved or mouseReleased of the left button at a position in CSS pixels.
func (p *Page) Mouse(what string, x, y float64) {
	p.t.Helper()
	event := input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventType(what), X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1,
	}
	if event.Type == chromedp.MouseReleased {
		event.Buttons = 0
	}
	p.perform(call(input.DispatchMouseEvent, event))
}

// Click scrolls the first element of a selector into view and clicks its centre.
func (p *Page) Click(selector string) {
	p.t.Helper()
	x, y := p.Middle(selector)
	p.perform(chromedp.MouseClickXY(x, y))
}

// Middle scrolls the first element of a selector into view and returns its centre in the window.
func (p *Page) Middle(selector string) (x, y float64) {
	p.t.Helper()
	var at [2]float64
	p.Run(fmt.Sprintf(`const e = $(%[1]q);
check(e, "there is no", %[1]q);
e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
const box = e.getBoundingClientRect();
check(box.width > 0 && box.height > 0, "hidden is", %[1]q);
return [box.x + box.width / 2, box.y + box.height / 2];`, selector), &at)
	return at[0], at[1]
}

// Size sets the size of the window in CSS pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.perform(chromedp.EmulateViewport(int64(width), int64(height)))
}

// Dark sets the preferred colour scheme.
func (p *Page) Dark(on bool) {
	p.t.Helper()
	scheme := emulation.MediaFeature{Name: "prefers-color-scheme", Value: map[bool]string{true: "dark", false: "light"}[on]}
	p.perform(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{&scheme}}))
}

// Problems returns and clears the problems that would fail the test, for tests that expect them.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.problems
	p.problems = nil
	return found
}
