package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
)

// settled waits until the page shows the state after a number of acts.
func settled(p *browsertest.Page, acts int) {
	p.Run(fmt.Sprintf(`
await until(() => $("#work").hidden);
const state = await (await fetch("state")).json();
check(state.acts === %d, state.acts, "acts, the last:", state.said, "and the page says", $("#status").textContent);
check(partwise.pictures.every((p, i) => p.group === state.groups[i]), "the page shows other groups");
check($$("section.group").every((s) => $$("#" + s.id + " a.picture").every((a) => state.groups[a.dataset.i] === +s.dataset.group)), "pictures are in other sections");
check($$("section.group").every((s) => s.hidden === !state.groups.includes(+s.dataset.group)), "empty groups are shown, or others are not");
check($$("#groups a.picture.labelled").map((a) => +a.dataset.i).sort().join() === state.labelled.sort().join(), "wrong pictures are marked as labelled");
check($("#status").textContent === state.said || %d === 0, "the page says", $("#status").textContent, "and not", state.said);`, acts, acts), nil)
}

// drag drags a picture to an element.
func drag(t *testing.T, p *browsertest.Page, from, to string) {
	t.Helper()
	x, y := p.Middle(from)
	p.Mouse("mousePressed", x, y)
	p.Mouse("mouseMoved", x+8, y+8)
	p.Mouse("mouseMoved", x+16, y+16)
	p.Run(`await until(() => !$("#dock").hidden);`, nil)
	var at [2]float64
	p.Run(`const box = $("`+to+`").getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];`, &at)
	p.Mouse("mouseMoved", at[0], at[1])
	p.Mouse("mouseMoved", at[0]+1, at[1])
	p.Run(`await until(() => $("`+to+`").matches(".drop-here"));`, nil)
	p.Mouse("mouseReleased", at[0]+1, at[1])
	p.Run(`await until(() => $("#dock").hidden);`, nil)
}

