// Package cluster puts samples into groups: k-means and its constrained, kernel and spectral forms.
//
// Samples are rows: x is n×m where the papers write X, m×n. A cluster is a number from 0 to k−1. Links are
// pairs of rows that belong together (must) or apart (cannot): the papers' M or Con_=, and C or Con_≠. μ_j is
// row j of Result.Centres, K or A the kernel or similarity, and w_ij SSKK.Weight.
//
// The same seed gives the same answer: every restart has a random stream of its own.
package cluster
