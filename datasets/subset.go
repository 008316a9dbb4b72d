package datasets

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Subset returns the set of the given samples, in the given order. It keeps
// the classes that these samples have, in their order; a class that is left
// with no sample is dropped and the labels renumbered. It panics where a row
// is not a sample of s.
func (s *Set) Subset(rows []int) *Set {
	out := &Set{Name: s.Name, Names: take(s.Names, rows), Height: s.Height, Width: s.Width, LeftOut: slices.Clone(s.LeftOut), Bad: s.Bad, Beside: s.Beside, Known: s.Known, FolderClasses: s.FolderClasses, TimeFolders: s.TimeFolders, Folders: s.Folders}
	if s.Files != nil {
		out.Files = take(s.Files, rows)
	}
	if s.Pictures != nil {
		out.Pictures = take(s.Pictures, rows)
	}
	if s.Test != nil {
		out.Test = take(s.Test, rows)
	}
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
	if s.LabelLines != nil {
		out.LabelsFile, out.LabelLines = s.LabelsFile, take(s.LabelLines, rows)
	}
	return out
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

// Labelled returns the set of the samples whose class is known. The others are counted
// in LeftOut.
func (s *Set) Labelled() *Set {
	if !slices.Contains(s.Labels, -1) {
		return s
	}
	return s.Largest(len(s.Classes))
}

// Largest returns the set of the k classes with the most samples, in the order
// that they have; of classes of one size the first. Samples of no known class are
// left out, and counted in LeftOut.
func (s *Set) Largest(k int) *Set {
	size := make([]int, len(s.Classes))
	for _, l := range s.Labels {
		if l >= 0 {
			size[l]++
		}
	}
	order := make([]int, len(size))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	kept := order[:min(k, len(order))]
	var rows []int
	unlabelled := 0
	for i, l := range s.Labels {
		switch {
		case l < 0:
			unlabelled++
		case slices.Contains(kept, l):
			rows = append(rows, i)
		}
	}
	out := s.Subset(rows)
	if unlabelled > 0 {
		out.LeftOut = append(out.LeftOut, LeftOut{Reason: Unlabelled, Count: unlabelled})
	}
	return out
}

func take[T any](values []T, rows []int) []T {
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
