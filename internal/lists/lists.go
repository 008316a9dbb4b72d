// Package lists derives lists from lists.
package lists

import "slices"

// Map returns f of each element, in order. The result is never nil.
func Map[E, T any](list []E, f func(E) T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// Indices returns the indices of the elements that satisfy f, in order. It is nil if there are none.
func Indices[E any](list []E, f func(E) bool) (at []int) {
	for i, v := range list {
		if f(v) {
			at = append(at, i)
		}
	}
	return at
}

// Find returns the first element for which f holds, and whether there is one.
func Find[E any](list []E, f func(E) bool) (found E, ok bool) {
	if i := slices.IndexFunc(list, f); i >= 0 {
		return list[i], true
	}
	return found, false
}

// Unique returns the distinct elements in the order of their first occurrence.
func Unique[E comparable](list []E) (out []E) {
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
