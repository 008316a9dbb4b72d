// Package grouping puts the samples of one set into groups, by one method, once. It chooses the number of
// groups and the rank where they are not given, obeys labels and links, leaves copies of pictures out, and
// finds groups again after corrections.
package grouping
