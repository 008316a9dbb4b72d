// Package imagefile decodes image files: their headers, with bounds on size and memory,
// their pixels, upright and, where asked for, reduced, and what is wrong with them.
package imagefile
