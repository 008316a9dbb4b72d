package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// allowed are the allowed elements of pages, with their attributes.
var allowed = map[string][]string{
	"html": {"lang"}, "head": {}, "meta": {"charset", "http-equiv", "content", "name"}, "title": {}, "style": {}, "body": {},
	"h1": {}, "h2": {"id"}, "h3": {}, "p": {"class", "id", "role"}, "b": {}, "br": {}, "span": {"class", "id"}, "nav": {}, "ul": {"class"}, "li": {},
	"a": {"href", "class", "data-i"}, "img": {"class", "src", "width", "height", "alt", "loading"}, "figure": {"class"}, "figcaption": {},
	"canvas": {"tabindex", "role", "aria-label", "aria-describedby"}, "section": {"class", "id", "data-group", "aria-labelledby", "tabindex", "hidden"}, "button": {"type", "id"}, "label": {}, "select": {"id"},
	"input": {"id", "type", "autocomplete", "spellcheck"}, "noscript": {}, "script": {"src", "defer"},
	"div": {"class", "id", "role", "aria-label", "hidden"}, "h4": {}, "details": {"class"}, "summary": {}, "pre": {}, "code": {},
	"table": {"class"}, "thead": {}, "tbody": {}, "tr": {"class"}, "th": {"scope"}, "td": {"class"},
	"svg": {"viewBox"}, "rect": {"width", "height", "fill"},
}

// checkPage parses a page as a browser does. It checks that the page has allowed elements only, that its links lead to
// anchors and files of the folder, and that its policy allows nothing else.
//
// originals are the allowed links to pictures elsewhere, each with its sample.
func checkPage(t *testing.T, files, originals map[string]string) *html.Node {
	t.Helper()
	page := files["index.html"]
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	var links []string
	var policy string
	var styles []string
	scripts := ""
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("a comment %q", n.Data)
		case html.TextNode:
			if strings.ContainsFunc(strings.ReplaceAll(n.Data, "\n", ""), unicode.IsControl) || strings.ContainsFunc(n.Data, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
				t.Errorf("control characters in %.100q", n.Data)
			}
			if n.Parent.Data == "style" {
				styles = append(styles, n.Data)
			}
		case html.ElementNode:
			attributes, ok := allowed[n.Data]
			if !ok {
				t.Errorf("an element %s", n.Data)
			}
			meta := map[string]string{}
			if n.Data == "script" {
				if scripts = "; script-src 'self'"; n.FirstChild != nil {
					t.Errorf("a script in the page: %.100q", n.FirstChild.Data)
				}
			}
			if n.Data == "noscript" { // whose elements are text
				continue
			}
			for _, a := range n.Attr {
				meta[a.Key] = a.Val
				if !slices.Contains(attributes, a.Key) || a.Namespace != "" {
					t.Errorf("an attribute %s=%q of %s", a.Key, a.Val, n.Data)
				}
				switch a.Key {
				case "id":
					anchors[a.Val] = true
				case "href", "src":
					if to, ok := originals[a.Val]; !ok || to != meta["data-i"] {
						links = append(links, a.Val)
					}
				}
			}
			if meta["http-equiv"] == "Content-Security-Policy" {
				policy = meta["content"]
			} else if meta["http-equiv"] != "" {
				t.Errorf("a meta element %v", meta)
			}
		}
	}
	for _, link := range links {
		to, err := url.Parse(link)
		switch {
		case err != nil || to.Scheme != "" || to.Host != "" || to.RawQuery != "" || to.User != nil:
			t.Errorf("%q leads elsewhere: %v", link, err)
		case to.Path == "" && !anchors[to.Fragment]:
			t.Errorf("%q leads nowhere", link)
		case to.Path != "" && (to.Fragment != "" || !filepath.IsLocal(to.Path) || files[to.Path] == ""):
			t.Errorf("%q is no file of the folder", link)
		}
	}
	if !strings.HasPrefix(page, "<!DOCTYPE") {
		return root // a part of a page
	}
	want := "default-src 'none'; img-src 'self'; style-src"
	for _, css := range styles {
		sum := sha256.Sum256([]byte(css))
		want += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if want += scripts + "; base-uri 'none'; form-action 'none'"; policy != want {
		t.Errorf("the policy is %q, want %q", policy, want)
	}
	return root
}

