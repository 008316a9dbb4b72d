package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"image"
	"io/fs"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/layout"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/project"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/report/figure"
)

const dataFile = "page/data.js"

// pageData is the data of page.js, which documents each field. Lists are by sample.
type pageData struct {
	Thing      string      `json:"thing"`
	Names      []string    `json:"names"`
	Base       string      `json:"base,omitempty"`
	Links      []string    `json:"links,omitempty"`
	Groups     []int       `json:"groups"`
	GroupNames []string    `json:"groupNames"`
	Order      []int       `json:"order"`
	Typical    bool        `json:"typical"`
	Sheets     *sheetsData `json:"sheets,omitempty"`
	Labels     []int       `json:"labels,omitempty"`
	Classes    []string    `json:"classes,omitempty"`
	Confidence []int       `json:"confidence,omitempty"`
	CopyOf     []int       `json:"copyOf,omitempty"`
	Near       []int       `json:"near,omitempty"`
	Outliers   [][2]any    `json:"outliers,omitempty"`
	Remarks    [][2]any    `json:"remarks,omitempty"`
	Captures   [][4]any    `json:"captures,omitempty"`
	Search     bool        `json:"search,omitempty"`
	codes

	place []int
}

type sheetsData struct {
	Cell     int    `json:"cell"`
	Columns  int    `json:"columns"`
	PerSheet int    `json:"perSheet"`
	Count    int    `json:"count"`
	Zoom     int    `json:"zoom"`
	Ending   string `json:"ending"`
	Sizes    []byte `json:"sizes"` // the width and the height of each thumbnail, a byte each, 0 for none
}

// newData returns the data without codes and sheets. Names are escaped as by plaintext.Line.
func (w *clustersPage) newData() *pageData {
	c := w.clusters
	d := &pageData{
		Thing: c.noun(), Names: lists.Map(c.Names, plaintext.Line), GroupNames: make([]string, len(w.members)),
		Typical: c.Memberships != nil, Labels: c.Labels, Classes: lists.Map(c.Classes, plaintext.Line),
	}
	d.Groups, d.Order = append([]int{}, c.Groups...), append([]int{}, w.order...) // never null
	d.setPlaces()
	for g, members := range w.members {
		d.GroupNames[g] = plaintext.Line(c.groupName(g, members))
	}
	for _, m := range c.Memberships {
		d.Confidence = append(d.Confidence, int(math.Round(100*m.Confidence)))
	}
	if c.Pictures != nil {
		d.addPictures(c.Pictures)
	}
	d.Base, d.Links = shorterLinks(c.Links, d.Names)
	return d
}

func (d *pageData) setPlaces() {
	d.place = make([]int, len(d.Names))
	for at, sample := range d.Order {
		d.place[sample] = at
	}
}

// cellCSS returns the styles for the size of the cells of contact sheets, and their enlargement.
func (d *pageData) cellCSS() string {
	s, rendering := sheetsData{Cell: figure.PhotographCell, Zoom: 1}, "auto"
	if d.Sheets != nil {
		s = *d.Sheets
	}
	if s.Ending == (figure.Grid{Lossless: true}).Extension() {
		rendering = "pixelated"
	}
	return fmt.Sprintf(":root { --cell: %dpx; --zoom: %d; --rendering: %s; }", s.Cell, s.Zoom, rendering)
}

// tile returns the view of a sample for a page. up is the path from the page to the folder of the data's page, or "".
func (d *pageData) tile(i int, up string) tileView {
	t := tileView{Sample: i, Name: d.Names[i]}
	if t.Link = template.URL(d.link(i)); t.Link != "" && !strings.HasPrefix(string(t.Link), "file:") {
		t.Link = template.URL(up) + t.Link
	}
	if s := d.Sheets; s != nil && s.Sizes[2*i] > 0 {
		at := d.place[i] % s.PerSheet
		t.Sheet = up + s.path(d.place[i]/s.PerSheet)
		t.Column, t.Row, t.Width, t.Height = at%s.Columns, at/s.Columns, int(s.Sizes[2*i]), int(s.Sizes[2*i+1])
	}
	return t
}

// link returns the link to the file of a sample, as page.js does, or "".
func (d *pageData) link(i int) string {
	switch {
	case d.Links != nil && d.Links[i] != "":
		return d.Base + d.Links[i]
	case d.Links == nil && d.Base != "":
		return d.Base + escapePath(d.Names[i])
	}
	return ""
}

func (s *sheetsData) path(sheet int) string { return fmt.Sprintf("pictures/%03d%s", sheet, s.Ending) }

func dataScript(d *pageData) []byte {
	return fmt.Appendf(nil, dataBegin+"%s"+dataEnd, guard.Must(json.Marshal(d)))
}

const dataBegin, dataEnd = "window.partwiseData = ", ";\n"