// TestBrowser: every correction is possible by mouse and by keyboard, and the page shows its effect.
func TestBrowser(t *testing.T) {
	g := newGrouping(t, 24)
	session := newFake(g.groups)
	s, web := start(t, g, session)
	p := browsertest.Open(t, web.URL+s.Path())
	p.Run(`await until(() => $("#question img.large"));`, nil)
	settled(p, 0)
	want := func(what string, ok func(feedback.State) bool) {
		t.Helper()
		if st := session.State(); !ok(*st) {
			t.Errorf("%s: the state is %+v", what, st)
		}
	}

	// By dragging: a picture to a section, and a selection to a new group.
	drag(t, p, `#group-1 a.picture[data-i='0']`, `#dock [data-group='1']`)
	settled(p, 1)
	want("a picture is dragged", func(s feedback.State) bool {
		return s.Groups[0] == 1 && s.Groups[3] == 0 && slices.Equal(s.Labelled, []int{0})
	})
	p.Run(`partwise.select([3, 6]);`, nil)
	drag(t, p, `#group-1 a.picture[data-i='6']`, `#dock [data-group='new']`)
	settled(p, 2)
	want("two are dragged to a new group", func(s feedback.State) bool { return s.Groups[3] == 3 && s.Groups[6] == 3 && s.Groups[9] == 0 })
	p.Run(`check(partwise.selection.size === 0, "they are still selected"); check($("#selected").hidden, "the bar is still there");
check($("#group-4 a.picture.moved"), "what has moved is not marked"); check($$("#cards a").some((a) => a.textContent === "Group 42 images"), "the navigation has no new group");
check($$(".map-key button").length === 4, "the map has no new group");
const show = $$("#always button").find((b) => b.textContent === "Show"); show.click();
check(!show.hidden && $("#results-title").textContent === "Moved" && $$("#results a.picture").map((a) => a.dataset.i).join() === "3,6", "Show lists", $("#results").textContent);
$("#results-close").click();`, nil)
	drag(t, p, `#group-4 a.picture[data-i='3']`, `#group-4 ~ .none, #group-3`)
	settled(p, 3)
	want("one is dragged onto a section", func(s feedback.State) bool { return s.Groups[3] == 2 })

	// By selecting and the bar.
	p.Run(`$("#group-2 a.picture[data-i='1']").focus();`, nil)
	p.Press(" ")
	p.Press("ArrowRight")
	p.Press(" ")
	p.Run(`check(partwise.selection.size === 2 && $("#chosen").textContent === "2 selected", "selected:", $("#chosen").textContent);`, nil)
	p.Click(`#selected button:nth-of-type(1)`)
	p.Run(`check($("#chooser").open && $("#chooser h2").textContent === "Move 2 images to", $("#chooser").textContent);
check(document.activeElement.matches("#chooser input"), "the focus is elsewhere");
check($$("#chooser .choices button:not([hidden])").length === 4, "choices:", $("#chooser .choices").textContent);`, nil)
	p.Type("Tower <b>")
	p.Run(`check($$("#chooser .choices button:not([hidden])").map((b) => b.textContent).join() === "New group “Tower <b>”", $("#chooser .choices").innerHTML);`, nil)
	p.Press("Enter")
	settled(p, 4)
	want("two are moved to a group with a name", func(s feedback.State) bool { return s.Names[4] == "Tower <b>" && s.Groups[1] == 4 })
	p.Run(`check($("#group-5 h2").textContent === "Group 5: Tower <b>", $("#group-5 h2").innerHTML);
check(document.activeElement.matches("#group-2 a.picture"), "the focus is on", document.activeElement.outerHTML);`, nil)

	// By keys, on the focused picture.
	p.Run(`$("#group-2 a.picture[data-i='7']").focus();`, nil)
	p.Press("r")
	settled(p, 5)
	want("one is confirmed", func(s feedback.State) bool { return s.Groups[7] == 1 && slices.Contains(s.Labelled, 7) })
	p.Run(`check(document.activeElement.matches("#group-2 a.picture[data-i='7']"), "the focus is on", document.activeElement.outerHTML);
check(document.activeElement.getAttribute("aria-label").endsWith(", labelled"), document.activeElement.getAttribute("aria-label"));`, nil)
	p.Press("g")
	settled(p, 6)
	want("one is put into a new group", func(s feedback.State) bool { return s.Groups[7] == 5 })
	p.Run(`partwise.select([10, 13, 16]);`, nil)
	p.Press("t")
	settled(p, 7)
	p.Run(`partwise.select([2, 5]);`, nil)
	p.Press("d")
	settled(p, 8)
	want("pairs are linked", func(s feedback.State) bool {
		return slices.Equal(s.Must, [][2]int{{10, 13}}) && slices.Equal(s.Cannot, [][2]int{{2, 5}})
	})

	// The question.
	st := session.State()
	asked := []int{st.Questions[0].Picture, st.Questions[1].Picture, st.Questions[3].Picture}
	p.Run(`$("#question").scrollIntoView();`, nil)
	p.Press("1")
	settled(p, 9)
	want("it stays", func(s feedback.State) bool {
		return s.Groups[asked[0]] == st.Groups[asked[0]] && slices.Contains(s.Labelled, asked[0])
	})
	p.Click(`#question .choice:nth-of-type(2)`)
	settled(p, 10)
	want("it moves", func(s feedback.State) bool { return s.Groups[asked[1]] == (st.Groups[asked[1]]+1)%3 })
	p.Press("s")
	p.Run(fmt.Sprintf(`await until(() => $("#question").dataset.picture === "%d");`, asked[2]), nil)
	settled(p, 10)

	// Groups: names, merging, splitting.
	p.Click(`#group-2 .group-acts > button:nth-of-type(1)`)
	p.Type(" Beach  ")
	p.Press("Enter")
	settled(p, 11)
	want("a group is named", func(s feedback.State) bool { return s.Names[1] == "Beach" })
	p.Run(`check(document.activeElement.matches("#group-2 .group-acts button"), "the focus is elsewhere");
check(document.activeElement.ariaLabel === "Rename Group 2: Beach", document.activeElement.ariaLabel);`, nil)
	p.Click(`#group-3 .group-acts > button:nth-of-type(1)`)
	p.Type("x")
	p.Press("Escape")
	p.Run(`check(!$(".naming"), "the name is still asked for");`, nil)
	p.Click(`#group-3 .group-acts > button:nth-of-type(2)`)
	p.Run(`check(!$$("#chooser .choices button").some((b) => /^(Group 3|New)/.test(b.textContent) && !b.hidden), $("#chooser .choices").textContent);`, nil)
	p.Type("beach")
	p.Press("Enter")
	settled(p, 12)
	want("groups are merged", func(s feedback.State) bool { return s.Groups[2] == 1 && !slices.Contains(s.Groups, 2) })
	p.Click(`#group-2 .group-acts > button:nth-of-type(3)`)
	settled(p, 13)
	want("a group is split", func(s feedback.State) bool { return slices.Contains(s.Groups, 6) && slices.Contains(s.Groups, 1) })

	// A mistake changes nothing and is shown.
	p.Click(`#group-1 .group-acts > button:nth-of-type(1)`)
	p.Type("Beach")
	p.Press("Enter")
	p.Run(`await until(() => !$("#acts .warn").hidden); check($("#acts .warn").textContent.startsWith("Not saved: Rename: Group 1 → Beach (another group is called"), $("#acts .warn").textContent);`, nil)
	if said := p.Problems(); len(said) != 1 || !strings.Contains(said[0], "422") {
		t.Errorf("the console says %q", said)
	}

	// Back and again.
	p.Click("#acts .warn button:last-child")
	p.Run(`check($("#acts .warn").hidden, "the discarded act is still shown"); document.activeElement.blur();`, nil)
	p.Press("u")
	settled(p, 12)
	p.Run(`check($$("#always button")[1].textContent === "Redo: act 13", $("#always").textContent);`, nil)
	p.Press("Control+z", "Control+z")
	settled(p, 10)
	p.Press("Control+Shift+Z")
	settled(p, 11)
	p.Click(`#always button:nth-of-type(2)`)
	settled(p, 12)
	p.Click(`#always button:nth-of-type(1)`)
	settled(p, 11)
	want("twice back and once again", func(s feedback.State) bool { return s.Names[1] == "Beach" && s.Groups[2] == 2 })

	// The offer.
	session.offer = feedback.Offer{Pictures: []int{8, 11, 14}, Groups: []int{0, 0, 0}}
	p.Run(`partwise.select([2]); $("#offer").hidden || check(false, "an offer too early");`, nil)
	p.Press("g")
	settled(p, 12)
	p.Run(`check($("#offer").innerText.startsWith("3 similar images could move too, to Group 1"), $("#offer").innerText);`, nil)
	p.Press("o")
	p.Run(`check(partwise.selection.size === 3 && $$("#results a.picture").length === 3, "shown are", $("#results").textContent); partwise.select([11], false);`, nil)
	p.Press("a")
	settled(p, 13)
	want("a part of the offer", func(s feedback.State) bool { return s.Groups[8] == 0 && s.Groups[14] == 0 && s.Groups[11] != 0 })
	p.Run(`check($("#offer").hidden && partwise.selection.size === 0, "it is still offered"); $("#results-close").click(); document.activeElement.blur();`, nil)
	p.Press("u", "u")
	settled(p, 11)
	session.offer = feedback.Offer{}

	// In the large view.
	p.Run(`partwise.show(10, [10, 13]);
check($("#viewer dl").textContent.includes("Belongs with<b>13.png"), $("#viewer dl").textContent);`, nil)
	p.Press("g")
	settled(p, 12)
	p.Run(`check($("#viewer").open && $("#viewer h2").textContent === "<b>10.png", $("#viewer").textContent);
check($("#viewer dl").textContent.includes("Labelledyes, in this group"), $("#viewer dl").textContent);`, nil)
	p.Press("Escape")

	// Corrections in another window appear here.
	if status, text, _ := request(t, web, "POST", s.Path()+"act", `{"do":"move","pictures":[23],"groups":[0]}`, nil); status != 200 {
		t.Fatal(text)
	}
	p.Run(`await until(() => partwise.pictures[23].group === 0);`, nil)
	p.Run(`$("#status").textContent = "Did move of 1.";`, nil) // which must not be announced again
	settled(p, 13)

	p.Run(`check($$("button").every((b) => b.textContent.trim() || b.ariaLabel), "a button has no name"); $("#finish").click(); await until(() => $("#finished").open && $("#finished").textContent.startsWith("Finished"));`, nil)
	select {
	case <-s.finished:
	default:
		t.Error("the server does not receive the end")
	}
}

