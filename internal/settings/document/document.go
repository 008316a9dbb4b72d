// Package document parses untrusted YAML into a [settings.Value]. It rejects documents that are too long or too deep, and
// features that settings do not need: tags, anchors, aliases, merge keys, several documents and control
// characters.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Limits of a document.
const (
	// maxBytes is the largest size. Parsing takes at most 128 MiB plus 2000 times the size.
	maxBytes = 256 << 10
	// maxDepth is the largest depth of nested lists and mappings.
	maxDepth = 32
)

// Read returns the text of an opened file, of a too long one only the part that Parse rejects.
func Read(f fs.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1)) // an error names the file
}

// Parse parses a single document. Errors with a position are of type *settings.Error.
func Parse(text []byte) (v *settings.Value, err error) {
	defer guard.Catch(&err)
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // byte order mark
	guard.Check(checkText(text))
	var root, second yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(text))
	switch err := in.Decode(&root); {
	case err == io.EOF || err == nil && root.Content[0].Value == "" && root.Content[0].Tag == "!!null":
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, syntaxError(err)
	}
	v = valueOf(root.Content[0], 0)
	switch err := in.Decode(&second); {
	case err == nil:
		return nil, &settings.Error{Line: second.Line, Column: 1, Message: "second YAML document; an experiment file has one"}
	case err != io.EOF:
		return nil, syntaxError(err)
	}
	return v, nil
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError adds the position to an error of the YAML library.
func syntaxError(err error) error {
	m := syntaxLine.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1]) // 0 without one
	return &settings.Error{Line: max(line, 1), Column: 1, Message: "not YAML: " + m[2]}
}

// valueOf calls guard.Fail.
func valueOf(n *yaml.Node, depth int) *settings.Value {
	v := &settings.Value{Line: n.Line, Column: n.Column}
	guard.Check(checkNode(n, v, depth))
	switch n.Kind {
	case yaml.MappingNode:
		v.Kind = settings.KindMapping
		for i := 0; i < len(n.Content); i += 2 {
			key := valueOf(n.Content[i], depth+1)
			if key.Kind == settings.KindNull {
				key.Text = "null"
			}
			v.Fields = append(v.Fields, settings.Field{Key: key, Value: valueOf(n.Content[i+1], depth+1)})
		}
	case yaml.SequenceNode:
		v.Kind = settings.KindList
		for _, item := range n.Content {
			v.Items = append(v.Items, valueOf(item, depth+1))
		}
	default:
		v.Text, v.Data = n.Value, n.Value
		if n.Tag == "!!null" {
			v.Text, v.Data = "", nil
			return v
		}
		v.Kind = settings.KindText
		switch n.Tag {
		case "!!bool", "!!int", "!!float":
			if err := n.Decode(&v.Data); err != nil {
				guard.Check(v.Errorf("%v", err))
			}
		}
		if i, ok := v.Data.(int); ok && i >= 0 {
			v.Data = uint64(i)
		}
	}
	return v
}

// checkNode rejects features of YAML that settings do not need.
func checkNode(n *yaml.Node, v *settings.Value, depth int) error {
	var what string
	switch {
	case depth > maxDepth:
		return v.Errorf("more than %d nested lists and mappings", maxDepth)
	case n.Style&yaml.TaggedStyle != 0:
		what = "tags (!)"
	case n.Anchor != "":
		what = "anchors (&)"
	case n.Kind == yaml.AliasNode:
		what = "aliases (*)"
	case n.Tag == "!!merge":
		what = "merge keys (<<)"
	default:
		return nil
	}
	return v.Errorf("experiment files do not support %s; quote the value if it is text", what)
}

// checkText rejects a text that is too long, is not UTF-8 or has control characters.
func checkText(text []byte) error {
	if len(text) > maxBytes {
		return fmt.Errorf("the file is larger than the limit of %d bytes", maxBytes)
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &settings.Error{Line: line, Column: column, Message: fmt.Sprintf("the byte 0x%02x is not UTF-8; save the file as UTF-8", text[i])}
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == '\u2028', r == '\u2029', r == '\ufeff':
			return &settings.Error{Line: line, Column: column, Message: fmt.Sprintf("the control character %U is not allowed; remove it", r)}
		}
		i += size
		column++
	}
	return nil
}

// around is the number of characters of a long line that are shown on both sides of a position.
const around = 60

// Excerpt adds the line of the text, or a part of a long line, to an error of [Parse] or [settings.Decode], with a marker
// below the position.
func Excerpt(text []byte, err error) error {
	e, ok := errors.AsType[*settings.Error](err)
	if !ok || e.Line == 0 {
		return err
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(string(text)), "\n")
	number := min(max(e.Line, 1), len(lines))
	line := []rune(lines[number-1])
	column := min(max(e.Column-1, 0), len(line))
	from, to := max(0, column-around), min(len(line), column+around)
	head := fmt.Sprintf("> %d | ", number)
	return fmt.Errorf("%w\n%s%s\n%*s", err, head, string(line[from:to]), len(head)+column-from+1, "^")
}
