// Package figure draws: curves and confusions as scalable figures, and, pixel by
// pixel, montages of learned parts, coefficients, contact sheets, visual words and
// photographs with the patches of parts marked.
//
// The same input gives the same bytes.
package figure
