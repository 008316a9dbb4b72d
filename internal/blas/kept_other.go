//go:build native || !amd64

package blas

// This build lays out nothing.

func (k *Kept[T]) layOut() {}

func laidLeft[T Number]([]T, Transpose, Of[T], int, int) []T { panic(nothing) }

func (k *Kept[T]) part([]T, Of[T], int) { panic(nothing) }

const nothing = "blas: nothing is laid out"
