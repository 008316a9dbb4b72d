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
// with forward slashes, without the blanks around it, or "" where it does not fit.
func (p *pattern) class(name string) string {
	if !strings.Contains(p.text, "/") {
		name = path.Base(name)
	}
	if p.bare {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if m := p.expr.FindStringSubmatch(name); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// errPattern is in the error of a name that a pattern does not fit.
var errPattern = errors.New("the pattern")
