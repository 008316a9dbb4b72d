// Package vocab learns visual words from local descriptors and turns the descriptors of an image into a
// histogram of words:
//
//	descriptors ─► Sampler ─► Training ─► Vocabulary
//	descriptors ─► Assigner ─► Grid.Count ─► Matrix ─► Weighting ─► n×m, sparse
//
// Descriptors are those of package features, rows of bytes, p×dim. Comparisons are exact unless the vocabulary
// is large (see [Assignment]), and ties go to the lower word.
package vocab
