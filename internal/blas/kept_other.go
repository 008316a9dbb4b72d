//go:build native || !amd64

package blas

import "context"

// This build lays out nothing.

func (k *Kept[T]) layOut() {}

func laidLeft[T Number]([]T, Transpose, Of[T], int, int) []T { panic(nothing) }

func (k *Kept[T]) part([]T, Of[T], int) { panic(nothing) }

func upperByTiles(context.Context, Transpose, Transpose, float64, Matrix, Matrix, float64, Matrix) (done bool, err error) {
	return false, nil
}

const nothing = "blas: nothing is laid out"
