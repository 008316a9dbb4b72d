// Package opencv calls the SIFT of OpenCV. It is empty but in builds with the tags native
// and opencv.
//
// Only OpenCV's core and its features2d are linked: what reads and writes image files
// there brings more than a hundred libraries that every start of a program would load.
package opencv