// checkSVG checks that a drawing is XML with shapes and text only.
func checkSVG(t *testing.T, name, svg string) {
	t.Helper()
	in := xml.NewDecoder(strings.NewReader(svg))
	in.Strict = true
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if e, ok := token.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "g", "path", "text"}, e.Name.Local) {
				t.Errorf("%s: an element %s", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s: an attribute %s=%q", name, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// TestHostileExperiment: hostile names are inert in all files of an experiment, and are shown.
func TestHostileExperiment(t *testing.T) {
	dir := t.TempDir()
	records := fakeRecords(hostile, []int{3}, 2)
	for i := range records {
		r := &records[i]
		r.Scores = map[string]float64{"AC": r.Scores["AC"], hostile[7]: 0.5}
		r.Warnings = []string{hostile[i%len(hostile)]}
		if i < 3 {
			r.Tested, r.Drawn = 3, []int{0, 1, i + 2}
			r.Confusion = [][]int{{1, 0, 0}, {0, 1, 1}, {1, 0, 2}}
		}
	}
	e := Experiment{
		Summary: &pipeline.Summary{
			Name: strings.Join(hostile[:20], ""), Command: strings.Join(hostile[:20], " "), Methods: hostile, Classes: hostile, Warnings: hostile,
		},
		Records: records,
		Shown:   fakeShown(4, 2, hostile[0]),
	}
	fakeWords(e.Shown, 1, 1)
	for i := range 4 {
		e.Shown.Photographs[i].Name = hostile[i]
	}
	for _, name := range hostile {
		e.Settings = append(e.Settings, [2]string{name, name})
	}
	for _, name := range hostile[:12] {
		e.Bases = append(e.Bases, Basis{Method: name, Vectors: blobs(2), Height: 16, Width: 16})
		e.Coefficients = append(e.Coefficients, figure.Coefficients{Method: name, Values: mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8}), Classes: []int{7, 8, 9, 10}})
	}
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	root := checkPage(t, files, nil)
	for name, text := range files {
		if strings.HasSuffix(name, ".svg") {
			checkSVG(t, name, text)
		}
		if strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, `\:*?"<>|#%`) || !filepath.IsLocal(name) {
			t.Errorf("a file %q", name)
		}
	}
	seen := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			seen[n.Data] = true
		}
	}
	for _, want := range []string{hostile[0], hostile[1], hostile[3], hostile[12], `a\x1b[2J\x1b]0;title\ab\x9b31m\u009b`, `caf\xe9 \xff\xfe \ufffe\uffff`} {
		if !seen[want] {
			t.Errorf("%q is not seen", want)
		}
	}
}

// TestHostileClusters: the same for a grouping.
func TestHostileClusters(t *testing.T) {
	dir := t.TempDir()
	c := Clusters{
		Name: hostile[1], Command: hostile[2], Method: hostile[3], Classes: hostile, Warnings: hostile,
		Grouping: &grouping.Grouping{Scores: map[string]float64{"AC": 1, hostile[0]: 0.5}}, Settings: [][2]string{{hostile[0], hostile[4]}},
		Image: func(int) (image.Image, error) { return plain(2, 2, red), nil },
		Basis: &Basis{Method: hostile[20], Vectors: blobs(2), Height: 16, Width: 16},
	}
	for i, name := range hostile {
		c.Names, c.Groups, c.Labels = append(c.Names, name), append(c.Groups, i%5), append(c.Labels, i)
		c.Links = append(c.Links, "../photos/"+escapePath(name))
	}
	for _, images := range []bool{true, false} {
		if !images {
			c.Image = nil
		}
		if err := WriteClusters(t.Context(), dir, c); err != nil {
			t.Fatal(err)
		}
		originals := map[string]string{}
		for i, l := range c.Links {
			originals[l] = fmt.Sprint(i)
		}
		files := tree(t, dir)
		checkPage(t, files, originals)
		d := dataOf(t, files)
		for i, name := range d.Names {
			if name != plaintext.Line(hostile[i]) {
				t.Errorf("%q is shown as %q", hostile[i], name)
			}
		}
	}
}

// TestForeignPhotographs: a page shows only pictures that were written, whatever their list contains.
func TestForeignPhotographs(t *testing.T) {
	e := Experiment{Summary: &pipeline.Summary{Name: "x"}, Shown: fakeShown(1, 1)}
	fakeWords(e.Shown, 1, 1)
	dir := t.TempDir()
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	e.Shown = nil
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	checkPage(t, tree(t, dir), nil)
	for _, path := range []string{"http://example.com/x.png", "//example.com/1.png", "../1.png", "javascript:alert(1)", "words/1.png#x", "/etc/1.png"} {
		folder{dir, t.Context()}.writeBytes(photographsFile, fmt.Appendf(nil, `{"Words":{"Sheets":[{"Path":%q}]}}`, path))
		if err := WriteExperiment(t.Context(), dir, e); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), photographsFile) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

func TestFrameColours(t *testing.T) {
	for class, colour := range map[string]any{"hit": figure.Palette[0], "miss": figure.Palette[1]} {
		r, g, b, _ := colour.(interface{ RGBA() (r, g, b, a uint32) }).RGBA()
		if want := fmt.Sprintf("%s { border-color: #%02x%02x%02x; }", class, r>>8, g>>8, b>>8); !strings.Contains(pageCSS, ".key."+want) || !strings.Contains(clustersCSS, ".picture."+want) {
			t.Errorf("the style has no %s", want)
		}
	}
}

func TestSafeNames(t *testing.T) {
	names := []string{"cnmf", "CNMF", "cnmf-2", "../../etc/passwd", "???", "!"}
	want := []string{"cnmf", "cnmf-2", "cnmf-2-2", "etc-passwd", "unnamed", "unnamed-2"}
	var got []string
	for safe := range withSafeNames(names, sameName) {
		got = append(got, safe)
	}
	if !slices.Equal(got, want) {
		t.Errorf("safe names %q, want %q", got, want)
	}
}
