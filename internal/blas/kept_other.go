//go:build native || !amd64

package blas

// This build lays out nothing.

func (k *Kept[T]) layOut() {}

func (k *Kept[T]) part(Transpose, Of[T], Of[T], int) { panic("blas: nothing is laid out") }
