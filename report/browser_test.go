package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/pipeline"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
)

// inBrowser opens the page of a folder, which may show the originals of its pictures. The test fails on console
// messages and on other requests.
func inBrowser(t *testing.T, dir, originals string) *browsertest.Page {
	t.Helper()
	return browsertest.Open(t, fileURL(t, filepath.Join(dir, "index.html")), fileURL(t, originals)+"/")
}

func fileURL(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// fits checks that the page fits windows of several widths, in light and dark.
func fits(t *testing.T, p *browsertest.Page) {
	t.Helper()
	for _, width := range []int{400, 1200} {
		p.Size(width, 800)
		for _, dark := range []bool{false, true} {
			p.Dark(dark)
			p.Run(`check(document.documentElement.scrollWidth <= innerWidth, "the page is", document.documentElement.scrollWidth, "wide, the window", innerWidth);
const lum = (c) => { const [r, g, b] = c.match(/\d+/g).map(Number); return r + g + b; }, style = getComputedStyle(document.body);
check(lum(style.color) > lum(style.backgroundColor) === matchMedia("(prefers-color-scheme: dark)").matches, "colours", style.color, style.backgroundColor);`, nil)
		}
	}
}

// TestGroupingInBrowser uses the page of a grouping as a person does.
func TestGroupingInBrowser(t *testing.T) {
	t.Parallel()
	dir, originals := t.TempDir(), t.TempDir()
	const n = 130
	c := fakeClusters(n)
	c.Basis = nil
	c.Side = 200
	c.Memberships, c.Pictures, c.Features = make([]cluster.Membership, n), noCopies(n), mat.NewDense(n, 3, nil)
	c.Names[3], c.Names[5] = `<img src=x onerror=alert(1)>"'&.png`, "猫 50%#?.png"
	c.Image = func(i int) (image.Image, error) { return plain(200, 150, color.RGBA{uint8(i), 90, 200, 255}), nil }
	var paths []string
	for i, name := range c.Names {
		c.Groups[i] = i / 100 // 100 and 30
		c.Memberships[i] = cluster.Membership{Distance: float64((i * 7) % n), Confidence: float64(i%10) / 10}
		c.Features.SetRow(i, []float64{1, float64(i), float64(i * i % 31)})
		var file bytes.Buffer
		if err := png.Encode(&file, plain(300, 225, color.RGBA{uint8(i), 90, 200, 255})); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(originals, name))
		if err := os.WriteFile(paths[i], file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.Pictures.CopyOf[12], c.Pictures.CopyOf[14], c.Pictures.Near[14] = 10, 10, true
	c.Pictures.Remark[20], c.Pictures.Outlier[21] = "blurred", 0.95
	c.Links = linksTo(paths, dir)
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, dir, originals)
	p.Run(`await until(() => window.partwise);
check($$("section.group").length === 2 && $$("section.group .picture").length === 48 + 30, "pictures", $$("section.group .picture").length);
await until(() => $("section.group img").complete);
check($("section.group img").naturalWidth > 200, "no thumbnails");`, nil)
	fits(t, p)

	// The target of a link is not hidden by the tools, one line of which stays visible in narrow windows.
	for _, width := range []int{400, 1200} {
		p.Size(width, 800)
		p.Run(`await until(() => { location.hash = ""; location.hash = "group-2"; const top = $("#group-2 h2 button").getBoundingClientRect().top; return top < 400 && top >= $("#tools").getBoundingClientRect().bottom; });
const tools = $("#tools").getBoundingClientRect(), heading = $("#group-2 h2 button").getBoundingClientRect();
check(tools.top <= 1 && heading.top >= tools.bottom, "the tools end at", tools.bottom, "and the heading begins at", heading.top);
check(innerWidth > 400 || tools.bottom < 70 && $("#find").getBoundingClientRect().top > 0, "the tools end at", tools.bottom);`, nil)
	}

	// Folding, by mouse and by key.
	p.Click("#group-1 h2 button")
	p.Run(`check($("#group-1 .pictures").offsetHeight === 0 && $("#group-1 h2 button").ariaExpanded === "false", "not folded");`, nil)
	p.Press("Enter")
	p.Run(`check($("#group-1 .pictures").offsetHeight > 0, "not unfolded");`, nil)
	p.Click("#fold")
	p.Run(`check($$(".group .pictures").every((e) => e.offsetHeight === 0) && $("#fold").textContent.startsWith("Expand"), "not all folded");`, nil)
	p.Click("#fold")

	// All of a long group, and sorting.
	p.Click("#group-1 .more button")
	p.Run(`await until(() => { scrollTo(0, $("#group-2").offsetTop); return $$("#group-1 .picture").length === 98; }); // two copies are in a stack
check($("#group-1 .more").hidden, "there is more");`, nil)
	p.Run(`$("#order").value = "name"; $("#order").dispatchEvent(new Event("change"));
const names = $$("#group-2 .picture").map((a) => partwise.pictures[a.dataset.i].name);
check(names.join() === names.toSorted().join() && names.length === 30, "by name", names);
$("#order").value = "unsure"; $("#order").dispatchEvent(new Event("change"));
check(partwise.pictures[$("#group-2 .picture").dataset.i].confidence === 0, "the surest first");
$("#order").value = "typical"; $("#order").dispatchEvent(new Event("change"));`, nil)

	// A stack of copies opens.
	p.Click(`#group-1 .picture[data-i="10"] .badge`)
	p.Run(`const shown = $$("#group-1 .picture").map((a) => +a.dataset.i), at = shown.indexOf(10);
check(shown[at + 1] === 12 && shown[at + 2] === 14, "copies", shown.slice(at, at + 3));`, nil)

	// Search by name; names are shown as text.
	p.Click("#find")
	p.Type("50%# 猫")
	p.Run(`await until(() => !$("#results").hidden);
check($$("#results .picture").length === 1 && $("#results .picture").dataset.i === "5", "found", $$("#results .picture").length);
check($("#status").textContent.includes("1 image"), $("#status").textContent);`, nil)
	p.Press("Escape")
	p.Run(`check($("#results").hidden && $("#find").value === "", "not closed");`, nil)
	p.Type("<img")
	p.Run(`await until(() => !$("#results").hidden && $$("#results .picture").length === 1);
check(!$("img[src=x]") && $("#results .picture img").alt.startsWith("<img src=x"), "a name is more than text");`, nil)
	p.Press("Escape")

	// Results are in view from any position, and the way back returns there.
	// All pictures are loaded first, because late ones would move the page.
	p.Run(`for (const img of $$("img")) { img.loading = "eager"; await until(() => img.complete); }
let still = -1;
$("#group-2").scrollIntoView();
await until(() => { const was = still; still = scrollY; return was === still; });
$("#find").value = "IMG_0001"; $("#find").dispatchEvent(new Event("input"));
const at = scrollY, place = () => $("#results .picture").getBoundingClientRect();
await until(() => !$("#results").hidden);
check(place().top >= $("#tools").getBoundingClientRect().bottom && place().bottom <= innerHeight, "found is something at", place().top, "of", innerHeight);
$("#results-close").click();
await until(() => scrollY === at);`, nil)

	// The first picture is one Tab away from the page's first link.
	p.Run(`scrollTo(0, 0); document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus();`, nil)
	p.Press("Tab")
	p.Run(`const a = document.activeElement, {top, left} = a.getBoundingClientRect();
check(a.textContent === "Skip to the images" && top >= 0 && left >= 0, "the first is", a.outerHTML, top, left);`, nil)
	p.Press("Enter", "Tab")
	p.Run(`const {top, bottom} = document.activeElement.getBoundingClientRect();
check(document.activeElement === $("#group-1 .picture"), "then comes", document.activeElement.outerHTML);
check(top >= $("#tools").getBoundingClientRect().bottom && bottom <= innerHeight, "it is at", top);`, nil)
	p.Run(`const lists = $$("#lists button").map((b) => b.textContent).join();
check(lists === "Uncertain (13),Outliers (1),Blurred (1),Exact copies (1),Near duplicates (1)", lists);`, nil)

	// The large view shows the original, turns pages, and returns the focus.
	p.Run(`$("#group-2 .picture").focus();`, nil)
	p.Press("ArrowRight", " ")
	p.Run(`const a = document.activeElement;
check(a === $$("#group-2 .picture")[1] && partwise.selection.has(+a.dataset.i) && a.classList.contains("selected"), "not selected");`, nil)
	p.Press("ArrowDown", "End", "Home")
	p.Run(`check(document.activeElement === $("#group-2 .picture"), "not at the first");`, nil)
	p.Press("Enter")
	p.Run(`check($("#viewer").open, "not open");
const original = () => $("#viewer figure img").naturalWidth === 300 && !$("#viewer figure img").classList.contains("picture-small");
await until(original);
partwise.show(3); await until(() => original() && $("#viewer-title").textContent.startsWith("<img"));
partwise.show(5, [5, 6]); await until(() => original() && $("#viewer-title").textContent.startsWith("猫"));`, nil)
	p.Press("ArrowRight")
	p.Run(`check($("#viewer-title").textContent === partwise.pictures[6].name, "not the next");
check($$("#viewer .similar .picture").length === 12, "no similar pictures");`, nil)
	p.Press("Escape")
	p.Run(`check(!$("#viewer").open && document.activeElement === $("#group-2 .picture"), "not back");`, nil)
	p.Run(`const like = partwise.similar([40]);
check(like[0] === 40 && new Set(like).size === 130, "similar", like.slice(0, 5));`, nil)

	// The map draws all pictures, and the middle one opens.
	p.Run(`$("#tab-groups").focus();`, nil)
	p.Press("ArrowRight")
	p.Run(`check($("#tab-map").ariaSelected === "true" && $("#groups").offsetHeight === 0, "the map is not alone");
let drawn = 0;
const paint = CanvasRenderingContext2D.prototype, was = paint.drawImage;
paint.drawImage = function (...args) { drawn++; return was.apply(this, args); };
$("#map canvas").focus();
await until(() => drawn >= 130);
for (let k = 0; k < 3; k++) $("#map .bar button").click();
await until(() => drawn > 135);`, nil)
	p.Click(".map-key button")
	p.Press("+", "ArrowLeft", "0")
	p.Run(`const c = $("#map canvas"); // a click on the first picture that is under the pointer
c.scrollIntoView();
for (let x = 10; x < c.width && !$("#viewer").open; x += 15) for (let y = 10; y < c.height && !$("#viewer").open; y += 15) {
  const r = c.getBoundingClientRect(), at = {clientX: r.x + x, clientY: r.y + y, pointerId: 1, bubbles: true};
  c.setPointerCapture = () => {};
  c.dispatchEvent(new PointerEvent("pointerdown", at));
  c.dispatchEvent(new PointerEvent("pointerup", at));
}
check($("#viewer").open, "no picture of the map opens");`, nil)
	p.Press("Escape")
	p.Click("#tab-groups")

	// Cards lead to groups by keys, thumbnails have a size, and selected pictures are compared and enlarged.
	p.Run(`check($("#map").offsetHeight === 0 && $$("#cards a").map((a) => a.innerText).join() === "Group 1: mostly <tower>\n100 images,Group 2\n30 images", $("#cards").innerText);
$("#cards a").focus();`, nil)
	p.Press("ArrowRight", "Enter")
	p.Run(`await until(() => location.hash === "#group-2");
const width = () => $("#group-2 .picture img").getBoundingClientRect().width, was = width();
$("#size").value = 200; $("#size").dispatchEvent(new Event("input"));
check(Math.abs(width() - 2 * was) < 1, "a thumbnail is", width(), "wide, and was", was);
partwise.select([...partwise.selection], false); partwise.select([3, 5, 6]); document.activeElement.blur();`, nil)
	p.Press("c", "+", "+")
	p.Run(`await until(() => $$("#side figure img").length === 3 && $$("#side img").every((img) => img.naturalWidth === 300));
check($("#side").open && $$("#side img").every((img) => getComputedStyle(img).scale === "2.25"), "zoom", getComputedStyle($("#side img")).scale);`, nil)
	p.Press("0", "Escape")
	p.Run(`check(!$("#side").open && getComputedStyle($(".sides")).getPropertyValue("--scale") === "1", "still compared");`, nil)

	// Groups change in place.
	p.Run(`partwise.update({groups: partwise.pictures.map((p) => p.i < 4 ? 2 : p.group), names: ["first", "", "new"]});
check($$("section.group").length === 3 && $("#group-3 h2").textContent === "Group 3: new", "groups", $$("section.group").length);
check($$("#group-3 .picture").length === 4 && $("#cards a[href='#group-3']"), "not moved");`, nil)
}

// TestSamplesInBrowser: samples without pictures show their names, on the map too.
func TestSamplesInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := fakeClusters(60)
	c.Image, c.Basis, c.Features = nil, nil, mat.NewDense(60, 3, nil)
	for i := range 60 {
		c.Features.SetRow(i, []float64{1, float64(i % 11), float64(i)})
	}
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, dir, dir)
	fits(t, p)
	p.Run(`const names = [], paint = CanvasRenderingContext2D.prototype, was = paint.fillText;
paint.fillText = function (text, ...at) { names.push(text); return was.call(this, text, ...at); };
$("#tab-map").click();
await until(() => $("#map canvas").width > 300);
$(".map-key button").click();
await until(() => { $("#map .bar button").click(); return names.some((name) => name.startsWith("IMG_")); });`, nil)
	p.Click("#tab-groups")
	p.Click("#group-2 .picture")
	p.Run(`check($("#viewer").open && $("#viewer figure").offsetHeight === 0, "a picture of none");
check($$("#viewer .similar .picture").length === 12 && !$("img"), "similar");`, nil)
	p.Press("Escape")
}

