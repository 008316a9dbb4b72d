package datasets

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Subset returns the set of the given samples, in the given order. It keeps the classes that these samples
// have, in their order; a class that is left with no sample is dropped and the labels renumbered. It panics
// where a row is not a sample of s.
func (s *Set) Subset(rows []int) *Set {
	out := *s
	out.Names, out.Files, out.Pictures, out.Test = take(s.Names, rows), take(s.Files, rows), take(s.Pictures, rows), take(s.Test, rows)
	out.LeftOut, out.LabelLines = slices.Clone(s.LeftOut), take(s.LabelLines, rows)
	switch x := s.Vectors.(type) {
	case nil:
	case *vectorfile.Bytes:
		out.Vectors = x.SelectRows(rows)
	case *sparse.CSR:
		out.Vectors = x.SelectRows(rows)
	default:
		out.Vectors = selectRows(x, rows)
	}
	out.Classes, out.Labels = subsetClasses(s.Classes, s.Labels, rows)
	if s.OwnLabels != nil {
		out.OwnClasses, out.OwnLabels = subsetClasses(s.OwnClasses, s.OwnLabels, rows)
	}
	return &out
}

// subsetClasses returns the classes that the given samples have, in their order,
// and the samples' labels among them.
func subsetClasses(classes []string, labels, rows []int) (left []string, renumbered []int) {
	label := make([]int, len(classes)) // 1 for a class that is left, then its new label
	for _, i := range rows {
		if l := labels[i]; l >= 0 {
			label[l] = 1
		}
	}
	for old, present := range label {
		if present == 1 {
			label[old] = len(left)
			left = append(left, classes[old])
		}
	}
	renumbered = take(labels, rows)
	for i, l := range renumbered {
		if l >= 0 {
			renumbered[i] = label[l]
		}
	}
	return left, renumbered
}

// Labelled returns the set of the samples whose class is known. The others are counted in LeftOut.
func (s *Set) Labelled() *Set {
	if !slices.Contains(s.Labels, -1) {
		return s
	}
	return s.Largest(len(s.Classes))
}

// Largest returns the set of the k classes with the most samples, in the order that they have; of classes
// of one size the first. Samples of no known class are left out, and counted in LeftOut.
func (s *Set) Largest(k int) *Set {
	size, order := make([]int, len(s.Classes)), make([]int, len(s.Classes))
	for c := range order {
		order[c] = c
	}
	unlabelled := 0
	for _, l := range s.Labels {
		if l < 0 {
			unlabelled++
		} else {
			size[l]++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	kept := order[:min(k, len(order))]
	var rows []int
	for i, l := range s.Labels {
		if slices.Contains(kept, l) {
			rows = append(rows, i)
		}
	}
	out := s.Subset(rows)
	if unlabelled > 0 {
		out.LeftOut = append(out.LeftOut, LeftOut{Reason: Unlabelled, Count: unlabelled})
	}
	return out
}

// take returns the values of these rows, or nil where there are none at all.
func take[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for at, i := range rows {
		out[at] = values[i]
	}
	return out
}

func selectRows(x mat.Matrix, rows []int) mat.Matrix {
	_, m := x.Dims()
	if len(rows) == 0 || m == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(len(rows), m, nil)
	for at, i := range rows {
		vectorfile.Row(out.RawRowView(at), i, x)
	}
	return out
}
