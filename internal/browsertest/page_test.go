package browsertest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPage checks that scripts, keys and the mouse work as for a user, and that messages and requests of a page are
// recorded.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	path := filepath.Join(dir, "a page #1.html")
	if err := os.WriteFile(path, []byte(`<!DOCTYPE html><link rel="icon" href="data:,"><body style="height: 5000px"><input><button style="margin-top: 3000px" onclick="this.textContent = 'clicked'">Click</button>
<script>addEventListener("keydown", (e) => { document.title += e.key + e.shiftKey; });</script>`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := Open(t, (&url.URL{Scheme: "file", Path: path}).String())
	var sum int
	p.Run(`await until(() => true); check($("input") && $$("button").length === 1, "elements"); return 1 + 1;`, &sum)
	if sum != 2 {
		t.Errorf("1 + 1 is %d", sum)
	}
	p.Click("button")
	p.Click("input")
	p.Press("a", "ArrowLeft", "Shift+Enter")
	p.Type("猫")
	p.Run(`check($("button").textContent === "clicked"); check($("input").value === "猫a", $("input").value);
check(document.title === "afalseArrowLeftfalseEntertrue", document.title);`, nil)
	p.Size(400, 300)
	p.Dark(true)
	p.Run(`check(innerWidth === 400 && innerHeight === 300 && matchMedia("(prefers-color-scheme: dark)").matches, "size", innerWidth);`, nil)
	if found := p.Problems(); len(found) > 0 {
		t.Errorf("problems %q", found)
	}

	p.Run(`console.log("said so"); setTimeout(() => { throw new Error("thrown"); });
await fetch("`+elsewhere.URL+`/x").catch(() => {}); new Image().src = "missing.png";`, nil)
	p.Run(`await new Promise((done) => setTimeout(done, 200));`, nil)
	found := p.Problems()
	for _, want := range []string{"said so", "Error: thrown", "it requests " + elsewhere.URL + "/x", "missing.png"} {
		if !slices.ContainsFunc(found, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("not found is %q in %q", want, found)
		}
	}
}
