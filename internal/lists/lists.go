// Package lists derives lists from lists.
package lists

// Map returns f of each element, in order.
func Map[E, T any](list []E, f func(E) T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
