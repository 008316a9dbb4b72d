package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/report"
)

// exploring runs partwise explore until it is finished. It returns the address of the page and a function that ends it
// and returns the later output.
func exploring(t *testing.T, args ...string) (address string, finish func() string) {
	t.Helper()
	out, in := io.Pipe()
	var stderr shared
	code := make(chan int, 1)
	go func() {
		code <- run(append([]string{"explore", "--no-browser"}, args...), in, &stderr)
		in.Close()
	}()
	text, buf := "", make([]byte, 4096)
	for !strings.Contains(text, "\n") {
		n, err := out.Read(buf)
		if text += string(buf[:n]); err != nil {
			t.Fatalf("explore %v: printed %q, exit code %d, said %q", args, text, <-code, stderr.String())
		}
	}
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "http://127.0.0.1:") || strings.HasPrefix(word, "http://[::1]:") {
			address = word
		}
	}
	if address == "" {
		t.Fatalf("explore printed %q", text)
	}
	return address, func() string {
		t.Helper()
		rest := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(out)
			rest <- string(text)
		}()
		post(t, address+"finish", struct{}{})
		select {
		case c := <-code:
			if said := stderr.String(); c != exitDone || said != "" && !strings.HasPrefix(said, "partwise: left out: ") {
				t.Fatalf("explore: exit code %d, said %q", c, stderr.String())
			}
		case <-time.After(time.Minute):
			t.Fatal("explore does not end")
		}
		return <-rest
	}
}

// post sends a request of the page, and returns the state in the answer.
func post(t *testing.T, address string, body any) *feedback.State {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(address, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v, %s", address, res.Status, err, answer)
	}
	var state feedback.State
	if len(answer) > 0 {
		_ = json.Unmarshal(answer, &state)
	}
	return &state
}

// TestExplore: corrections on the page become the results, and hold in later groupings.
func TestExplore(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4", "--out", "groups")
	before := read(t, "groups", "assignments.csv")
	_, finish := exploring(t, "groups")
	if said := finish(); !strings.Contains(said, "No corrections") || read(t, "groups", "assignments.csv") != before {
		t.Errorf("without a word: %q", said)
	}

	address, finish := exploring(t, "groups")
	state := post(t, address+"act", feedback.Act{Do: feedback.Move, Pictures: []int{0, 1}, Name: "Früh"})
	other := slices.IndexFunc(state.Groups, func(g int) bool { return g != state.Groups[5] && g != state.Groups[0] })
	post(t, address+"act", feedback.Act{Do: feedback.Merge, Groups: []int{state.Groups[5], state.Groups[other]}})
	state = post(t, address+"act", feedback.Act{Do: feedback.Apart, Pictures: []int{7, 8}})
	if _, stdout, stderr := partwise("cluster", "photos", "-k", "3", "--out", "groups"); stdout != "" || !strings.Contains(stderr, "groups") {
		t.Errorf("a second writer: %q", stderr)
	}
	said := finish()
	if !strings.Contains(said, `"Früh" is group`) {
		t.Errorf("printed %q", said)
	}
	assigned, _, err := report.ReadAssignments("groups")
	if err != nil || assigned[0].Name != "Früh" || assigned[0].Group != assigned[1].Group || assigned[7].Group == assigned[8].Group {
		t.Errorf("%v: %+v", err, assigned[:2])
	}
	for i, a := range assigned {
		if (a.Group == assigned[0].Group) != (state.Groups[i] == state.Groups[0]) {
			t.Fatalf("%s is not where the page showed it", a.Sample)
		}
	}
	files := listed(t, "groups/feedback")
	if want := []string{"groups/feedback/feedback.csv", "groups/feedback/history.json", "groups/feedback/labels.csv", "groups/feedback/links.csv", "groups/feedback/log.jsonl"}; !slices.Equal(files, want) {
		t.Errorf("kept: %v", files)
	}
	// Other commands can read the files.
	must(t, "cluster", "photos", "-k", "4", "--labels", "groups/feedback/labels.csv", "--links", "groups/feedback/links.csv", "--out", "again")
	must(t, "run", "--set", "photos,pattern={class}-*", "--links", "file=groups/feedback/links.csv,feedback=groups/feedback/feedback.csv", "--method", "ss-nmf", "--repeats", "1", "--classes", "4", "--out", "experiment")
	// Another grouping keeps them, and they hold there.
	must(t, "cluster", "photos", "-k", "5", "--out", "groups")
	address, finish = exploring(t, "groups")
	if state = getState(t, address); state.Groups[0] != state.Groups[1] || !slices.Contains(state.Names, "Früh") || state.Groups[7] == state.Groups[8] {
		t.Errorf("on other groups: %+v", state)
	}
	finish()
}

