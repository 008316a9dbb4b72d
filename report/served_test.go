package report

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServePage: the served page is the page with one more script, and its policy only adds connections to its server.
func TestServePage(t *testing.T) {
	dir := t.TempDir()
	c := fakeClusters(12)
	c.Name = "Holiday </title><script>alert(1)</script> &amp;"
	for _, name := range c.Names {
		c.Links = append(c.Links, "../photos/"+name)
	}
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	served, err := ServePage(os.DirFS(dir), func(i int) bool { return i != 3 }, true)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(files["index.html"], "</style>\n<script", "</style>\n<style>"+exploreCSS+"</style>\n<script", 1)
	want = strings.Replace(want, "\n<script src=\"page/grid", "\n<script src=\"page/explore.js\" defer></script>\n<script src=\"page/grid", 1)
	data, err := readData([]byte(files[dataFile]))
	if err != nil {
		t.Fatal(err)
	}
	was := (&page{Styles: []string{pageCSS, clustersCSS, data.cellCSS()}, Scripts: []string{"x"}}).Policy()
	sum := sha256.Sum256([]byte(exploreCSS))
	allows := strings.Replace(was, "'; script-src 'self'", "' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; script-src 'self'; connect-src 'self'", 1)
	allows = strings.Replace(allows, "img-src 'self'", "img-src 'self' data:", 1)
	if served.Policy != allows {
		t.Errorf("the policy is %q, want %q", served.Policy, allows)
	}
	page := strings.ReplaceAll(want, "&#43;", "+")
	page = strings.Replace(page, template.HTMLEscapeString(was), template.HTMLEscapeString(allows), 1)
	page = strings.Replace(page, "</title>\n", "</title>\n<link rel=\"icon\" href=\"data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString(icon)+"\">\n", 1)
	if diff := cmp.Diff(page, strings.ReplaceAll(string(served.HTML), "&#43;", "+")); diff != "" {
		t.Errorf("the served page (-want +got): %s", diff)
	}
	if served.Samples != 12 {
		t.Errorf("%d samples", served.Samples)
	}
	var names []string
	for name, text := range served.Files {
		names = append(names, name)
		if name != dataFile && name != "page/explore.js" && string(text) != files[name] {
			t.Errorf("%s differs", name)
		}
		if !strings.Contains(string(served.HTML), `<script src="`+name+`" defer>`) {
			t.Errorf("the page does not run %s", name)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"page/data.js", "page/explore.js", "page/grid.js", "page/map.js", "page/page.js", "page/similar.js"}) {
		t.Errorf("scripts %q", names)
	}
	had, has := dataOf(t, files), dataOf(t, map[string]string{dataFile: string(served.Files[dataFile])})
	for i, l := range has.Links {
		if want := fmt.Sprint(i); has.Base != "original/" || i == 3 && l != "" || i != 3 && l != want {
			t.Errorf("sample %d is at %s%v", i, has.Base, l)
		}
	}
	if had.Search || !has.Search {
		t.Errorf("search by description: %v, and %v on the served page", had.Search, has.Search)
	}
	had.Base, had.Links, has.Base, has.Links, has.Search = "", nil, "", nil, false
	if diff := cmp.Diff(had, has, cmp.AllowUnexported(pageData{})); diff != "" {
		t.Errorf("other data: %s", diff)
	}
}

// TestServeStrangersPage: no script of another version's or a changed page is served.
func TestServeStrangersPage(t *testing.T) {
	dir := t.TempDir()
	if err := WriteClusters(t.Context(), dir, fakeClusters(6)); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := func(int) bool { return true }
	for _, id := range neededIDs {
		put("index.html", strings.Replace(files["index.html"], ` id="`+id+`"`, "", 1))
		if _, err := ServePage(os.DirFS(dir), all, false); !errors.Is(err, ErrPage) {
			t.Errorf("without %s: error %v", id, err)
		}
	}
	for _, text := range []string{"", "<html>", "<head></head><body>", "</head><title>x</title>"} {
		put("index.html", text)
		if _, err := ServePage(os.DirFS(dir), all, false); !errors.Is(err, ErrPage) {
			t.Errorf("the page %q: error %v", text, err)
		}
	}
	put("index.html", files["index.html"])
	data := files[dataFile]
	for _, test := range [][2]string{
		{"{", "alert(1) || {"}, {"};", "}; alert(1);"}, {"};", "}, alert(1);"}, {"};", "} {};"}, {`"thing"`, `"thong":1,"thing"`}, {`"groups":[0`, `"groups":[9`},
		{`"groups":[0`, `"groups":[-1`}, {`"groups":[0`, `"groups":[0,0`}, {`"order":[0`, `"order":[6`}, {`"order":[0`, `"order":[0,0`}, {`"thing":"`, `"thing":"` + "`"},
	} {
		changed := strings.Replace(data, test[0], test[1], 1)
		if changed == data {
			t.Fatalf("there is no %s in %.300s", test[0], data)
		}
		put(dataFile, changed)
		served, err := ServePage(os.DirFS(dir), all, false)
		if test[1] == `"thing":"`+"`" { // words are the data's
			if err != nil || !strings.Contains(string(served.Files[dataFile]), test[1]) {
				t.Errorf("other words: %v", err)
			}
		} else if !errors.Is(err, ErrPage) || !strings.Contains(err.Error(), dataFile) {
			t.Errorf("%s for %s: error %v", test[1], test[0], err)
		}
	}
	put(dataFile, data)
	put("page/page.js", "alert(1)")
	put("index.html", strings.Replace(files["index.html"], "<script ", "<script src='page/evil.js'></script><script ", 1))
	served, err := ServePage(os.DirFS(dir), all, false)
	if err != nil || string(served.Files["page/page.js"]) != files["page/page.js"] || strings.Contains(string(served.HTML), "evil") {
		t.Errorf("a stranger's script is served, error %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "page", "data.js")); err != nil {
		t.Fatal(err)
	}
	if _, err := ServePage(os.DirFS(dir), all, false); !errors.Is(err, ErrPage) {
		t.Errorf("without data: error %v", err)
	}
}
