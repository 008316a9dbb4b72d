package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pictures"
)

const (
	// CleaningPage is the page of stacks, blurred and blank photos, in the folder of a grouping.
	CleaningPage = cleaningFolder + "index.html"
	// NotSameFile lists pairs of photos that are no copies, one a line. A person may edit it, and clean adds to it. Photos
	// that do not exist are ignored, because they may have been moved away.
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
	Sharpness                    float64 // 0 if unknown
	Taken, Camera                string
	row                          int
}

// Cleaning holds the photos of a grouping that a person may want to remove.
type Cleaning struct {
	Stacks [][]Photo // copies and bursts, in each the photo to keep first
	Marked []Photo   // blurred or blank photos that are in no stack, or kept in one
	photos []Photo
}

// ReadCleaning reads PicturesFile and NotSameFile of the grouping in dir, after it has added pairs of photos to the
// latter. The photo to keep is the original, unless another shot of its burst is sharper, or unless it is blurred or blank
// and another one is not.
func ReadCleaning(dir string, notSame ...[2]string) (_ *Cleaning, err error) {
	defer guard.Catch(&err)
	guard.Must(groupedData(dir))
	c := &Cleaning{}
	byName, members := map[string]Photo{}, map[string][]Photo{}
	at := filepath.Join(dir, PicturesFile)
	err = readList(at, []string{"file", "copy_of", "copy", "remark", "width", "height", "bytes", "taken", "camera"}, func(line int, cells map[string]string) {
		whole := func(name string) int {
			n, err := strconv.Atoi(cells[name])
			if err != nil || n < 0 {
				guard.Fail("%s %q: expected a whole number", name, cells[name])
			}
			return n
		}
		p := Photo{
			Line: line, Name: cells["file"], Original: cmp.Or(cells["copy_of"], cells["file"]), Copy: cells["copy"], Remark: cells["remark"],
			Taken: cells["taken"], Camera: cells["camera"], Width: whole("width"), Height: whole("height"), Bytes: whole("bytes"), row: len(c.photos),
		}
		if p.Sharpness, err = strconv.ParseFloat(cmp.Or(cells["sharpness"], "0"), 64); err != nil || !(p.Sharpness >= 0) {
			guard.Fail("sharpness %q: expected a number from 0", cells["sharpness"])
		}
		if _, twice := byName[p.Name]; twice {
			guard.Fail("%q is listed twice", p.Name)
		}
		byName[p.Name] = p
		members[p.Original] = append(members[p.Original], p)
		c.photos = append(c.photos, p)
	})
	guard.FailIf(errors.Is(err, fs.ErrNotExist), "%s has no %s: its data are not photos", dir, PicturesFile)
	guard.Check(err)
	for _, pair := range notSame {
		for _, name := range pair {
			if _, ok := byName[name]; !ok {
				return nil, fmt.Errorf("no photo of %s is called %q", dir, name)
			}
		}
	}
	pairs := guard.Must(addNotSame(dir, notSame))
	rest := map[string]bool{}
	for _, p := range c.photos {
		if _, ok := byName[p.Original]; !ok {
			return nil, fmt.Errorf("%s: line %d: no photo is called %q", at, p.Line, p.Original)
		}
		bestFirst(members[p.Name], p)
		for _, stack := range pictures.Separate(members[p.Name], pairs, func(p Photo) string { return p.Name }) {
			if len(stack) > 1 {
				c.Stacks = append(c.Stacks, stack)
			}
			for _, p := range stack[1:] {
				rest[p.Name] = true
			}
		}
	}
	c.Marked = slices.DeleteFunc(slices.Clone(c.photos), func(p Photo) bool { return p.Remark == "" || rest[p.Name] })
	return c, nil
}

// sameSharpness is the largest difference of two shots of a burst that are equally sharp.
const sameSharpness = 0.03

