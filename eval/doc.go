// Package eval scores what clusterings, classifiers and factorisations give.
//
// A clustering is scored against the samples' classes by accuracy (AC),
// normalised mutual information, the adjusted Rand index and purity. Classes
// and clusters are any whole numbers; only which samples share one matters. A
// sample whose class is negative, that is not known, is left out. Where no
// sample is left, every score is 0.
//
// Samples are rows. The papers' symbols are here:
//
//	papers            here
//	C (classes)       truth
//	C' (clusters)     assigned
//	map(r_i)          Mapping
//	MI / max(H, H')   NMI
//	V (n×k)           coefficients
package eval
