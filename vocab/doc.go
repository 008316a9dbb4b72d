// Package vocab learns visual words from local descriptors and turns the
// descriptors of an image into a histogram of words.
//
// A [Sampler] keeps a bounded random subset of the descriptors of the training
// images as they stream by. [Training] clusters that subset: the centres are
// the words of a [Vocabulary]. An [Assigner] gives every descriptor of an
// image its nearest word, or shares it among the nearest few. A [Grid] counts
// the words, over the image or over each of its sub-regions, and a [Weighting]
// weights and normalises the counts:
//
//	descriptors ─► Sampler ─► Training ─► Vocabulary
//	descriptors ─► Assigner ─► Grid.Count ─► Matrix ─► Weighting ─► n×m, sparse
//
// Descriptors are those of package features, rows of bytes, p×dim. All
// comparisons are exact unless the vocabulary is large (see [Assignment]), ties
// go to the lower word, and the same seed gives the same words whatever the
// number of workers, the order in which the images come and the library that
// does the matrix products.
package vocab