// TestExperimentInBrowser: the page of an experiment logs nothing to the console, and its tables scroll separately in a
// narrow window.
func TestExperimentInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := WriteExperiment(t.Context(), dir, fakeExperiment()); err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, dir, dir)
	p.Run(`for (const img of $$("img")) { img.loading = "eager"; await until(() => img.complete); check(img.naturalWidth > 0, "broken is", img.src); }
check($$("script").length === 2, "scripts");
for (const a of $$("nav a")) check(document.getElementById(a.hash.slice(1)), "nowhere leads", a.hash);`, nil)
	fits(t, p)
}

// TestTablesInBrowser sorts and copies the tables of an experiment, by keyboard and mouse.
func TestTablesInBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := Experiment{Summary: &pipeline.Summary{Name: "many <b>", Methods: []string{"nmf", "cf & <i>", "ccf"}, Settings: [][2]string{{"seed", "3"}}}}
	e.Records = fakeRecords(e.Methods, []int{2, 3, 10}, 8)
	for i := range e.Records { // not in the order of their scores
		if r := &e.Records[i]; r.Classes == 3 && r.Method == "nmf" {
			r.Scores["AC"] = 0.99
		}
	}
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, dir, dir)
	var order []string
	const firsts = `return [...$("table.scores").tBodies[0].rows].map((row) => row.cells[0].textContent);`
	sorted := func(want ...string) {
		t.Helper()
		if p.Run(firsts, &order); !slices.Equal(order, want) {
			t.Errorf("the rows are %q, want %q", order, want)
		}
	}
	sorted("2", "3", "10", "Average")
	p.Run(`$("table.scores th:nth-child(2) button").focus();`, nil)
	p.Press("Enter")
	sorted("10", "2", "3", "Average")
	p.Run(`check($("table.scores th:nth-child(2)").getAttribute("aria-sort") === "ascending", "aria-sort"); check($(".said").textContent === "Sorted by nmf, ascending.", $(".said").textContent);`, nil)
	p.Press("Enter")
	sorted("3", "2", "10", "Average")
	p.Press("Enter")
	sorted("2", "3", "10", "Average")
	p.Run(`check($$("th[aria-sort]").length === 0, "aria-sort in the order of the table");`, nil)
	p.Click("table.scores th:first-child button")
	p.Click("table.scores th:first-child button")
	sorted("10", "3", "2", "Average")
	// The copied text equals the file, with any names.
	var text string
	p.Run(`let taken = null; document.execCommand = () => { taken = document.activeElement.value; return true; };
Object.defineProperty(navigator, "clipboard", { value: { writeText: async (t) => { taken = t; } } });
$$("p.files button").find((b) => b.textContent === "Copy LaTeX").click();
await until(() => taken !== null); await until(() => $(".said").textContent.includes("as LaTeX")); return taken;`, &text)
	if want, err := os.ReadFile(filepath.Join(dir, "tables", "ac.tex")); err != nil || text != string(want) {
		t.Errorf("copied is %q, want %q, %v", text, want, err)
	}
	fits(t, p)
	p.Size(2000, 900)
	p.Run(`check(document.documentElement.scrollWidth <= innerWidth, "too wide");`, nil)
}
