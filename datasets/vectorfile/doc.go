// Package vectorfile reads and writes files of vectors: CSV, NumPy's .npy and .npz, MATLAB's
// .mat, IDX and SVMlight. What a file promises is checked before memory is taken for it.
package vectorfile
