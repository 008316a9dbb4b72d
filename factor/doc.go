// Package factor finds parts: it factorises n samples of m features, the rows
// of X, into k basis vectors and, for every sample, k coefficients.
//
// The methods of a dozen papers are one algorithm here. Each looks for a basis
// U (m×k) and coefficients V (n×k) with X ≈ V·Uᵀ, and differs from the others
// in four choices, which [Parts] puts together: the cost, what the basis can
// be, what ties coefficients together, and a penalty on them. The named
// methods ([NMF], [CNMF], [CCF], …) are one line each that picks the four.
//
// Beside them stand methods that are no such factorisation: the linear
// embeddings [PCA], [LDA], [MFA] and [SDA], [SparseCoding], and [SSNMF], which
// factorises similarities. What they have found comes in the same [Result].
// [MiniBatch] is NMF of samples that do not fit into memory.
//
// The papers write a sample as a column. In memory a sample is a row, as in
// the rest of Go's numerical libraries:
//
//	papers           here
//	X  m×n           x, n×m (its transpose)
//	U, F  m×k        Result.Basis, m×k
//	V, G  n×k        Result.Coefficients, n×k
//	W  n×k           Result.Weights, n×k, where the basis is U = X·W
//	A, Z             Known.Labels; V = A·Z gives one row of Z to each class
//	K = XᵀX          the inner products of the samples, n×n, or a Kernel's values
//	S, D, L = D − S  a Graph over the samples, its degrees, its Laplacian
//	λ                Lambda
//
// Inside the package factors are transposed, U is k×m and V k×n, so that every product and update runs along long rows.
package factor
