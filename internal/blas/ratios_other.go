//go:build native || !amd64

package blas

import "github.com/seed4492f2cd/partwise/internal/parallel"

// Ratios are served by other means in this build.
type Ratios struct{}

// NewRatios returns nil.
func NewRatios(Matrix, parallel.Split, parallel.Split, float64, bool) *Ratios { return nil }

func (r *Ratios) Put() {}

func (r *Ratios) AddToBasis(bool, Matrix, Matrix, Matrix, int, int, []float64) {}

func (r *Ratios) Coefficients(Matrix, Matrix, Matrix) {}