// TestBrowserManyGroups: with many groups, pictures can be dropped on all of them, a drop elsewhere is explained, and
// nothing is cut off in a narrow window.
func TestBrowserManyGroups(t *testing.T) {
	g := newGrouping(t, 120)
	for i := range g.groups {
		g.groups[i] = i % 60
	}
	session := newFake(g.groups)
	session.state.Names[7] = "A name that is longer than what a button of the tray can show"
	session.state.Confidence[119], session.state.Confidence[4] = 1, 1
	s, web := start(t, g, session)
	p := browsertest.Open(t, web.URL+s.Path())
	p.Size(1280, 800)
	p.Run(`await until(() => $("#question img.large"));
check(getComputedStyle($("#group-5 .unsure img")).opacity < 1, "a picture that is unsure does not look so");
check($$("#question img").every((img) => getComputedStyle(img).opacity === "1"), "a picture of the question is faded");`, nil)

	x, y := p.Middle("#group-30 a.picture")
	drop := func(to string) { // at the top left corner, so that a section need not be in view completely
		t.Helper()
		p.Mouse("mousePressed", x, y)
		p.Mouse("mouseMoved", x+8, y+8)
		p.Run(`await until(() => !$("#dock").hidden);
const tray = $("#dock").getBoundingClientRect(), buttons = $$("#dock button").map((b) => b.getBoundingClientRect());
check(tray.top > 0 && tray.bottom <= innerHeight && buttons.length === 61, buttons.length, "buttons");
check(buttons.every((b) => b.top >= tray.top && b.bottom <= tray.bottom && b.width > 50 && b.height > 20), "some cannot be reached");`, nil)
		var at [2]float64
		p.Run(`const {x, y} = $("`+to+`").getBoundingClientRect(); return [x + 2, y + 2];`, &at)
		p.Mouse("mouseMoved", at[0], at[1])
		p.Mouse("mouseMoved", at[0]+1, at[1])
		p.Mouse("mouseReleased", at[0]+1, at[1])
		p.Run(`await until(() => $("#dock").hidden);`, nil)
	}
	for to, said := range map[string]string{"#tools": "Not moved: drop images on a group ", "#dock [data-group='29']": "Not moved: already in Group 30."} {
		drop(to)
		p.Run(`check($("#status.wrong") && $("#status").textContent.startsWith("`+said+`"), $("#status").textContent);`, nil)
	}
	settled(p, 0)
	drop("#dock [data-group='59']")
	settled(p, 1)
	if st := session.State(); st.Groups[29] != 59 {
		t.Errorf("the picture is in group %d", st.Groups[29]+1)
	}

	p.Size(390, 800)
	p.Run(`partwise.select([1, 2, 3]);
const cut = $$("body *").filter((e) => { const {left, right, width} = e.getBoundingClientRect(); return width > 0 && (left < 0 || right > innerWidth) && getComputedStyle(e).visibility === "visible"; });
check(cut.length === 0, "cut off is", cut[0]?.outerHTML);
const small = $$("button, label, select").filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0);
check(small.length === 0, "too small is", small[0]?.outerHTML);`, nil)
}

