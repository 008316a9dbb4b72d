// Package features turns the samples of a set into one matrix for the
// factorisation and the clustering.
//
// [Extract] gives each image, decoded and cropped, to an extractor that makes a row of
// it, and normalises the rows, to unit Euclidean length where nothing else is said.
// [Describe] gives images to one that describes their patches. [Extractors] lists
// both.
//
// Pixels takes the grey values of images: each image is made grey, cropped,
// resized to Height×Width, and written row by row from the upper left corner, so that a sample is one row of n×m with
// m = Height·Width. In colour the images are not made grey, and a sample is
// the values of red, row by row, then those of green, then those of blue, with
// m = 3·Height·Width. The vectors of a set are taken as they are.
//
// Grey values are the usual ones for faces and digits. In photographs of
// scenes and things colour tells much of what grey leaves out.
//
// # Scale
//
// The values of image files run from 0 (black) to 1 (white), whatever the
// depth of the file. The vectors of a set keep their own scale: a set whose
// values run from 0 to 255 keeps them. With every normalisation but NormNone
// that makes no difference.
//
// # Resizing
//
// Where an image is reduced, a pixel is the mean of the stretch of the image that
// it covers, so that no pixel of the image is left out; where it is enlarged,
// pixels lie on the straight line between those beside them. COIL-20's pictures of
// 128×128, so reduced, are those of the 32×32 set in common use, whose values are
// the means of blocks of 4×4. An image that has the wanted size already is not
// resampled.
//
// # Gradients
//
// HOG takes histograms of gradient orientations, ColourHistogram those of colours. For visual vocabularies
// DenseSIFT describes the patches of a grid, and KeypointSIFT those around the
// points that stand out, for which it needs the build with OpenCV.
//
// # Networks
//
// Network takes the values of a layer of a convolutional network, which internal/network
// runs. Package lite0 holds one.
//
// # Samples that cannot be used
//
// A file that cannot be read, an image that a crop does not fit, a value that
// is not finite and a sample whose values are all zero (a black image, which
// has no direction) are errors that name the sample. They stop the run or,
// with SkipBad, are listed while the sample is left out.
package features
