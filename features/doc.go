// Package features turns the samples of a set into one matrix for the
// factorisation and the clustering.
//
// Pixels takes the grey values of images: each image is made grey, cropped,
// resized to Height×Width with an antialiased bicubic filter, and written row
// by row from the upper left corner, so that a sample is one row of n×m with
// m = Height·Width. Vectors takes the vectors of a set as they are. Both
// then normalise each row, to unit Euclidean length where nothing else is said.
//
// # Scale
//
// Grey values of image files run from 0 (black) to 1 (white), whatever the
// depth of the file. The vectors of a set keep their own scale: a set whose
// values run from 0 to 255 keeps them. With every normalisation but NormNone
// that makes no difference.
//
// # Resizing
//
// The filter is the Catmull-Rom kernel (cubic convolution with a = -0.5), wider by
// the factor by which an image is reduced, so that no source pixel is left out.
// It is the bicubic filter with antialiasing of MATLAB's imresize, which made
// the 32×32 sets in common use. It works in 16 bits, and what overshoots black
// or white is cut off, so that no value falls below the range of the set: the
// factorisations need values ≥ 0. An image that has the wanted size already is
// not resampled.
//
// # Samples that cannot be used
//
// A file that cannot be read, an image that a crop does not fit, a value that
// is not finite and a sample whose values are all zero (a black image, which
// has no direction) are errors that name the sample. They stop the run or,
// with SkipBad, are listed while the sample is left out.
package features