// gate holds the acts of a session until pass releases one, and lists them in order.
type gate struct {
	t    *testing.T
	way  chan struct{}
	acts []feedback.Act
}

func newGate(t *testing.T, session *fakeSession) *gate {
	g := &gate{t: t, way: make(chan struct{})}
	session.before = func(ctx context.Context, a feedback.Act) error {
		select {
		case <-g.way:
		case <-ctx.Done(): // the test has failed
			return ctx.Err()
		}
		g.acts = append(g.acts, a)
		return nil
	}
	return g
}

func (g *gate) pass(n int) {
	g.t.Helper()
	for range n {
		select {
		case g.way <- struct{}{}:
		case <-time.After(20 * time.Second):
			g.t.Fatal("no act begins")
		}
	}
}

// TestBrowserFast: answers given faster than the groups are found all count, in order, each for the pair that was
// shown.
func TestBrowserFast(t *testing.T) {
	g := newGrouping(t, 12)
	session := newFake(g.groups)
	gate := newGate(t, session)
	s, web := start(t, g, session)
	p := browsertest.Open(t, web.URL+s.Path())
	p.Run(`await until(() => $("#question img.large"));`, nil)
	var want []feedback.Act
	for _, key := range []string{"1", "2", "1", "2", "s", "2"} {
		var shown string
		p.Run(`return $("#question").dataset.picture;`, &shown)
		a := feedback.Act{Do: feedback.Skip, Pictures: make([]int, 1)}
		fmt.Sscan(shown, &a.Pictures[0])
		if at, err := strconv.Atoi(key); err == nil {
			a.Do, a.Groups = feedback.Move, []int{(g.groups[a.Pictures[0]] + at - 1) % 3}
		}
		want = append(want, a)
		p.Press(key)
	}
	p.Press("u")                                                                                                      // of the last answer
	p.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "1", repeat: true, bubbles: true}));`, nil) // of a key that is held down
	p.Run(`check($("#work").textContent === "Saving 7 corrections …", $("#work").textContent);`, nil)
	gate.pass(6)
	settled(p, 4)
	if !reflect.DeepEqual(gate.acts, want) {
		t.Errorf("done was %+v, want %+v", gate.acts, want)
	}
	pairs := map[string]bool{}
	for _, a := range want {
		pairs[fmt.Sprint(a.Pictures)] = true
	}
	if st := session.State(); len(pairs) != 6 || len(st.Labelled) != 4 {
		t.Errorf("%d pictures were asked about: %+v", len(pairs), st)
	}
}

// TestBrowserQueue: acts wait while groups are found. A failed act does not block others, and can be repeated.
func TestBrowserQueue(t *testing.T) {
	g := newGrouping(t, 12)
	session := newFake(g.groups)
	gate := newGate(t, session)
	pass := session.before
	session.before = func(ctx context.Context, a feedback.Act) error {
		if err := pass(ctx, a); err != nil || len(gate.acts) > 1 && !slices.Equal(a.Pictures, []int{2}) {
			return err
		}
		return errors.New("disk full")
	}
	s, web := start(t, g, session)
	p := browsertest.Open(t, web.URL+s.Path())
	p.Run(`await until(() => $("#question img.large")); $$("#group-1 .group-acts button")[2].click(); partwise.select([0]);`, nil)
	p.Press("g")
	p.Run(`partwise.select([0], false); partwise.select([1]);`, nil)
	p.Press("g", "1")
	p.Run(`check($("#work").textContent === "Saving 4 corrections …", $("#work").textContent);
