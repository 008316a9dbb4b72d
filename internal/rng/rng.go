// Package rng creates random streams that depend only on a seed and on coordinates, such as a purpose and a repeat. A
// stream therefore does not depend on other streams, on the order of work or on the number of workers.
package rng

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
)

// New returns the stream for a seed and coordinates, such as New(seed, "labels", k, repeat). Coordinates are
// distinguished by their printed form and their order.
func New(seed uint64, coordinates ...any) *rand.Rand {
	return rand.New(Source(seed, coordinates...))
}

// Source returns the source of New.
func Source(seed uint64, coordinates ...any) *rand.ChaCha8 {
	h := sha256.New()
	fmt.Fprintf(h, "%d", seed)
	for _, c := range coordinates {
		fmt.Fprintf(h, "|%q", fmt.Sprint(c))
	}
	return rand.NewChaCha8([32]byte(h.Sum(nil)))
}

// Seed derives a seed from a seed and coordinates, for a component that creates its own streams.
func Seed(seed uint64, coordinates ...any) uint64 {
	return New(seed, coordinates...).Uint64()
}
