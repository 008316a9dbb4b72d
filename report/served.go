package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/report/figure"
)

// ServedPage is the page of a grouping with explore.js, for a server that takes corrections. Its scripts and
// styles are those of this program; only the body comes from the page's file, and its policy runs none of that.
type ServedPage struct {
	HTML    []byte
	Policy  string            // the page's content-security policy, for a header
	Files   map[string][]byte // the page's scripts, by path
	Samples int               // their number
}

// ErrPage is the error for a page in another version's format.
var ErrPage = errors.New("the page was made by another version of partwise: make it again with partwise cluster")

//go:embed icon.svg
var icon []byte

// neededIDs are the elements that the scripts look for.
var neededIDs = []string{"tools", "find", "order", "lists", "fold", "told", "results", "results-title", "results-close", "map", "map-help", "groups"}

// ServePage reads the page of a grouping in the folder root, as WriteClusters wrote it. It links the original
// of sample 17 as original/17, if has says that it has a file.
func ServePage(root fs.FS, has func(sample int) bool) (*ServedPage, error) {
	text, err := fs.ReadFile(root, "index.html")
	if err != nil {
		return nil, err
	}
	script, err := fs.ReadFile(root, dataFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrPage
	} else if err != nil {
		return nil, err
	}
	data, err := readData(script)
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", ErrPage, dataFile, err)
	}
	n := len(data.Names)
	data.Base, data.Links = "original/", make([]any, n)
	for i := range n {
		if data.Links[i] = ""; has(i) {
			data.Links[i] = strconv.Itoa(i)
		}
	}
	served := &ServedPage{Files: map[string][]byte{dataFile: dataScript(data)}, Samples: n}
	head := page{Styles: []string{pageCSS, clustersCSS}, Scripts: []string{dataFile}, Connects: true, Icon: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon))}
	if s := data.Sheets; s != nil {
		head.Styles = append(head.Styles, cellCSS(figure.Grid{Cell: s.Cell, Lossless: s.Ending == figure.Grid{Lossless: true}.Extension()}))
	}
	head.Styles = append(head.Styles, exploreCSS)
	for _, name := range append([]string{"explore.js"}, scriptFiles...) {
		path := "page/" + name
		served.Files[path] = scriptText(name)
		head.Scripts = append(head.Scripts, path)
	}
	title, body, err := partsOfPage(string(text))
	if err != nil {
		return nil, err
	}
	head.Name, served.Policy = title, head.Policy()
	var out bytes.Buffer
	if err := pageTemplate().ExecuteTemplate(&out, "head", &head); err != nil {
		return nil, err
	}
	out.WriteString(body)
	served.HTML = out.Bytes()
	return served, nil
}

func partsOfPage(text string) (title, body string, err error) {
	before, body, ok := strings.Cut(text, "</head>")
	_, title, ok2 := strings.Cut(before, "<title>")
	title, _, ok3 := strings.Cut(title, "</title>")
	if !ok || !ok2 || !ok3 {
		return "", "", ErrPage
	}
	for _, id := range neededIDs {
		if !strings.Contains(body, ` id="`+id+`"`) {
			return "", "", fmt.Errorf("%w (it has no %s)", ErrPage, id)
		}
	}
	return html.UnescapeString(title), body, nil
}