// TestExploreAgain: with the same port the address is the same, and Undo reaches earlier corrections.
func TestExploreAgain(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4", "--out", "groups")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	first, finish := exploring(t, "groups", "--port", port)
	before := getState(t, first)
	post(t, first+"act", feedback.Act{Do: feedback.Merge, Groups: []int{0, 1}})
	post(t, first+"act", feedback.Act{Do: feedback.Move, Pictures: []int{0}, Name: "Früh"})
	finish()
	again, finish := exploring(t, "groups", "--port", port)
	if again != first {
		t.Errorf("the address is %s, and was %s", again, first)
	}
	post(t, again+"undo", struct{}{})
	state := post(t, again+"undo", struct{}{})
	pairs := map[[2]int]bool{}
	for i, g := range state.Groups {
		pairs[[2]int{g, before.Groups[i]}] = true
	}
	if len(pairs) != 4 || state.Undo != "" || state.Redo == "" {
		t.Errorf("undone: %+v, before %+v", state, before)
	}
	finish()
}

// TestExploreCompares: corrected groups are compared with the classes of the first comparison, unless flags name
// others.
func TestExploreCompares(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4", "--pattern", "{class}-*", "--out", "groups")
	for picture := range 2 { // also with the model of corrected groups
		address, finish := exploring(t, "groups")
		post(t, address+"act", feedback.Act{Do: feedback.Move, Pictures: []int{picture}, Name: fmt.Sprint("moved ", picture)})
		if said := finish(); !strings.Contains(said, "AC") || !strings.Contains(read(t, "groups", "assignments.csv"), "class") {
			t.Errorf("time %d: printed %q", picture+1, said)
		}
	}
	address, finish := exploring(t, "groups", "--no-classes")
	post(t, address+"act", feedback.Act{Do: feedback.Move, Pictures: []int{2}, Name: "moved 2"})
	if said := finish(); strings.Contains(said, "AC") {
		t.Errorf("without classes it printed %q", said)
	}
}

