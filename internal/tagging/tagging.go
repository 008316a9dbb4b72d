// Package tagging adds the names of groups as keywords to XMP sidecars of images, and can undo that. It never changes an
// image. A journal in the folder of the images holds the earlier content of each sidecar, so Undo works after a kill or a
// power failure at any time.
package tagging

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Tag is a keyword for an image: the name of its group.
type Tag struct {
	Image, Sidecar string // paths; the sidecar may not exist
	Name           string
}

// WriteCSV writes the tags as a table for exiftool -csv.
func WriteCSV(w io.Writer, tags []Tag) error {
	rows := [][]string{{"SourceFile", "Subject", "HierarchicalSubject"}}
	for _, t := range tags {
		rows = append(rows, []string{filepath.ToSlash(t.Image), t.Name, hierarchical(t.Name)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// JournalFile is the name of the journal: a JSON line for each sidecar after the first line.
const JournalFile = ".partwise-tagged.jsonl"

// change is a line of the journal: the change of one sidecar.
type change struct {
	File   []byte `json:"file"`   // path below the folder, with slashes, in base64 because it may be invalid UTF-8
	Before []byte `json:"before"` // nil for a new sidecar
	Sum    []byte `json:"sum"`    // SHA-256 of the new content

	path  string
	after []byte
}

// Result counts sidecars.
type Result struct {
	Created, Extended, Same int      // Same had the keywords before
	Undone                  int      // were removed or restored
	Left                    []string // the reason for each sidecar that was left unchanged
}

// inFolder calls do, which may call guard.Fail, for a locked folder and its journal.
func inFolder(dir string, do func(r *Result, dir, journal string)) (*Result, error) {
	r := &Result{}
	return r, guard.Try(func() {
		dir := guard.Must(filepath.Abs(dir))
		defer guard.Must(filing.Acquire(dir))()
		do(r, dir, filepath.Join(dir, JournalFile))
	})
}

// Write adds the tags to sidecars in dir. It refuses a folder that has a journal, and leaves sidecars that it cannot
// parse or that Undo could not restore.
func Write(ctx context.Context, dir string, tags []Tag, progress func(done, total int)) (*Result, error) {
	return inFolder(dir, func(r *Result, dir, journal string) {
		if _, err := os.Lstat(journal); err == nil {
			guard.Fail("%s has keywords of partwise already; undo these first", dir)
		}
		changes := r.plan(ctx, dir, tags)
		if len(changes) == 0 {
			return
		}
		guard.Check(filing.CreateJournal(journal, "", changes))
		for i, c := range changes {
			guard.Check(ctx.Err())
			now, info, err := read(c.path)
			switch {
			case err != nil || !c.isBefore(now):
				r.Left = append(r.Left, c.path+" is left unchanged: another program is changing it")
				continue
			case c.Before == nil:
				r.Created++
			default:
				r.Extended++
			}
			guard.Check(replace(c.path, info, c.after))
			progress(i+1, len(changes))
		}
	})
}

// isBefore reports whether text is the content before the change.
func (c change) isBefore(text []byte) bool {
	return bytes.Equal(text, c.Before) && (text == nil) == (c.Before == nil)
}

func (r *Result) plan(ctx context.Context, dir string, tags []Tag) (changes []change) {
	for _, t := range tags {
		guard.Check(ctx.Err())
		c := change{path: t.Sidecar}
		below, err := filepath.Rel(dir, t.Sidecar)
		if inside, failed := output.Inside(dir, t.Sidecar); err == nil && (failed != nil || !inside) {
			err = errors.New("its path has a symbolic link out of the folder of the photos")
		}
		if err == nil {
			c.Before, _, err = read(t.Sidecar)
		}
		if err == nil {
			text := c.Before
			if text == nil {
				text = []byte(emptySidecar)
			}
			c.after, err = addKeyword(text, t.Name)
		}
		switch {
		case err != nil:
			r.Left = append(r.Left, fmt.Sprintf("%s is left unchanged: %v", t.Sidecar, err))
		case bytes.Equal(c.Before, c.after):
			r.Same++
		default:
			sum := sha256.Sum256(c.after)
			c.File, c.Sum = []byte(filepath.ToSlash(below)), sum[:]
			changes = append(changes, c)
		}
	}
	return changes
}

const mostBytes = 16 << 20 // the largest sidecar

// read returns the content of a sidecar, which is nil if it does not exist, else not.
func read(path string) (text []byte, info fs.FileInfo, err error) {
	info, err = os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("not a regular file")
	case info.Size() > mostBytes:
		return nil, nil, fmt.Errorf("%d bytes, above the limit of %d", info.Size(), mostBytes)
	}
	text, err = os.ReadFile(path)
	return append([]byte{}, text...), info, err
}

// replace writes a sidecar, with the permissions of the existing one, if any.
func replace(path string, like fs.FileInfo, text []byte) error {
	return atomicfile.Writer{New: like == nil, Like: like}.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Undo reverts Write in dir: it removes new sidecars and restores the others. It leaves sidecars that other programs
// have changed since, and removes the journal, whose paths are not trusted.
func Undo(ctx context.Context, dir string, progress func(done, total int)) (*Result, error) {
	return inFolder(dir, func(r *Result, dir, journal string) {
		_, changes, err := filing.ReadJournal(journal, "keywords of partwise", []filing.Way{""}, func(c *change) bool {
			name := filepath.FromSlash(string(c.File))
			return filepath.IsLocal(name) && strings.EqualFold(filepath.Ext(name), ".xmp")
		})
		guard.Check(err)
		folders := map[string]bool{}
		for i, c := range changes {
			guard.Check(ctx.Err())
			path := filepath.Join(dir, filepath.FromSlash(string(c.File)))
			if inside, err := output.Inside(dir, path); err != nil || !inside {
				r.Left = append(r.Left, path+" stays: it is not in the folder of the photos")
				continue
			}
			if folder := filepath.Dir(path); !folders[folder] {
				folders[folder] = true
				if err := atomicfile.RemoveStale(folder); !errors.Is(err, fs.ErrNotExist) {
					guard.Check(err)
				}
			}
			now, info, err := read(path)
			sum := sha256.Sum256(now)
			switch {
			case err == nil && c.isBefore(now): // never written, or undone before
			case err != nil || !bytes.Equal(sum[:], c.Sum):
				r.Left = append(r.Left, path+" stays: another program has changed it")
				continue
			case c.Before == nil:
				guard.Check(os.Remove(path))
			default:
				guard.Check(replace(path, info, c.Before))
			}
			r.Undone++
			progress(i+1, len(changes))
		}
		guard.Check(os.Remove(journal))
	})
}

const (
	rdf       = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	dc        = "http://purl.org/dc/elements/1.1/"
	lightroom = "http://ns.adobe.com/lightroom/1.0/"
)

const emptySidecar = `<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 </rdf:RDF>
</x:xmpmeta>
`

// lists are the XMP properties of keywords, with the value of each for the name of a group.
var lists = []struct {
	property xml.Name
	prefix   string
	value    func(name string) string
}{
	{xml.Name{Space: dc, Local: "subject"}, "dc", func(name string) string { return name }},
	{xml.Name{Space: lightroom, Local: "hierarchicalSubject"}, "lr", hierarchical},
}

// hierarchical returns the keyword of a group below the keyword partwise.
func hierarchical(name string) string { return "partwise|" + strings.ReplaceAll(name, "|", "-") }

type element struct {
	name                  xml.Name
	attrs                 []xml.Attr
	open, content, closed int // offsets of the start tag, of the byte after it, and of the end tag
	children              []*element
	chars                 string
}

// addKeyword returns an XMP file with the name of a group in its lists of keywords. All other bytes stay. It returns
// text itself if the keywords are there already.
func addKeyword(text []byte, name string) (_ []byte, err error) {
	defer guard.Catch(&err)
	missing := ""
	for _, l := range lists {
		list, value := parse(text).list(l.property), l.value(name)
		if list == nil {
			missing += fmt.Sprintf("   <%[1]s:%[2]s>\n    <rdf:Bag>\n     <rdf:li>%[3]s</rdf:li>\n    </rdf:Bag>\n   </%[1]s:%[2]s>\n",
				l.prefix, l.property.Local, escaped(value))
		} else if !list.has(value) {
			text = list.insert(text, fmt.Sprintf("<%[1]sli>%[2]s</%[1]sli>", list.prefix(text), escaped(value)))
		}
	}
	top := parse(text)
	if missing != "" {
		text = top.insert(text, fmt.Sprintf("<rdf:Description xmlns:rdf=\"%s\" rdf:about=\"%s\"\n    xmlns:dc=\"%s\" xmlns:lr=\"%s\">\n%s  </rdf:Description>",
			rdf, escaped(top.about()), dc, lightroom, missing))
		top = parse(text)
	}
	for _, l := range lists {
		if list := top.list(l.property); list == nil || !list.has(l.value(name)) {
			guard.Fail("XMP has no form of the keyword %q", l.value(name))
		}
	}
	return text, nil
}

// parse returns the element rdf:RDF of an XMP file. It calls guard.Fail.
func parse(text []byte) (top *element) {
	d := xml.NewDecoder(bytes.NewReader(text))
	above := []*element{{}}
	for at := 0; ; at = int(d.InputOffset()) {
		token, err := d.Token()
		if err == io.EOF && top != nil {
			return top
		}
		if err == io.EOF {
			guard.Fail("not an XMP file: no rdf:RDF")
		}
		guard.Check(err)
		in := above[len(above)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name, attrs: token.Copy().Attr, open: at, content: int(d.InputOffset())}
			in.children = append(in.children, e)
			above = append(above, e)
			if top == nil && e.is("RDF") {
				top = e
			}
		case xml.CharData:
			in.chars += string(token)
		case xml.EndElement:
			in.closed = at
			above = above[:len(above)-1]
		}
	}
}

func (e *element) is(names ...string) bool {
	return e.name.Space == rdf && slices.Contains(names, e.name.Local)
}

// about returns the subject of the descriptions in rdf:RDF, usually "".
func (e *element) about() string {
	for _, description := range e.children {
		for _, a := range description.attrs {
			if a.Name == (xml.Name{Space: rdf, Local: "about"}) {
				return a.Value
			}
		}
	}
	return ""
}

// list returns the rdf:Bag or rdf:Seq of a property, nil if rdf:RDF does not have the property. It calls guard.Fail.
func (e *element) list(property xml.Name) *element {
	for _, description := range e.children {
		found := slices.ContainsFunc(description.attrs, func(a xml.Attr) bool { return a.Name == property })
		for _, p := range description.children {
			if p.name != property {
				continue
			}
			if len(p.children) == 1 && p.children[0].is("Bag", "Seq") {
				return p.children[0]
			}
			found = true
		}
		if found {
			guard.Fail("its property %s is not a list", property.Local)
		}
	}
	return nil
}

func (e *element) has(value string) bool {
	return slices.ContainsFunc(e.children, func(li *element) bool { return li.is("li") && li.chars == value })
}

func (e *element) prefix(text []byte) string {
	name := strings.Fields(strings.TrimRight(string(text[e.open+1:e.content]), "/>"))[0]
	return strings.TrimSuffix(name, e.name.Local)
}

// insert returns text with a child at the end of the element, on its own line if the end tag is on one.
func (e *element) insert(text []byte, child string) []byte {
	if inner, isEmpty := bytes.CutSuffix(text[:e.content], []byte("/>")); isEmpty {
		return slices.Concat(inner, []byte(">"+child+"</"+e.prefix(text)+e.name.Local+">"), text[e.content:])
	}
	before := bytes.TrimRight(text[:e.closed], " \t\r\n")
	if space := text[len(before):e.closed]; bytes.Contains(space, []byte("\n")) {
		child = string(space) + " " + child
	}
	return slices.Concat(before, []byte(child), text[len(before):])
}

func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}
