//go:build native || !amd64

package blas

import "github.com/seed4492f2cd/partwise/internal/parallel"

// Ratios are served by other means in this build.
type Ratios[T Number] struct{}

// NewRatios returns nil.
func NewRatios[T Number](Of[T], parallel.Split, parallel.Split, T, bool) *Ratios[T] { return nil }

func (r *Ratios[T]) Put() {}

func (r *Ratios[T]) AddToBasis(bool, Of[T], Of[T], Of[T], int, int, []float64) {}

func (r *Ratios[T]) Coefficients(Of[T], Of[T], Of[T]) {}
