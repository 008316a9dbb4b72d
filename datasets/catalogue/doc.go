// Package catalogue lists the known data sets, finds them on disk and downloads them.
package catalogue
