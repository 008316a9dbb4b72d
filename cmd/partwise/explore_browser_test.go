package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/browsertest"
)

// TestExploreInBrowser: what a person says on the page moves pictures there, holds while other things are
// said, and is in the results.
func TestExploreInBrowser(t *testing.T) {
	workplace(t)
	must(t, "cluster", "photos", "-k", "4")
	address, finish := exploring(t, "results/photos-groups")
	p := browsertest.Open(t, address)
	// said waits until so many acts were taken, and checks that the page shows their groups.
	said := func(acts int) {
		t.Helper()
		p.Run(fmt.Sprintf(`
await until(() => $("#work").hidden);
const state = await (await fetch("state")).json();
check(state.acts === %d, state.acts, "acts; the page says", $("#told").textContent);
check(partwise.pictures.every((p, i) => p.group === state.groups[i]), "the page shows other groups");
check(state.told.every((i) => partwise.pictures[i].told), "what was told is not marked");`, acts), nil)
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
		p.Press("n")
		acts++
		said(acts)
		p.Run(`const {cannot, groups} = await (await fetch("state")).json();
check(cannot.length > 0 && cannot.every(([a, b]) => groups[a] !== groups[b]), "what does not belong together does");`, nil)
	}
	p.Run(fmt.Sprintf(`check(partwise.pictures[%d].group === 1, "it is in group", partwise.pictures[%[1]d].group);`, dragged.Picture), nil)

	// All is there when the page is loaded again.
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

	// The results hold it, and it is there when they are explored again.
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
		t.Errorf("the results say %q of the picture that was told", named)
	}
	address, finish = exploring(t, "results/photos-groups")
	p = browsertest.Open(t, address)
	p.Run(`await until(() => document.readyState === "complete" && partwise.pictures.some((p) => p.told));`, nil)
	p.Run(fmt.Sprintf(`const p = partwise.pictures[%d];
check(p.told && partwise.groups[p.group].name === "=Türme <b>", "it is in", partwise.groupTitle(p.group));
check($$("section.group h2").some((h) => h.textContent.endsWith(": =Türme <b>")), "no group has the name");`, dragged.Picture), nil)
	p.Go("about:blank")
	finish()
}
