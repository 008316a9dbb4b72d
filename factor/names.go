package factor

import (
	"fmt"
	"slices"
	"strings"
)

// names are the names of a choice's values, in the order of their numbers.
type names[T ~int] struct {
	what string
	list []string
}

func (n names[T]) name(v T) string {
	if v < 0 || int(v) >= len(n.list) {
		return fmt.Sprintf("%s(%d)", n.what, int(v))
	}
	return n.list[v]
}

func (n names[T]) read(v *T, text []byte) error {
	i := slices.Index(n.list, string(text))
	if i < 0 {
		return fmt.Errorf("there is no %s %q; there are %s", n.what, text, strings.Join(n.list, ", "))
	}
	*v = T(i)
	return nil
}