func readData(script []byte) (d *pageData, err error) {
	defer guard.Catch(&err)
	text, ok := bytes.CutPrefix(script, []byte(dataBegin))
	text, ok2 := bytes.CutSuffix(text, []byte(dataEnd))
	guard.FailIf(!ok || !ok2, "not in the format that partwise writes")
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	guard.Check(in.Decode(&d))
	guard.FailIf(d == nil || in.More(), "unexpected text after the data")
	n := len(d.Names)
	valid := func(list []int, below int) bool {
		return len(list) == n && !slices.ContainsFunc(list, func(v int) bool { return v < 0 || v >= below })
	}
	guard.FailIf(!valid(d.Groups, len(d.GroupNames)) || !valid(d.Order, n) || d.Links != nil && len(d.Links) != n,
		"its groups, order or links do not fit %d samples", n)
	if s := d.Sheets; s != nil && (len(s.Sizes) != 2*n || s.Columns < 1 || s.PerSheet < 1) {
		return nil, fmt.Errorf("its thumbnails do not fit %d samples", n)
	}
	d.setPlaces()
	return d, nil
}

// addPictures adds the remarks on single pictures, and copies if there are any.
func (d *pageData) addPictures(p *input.Pictures) {
	copies := false
	for i := range p.CopyOf {
		copies = copies || p.CopyOf[i] != i
		if p.Near[i] {
			d.Near = append(d.Near, i)
		}
		if p.Outlier[i] > 0 {
			d.Outliers = append(d.Outliers, [2]any{i, math.Round(1000*p.Outlier[i]) / 1000})
		}
		if p.Remark[i] != "" {
			d.Remarks = append(d.Remarks, [2]any{i, plaintext.Line(p.Remark[i])})
		}
	}
	if copies {
		d.CopyOf = p.CopyOf
	}
	for i, c := range p.Capture {
		if c == (imagefile.Capture{}) {
			continue
		}
		place := ""
		if lat, long := degrees(c.Latitude, c.Longitude), degrees(c.Longitude, c.Latitude); lat != "" {
			place = lat + ", " + long
		}
		d.Captures = append(d.Captures, [4]any{i, takenText(c.Taken), plaintext.Line(c.Camera), place})
	}
}

// escapePath percent-encodes a path for a link, as the function escaped of page.js does.
func escapePath(path string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
}

// shorterLinks returns the common prefix of all links, up to a slash, and the rest of each. The rests are nil if all are
// escaped names, as in a folder of pictures, and without links.
func shorterLinks(links, names []string) (base string, rests []string) {
	if len(links) == 0 {
		return "", nil
	}
	base = links[0]
	for _, l := range links {
		for l != "" && !strings.HasPrefix(l, base) {
			base = base[:1+strings.LastIndexByte(strings.TrimSuffix(base, "/"), '/')]
		}
	}
	base = base[:1+strings.LastIndexByte(base, '/')]
	if base != "" && slices.EqualFunc(links, names, func(link, name string) bool { return link == base+escapePath(name) }) {
		return base, nil
	}
	return base, lists.Map(links, func(link string) string { return strings.TrimPrefix(link, base) })
}

const (
	directions = 48 // principal directions for the neighbours of the map
	codeLength = 32 // principal directions for similar samples on the page
)

type codes struct {
	Codes      []byte `json:"codes,omitempty"` // CodeLength bytes for each sample, with about the distances of the features
	CodeLength int    `json:"codeLength,omitempty"`
	Map        []byte `json:"map,omitempty"` // x and y of each sample, little-endian in two bytes each
}

// encodeFeatures returns codes and the map of the samples; none without features, if all are equal, or if memory is
// short. It calls guard.Fail.
func (c Clusters) encodeFeatures(ctx context.Context) codes {
	n := len(c.Names)
	if c.Features == nil || n < 2 {
		return codes{}
	}
	release, err := memory.FromContext(ctx).Keep(int64(n)*8*directions+layout.Memory(n)+64<<20, "the map")
	if _, short := errors.AsType[*memory.LimitError](err); short {
		return codes{}
	}
	guard.Check(err)
	defer release()
	p := guard.Must(project.Rows(ctx, c.Features, c.Cosine, directions))
	if p.D == 0 {
		return codes{}
	}
	numbers, length := p.Codes(codeLength)
	text := lists.Map(numbers, func(v int8) byte { return byte(v) })
	return codes{text, length, mapPlaces(guard.Must(layout.Points(ctx, p)))}
}

// mapPlaces returns points in a plane as two-byte numbers, centred, with one scale for both coordinates.
func mapPlaces(at []float32) []byte {
	low, high := [2]float32{at[0], at[1]}, [2]float32{at[0], at[1]}
	for i, v := range at {
		low[i%2], high[i%2] = min(low[i%2], v), max(high[i%2], v)
	}
	wide := max(high[0]-low[0], high[1]-low[1], 1e-30)
	out := make([]byte, 0, 2*len(at))
	for i, v := range at {
		share := float64((v-(low[i%2]+high[i%2])/2)/wide) + 0.5
		out = binary.LittleEndian.AppendUint16(out, uint16(math.Round(65535*max(0, min(1, share)))))
	}
	return out
}