check(partwise.selection.size === 1, "selected:", [...partwise.selection]);`, nil)
	gate.pass(1)
	p.Run(`await until(() => !$("#acts .warn").hidden); check($("#acts .warn").textContent.startsWith("Not saved: Split: Group 1 (disk full)"), $("#acts .warn").textContent);
$("#finish").click(); check(!$("#finished").open, "it ends with something that is not saved");`, nil)
	gate.pass(3)
	settled(p, 3)
	if said := p.Problems(); len(said) != 1 || !strings.Contains(said[0], "500") {
		t.Errorf("the console says %q", said)
	}
	p.Click("#acts .warn button")
	gate.pass(1)
	settled(p, 4)
	p.Run(`check($("#acts .warn").hidden, $("#acts .warn").textContent);`, nil)
	if st := session.State(); st.Groups[0] != 3 || st.Groups[1] != 4 || !slices.Contains(st.Groups, 5) {
		t.Errorf("the state is %+v", st)
	}
	// Undo of an act that then fails undoes no other act.
	p.Run(`partwise.select([1], false); partwise.select([2]);`, nil)
	p.Press("g", "u")
	gate.pass(1)
	settled(p, 4)
	p.Run(`check($("#acts .warn").hidden, $("#acts .warn").textContent);`, nil)
	p.Problems() // 500
}

// TestBrowserAgain: a page continues with a restarted server, and reloads if the groups are others. Unsaved acts are
// listed.
func TestBrowserAgain(t *testing.T) {
	g := newGrouping(t, 12)
	var now atomic.Pointer[Server]
	begin := func(model string) *gate {
		session := newFake(g.groups)
		session.state.Model = model
		gate := newGate(t, session)
		s, err := New(t.Context(), session, g.dir, g.files, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		now.Store(s)
		return gate
	}
	begin("one")
	loaded := make(chan struct{}, 10)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now.Load().ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "explore.js") {
			loaded <- struct{}{}
		}
	}))
	t.Cleanup(web.Close)
	p := browsertest.Open(t, web.URL+now.Load().Path())
	<-loaded
	p.Run(`await until(() => $("#question img.large")); window.first = true;`, nil)
	gate := begin("one")
	p.Press("1")
	gate.pass(1)
	settled(p, 1)
	p.Run(`check(window.first, "it was loaded again");`, nil)

	p.Press("2")
	p.Run(`await until(() => !$("#work").hidden);`, nil)
	begin("two")
	p.Press("s")
	gate.pass(1)
	p.Run(`await until(() => !$("#acts .warn").hidden); check($("#acts .warn").textContent.includes("reload it"), $("#acts .warn").textContent); check(window.first, "unsaved acts are lost");`, nil)
	p.Click("#acts .warn button:last-child")
	select {
	case <-loaded:
	case <-time.After(20 * time.Second):
		t.Fatal("it is not loaded again")
	}
	p.Run(`check(!window.first, "it is the first page"); await until(() => $("#question img.large"));`, nil)
	settled(p, 0)
	p.Problems() // 409
}

// TestBrowserAway: without an answer the page says so and keeps unsaved acts; after that each is done once.
func TestBrowserAway(t *testing.T) {
	g := newGrouping(t, 12)
	session := newFake(g.groups)
	gate := newGate(t, session)
	s, err := New(t.Context(), session, g.dir, g.files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	t.Cleanup(func() { s.Close() })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !away.Load() {
			s.ServeHTTP(w, r)
		}
		if away.Load() { // also after the act is done: its answer is lost
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(web.Close)
	p := browsertest.Open(t, web.URL+s.Path())
	p.Run(`await until(() => $("#question img.large")); partwise.select([0]);`, nil)
	p.Press("g", "1", "2")
	away.Store(true)
	gate.pass(1)
	p.Run(`await until(() => !$("#acts .warn").hidden);
const said = $("#acts .warn").innerText;
check(said.includes("is not running") && said.includes("New group: <b>00.png") && said.includes("Move: <b>10.png → Group 3"), said);
check($$("#always button, #question button, .group-acts button").every((b) => b.getClientRects().length === 0), "something can be done");
partwise.show(3); check($("#viewer").open, "pictures cannot be looked at");`, nil)
	p.Press("Escape", "u")
	p.Run(`check($("#status.wrong").textContent.startsWith("Not saved"), $("#status").textContent);`, nil)
	away.Store(false)
	gate.pass(2)
	settled(p, 3)
	p.Run(`check($("#acts .warn").hidden && $("#always button").getClientRects().length > 0, "it is still away");`, nil)
	if len(gate.acts) != 3 {
		t.Errorf("done was %+v", gate.acts)
	}
	p.Problems()
}
