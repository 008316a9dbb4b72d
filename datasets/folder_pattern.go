package datasets

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pattern finds the class in a file's name.
type pattern struct {
	text string
	expr *regexp.Regexp
	// bare tells that the extension is no part of what is matched.
	bare bool
}

const (
	classMark  = "{class}"
	numberMark = "{number}"
)

// parsePattern reads a pattern as OpenOptions describes it.
func parsePattern(text string) (*pattern, error) {
	before, after, found := strings.Cut(text, classMark)
	switch {
	case !found:
		return nil, fmt.Errorf("pattern %q: it has no %s", text, classMark)
	case strings.Contains(after, classMark):
		return nil, fmt.Errorf("pattern %q: it has more than one %s", text, classMark)
	case strings.HasSuffix(before, "*") || strings.HasPrefix(after, "*"):
		return nil, fmt.Errorf("pattern %q: * next to %s leaves open where the class ends; put a character between them", text, classMark)
	}
	expr := func(part string) string {
		part = regexp.QuoteMeta(part)
		part = strings.ReplaceAll(part, regexp.QuoteMeta(numberMark), "[0-9]+")
		return strings.ReplaceAll(part, regexp.QuoteMeta("*"), ".*")
	}
	compiled, err := regexp.Compile(`(?s)^` + expr(before) + `([^/]+?)` + expr(after) + `$`)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	return &pattern{text, compiled, !strings.Contains(path.Base(text), ".")}, nil
}

// class returns the class that the pattern finds in the sample's name, a path
// with forward slashes, without the blanks around it.
func (p *pattern) class(name string) (string, error) {
	subject := name
	if !strings.Contains(p.text, "/") {
		subject = name[strings.LastIndexByte(name, '/')+1:]
	}
	if p.bare {
		subject = strings.TrimSuffix(subject, path.Ext(subject))
	}
	if m := p.expr.FindStringSubmatch(subject); m != nil {
		if class := strings.TrimSpace(m[1]); class != "" {
			return class, nil
		}
	}
	return "", fmt.Errorf("%w %q does not fit it", errPattern, p.text)
}

// errPattern is in the error of a name that a pattern does not fit.
var errPattern = errors.New("the pattern")
