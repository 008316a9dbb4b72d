// Package enum implements enumerations with names. A type T with the values 0, 1, … has a table of names and four
// one-line methods:
//
//	var costs = enum.Of[Cost]("cost", "frobenius", "kl")
//
//	func (c Cost) String() string                { return costs.String(c) }
//	func (c *Cost) UnmarshalText(b []byte) error { return costs.UnmarshalText(c, b) }
//	func (c Cost) MarshalText() ([]byte, error)  { return costs.MarshalText(c) }
//	func (Cost) Values() []string                { return costs.Values() }
package enum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Names holds the names of the values 0, 1, … of T.
type Names[T ~int] struct {
	kind  string
	names []string
}

// Of returns the table of names of T. kind describes a value of T in messages, such as "cost".
func Of[T ~int](kind string, names ...string) Names[T] { return Names[T]{kind, names} }

// String returns the name of v, and "kind(v)" if it has none.
func (n Names[T]) String(v T) string {
	if v < 0 || int(v) >= len(n.names) {
		return fmt.Sprintf("%s(%d)", n.kind, int(v))
	}
	return n.names[v]
}

// MarshalText returns the name of v, and an error if it has none.
func (n Names[T]) MarshalText(v T) ([]byte, error) {
	if v < 0 || int(v) >= len(n.names) {
		return nil, fmt.Errorf("unknown %s", n.String(v))
	}
	return []byte(n.names[v]), nil
}

// UnmarshalText sets *v to the value of a name.
func (n Names[T]) UnmarshalText(v *T, name []byte) error {
	i, err := Index(n.kind, string(name), n.names)
	if err == nil {
		*v = T(i)
	}
	return err
}

// Values returns the names in the order of their values.
func (n Names[T]) Values() []string { return slices.Clone(n.names) }

// Fold returns the element of names that equals name without regard to case, or name if there is none.
func Fold(name string, names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 && !slices.Contains(names, name) {
		return names[i]
	}
	return name
}

// Index returns the index of name in names without regard to case, or an error that lists the names. kind describes a
// name in messages.
func Index(kind, name string, names []string) (int, error) {
	i := slices.Index(names, Fold(name, names))
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q%s", kind, name, phrase.Choices(name, names))
	}
	return i, nil
}
