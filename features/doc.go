// Package features turns the samples of a set into one matrix for the factorisation and the clustering.
//
// [Extract] gives each image, decoded and cropped, to an extractor that makes a row of it, and normalises the
// rows. [Describe] gives images to one that describes their patches. [Extractors] lists both.
//
// The values of image files run from 0 (black) to 1 (white); vectors keep their own scale. A reduced pixel is
// the mean of the part of the image that it covers, and an enlarged one is interpolated linearly.
//
// A file that cannot be read, an image that a crop does not fit, a value that is not finite and a sample whose
// values are all zero are errors that name the sample. They stop the run or, with SkipBad, are listed while the
// sample is left out.
package features
