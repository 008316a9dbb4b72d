package explore

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
)

var (
	program = flag.String("partwise", "", "the program")
	results = flag.String("results", "", "a copy of results of partwise cluster")
	runs    = flag.Int("runs", 3, "repetitions")
)

// row prints a row of the table.
func row(cells ...any) {
	for _, c := range cells {
		if s, ok := c.(float64); ok {
			c = fmt.Sprintf("%.0f", s)
		}
		fmt.Printf("| %v ", c)
	}
	fmt.Println("|")
}

// cpu returns the CPU milliseconds and the largest memory in MB of a process.
func cpu(t *testing.T, p *os.Process) (ms, mb float64) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	if err != nil {
		t.Skip(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	var user, system float64
	fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(most, &mb)
	return 10 * (user + system), mb / 1024
}

// explore starts partwise explore, and returns its address once the page is answered.
func startProgram(t *testing.T) (address string, p *os.Process) {
	begin := time.Now()
	cmd := exec.Command(*program, "explore", *results, "--no-browser")
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "Page of the groups: ")
	}
	answer, err := http.Get(address)
	must(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	must(t, err)
	ms, mb := cpu(t, cmd.Process)
	row("explore: first page", float64(time.Since(begin).Milliseconds()), ms, fmt.Sprintf("%.0f MB", mb))
	return address, cmd.Process
}

// frames is a script that runs another one, and measures the frames meanwhile.
const frames = `
const times = [], tasks = [];
const seen = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
seen.observe({type: "long-animation-frame", buffered: false});
let going = true, last = performance.now();
const tick = (now) => { times.push(now - last); last = now; if (going) requestAnimationFrame(tick); };
const frame = () => new Promise((done) => requestAnimationFrame(done));
await frame(); await frame();
requestAnimationFrame((now) => { last = now; requestAnimationFrame(tick); });
const begin = performance.now();
await (async () => { %s })();
const took = performance.now() - begin;
await frame(); await frame();
going = false;
await new Promise((done) => setTimeout(done, 300));
times.sort((a, b) => a - b);
const worst = tasks.sort((a, b) => b.duration - a.duration)[0];
return {
  took, median: times[times.length >> 1] ?? 0, worst: times[times.length - 1] ?? 0,
  long: worst?.duration ?? 0, script: worst?.scripts.reduce((sum, s) => sum + s.duration, 0) ?? 0, layout: worst ? worst.startTime + worst.duration - worst.styleAndLayoutStart : 0,
  source: worst?.scripts.map((s) => s.invoker + " " + s.sourceFunctionName + " " + Math.round(s.duration) + " forced " + Math.round(s.forcedStyleAndLayoutDuration)).join("; ") ?? "",
  elements: document.getElementsByTagName("*").length, heap: performance.memory.usedJSHeapSize / 2 ** 20,
};`

func step(t *testing.T, page *browsertest.Page, p *os.Process, name, script string) {
	var before, after float64
	if p != nil {
		before, _ = cpu(t, p)
	}
	var f struct {
		Took, Median, Worst, Long, Script, Layout, Elements, Heap float64
		Source                                                    string
	}
	page.Run(fmt.Sprintf(frames, script), &f)
	if p != nil {
		after, _ = cpu(t, p)
	}
	row(name, f.Took, after-before, f.Median, f.Worst, f.Long, f.Script, f.Layout, f.Elements, f.Heap, f.Source)
}

const scroll = `for (let y = scrollY; ; y += 400) { scrollTo({top: y, behavior: "instant"}); await frame(); if (y > document.documentElement.scrollHeight) break; }`

// act returns a script that sends an act and measures the time until the answer.
func act(path, body string) string {
	return fmt.Sprintf(`
const state = await (await fetch("state")).json(), {partwise} = window;
const sizes = partwise.groups.map((g) => g.members.length), large = sizes.indexOf(Math.max(...sizes));
const body = %s;
const t0 = performance.now();
const answer = await fetch("%s", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
const now = await answer.text();
check(answer.ok, now);
const t1 = performance.now();
return {took: t1 - t0, size: now.length};`, body, path)
}