// bestFirst sorts the stack of an original. A copy with less than a quarter of its pixels looks sharp because it is small.
func bestFirst(stack []Photo, original Photo) {
	isSmall := func(p Photo) bool { return 4*p.Width*p.Height < original.Width*original.Height }
	isShot := func(p Photo) bool { return (p.Copy == BurstCopy || p.Name == p.Original) && !isSmall(p) }
	sharpest := 0.0
	for _, p := range stack {
		if isShot(p) {
			sharpest = max(sharpest, p.Sharpness)
		}
	}
	value := func(p Photo) (v int) {
		for i, good := range []bool{p.Name == p.Original, isShot(p) && p.Sharpness >= sharpest-sameSharpness, p.Remark == ""} {
			v += map[bool]int{true: 1 << i}[good && !isSmall(p)]
		}
		return v
	}
	slices.SortStableFunc(stack, func(a, b Photo) int {
		return cmp.Or(value(b)-value(a), b.Width*b.Height-a.Width*a.Height, b.Bytes-a.Bytes)
	})
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
		if slices.Contains(kinds, kind) {
			rest = append(rest, Assignment{Line: p.Line, Sample: p.Name, Group: slices.Index(Kinds, kind) + 1, Name: kind})
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

// Gone returns the photos of Rest that are not among the present ones, and the rows of the others, nil for all. It
// returns none if the PicturesFile cannot be read.
func Gone(results string, present []string) (gone map[string]bool, others []int) {
	c, err := ReadCleaning(results)
	if err != nil {
		return nil, nil
	}
	gone = map[string]bool{}
	for _, a := range c.Rest(Kinds) {
		gone[a.Sample] = true
	}
	for _, name := range present {
		delete(gone, name)
	}
	for _, p := range c.photos {
		if len(gone) > 0 && !gone[p.Name] {
			others = append(others, p.row)
		}
	}
	return gone, others
}

// kind returns the kind of a photo in the stack of the photo to keep, which may be another shot of a burst.
func (p Photo) kind(kept Photo) string {
	if (p.Copy == BurstCopy) != (kept.Copy == BurstCopy) || p.Copy == BurstCopy {
		return Bursts
	}
	return Copies
}

// readList calls f with the line and the cells, by column, of each record of a CSV file whose header has the needed
// columns. f may call guard.Fail.
func readList(path string, needed []string, f func(line int, cells map[string]string)) error {
	text, err := output.ReadFile(path)
	if err != nil {
		return err
	}
	return guard.Wrap(decodeList(text, needed, f), "%s", path)
}

// decodeList is readList for the text of a file.
func decodeList(text []byte, needed []string, f func(line int, cells map[string]string)) error {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	header, _ := r.Read() // nil after an error
	for _, name := range needed {
		if !slices.Contains(header, name) {
			return fmt.Errorf("line 1: no column %q; expected a header with %s", name, phrase.List(needed))
		}
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err // names the line
		}
		cells := map[string]string{}
		for i, name := range header {
			cells[name] = spreadsheet.Text(record[i])
		}
		line, _ := r.FieldPos(0)
		if err := guard.Try(func() { f(line, cells) }); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// addNotSame adds pairs of photos to NotSameFile of the grouping in dir, and returns all its pairs.
func addNotSame(dir string, more [][2]string) (pairs [][2]string, err error) {
	defer guard.Catch(&err)
	at := filepath.Join(dir, NotSameFile)
	text, err := output.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("file,other\n"), nil
	}
	guard.Check(err)
	out := bytes.NewBuffer(append(bytes.TrimRight(text, "\n"), '\n'))
	lines := csv.NewWriter(out)
	for _, pair := range more {
		lines.Write([]string{spreadsheet.Cell(pair[0]), spreadsheet.Cell(pair[1])}) // cannot fail
	}
	lines.Flush()
	err = decodeList(out.Bytes(), []string{"file", "other"}, func(_ int, cells map[string]string) {
		pairs = append(pairs, [2]string{cells["file"], cells["other"]})
	})
	guard.Check(guard.Wrap(err, "%s", at))
	if more != nil {
		err = atomicfile.Write(at, out.Bytes())
	}
	return pairs, err
}

//go:embed cleaning.css
var cleaningCSS string

type cleaningPage struct {
	page
	Cleaning
	data *pageData // of the page of the groups
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
func (c *Cleaning) WritePage(ctx context.Context, dir, command string) (err error) {
	defer guard.Catch(&err)
	to, _, err := ExploreGrouping(dir)
	guard.Check(err)
	defer to.Close()
	data, err := readData(guard.Must(output.ReadFile(filepath.Join(dir, dataFile))))
	guard.Check(guard.Wrap(err, "%s", filepath.Join(dir, dataFile)))
	guard.FailIf(!slices.EqualFunc(c.photos, data.Names, func(p Photo, name string) bool { return plaintext.Line(p.Name) == name }),
		"%s does not list the photos of the page: run partwise cluster again", filepath.Join(dir, PicturesFile))
	stage := guard.Must(to.Stage(cleaningFolder))
	defer stage.Discard()
	w := &cleaningPage{Cleaning: *c, data: data, page: page{
		folder: folder{filepath.Join(stage.Dir(), cleaningFolder), ctx}, Name: "Photos to clean up", Command: command,
		Lead:   cmp.Or(c.Summary(), "No copies, bursts, blurred or blank photos") + ".",
		About:  "The first photo of each stack is the one to keep; partwise clean can move the others into a folder of your choice. Arrow keys lead from photo to photo.",
		Styles: []string{pageCSS, clustersCSS, cleaningCSS, data.cellCSS()}, Scripts: []string{"grid.js", "cleaning.js"},
	}}
	for _, name := range w.Scripts {
		w.writeBytes(name, guard.Must(scripts.ReadFile(name)))
	}
	guard.Check(writePage(&w.page, w, []section[*cleaningPage]{
		{id: "stacks", title: "Stacks", template: readTemplate("stacks"), make: cleaningStacks},
		{id: "marked", title: "Blurred and blank", template: readTemplate("marked"), make: func(w *cleaningPage) any {
			return lists.Map(w.Marked, func(p Photo) cleanedView { return w.cleaned(p, p.Remark, false) })
		}},
	}))
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
	return strings.Join(append(parts, remarks(counts)...), ", ")
}

// remarks lists the numbers of blurred and of blank photos, as in "3 blurred".
func remarks(counts map[string]int) (parts []string) {
	for _, remark := range []string{pictures.Blurred, pictures.Blank} {
		if counts[remark] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[remark], remark))
		}
	}
	return parts
}

func cleaningStacks(w *cleaningPage) any {
	views := make([]stackView, len(w.Stacks))
	for i, stack := range w.Stacks {
		views[i].Title = fmt.Sprintf("Stack %d: %d photos", i+1, len(stack))
		for _, p := range stack {
			kind := map[string]string{Copies: "copy", Bursts: "burst"}[p.kind(stack[0])]
			views[i].Photos = append(views[i].Photos, w.cleaned(p, kind, p.row == stack[0].row))
		}
	}
	return views
}

// cleaned returns the view of a photo that is kept, or of a copy, burst, blurred or blank photo.
func (w *cleaningPage) cleaned(p Photo, kind string, kept bool) cleanedView {
	facts := []string{kind, fmt.Sprintf("%d × %d", p.Width, p.Height), humanize.Bytes(uint64(p.Bytes)), p.Taken, p.Camera}
	if kept {
		facts = facts[1:]
	}
	return cleanedView{w.data.tile(p.row, "../"), kept, slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })}
}
