//go:build native || !amd64

package blas

// This build lays out nothing.

func (k *Kept[T]) layOut() {}

func (p *keptProduct[T]) layOutLeft(Transpose, Of[T], int, int) { panic(nothing) }

func (k *Kept[T]) part(*keptProduct[T], Of[T], int) { panic(nothing) }

const nothing = "blas: nothing is laid out"
