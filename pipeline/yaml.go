package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// The bounds of an experiment file, which are checked before it is parsed.
const (
	// maxFileBytes is its size. Reading a file takes at most 128 MiB, and 2000
	// bytes for each of its own.
	maxFileBytes = 256 << 10
	// maxDepth is how deep lists and mappings may be nested.
	maxDepth = 32
)

// readBounded returns the content of a file of at most maxFileBytes.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err // which names the file
	}
	return text, nil
}

// decode parses one YAML document and stores it in to. For any text that cannot be
// it returns an error, in which format says what is wrong at a place of the text.
func decode(text []byte, to any, format func(yaml.Error) string) (err error) {
	// What the YAML library is known to panic at is refused before it sees it.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML cannot be read: %v", r)
		}
	}()
	err = parse(bytes.TrimPrefix(text, []byte("\ufeff")), to) // a mark that some editors put there
	var field *yaml.UnknownFieldError
	if errors.As(err, &field) {
		err = &yaml.SyntaxError{Message: fmt.Sprintf(unknownText, field.Token.Value, experimentKeys()), Token: field.Token}
	}
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		err = &yaml.SyntaxError{Message: "a value of this kind does not go here", Token: kind.Token}
	}
	var located yaml.Error
	if !errors.As(err, &located) {
		return err
	}
	if located.GetToken() == nil {
		return errors.New(located.GetMessage())
	}
	return errors.New(format(located))
}

// experimentKeys lists the keys of an experiment file.
func experimentKeys() string {
	var keys []string
	for f := range reflect.TypeFor[Experiment]().Fields() {
		if key := f.Tag.Get("yaml"); key != "-" {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, ", ")
}

func parse(text []byte, to any) error {
	if err := checkText(text); err != nil {
		return err
	}
	tokens, err := scan(text)
	if err != nil {
		return err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return errors.New("the file says nothing")
	}
	body := file.Docs[0].Body
	for _, v := range pairs(body) {
		if _, ok := v.Key.(*ast.StringNode); !ok { // with one the library reads no key at all
			return refuse(v.Key, unknownText, keyText(v), experimentKeys())
		}
	}
	return yaml.NodeToValue(body, to, yaml.Strict())
}

// checkText reports a text that is too long, that is not UTF-8 or that has control
// characters, at some of which the library ends without an error.
func checkText(text []byte) error {
	if len(text) > maxFileBytes {
		return fmt.Errorf("more than %d bytes; an experiment file has at most that", maxFileBytes)
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fmt.Errorf("[%d:%d] the byte 0x%02x is not UTF-8", line, column, text[i])
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == '\u2028', r == '\u2029', r == '\ufeff':
			return fmt.Errorf("[%d:%d] the control character %U", line, column, r)
		}
		i += size
		column++
	}
	return nil
}

// scan returns the tokens of a text. It refuses what an experiment file has no
// use for (tags, anchors, aliases, merge keys, directives, several documents) and
// what is nested too deep.
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
	// columns are where the lists and mappings begin that go by indentation,
	// in rising order.
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

// The longest line that is shown with an error whole, and how many characters of a
// longer one are shown before and after the place.
const (
	maxExcerpt = 120
	around     = 40
)

// excerptOf returns what formats an error with its line and column, and with that line
// of the text, or a part of a long one.
func excerptOf(text []byte) func(yaml.Error) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(string(text)), "\n")
	return func(err yaml.Error) string {
		at := err.GetToken().Position
		number := min(max(at.Line, 1), len(lines))
		line := []rune(lines[number-1])
		column := min(max(at.Column-1, 0), len(line))
		from, to := 0, len(line)
		if to > maxExcerpt {
			from, to = max(0, column-around), min(len(line), column+around)
		}
		head := fmt.Sprintf("> %d | ", number)
		return fmt.Sprintf("%s\n%s%s\n%*s", err.FormatError(false, false), head, string(line[from:to]), len(head)+column-from+1, "^")
	}
}
