package tagging

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

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
func addKeyword(text []byte, name string) ([]byte, error) {
	missing := ""
	for _, l := range lists {
		top, err := parse(text)
		if err != nil {
			return nil, err
		}
		list, err := top.list(l.property)
		switch value := l.value(name); {
		case err != nil:
			return nil, err
		case list == nil:
			missing += fmt.Sprintf("   <%[1]s:%[2]s>\n    <rdf:Bag>\n     <rdf:li>%[3]s</rdf:li>\n    </rdf:Bag>\n   </%[1]s:%[2]s>\n",
				l.prefix, l.property.Local, escaped(value))
		case !list.has(value):
			text = list.insert(text, fmt.Sprintf("<%[1]sli>%[2]s</%[1]sli>", list.prefix(text), escaped(value)))
		}
	}
	top, err := parse(text)
	if err == nil && missing != "" {
		text = top.insert(text, fmt.Sprintf("<rdf:Description xmlns:rdf=\"%s\" rdf:about=\"%s\"\n    xmlns:dc=\"%s\" xmlns:lr=\"%s\">\n%s  </rdf:Description>",
			rdf, escaped(top.about()), dc, lightroom, missing))
		top, err = parse(text)
	}
	if err != nil {
		return nil, err
	}
	for _, l := range lists {
		if list, err := top.list(l.property); err != nil || list == nil || !list.has(l.value(name)) {
			return nil, fmt.Errorf("XMP has no form of the keyword %q", l.value(name))
		}
	}
	return text, nil
}

// parse returns the element rdf:RDF of an XMP file.
func parse(text []byte) (top *element, err error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	above := []*element{{}}
	for at := 0; ; at = int(d.InputOffset()) {
		token, err := d.Token()
		if err == io.EOF && top != nil {
			return top, nil
		}
		if err == io.EOF {
			err = errors.New("not an XMP file: no rdf:RDF")
		}
		if err != nil {
			return nil, err
		}
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

// list returns the rdf:Bag or rdf:Seq of a property, nil if rdf:RDF does not have the property.
func (e *element) list(property xml.Name) (*element, error) {
	for _, description := range e.children {
		found := slices.ContainsFunc(description.attrs, func(a xml.Attr) bool { return a.Name == property })
		for _, p := range description.children {
			if p.name != property {
				continue
			}
			if len(p.children) == 1 && p.children[0].is("Bag", "Seq") {
				return p.children[0], nil
			}
			found = true
		}
		if found {
			return nil, fmt.Errorf("its property %s is not a list", property.Local)
		}
	}
	return nil, nil
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