func getState(t *testing.T, address string) *feedback.State {
	t.Helper()
	res, err := http.Get(address + "state")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var state feedback.State
	if err := json.NewDecoder(res.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	return &state
}

// TestExploreMistakes: impossible input is one error, before images are read.
func TestExploreMistakes(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4", "--out", "groups")
	must(t, "run", "docs/experiments/demo.yaml", "--classes", "2", "--repeats", "1", "--out", "experiment")
	if err := os.CopyFS("foreign", os.DirFS("groups")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("foreign/feedback", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "foreign/feedback/labels.csv", "mine\n")
	for _, test := range []struct{ args, want string }{
		{"photos", "photos"},
		{"nowhere", "nowhere"},
		{"experiment", "no groups"},
		{"foreign", "feedback/labels.csv"},
		{"groups --port 70000", "--port 70000: expected"},
		{"groups --pictures nowhere", "nowhere"},
	} {
		code, stdout, stderr := partwise(append([]string{"explore"}, strings.Fields(test.args)...)...)
		if code == exitDone || stdout != "" || !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("explore %s: exit code %d, %q, %q", test.args, code, stdout, stderr)
		}
	}
	if read(t, "foreign/feedback/labels.csv") != "mine\n" {
		t.Error("a foreign file has changed")
	}
	// Images that were added later.
	write(t, "photos/new.png", read(t, listed(t, "photos")[0]))
	if code, _, stderr := partwise("explore", "groups"); code != exitFailed || !strings.Contains(stderr, "run partwise cluster again") {
		t.Errorf("a new picture: %d, %q", code, stderr)
	}
	if _, err := os.Stat(filepath.Join("groups", "feedback")); err == nil {
		t.Error("a folder is left")
	}
}

// TestExploreInBrowser: a correction on the page moves pictures, holds during later corrections, and is in the results.
func TestExploreInBrowser(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4")
	address, finish := exploring(t, "results/photos-groups")
	p := browsertest.Open(t, address)
	// said waits for a number of acts, and checks that the page shows their groups.
	said := func(acts int) {
		t.Helper()
		p.Run(fmt.Sprintf(`
await until(() => $("#work").hidden);
const state = await (await fetch("state")).json();
check(state.acts === %d, state.acts, "acts; the page says", $("#status").textContent);
check(partwise.pictures.every((p, i) => p.group === state.groups[i]), "the page shows other groups");
check(state.labelled.every((i) => partwise.pictures[i].labelled), "labelled pictures are not marked");`, acts), nil)
	}
	p.Run(`await until(() => $("#question img.large") || $("#question").hidden);`, nil)
	said(0)

	// A picture is dragged to another group, and stays there.
	var dragged struct {
		Picture int
		Name    string
	}
	p.Run(`const i = partwise.groups[0].members[0]; return {picture: i, name: partwise.pictures[i].name};`, &dragged)
	x, y := p.Middle(fmt.Sprintf("#group-1 a.picture[data-i='%d']", dragged.Picture))
	p.Mouse("mousePressed", x, y)
	p.Mouse("mouseMoved", x+10, y+10)
	p.Mouse("mouseMoved", x+20, y+20)
	p.Run(`await until(() => !$("#dock").hidden);`, nil)
	var to [2]float64
	p.Run(`const box = $("#dock [data-group='1']").getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];`, &to)
	p.Mouse("mouseMoved", to[0], to[1])
	p.Mouse("mouseMoved", to[0]+1, to[1])
	p.Mouse("mouseReleased", to[0]+1, to[1])
	p.Run(`await until(() => $("#dock").hidden);`, nil)
	said(1)
	p.Run(fmt.Sprintf(`check(partwise.pictures[%d].group === 1, "it is in group", partwise.pictures[%[1]d].group);`, dragged.Picture), nil)

	p.Click("#group-2 .group-acts button:nth-of-type(1)")
	p.Type("=Türme <b>")
	p.Press("Enter")
	said(2)
	p.Click("#group-3 .group-acts button:nth-of-type(3)")
	said(3)
	p.Run(`check(partwise.groups.filter((g) => g.members.length > 0).length === 5, "no group was split");`, nil)
	p.Click("#group-4 .group-acts button:nth-of-type(2)")
	p.Press("Enter")
	said(4)
	p.Run(`check(partwise.groups.filter((g) => g.members.length > 0).length === 4, "no groups were merged");`, nil)
	p.Run(`document.activeElement.blur();`, nil)
	p.Press("u")
	said(3)
	p.Press("Shift+U")
	said(4)
	acts := 4
	for range 2 {
		var asks bool
		p.Run(`$("#question").scrollIntoView({block: "center"}); return !$("#question").hidden;`, &asks)
		if !asks {
			break
		}
		var asked int
		p.Run(`return +$("#question").dataset.picture;`, &asked)
		p.Press("1")
		acts++
		said(acts)
		p.Run(fmt.Sprintf(`check((await (await fetch("state")).json()).labelled.includes(%d), "an answer is lost");`, asked), nil)
	}
	p.Run(fmt.Sprintf(`check(partwise.pictures[%d].group === 1, "it is in group", partwise.pictures[%[1]d].group);`, dragged.Picture), nil)

	// Everything is there after a reload.
	var before, after string
	groups := `return partwise.pictures.map((p) => p.group).join() + $$("section.group h2").map((h) => h.textContent).join();`
	p.Run(groups, &before)
	p.Go(address)
	p.Run(`await until(() => $$("#always button")[0].disabled === false);`, nil)
	if p.Run(groups, &after); after != before {
		t.Errorf("loaded again, the groups are %s, before %s", after, before)
	}
	said(acts)
	p.Go("about:blank") // a page would say that the server has gone
	finish()

	// The results have it, and so does the next explore.
	rows, err := csv.NewReader(strings.NewReader(read(t, "results", "photos-groups", "assignments.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	named := ""
	for _, row := range rows {
		if row[0] == dragged.Name {
			named = strings.Join(row, ",")
		}
	}
	if !strings.Contains(named, "'=Türme <b>") {
		t.Errorf("the labelled picture: got the line %q, want the name '=Türme <b>", named)
	}
	address, finish = exploring(t, "results/photos-groups")
	p = browsertest.Open(t, address)
	p.Run(`await until(() => document.readyState === "complete" && partwise.pictures.some((p) => p.labelled));`, nil)
	p.Run(fmt.Sprintf(`const p = partwise.pictures[%d];
check(p.labelled && partwise.groups[p.group].name === "=Türme <b>", "it is in", partwise.groupTitle(p.group));
check($$("section.group h2").some((h) => h.textContent.endsWith(": =Türme <b>")), "no group has the name");`, dragged.Picture), nil)
	p.Go("about:blank")
	finish()
}

// TestOpenBrowser: the browser learns the address from a private file, which is removed at the end.
func TestOpenBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("browsers are opened by another program")
	}
	const address = "http://127.0.0.1:1/0123456789abcdef/"
	t.Chdir(t.TempDir())
	for _, dir := range []string{"bin", "results"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	script := "#!/bin/sh\nstat -c %a \"$1\" > " + bin + "/said.new\necho \"$1\" >> " + bin + "/said.new\ncat \"$1\" >> " + bin + "/said.new\nmv " + bin + "/said.new " + bin + "/said\n"
	if err := os.WriteFile("bin/xdg-open", []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	remove := openBrowser("results", address)
	for range 1000 {
		if _, err := os.Stat("bin/said"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	mode, rest, _ := strings.Cut(read(t, "bin", "said"), "\n")
	path, text, _ := strings.Cut(rest, "\n")
	if mode != "600" || !filepath.IsAbs(path) || strings.Contains(path, "0123456789abcdef") || strings.Count(text, address) != 2 {
		t.Errorf("the browser is given %s of mode %s with %q", path, mode, text)
	}
	if remove(); len(listed(t, "results")) > 0 {
		t.Errorf("there is yet %v", listed(t, "results"))
	}
	// A missing browser or folder is no error.
	t.Setenv("PATH", "")
	openBrowser("results", address)()
	openBrowser("nowhere", address)()
}
