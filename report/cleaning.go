package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/report/figure"
)

const (
	// CleaningPage is the page of stacks, blurred and blank photos, in the folder of a grouping.
	CleaningPage = cleaningFolder + "index.html"
	// NotSameFile lists pairs of photos that are no copies, one a line. A person may edit it, and clean adds to it.
	NotSameFile    = "not-same.csv"
	cleaningFolder = "clean/"
)

// The values of the column copy of PicturesFile.
const (
	ExactCopy = "exact"
	NearCopy  = "near"
	BurstCopy = "burst"
)

// Photo is a line of a PicturesFile.
type Photo struct {
	Line                         int // from 1
	Name, Original, Copy, Remark string
	Width, Height, Bytes         int
	Taken, Camera                string
	row                          int
}

// Cleaning holds the photos of a grouping that a person may want to remove.
type Cleaning struct {
	Data   string    // path or name of the data
	Stacks [][]Photo // copies and bursts, in each the photo to keep first
	Marked []Photo   // blurred or blank photos that are in no stack, or kept in one
	names  []string
}

// ReadCleaning reads PicturesFile and NotSameFile of the grouping in dir. The photo to keep is the original, unless it is
// blurred or blank and another one is not.
func ReadCleaning(dir string) (*Cleaning, error) {
	data, err := groupedData(dir)
	if err != nil {
		return nil, err
	}
	c := &Cleaning{Data: data}
	byName, members := map[string]Photo{}, map[string][]Photo{}
	at := filepath.Join(dir, PicturesFile)
	err = readList(at, []string{"file", "copy_of", "copy", "remark", "width", "height", "bytes", "taken", "camera"}, func(line int, cells []string) (err error) {
		p := Photo{Line: line, Name: cells[0], Original: cmp.Or(cells[1], cells[0]), Copy: cells[2], Remark: cells[3], Taken: cells[7], Camera: cells[8], row: len(c.names)}
		for i, to := range []*int{&p.Width, &p.Height, &p.Bytes} {
			if *to, err = strconv.Atoi(cells[4+i]); err != nil || *to < 0 {
				return fmt.Errorf("%s %q: expected a whole number", []string{"width", "height", "bytes"}[i], cells[4+i])
			}
		}
		if _, twice := byName[p.Name]; twice {
			return fmt.Errorf("%q is listed twice", p.Name)
		}
		byName[p.Name] = p
		members[p.Original] = append(members[p.Original], p)
		c.names = append(c.names, p.Name)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: its data are not photos", dir, PicturesFile)
	} else if err != nil {
		return nil, err
	}
	apart := map[[2]string]bool{}
	err = readList(filepath.Join(dir, NotSameFile), []string{"file", "other"}, func(_ int, cells []string) error {
		for _, name := range cells {
			if _, ok := byName[name]; !ok {
				return fmt.Errorf("no photo is called %q", name)
			}
		}
		apart[[2]string{cells[0], cells[1]}], apart[[2]string{cells[1], cells[0]}] = true, true
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rest := map[string]bool{}
	for _, name := range c.names {
		if byName[name].Original != name {
			if _, ok := byName[byName[name].Original]; !ok {
				return nil, fmt.Errorf("%s: line %d: no photo is called %q", at, byName[name].Line, byName[name].Original)
			}
			continue
		}
		for _, stack := range split(members[name], apart) {
			if len(stack) > 1 {
				c.Stacks = append(c.Stacks, stack)
			}
			for _, p := range stack[1:] {
				rest[p.Name] = true
			}
		}
	}
	for _, name := range c.names {
		if p := byName[name]; p.Remark != "" && !rest[name] {
			c.Marked = append(c.Marked, p)
		}
	}
	return c, nil
}

// split returns the stacks of some copies without pairs that are apart, in each the one to keep first.
func split(copies []Photo, apart map[[2]string]bool) (stacks [][]Photo) {
	slices.SortStableFunc(copies, func(a, b Photo) int {
		value := func(p Photo) int {
			return map[bool]int{true: 2}[p.Remark == ""] + map[bool]int{true: 1}[p.Name == p.Original]
		}
		return cmp.Or(value(b)-value(a), b.Width*b.Height-a.Width*a.Height, b.Bytes-a.Bytes)
	})
	for _, p := range copies {
		at := slices.IndexFunc(stacks, func(s []Photo) bool {
			return !slices.ContainsFunc(s, func(q Photo) bool { return apart[[2]string{p.Name, q.Name}] })
		})
		if at < 0 {
			at = len(stacks)
			stacks = append(stacks, nil)
		}
		stacks[at] = append(stacks[at], p)
	}
	return stacks
}

// The kinds of photos to remove.
const (
	Copies = "copies"
	Bursts = "bursts"
)

// Kinds are the kinds of photos that Rest returns: the copies of a stack, the other shots of a burst, and photos marked
// as blank or blurred.
var Kinds = []string{Copies, Bursts, pictures.Blank, pictures.Blurred}

// Rest returns the photos of some kinds as assignments to groups with the names of the kinds.
func (c *Cleaning) Rest(kinds []string) (rest []Assignment) {
	add := func(p Photo, kind string) {
		if at := slices.Index(Kinds, kind); slices.Contains(kinds, kind) {
			rest = append(rest, Assignment{Line: p.Line, Sample: p.Name, Group: at + 1, Name: kind})
		}
	}
	for _, stack := range c.Stacks {
		for _, p := range stack[1:] {
			add(p, p.kind(stack[0]))
		}
	}
	for _, p := range c.Marked {
		add(p, p.Remark)
	}
	return rest
}

// kind returns the kind of a photo in the stack of the photo to keep, which may be another shot of a burst.
func (p Photo) kind(kept Photo) string {
	if (p.Copy == BurstCopy) != (kept.Copy == BurstCopy) || p.Copy == BurstCopy {
		return Bursts
	}
	return Copies
}

// readList calls f with the line and the cells of some columns of each record of a CSV file with a header.
func readList(path string, names []string, f func(line int, cells []string) error) error {
	text, err := output.ReadFile(path)
	if err != nil {
		return err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	header, err := r.Read()
	for _, name := range names {
		if err != nil || !slices.Contains(header, name) {
			return fmt.Errorf("%s: line 1: no column %q; expected a header with %s", path, name, phrase.List(names))
		}
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err) // names the line
		}
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = spreadsheet.Text(record[slices.Index(header, name)])
		}
		line, _ := r.FieldPos(0)
		if err := f(line, cells); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

// AddNotSame adds pairs of photos to NotSameFile of the grouping in dir.
func AddNotSame(dir string, pairs [][2]string) error {
	c, err := ReadCleaning(dir)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		for _, name := range pair {
			if !slices.Contains(c.names, name) {
				return fmt.Errorf("no photo of %s is called %q", dir, name)
			}
		}
	}
	at := filepath.Join(dir, NotSameFile)
	text, err := output.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("file,other\n")
	} else if err != nil {
		return err
	}
	out := bytes.NewBuffer(bytes.TrimRight(text, "\n"))
	out.WriteByte('\n')
	lines := csv.NewWriter(out)
	for _, pair := range pairs {
		lines.Write([]string{spreadsheet.Cell(pair[0]), spreadsheet.Cell(pair[1])}) // cannot fail
	}
	lines.Flush()
	return atomicfile.Write(at, out.Bytes())
}

//go:embed cleaning.css
var cleaningCSS string

type cleaningPage struct {
	page
	Cleaning
	data *pageData // of the page of the groups, or nil
}

type cleanedView struct {
	tileView
	Kept  bool
	Facts []string
}

type stackView struct {
	Title  string
	Photos []cleanedView
}

// WritePage writes CleaningPage into the folder of the grouping, with thumbnails of its page.
func (c *Cleaning) WritePage(ctx context.Context, dir, command string) error {
	to, _, err := ExploreGrouping(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	w := &cleaningPage{Cleaning: *c}
	script, err := output.ReadFile(filepath.Join(dir, dataFile))
	if err != nil {
		return err
	}
	if w.data, err = readData(script); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, dataFile), err)
	}
	if !slices.Equal(plainLines(c.names), w.data.Names) {
		return fmt.Errorf("%s does not list the photos of the page: run partwise cluster again", filepath.Join(dir, PicturesFile))
	}
	grid := figure.Grid{Cell: figure.PhotographCell}
	if s := w.data.Sheets; s != nil {
		grid = figure.Grid{Cell: s.Cell, Lossless: s.Ending == figure.Grid{Lossless: true}.Extension()}
	}
	stage, err := to.Stage(cleaningFolder)
	if err != nil {
		return err
	}
	defer stage.Discard()
	w.page = page{
		folder: folder{filepath.Join(stage.Dir(), cleaningFolder), ctx}, Name: "Photos to clean up", Command: command,
		Lead:   cmp.Or(c.Summary(), "No copies, bursts, blurred or blank photos") + ".",
		About:  "The first photo of each stack is the one to keep; partwise clean can move the others into a folder of your choice.",
		Styles: []string{pageCSS, clustersCSS, cleaningCSS, cellCSS(grid)},
	}
	if err := writePage(&w.page, w, []section[*cleaningPage]{
		{id: "stacks", title: "Stacks", template: readTemplate("cleaning"), make: cleaningStacks},
		{id: "marked", title: "Blurred and blank", template: readTemplate("cleaning"), make: cleaningMarked},
	}); err != nil {
		return err
	}
	return stage.Publish()
}

