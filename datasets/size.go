package datasets

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxSide is the largest height or width of a Size that is read from text.
const MaxSide = 4096

// Size is the height and width of images in pixels.
type Size struct{ Height, Width int }

// UnmarshalText reads the side of a square, or HEIGHTxWIDTH.
func (s *Size) UnmarshalText(text []byte) error {
	h, w, both := strings.Cut(string(text), "x")
	if !both {
		w = h
	}
	height, err1 := strconv.Atoi(h)
	width, err2 := strconv.Atoi(w)
	if err1 != nil || err2 != nil || height < 1 || width < 1 || height > MaxSide || width > MaxSide {
		return fmt.Errorf("%q is no size; want the side of a square such as 32, or HEIGHTxWIDTH, at most %d", text, MaxSide)
	}
	*s = Size{height, width}
	return nil
}

// MarshalText returns what UnmarshalText reads.
func (s Size) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%dx%d", s.Height, s.Width), nil }

// String returns the size as in "24×32".
func (s Size) String() string { return fmt.Sprintf("%d×%d", s.Height, s.Width) }
