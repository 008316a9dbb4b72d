//go:build !native && !amd64

package blas

import "gonum.org/v1/gonum/blas/gonum"

var ours library = gonum.Implementation{}
