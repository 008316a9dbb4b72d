// Package document reads YAML from untrusted files into a [settings.Value]. It refuses documents that
// are too long or too deep, and features that such a file does not need (tags, anchors, aliases, merge
// keys, directives, several documents, control characters).
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// The bounds of a document, which are checked before it is parsed.
const (
	// MaxBytes is its size. Reading it takes at most 128 MiB, and 2000 bytes for each of its own.
	MaxBytes = 256 << 10
	// maxDepth is how deep lists and mappings may be nested.
	maxDepth = 32
)

// Parse reads a text of one document. Its errors are a *settings.Error where they have a place.
func Parse(text []byte) (v *settings.Value, err error) {
	// Texts at which the YAML library is known to panic are refused before it sees them.
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the YAML cannot be read: %v", r)
		}
	}()
	v, err = parse(bytes.TrimPrefix(text, []byte("\ufeff"))) // a mark that some editors put there
	var located yaml.Error
	switch {
	case !errors.As(err, &located):
		return v, err
	case located.GetToken() == nil:
		return nil, errors.New(located.GetMessage())
	}
	at := located.GetToken().Position
	return nil, &settings.Error{Line: at.Line, Column: at.Column, Message: located.GetMessage()}
}

func parse(text []byte) (*settings.Value, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, errors.New("the file says nothing")
	}
	return valueOf(file.Docs[0].Body)
}

// valueOf returns the value of a node.
func valueOf(node ast.Node) (*settings.Value, error) {
	token := node.GetToken()
	v := &settings.Value{Line: token.Position.Line, Column: token.Position.Column}
	add := func(pair *ast.MappingValueNode) error {
		key := *v
		key.Kind, key.Text = settings.KindText, pair.Key.String()
		if s, ok := pair.Key.(*ast.StringNode); ok {
			key.Text = s.Value
		}
		key.Line, key.Column = pair.Key.GetToken().Position.Line, pair.Key.GetToken().Position.Column
		value, err := valueOf(pair.Value)
		v.Kind, v.Fields = settings.KindMapping, append(v.Fields, settings.Field{Key: &key, Value: value})
		return err
	}
	scalar := func(text string, data any) { v.Kind, v.Text, v.Data = settings.KindText, text, data }
	switch n := node.(type) {
	case *ast.NullNode:
	case *ast.MappingValueNode:
		return v, add(n)
	case *ast.MappingNode:
		v.Kind = settings.KindMapping
		for _, pair := range n.Values {
			if err := add(pair); err != nil {
				return nil, err
			}
		}
	case *ast.SequenceNode:
		v.Kind = settings.KindList
		for _, item := range n.Values {
			value, err := valueOf(item)
			if err != nil {
				return nil, err
			}
			v.Items = append(v.Items, value)
		}
	case *ast.StringNode:
		scalar(n.Value, n.Value)
	case *ast.LiteralNode:
		scalar(n.Value.Value, n.Value.Value)
	case ast.ScalarNode: // a number or a bool
		scalar(token.Value, n.GetValue())
	default:
		return nil, &yaml.SyntaxError{Message: fmt.Sprintf("a %s does not go here", node.Type()), Token: token}
	}
	return v, nil
}

// checkText refuses a text that is too long, is not UTF-8 or has control characters. At some of these
// the library stops without an error.
func checkText(text []byte) error {
	if len(text) > MaxBytes {
		return fmt.Errorf("more than %d bytes; an experiment file has at most that", MaxBytes)
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &settings.Error{Line: line, Column: column, Message: fmt.Sprintf("the byte 0x%02x is not UTF-8", text[i])}
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == '\u2028', r == '\u2029', r == '\ufeff':
			return &settings.Error{Line: line, Column: column, Message: fmt.Sprintf("the control character %U", r)}
		}
		i += size
		column++
	}
	return nil
}