// Summary returns the numbers of photos to clean up, as in "3 copies and 2 other shots of bursts in 2 stacks, 1 blurred",
// or "" for none.
func (c *Cleaning) Summary() string {
	counts := map[string]int{}
	for _, a := range c.Rest(Kinds) {
		counts[a.Name]++
	}
	var stacked, parts []string
	if n := counts[Copies]; n > 0 {
		stacked = append(stacked, phrase.Count(n, "copy", "copies"))
	}
	if n := counts[Bursts]; n > 0 {
		stacked = append(stacked, phrase.Count(n, "other shot of a burst", "other shots of bursts"))
	}
	if stacked != nil {
		parts = append(parts, strings.Join(stacked, " and ")+" in "+phrase.Count(len(c.Stacks), "stack", "stacks"))
	}
	for _, remark := range []string{pictures.Blurred, pictures.Blank} {
		if counts[remark] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[remark], remark))
		}
	}
	return strings.Join(parts, ", ")
}

type cleaningView struct {
	ID, Title string
	Stacks    []stackView
}

func cleaningStacks(w *cleaningPage) any {
	v := cleaningView{ID: "stacks", Title: "Stacks of copies and bursts"}
	for i, stack := range w.Stacks {
		s := stackView{Title: fmt.Sprintf("Stack %d: %d photos", i+1, len(stack))}
		for j, p := range stack {
			s.Photos = append(s.Photos, w.cleaned(p, j == 0, map[string]string{Copies: "copy", Bursts: "burst"}[p.kind(stack[0])]))
		}
		v.Stacks = append(v.Stacks, s)
	}
	if v.Stacks == nil {
		return nil
	}
	return v
}