const mostFailures = 20

// writeThumbnails writes contact sheets of samples in this order, pictures/000.jpg and so on, and returns warnings about
// unreadable pictures. It calls guard.Fail.
func (c Clusters) writeThumbnails(to folder, order []int) (s *sheetsData, failed []string) {
	grid := figure.NewGrid(cmp.Or(c.Side, figure.PhotographCell))
	sheets := slices.Collect(slices.Chunk(order, grid.Len()))
	s = &sheetsData{
		Cell: grid.Cell, Columns: grid.Columns, PerSheet: grid.Len(), Count: len(sheets), Zoom: max(1, int(math.Round(56/float64(grid.Cell)))),
		Ending: grid.Extension(), Sizes: make([]byte, 2*len(order)),
	}
	// One sheet for each core, or for fewer if memory is short.
	workers := max(1, min(parallel.Cores(), s.Count))
	release, err := memory.FromContext(to.ctx).Keep(int64(workers)*grid.Memory(), "the contact sheets")
	for err != nil && workers > 1 {
		workers--
		release, err = memory.FromContext(to.ctx).Keep(int64(workers)*grid.Memory(), "the contact sheets")
	}
	guard.Check(err)
	defer release()
	gone := make([]error, len(order))
	guard.Check(parallel.Each(to.ctx, workers, s.Count, nil, func(sheet int) error {
		to.writeBytes(s.path(sheet), c.drawSheet(to.ctx, grid, sheets[sheet], s.Sizes, gone))
		return nil
	}))
	for _, sample := range order {
		if err := gone[sample]; err != nil {
			failed = append(failed, fmt.Sprintf("%s is not shown: %v", c.Names[sample], err))
		}
	}
	if more := len(failed) - mostFailures; more > 0 {
		failed = append(failed[:mostFailures], phrase.Count(more, "more image is", "more images are")+" not shown.")
	}
	return s, failed
}

// drawSheet draws one sheet, and sets the sizes of its thumbnails. Unreadable pictures leave their cells empty and an
// error in gone. It calls guard.Fail.
func (c Clusters) drawSheet(ctx context.Context, grid figure.Grid, samples []int, sizes []byte, gone []error) []byte {
	thumbs := make([]*image.RGBA, len(samples))
	for at, sample := range samples {
		guard.Check(ctx.Err())
		img, err := c.Image(sample)
		if checkDone(err); err != nil {
			gone[sample] = err
			continue
		}
		thumbs[at] = figure.Small(img, grid.Cell)
		sizes[2*sample], sizes[2*sample+1] = byte(thumbs[at].Rect.Dx()), byte(thumbs[at].Rect.Dy())
	}
	return guard.Must(grid.Encode(thumbs))
}

// ServedPage is the page of a grouping with explore.js, for a server that accepts corrections. Its scripts and styles
// come from the program. Only the body comes from the page's file, and the policy forbids scripts in it.
type ServedPage struct {
	HTML    []byte
	Policy  string            // the content-security policy, for a header
	Files   map[string][]byte // the page's scripts, by path
	Samples int               // the number of samples
}

// ErrPage is the error for a page in another version's format.
var ErrPage = errors.New("the page was written by another version of partwise: run partwise cluster again")

//go:embed icon.svg
var icon []byte

// neededIDs are the ids of elements that the scripts use.
var neededIDs = []string{"tools", "find", "order", "lists", "fold", "status", "results", "results-title", "results-close", "map", "map-help", "groups"}

// ServePage reads the page of a grouping in the folder root, as WriteClusters wrote it. It links the original of sample
// 17 as original/17 if has(17) is true. With search, its server finds samples by a description.
func ServePage(root fs.FS, has func(sample int) bool, search bool) (_ *ServedPage, err error) {
	defer guard.Catch(&err)
	text := guard.Must(fs.ReadFile(root, "index.html"))
	script, err := fs.ReadFile(root, dataFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrPage
	}
	guard.Check(err)
	data, err := readData(script)
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", ErrPage, dataFile, err)
	}
	n := len(data.Names)
	data.Base, data.Links, data.Search = "original/", make([]string, n), search
	for i := range n {
		if has(i) {
			data.Links[i] = strconv.Itoa(i)
		}
	}
	served := &ServedPage{Files: map[string][]byte{dataFile: dataScript(data)}, Samples: n}
	head := page{Styles: []string{pageCSS, clustersCSS, data.cellCSS(), exploreCSS}, Scripts: []string{dataFile}, Connects: true, Icon: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon))}
	for _, name := range append([]string{"explore.js"}, scriptFiles...) {
		path := "page/" + name
		served.Files[path] = guard.Must(scripts.ReadFile(name))
		head.Scripts = append(head.Scripts, path)
	}
	title, body, err := partsOfPage(string(text))
	guard.Check(err)
	head.Name, served.Policy = title, head.Policy()
	var out bytes.Buffer
	guard.Check(pageTemplate().ExecuteTemplate(&out, "head", &head))
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