// scan returns the tokens of a text. It refuses features that an experiment file does not need (tags,
// anchors, aliases, merge keys, directives, several documents) and deep nesting.
func scan(text []byte) (token.Tokens, error) {
	var s scanner.Scanner
	s.Init(string(text) + "\n") // without it a tag at the end is no token
	var tokens token.Tokens
	var depth nesting
	begun := false // there is more than comments
	for {
		some, err := s.Scan()
		if err == io.EOF {
			return tokens, nil
		}
		for _, t := range some {
			if err := checkToken(t); err != nil {
				return nil, err
			}
			if t.Type == token.DocumentHeaderType && begun {
				return nil, &yaml.SyntaxError{Message: "a second document begins here; an experiment is one", Token: t}
			}
			begun = begun || t.Type != token.CommentType
			if depth.add(t); depth.now() > maxDepth {
				return nil, &yaml.SyntaxError{Message: fmt.Sprintf("more than %d lists and mappings in each other", maxDepth), Token: t}
			}
		}
		tokens.Add(some...)
	}
}

// checkToken refuses a token that an experiment file has no use for.
func checkToken(t *token.Token) error {
	var what string
	switch t.Type {
	case token.InvalidType:
		return &yaml.SyntaxError{Message: t.Error, Token: t}
	case token.TagType:
		what = "tags (!)"
	case token.AnchorType:
		what = "anchors (&)"
	case token.AliasType:
		what = "aliases (*)"
	case token.MergeKeyType:
		what = "merge keys (<<)"
	case token.DirectiveType:
		what = "directives (%)"
	default:
		return nil
	}
	return &yaml.SyntaxError{Message: "an experiment file has no " + what + "; a value that begins so stands in quotes", Token: t}
}

// nesting bounds from above how deep lists and mappings are nested at a token.
type nesting struct {
	// columns are where the lists and mappings begin that go by indentation, in rising order.
	columns []int
	// flow has an entry for each bracket and brace that is open: the
	// indicators in it (":", "?" and "-") since its last comma.
	flow []int
	open int // the sum of flow
}

func (n *nesting) add(t *token.Token) {
	last := len(n.flow) - 1
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		n.flow = append(n.flow, 0)
	case token.SequenceEndType, token.MappingEndType:
		if last >= 0 {
			n.open -= n.flow[last]
			n.flow = n.flow[:last]
		}
	case token.CollectEntryType:
		if last >= 0 {
			n.open -= n.flow[last]
			n.flow[last] = 0
		}
	case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
		if last >= 0 {
			n.flow[last]++
			n.open++
			return
		}
		column := t.Position.Column
		if t.Type == token.MappingValueType && t.Prev != nil && t.Prev.Position.Line == t.Position.Line {
			column = t.Prev.Position.Column // of the key
		}
		for i := len(n.columns) - 1; i >= 0 && n.columns[i] >= column; i-- {
			n.columns = n.columns[:i]
		}
		n.columns = append(n.columns, column)
	}
}

func (n *nesting) now() int { return len(n.columns) + len(n.flow) + n.open }

// maxExcerpt is the longest line that is shown whole with an error, and around the number of characters
// shown on both sides of the place in a longer one.
const (
	maxExcerpt = 120
	around     = 40
)

// Excerpt adds the line of the text, or a part of a long one, to an error of [Parse] or
// [settings.Decode], with a mark below the place.
func Excerpt(text []byte, err error) error {
	var e *settings.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(string(text)), "\n")
	number := min(max(e.Line, 1), len(lines))
	line := []rune(lines[number-1])
	column := min(max(e.Column-1, 0), len(line))
	from, to := 0, len(line)
	if to > maxExcerpt {
		from, to = max(0, column-around), min(len(line), column+around)
	}
	head := fmt.Sprintf("> %d | ", number)
	return fmt.Errorf("%w\n%s%s\n%*s", err, head, string(line[from:to]), len(head)+column-from+1, "^")
}
