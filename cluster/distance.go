package cluster

import "github.com/seed4492f2cd/partwise/internal/settings/enum"

// Distance says how far a sample is from another one or from a centre.
type Distance int

const (
	// DistanceEuclidean is ‖x − y‖², or its root where a length is meant.
	DistanceEuclidean Distance = iota
	// DistanceCosine is 1 − xᵀy/(‖x‖‖y‖). A row of zeros is at distance 1 from
	// everything.
	DistanceCosine
)

var distances = enum.Of[Distance]("distance", "euclidean", "cosine")

// String returns the name that settings use.
func (d Distance) String() string { return distances.String(d) }

// UnmarshalText reads the name that settings use.
func (d *Distance) UnmarshalText(name []byte) error { return distances.UnmarshalText(d, name) }

// Values returns the names of all distances.
func (Distance) Values() []string { return distances.Values() }

// epsilon is the distance from 1 to the next number.
const epsilon = 0x1p-52

// between returns what it costs to hold the row x for the row y: ‖x − y‖², or
// 1 − cos, which is 0 where it is within rounding of 0. It sums in an order
// that depends on nothing but the number of columns.
func (d Distance) between(x []float64, wx float64, y []float64, wy float64) float64 {
	var sums [4]float64
	columns := len(x)
	y = y[:columns]
	if d == DistanceCosine {
		for ; len(x) >= 4; x, y = x[4:], y[4:] {
			sums[0] += x[0] * y[0]
			sums[1] += x[1] * y[1]
			sums[2] += x[2] * y[2]
			sums[3] += x[3] * y[3]
		}
		for j, v := range x {
			sums[0] += v * y[j]
		}
		cost := 1 - wx*wy*(sums[0]+sums[1]+sums[2]+sums[3])
		if cost < float64(columns+4)*epsilon {
			return 0
		}
		return cost
	}
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		a, b, c, d := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		sums[0] += a * a
		sums[1] += b * b
		sums[2] += c * c
		sums[3] += d * d
	}
	for j, v := range x {
		sums[0] += (v - y[j]) * (v - y[j])
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