func cleaningMarked(w *cleaningPage) any {
	v := cleaningView{ID: "marked", Title: "Blurred and blank photos", Stacks: make([]stackView, 1)}
	for _, p := range w.Marked {
		v.Stacks[0].Photos = append(v.Stacks[0].Photos, w.cleaned(p, false, p.Remark))
	}
	if w.Marked == nil {
		return nil
	}
	return v
}

// cleaned returns the view of a photo with its kind: copy, burst, blurred or blank.
func (w *cleaningPage) cleaned(p Photo, kept bool, kind string) cleanedView {
	d := w.data
	v := cleanedView{tileView: tileView{Sample: p.row, Name: p.Name}, Kept: kept}
	if kept {
		kind = ""
	}
	for _, fact := range []string{kind, fmt.Sprintf("%d × %d", p.Width, p.Height), humanize.Bytes(uint64(p.Bytes)), p.Taken, p.Camera} {
		if fact != "" {
			v.Facts = append(v.Facts, fact)
		}
	}
	if link := d.link(p.row); link != "" {
		v.Link = template.URL(map[bool]string{false: "../"}[strings.HasPrefix(link, "file:")] + link)
	}
	if s := d.Sheets; s != nil && len(s.Sizes) == 2*len(d.Names) && s.Sizes[2*p.row] > 0 && s.PerSheet > 0 && s.Columns > 0 {
		place := slices.Index(d.Order, p.row)
		at := place % s.PerSheet
		v.Sheet = fmt.Sprintf("../pictures/%03d%s", place/s.PerSheet, s.Ending)
		v.Column, v.Row, v.Width, v.Height = at%s.Columns, at/s.Columns, int(s.Sizes[2*p.row]), int(s.Sizes[2*p.row+1])
	}
	return v
}

// link returns the link to the file of a sample, as page.js does, or "".
func (d *pageData) link(i int) string {
	if d.Base == "" && d.Links == nil {
		return ""
	}
	if d.Links == nil {
		return d.Base + escapePath(d.Names[i])
	}
	switch rest := d.Links[i].(type) {
	case string:
		return map[bool]string{false: d.Base + rest}[rest == ""]
	default:
		return d.Base + escapePath(d.Names[i])
	}
}
