package main

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
)

// What groups the points that the rules below judge.
const (
	starts     = 3
	references = 10
	directions = 50
)

// compact returns the rows of x at unit length in their leading principal directions.
func compact(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	n, m := x.Dims()
	rows := mat.DenseCopyOf(x)
	for i := range n {
		if length := floats.Norm(rows.RawRowView(i), 2); length > 0 {
			floats.Scale(1/length, rows.RawRowView(i))
		}
	}
	res, err := factor.PCA{}.Fit(ctx, rows, factor.Known{}, factor.Options{Rank: min(directions, n-1, m)})
	if err != nil {
		return nil, err
	}
	return res.Coefficients, nil
}

// dispersion returns the sum of squared distances of points from the centres of k groups by
// k-means, and how many groups hold any.
func dispersion(ctx context.Context, x *mat.Dense, k int) (float64, []int, error) {
	if k == 1 {
		n, m := x.Dims()
		var sum float64
		for j := range m {
			column := mat.Col(nil, j, x)
			mean := floats.Sum(column) / float64(n)
			for _, v := range column {
				sum += (v - mean) * (v - mean)
			}
		}
		return sum, []int{n}, nil
	}
	res, err := cluster.KMeans{K: k, Init: cluster.InitPlusPlus, Restarts: starts, Seed: uint64(k)}.Fit(ctx, x)
	if err != nil {
		return 0, nil, err
	}
	sizes := make([]int, k)
	for _, g := range res.Labels {
		sizes[g]++
	}
	return res.Objective, sizes, nil
}

// judged are the numbers of groups of points that two rules choose from 1 to most.
type judged struct{ gapStatistic, bic int }

// judge chooses by the gap statistic (Tibshirani, Walther and Hastie 2001: the least k whose gap
// is not less than that of k+1 less its error; reference points uniform in the box along the
// principal directions) and by the BIC of spherical Gaussians of one variance (Pelleg and Moore
// 2000).
func judge(ctx context.Context, x *mat.Dense, most int) (j judged, err error) {
	n, m := x.Dims()
	uniform := make([]*mat.Dense, references)
	for b := range uniform {
		src := rand.New(rand.NewPCG(uint64(b), 77))
		uniform[b] = mat.NewDense(n, m, nil)
		for c := range m {
			column := mat.Col(nil, c, x)
			low, high := floats.Min(column), floats.Max(column)
			for i := range n {
				uniform[b].Set(i, c, low+(high-low)*src.Float64())
			}
		}
	}
	var gaps, errors []float64
	best := math.Inf(-1)
	for k := 1; k <= most; k++ {
		w, sizes, err := dispersion(ctx, x, k)
		if err != nil {
			return j, err
		}
		if score := bic(w, sizes, n, m); score > best {
			best, j.bic = score, k
		}
		var logs []float64
		for _, u := range uniform {
			if j.gapStatistic > 0 {
				break // chosen already
			}
			of, _, err := dispersion(ctx, u, k)
			if err != nil {
				return j, err
			}
			logs = append(logs, math.Log(of))
		}
		if logs == nil {
			continue
		}
		mean, square := floats.Sum(logs)/references, 0.0
		for _, l := range logs {
			square += (l - mean) * (l - mean)
		}
		gaps = append(gaps, mean-math.Log(w))
		errors = append(errors, math.Sqrt(square/references*(1+1.0/references)))
		if k > 1 && gaps[k-2] >= gaps[k-1]-errors[k-1] {
			j.gapStatistic = k - 1
		}
	}
	if j.gapStatistic == 0 {
		j.gapStatistic = most
	}
	return j, nil
}

// bic is that of n points of m values in groups of these sizes whose squared distances from
// their centres sum to w.
func bic(w float64, sizes []int, n, m int) float64 {
	k, r, d := float64(len(sizes)), float64(n), float64(m)
	variance := max(w/(d*(r-k)), 1e-300)
	likelihood := -r*d/2*math.Log(2*math.Pi*variance) - d*(r-k)/2
	for _, s := range sizes {
		if s > 0 {
			likelihood += float64(s) * math.Log(float64(s)/r)
		}
	}
	return likelihood - (k*d+k)/2*math.Log(r)
}
