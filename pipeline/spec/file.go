package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// Load reads an experiment file. Unknown keys and invalid values are errors with line and column.
func Load(path string) (*Experiment, error) {
	text, err := document.Read(os.Open(path))
	if err != nil {
		return nil, err
	}
	e, err := Parse(text)
	if err != nil {
		return nil, settings.InFile(path, err)
	}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return e, nil
}

// Parse reads the text of an experiment file. It also rejects texts of more than 256 KiB, nesting of more than 32
// levels, and tags, anchors, aliases and control characters.
func Parse(text []byte) (*Experiment, error) {
	e := &Experiment{}
	v, err := document.Parse(text)
	if err == nil {
		err = settings.Decode(v, e)
	}
	if err != nil {
		return nil, document.Excerpt(text, err)
	}
	return e, nil
}

// firstKeys are the keys of values without a key at the start of a short form.
var firstKeys = map[string]string{
	"data": "set", "methods": "name", "cluster": "by", "classifier": "by", "significance": "by", "neighbours": "k", "rank": "among",
}

// FirstKey returns the key of the first value of a short form, "" for none: ccf,init=nmf means {name: ccf, init: nmf}.
func FirstKey(setting string) string { return firstKeys[setting] }

// ParseShort reads a setting in the short form of flags, such as "ccf,init=nmf" for a method and
// "sift,power=0.5+colour" for features, or in the form of a file.
func ParseShort(setting, text string) (*settings.Value, error) {
	switch {
	case strings.ContainsFunc(text, unicode.IsControl):
		return nil, errors.New("expected one line")
	case setting == "scores":
		return settings.Of(strings.Split(text, ",")), nil
	case setting == "features":
		return parseFeatures(text)
	}
	return parsePairs(text, firstKeys[setting])
}

// nextPair is a comma with a key behind it. Other commas belong to values.
var nextPair = lazyregexp.New(`^,[^,=]*=`)

// parsePairs reads "ccf,init=nmf", or a value as in a file.
func parsePairs(text, first string) (*settings.Value, error) {
	if !strings.Contains(text, "=") || strings.HasPrefix(text, "{") {
		return parseValue(text)
	}
	out := &settings.Value{Kind: settings.KindMapping}
	for _, part := range split(text, nextPair().MatchString) {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok:
		case first != "":
			key, value = first, part
		default: // a feature with settings
			key, value = part, "{}"
		}
		v, err := parseValue(value)
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, settings.Field{Key: settings.Of(key), Value: v})
	}
	return out, nil
}

// parseFeatures reads "sift,power=0.5+colour". A + before a letter joins features; any other + belongs to a value, as
// in grid=1x1+2x2.
func parseFeatures(text string) (*settings.Value, error) {
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		return parseValue(text)
	}
	list := &settings.Value{Kind: settings.KindList}
	joined := func(rest string) bool { return rest[0] == '+' && len(rest) > 1 && 'a' <= rest[1] && rest[1] <= 'z' }
	for _, one := range split(text, joined) {
		v, err := parsePairs(one, "")
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, v)
	}
	if len(list.Items) == 1 {
		return list.Items[0], nil
	}
	return list, nil
}

// split cuts text outside of brackets at each byte where is(rest) is true.
func split(text string, is func(rest string) bool) (parts []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && is(text[i:]):
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// tightKey is a key in brackets without the space after its colon that YAML requires.
var tightKey = lazyregexp.New(`([{,] *[a-z0-9-]+):([^ ])`)

// parseValue reads a value as in a file, or {key:value} for {key: value}. Invalid YAML is plain text, such as the
// pattern {class}-*.
func parseValue(text string) (*settings.Value, error) {
	if text == "" {
		return &settings.Value{}, nil
	}
	v, err := document.Parse([]byte(tightKey().ReplaceAllString(text, "$1: $2")))
	marked := strings.ContainsRune(`['"`, rune(text[0])) || text[0] == '{' && (text == "{}" || strings.Contains(text, ":"))
	if !marked && (err != nil || v.Kind == settings.KindList || v.Kind == settings.KindMapping || v.Kind == settings.KindText && v.Data == any(v.Text)) {
		return settings.Of(text), nil
	}
	return v, err
}

// failIf ends the reading of a value with an error, if something is wrong. at makes the error, and is Errorf or Want of the
// value at its place.
func failIf(wrong bool, at func(format string, args ...any) error, format string, args ...any) {
	if wrong {
		guard.Check(at(format, args...))
	}
}
