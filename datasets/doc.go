// Package datasets finds, downloads, reads and writes sets of samples: image files in
// folders, and vectors in MATLAB, IDX, NumPy and CSV files.
//
// Open takes the name of a known set, of a file or of a folder and returns a
// Set, whose n samples are image files, decoded when they are asked for, or the
// rows of an n×m matrix. MAT, IDX, NPY, NPZ, CSV, Folder and Generated make a
// Set in one way each. Known lists the sets that are known by name, with their
// sizes, papers and terms, and Get downloads them.
//
// Every reader takes its file for what it may be, damaged or hostile: an error
// names the file and the place in it, memory is asked for only as far as the
// file's bytes back it, no matrix holds a NaN or an infinite value, and an
// archive cannot write outside the folder that it is unpacked in.
package datasets