// TestLarge measures partwise explore on the results of partwise cluster, and its page in a headless browser:
//
//	go build -o /tmp/partwise ./cmd/partwise && cp -r results/photos-groups /tmp/groups
//	go test ./bench/explore -run TestLarge -v -timeout 1h -partwise /tmp/partwise -results /tmp/groups
//
// It corrects the groups, so it needs a copy of the results. Times are in milliseconds.
func TestLarge(t *testing.T) {
	if *program == "" || *results == "" {
		t.Skip("-partwise and -results are missing")
	}
	for range *runs {
		t.Run("", func(t *testing.T) {
			address, p := startProgram(t)
			row("step", "wall, ms", "CPU, ms", "frame, ms", "worst frame", "longest task", "scripts", "layout", "elements", "heap, MB", "source")
			begin := time.Now()
			page := browsertest.Open(t, address)
			page.Run(`await until(() => !$("#undo, #always button").disabled || $("#status") && window.partwise.pictures.some((p) => p.confidence !== null));`, nil)
			row("page is opened", float64(time.Since(begin).Milliseconds()))
			step(t, page, p, "scroll all", scroll)
			step(t, page, p, "to the top", `scrollTo(0, 0); await frame();`)
			step(t, page, p, "show all of the largest group", `
const largest = partwise.groups.reduce((a, b) => a.members.length > b.members.length ? a : b);
largest.section.scrollIntoView(); await frame(); largest.section.querySelector(".more button").click(); await frame(); await frame();`)
			step(t, page, p, "scroll through it", `
const largest = partwise.groups.reduce((a, b) => a.members.length > b.members.length ? a : b);
for (let i = 0; largest.section.getBoundingClientRect().bottom > 0 && i < 3000; i++) { scrollBy({top: 400, behavior: "instant"}); await frame(); }`)
			step(t, page, p, "show all of all groups", `
for (const b of $$("section.group .more button")) { b.click(); await frame(); }`)
			step(t, page, p, "scroll all", `scrollTo({top: 0, behavior: "instant"}); await frame();`+scroll)
			step(t, page, p, "to the top", `scrollTo({top: 0, behavior: "instant"}); await frame();`)
			step(t, page, p, "map", `$("#tab-map").click(); await frame(); await frame();`)
			step(t, page, p, "zoom the map", `const b = $$("#map .bar button"); for (let i = 0; i < 5; i++) { b[0].click(); await frame(); await new Promise((d) => setTimeout(d, 400)); }`)
			step(t, page, p, "back to groups", `$("#tab-groups").click(); await frame(); await frame();`)
			step(t, page, p, "search", `$("#find").value = "photo_00"; $("#find").dispatchEvent(new Event("input")); await until(() => !$("#results").hidden); await frame(); $("#results-close").click(); $("#find").value = ""; await frame();`)
			step(t, page, p, "open a picture", `$("section.group a.picture").click(); await until(() => $("#viewer").open); await frame(); $("#viewer-close").click(); await frame();`)
			step(t, page, p, "select a group", `const largest = partwise.groups.reduce((a, b) => a.members.length > b.members.length ? a : b); partwise.select(largest.members); await frame(); partwise.select(largest.members, false); await frame();`)
			step(t, page, p, "move by the page", byPage(`partwise.select([partwise.groups[0].members[3]]); document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "g", bubbles: true})); await frame();`))
			step(t, page, p, "undo by the page", byPage(`document.querySelector("#always button").click(); await frame();`))
			step(t, page, p, "merge by the page", byPage(`partwise.groups[1].section.querySelectorAll(".group-acts button")[1].click(); await frame(); document.querySelector("#chooser .choices button").click(); await frame();`))
			step(t, page, p, "undo by the page", byPage(`document.querySelector("#always button").click(); await frame();`))
			for _, a := range [][3]string{
				{"move one", "act", `{do: "move", pictures: [partwise.groups[large].members[5]], groups: [large ? 0 : 1]}`},
				{"undo", "undo", `{}`}, {"redo", "redo", `{}`}, {"undo", "undo", `{}`},
				{"move 300", "act", `{do: "move", pictures: partwise.groups[large].members.slice(0, 300), groups: [large ? 0 : 1]}`},
				{"label 500", "act", `{do: "move", pictures: partwise.groups[large].members.slice(300, 800), groups: [large]}`},
				{"move one after it", "act", `{do: "move", pictures: [partwise.groups[large].members[900]], groups: [large ? 0 : 1]}`},
				{"undo", "undo", `{}`}, {"undo", "undo", `{}`}, {"undo", "undo", `{}`},
				{"merge", "act", `{do: "merge", groups: [large, large ? 0 : 1]}`}, {"undo", "undo", `{}`},
				{"rename", "act", `{do: "name", groups: [large], name: "A name"}`}, {"undo", "undo", `{}`},
				{"split", "act", `{do: "split", groups: [large]}`}, {"undo", "undo", `{}`},
				{"together", "act", `{do: "together", pictures: partwise.groups[large].members.slice(0, 5)}`}, {"undo", "undo", `{}`},
				{"skip", "act", `{do: "skip", pictures: [state.questions[0].picture]}`},
			} {
				before, _ := cpu(t, p)
				var f struct{ Took, Size float64 }
				page.Run(act(a[1], a[2]), &f)
				after, mb := cpu(t, p)
				row(a[0], f.Took, after-before, fmt.Sprintf("%.0f kB", f.Size/1000), fmt.Sprintf("%.0f MB", mb))
			}
		})
	}
}

// byPage waits until the page shows the answer to an act.
func byPage(script string) string {
	return script + ` await until(() => $("#work").hidden); await frame(); await frame();`
}
